# SPDX-License-Identifier: Apache-2.0
"""Why a row is not below every published generator, or misses its aim."""

from __future__ import annotations

from benchmarks.counts.tables import Row

UNEXPLAINED = 'not explained yet.'
FLEXIBLE = (
    'below every published generator, above two thirds of FLEXHB or the lower aim set. The '
    'published arm is not known in full; this one has lengths other than 1 m, a hub on each '
    'flexible link and three different moments, so that no product with 0 or 1 is saved by luck '
    '(the only link that the source describes, a rod of 1 m without a hub, is easier).'
)
BASE = (
    ' The rigid base link turns the next axis by 90 degrees, so that the flexible part moves in '
    'space: only so does a rebuilt FLEXHB come near its published count (case K: 930 for 964).'
)
# Start of a row's label, and the reason.
REASONS: dict[str, str] = {
    'Stanford6, external_force_vector': (
        'equal. Force and moment are turned through three wrist axes that are not parallel, 22 '
        'multiplications and 11 additions without the one component of the force that no torque '
        'needs; six more and five join them to the torques. There is no inertia to regroup, and '
        'no shorter form is known.'
    ),
    'Stanford3, external_force_vector': (
        'equal. Moments about x and z and forces along y and z reach the first torque with a '
        'factor of their own each, the force along x two torques with two: six multiplications, '
        'and five additions to join the seven terms of two torques. No shorter form is known.'
    ),
    **{f'{case}:': FLEXIBLE for case in 'ABCDEFGHIJ'},
    **{f'{case}:': FLEXIBLE + BASE for case in 'KLMNOPQR'},
}


def explanation(row: Row) -> str:
    """Return the reason for a row, with the counts of its parts."""
    found = [start for start in REASONS if row.label.startswith(start)]
    text = REASONS[max(found, key=len)] if found else UNEXPLAINED
    if row.parts:
        parts = ', '.join(f'{name} {count.total}' for name, count in row.parts.items())
        text += f' Apart: {parts}.'
    return text
