# SPDX-License-Identifier: Apache-2.0
"""Reasons of rows not below every published generator, or beside their aim."""

from __future__ import annotations

from validation.counts.tables import CountRow

UNEXPLAINED = 'not explained yet.'
FLEXIBLE = (
    'below every published generator, above two thirds of FLEXHB or the lower aim set.'
)
BASE = (
    ' The rigid base link turns the next axis by 90 degrees, so that the flexible part moves in '
    'space: only so does a rebuilt FLEXHB come near its published count (case K: 965 for 964). '
    'Forces, moments and velocities then have three components each, and all of them pass '
    "through King's matrices 1 + [theta]x, which are not orthogonal, so that no inertia behind "
    'them can be regrouped. With parallel axes the same links stay far below the aim.'
)
# Start of a row's label, and the reason.
REASONS: dict[str, str] = {
    'Stanford6, external_force_vector': (
        'equal, and the least without cancellation. Force and moment are turned through three '
        'wrist axes that are not parallel. Without the one component of the force that no torque '
        'needs, this takes 22 multiplications and 11 additions. Six more and five join them to '
        'the torques. There is no inertia to regroup. The bound holds for programs of sums, '
        'differences and products of the components of force and moment, q3, the offset, sines '
        'and cosines. They lose no monomial that they have formed. Right for any offset, none '
        'takes fewer than 44. For the one offset, and with any other numbers as factors, it '
        'takes 42 besides the multiplications by numbers, of which ours has two. `make bounds` '
        'proves both, by a linear program below all such programs, with multipliers checked in '
        'integers (validation/bounds). The proof excludes programs that take terms away again, '
        'use sin^2 + cos^2 = 1, divide or call other functions; none was found that takes fewer. '
        'A plane rotation is six operations as it stands, and six as three shears besides the '
        'tangent of half the angle. With three products it is six besides two sums of sine and '
        'cosine. Eight searches of 100 000 steps each from two starts ended here. Besides '
        'divisors they tried other units, squares, and sums added and taken away again.'
    ),
    'Stanford3, external_force_vector': (
        'equal, and the least. Moments about x and z and forces along y and z reach the first '
        'torque with one factor each. The force along x reaches two torques with two factors. '
        'That is six multiplications, and five additions join the seven terms of two torques. A '
        'sum of five inputs and one of two take five additions. With an offset of zero the '
        'torques s2 (q3 fy - mx) + c2 mz and q3 fx + my still take four multiplications. The '
        'terms c2 fx and s2 fz take two more with the offset, or three if it multiplies their '
        'sum. `make bounds` proves the same without cancellation.'
    ),
    **{f'{case}:': FLEXIBLE for case in 'ABCDEFGHIJ'},
    **{f'{case}:': FLEXIBLE + BASE for case in 'KLMNOPQR'},
}


def explanation(row: CountRow) -> str:
    """Return the reason for a row, with the counts of its parts."""
    found = [start for start in REASONS if row.label.startswith(start)]
    text = REASONS[max(found, key=len)] if found else UNEXPLAINED
    if row.parts:
        parts = ', '.join(f'{name} {count.total}' for name, count in row.parts.items())
        text += f' Apart: {parts}.'
    return text
