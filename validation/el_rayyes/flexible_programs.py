# SPDX-License-Identifier: Apache-2.0
"""The flexible cases of El-Rayyes as programs: King's recursion on numbers, and FLEX's listing."""

from __future__ import annotations

from operator import mul
from typing import Any, Callable, Sequence, Union

import numpy as np
from validation.counts.dh_chain import DhRow
from validation.counts.published_form import atom, Listing, ONE, Term, ZERO
from validation.counts.robots import flexible_rows
from validation.counts.vector_arithmetic import Numbers
from validation.el_rayyes.king import King, KingLink, KingMode
from validation.studies import clamped_free, ROOTS

GRAVITY = 9.81
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(60)

# First letters of the constants of a mode.
_LETTERS = {
    'shape': 'd', 'slope': 'f', 'first': 'e', 'moment': 'h', 'second': 'w', 'stiffness': 'k',
}
# Maker of a link's quantity from its name and value: a number, or a constant's name.
Make = Callable[[str, float], Any]


def bending(number: int) -> tuple[float, float, float]:
    """Return slope, mean and first moment of a clamped-free shape of unit length and tip."""
    places = 0.5 * (_POINTS + 1.0)
    values = 0.5 * _WEIGHTS * [clamped_free(x, number + 1)[0][number] for x in places]
    return clamped_free(1.0, number + 1)[1][number], values.sum(), values @ places


def links_of(
    rows: Sequence[DhRow], rotations: Sequence, states: Sequence[tuple], make: Make,
    multiply: Callable = mul,
) -> list[KingLink]:
    """
    Return the links of an arm.

    Args:
        rows: Its links.
        rotations: Matrices of the joints' frames.
        states: Of each link: rate, acceleration, and the states of its modes.
        make: Makes constants.
        multiply: Of numbers, for the two products of (2.2).
    """
    found = []
    for number, (row, rotation, (rate, acceleration, modal)) in enumerate(
        zip(rows, rotations, states), start=1
    ):
        def constant(name: str, value: float, number: int = number) -> Any:
            return make(f'{name}{number}', value)

        cos, sin = np.round(np.cos(np.radians(row.alpha)), 15), np.sin(np.radians(row.alpha))
        reach = (row.a, multiply(row.d, sin), multiply(row.d, cos))
        mass, com, moments = row.mass, row.com, row.moments
        beam = row.beam
        if beam is not None:
            mass, com = beam.mass, (-0.5 * row.a, 0.0, 0.0)
            polar = mass * beam.polar / beam.area
            moments = (polar, mass * row.a**2 / 12.0, mass * row.a**2 / 12.0)
        names = [tuple(f'{letter}{axis}' for axis in 'xyz') for letter in 'psj']
        vectors: list[Any] = [
            tuple(constant(name, value) for name, value in zip(*pair))
            for pair in zip(names, (reach, com, moments))
        ]
        modes = [] if beam is None else _modes(row, modal, constant)
        found.append(KingLink(
            rotation, vectors[0], vectors[1], constant('m', mass), vectors[2], modes, rate,
            acceleration,
        ))
    return found


def _modes(row: DhRow, states: Sequence[tuple], constant: Callable) -> list[KingMode]:
    """Return a beam's modes, whose coordinates are their tips' deflections."""
    beam, states = row.beam, list(states)
    assert beam is not None
    length, mass = row.a, beam.mass
    modes = []
    for family in beam.families:
        for k in range(family.count):
            kind = {'bending_y': 'y', 'bending_z': 'z', 'torsion': 'x'}[family.kind]
            tag, rigidity = f'{kind}{k + 1}_', beam.young * beam.iz
            if kind == 'x':
                wave = (2 * k + 1) * np.pi / 2.0
                values = (0.0, 1.0, 0.0, 0.0, mass * beam.polar / beam.area / 2.0,
                          beam.shear * beam.j * wave**2 / (2.0 * length))
            else:
                slope, mean, moment = bending(k)
                values = (1.0, slope / length, mass * mean,
                          mass * length * (moment - 0.5 * mean), mass / 4.0,
                          rigidity * ROOTS[k]**4 / (4.0 * length**3))
            own = {
                field: constant(letter + tag, value)
                for (field, letter), value in zip(_LETTERS.items(), values)
            }
            modes.append(KingMode(kind, state=states.pop(0), **own))
    return modes


def inverse_dynamics(
    rows: Sequence[DhRow], q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> tuple[np.ndarray, Numbers]:
    """Return torques and modal forces (n,) of joints first, then modes; and operation counts."""
    numbers, n = Numbers(), len(rows)
    places, states, rotations = n, [], []
    for number, row in enumerate(rows):
        count = sum(family.count for family in row.beam.families) if row.beam else 0
        modal = [(q[k], qd[k], qdd[k]) for k in range(places, places + count)]
        places += count
        states.append((qd[number], qdd[number], modal))
        rotations.append(_rotation(numbers, float(q[number]), row.alpha))
    links = links_of(rows, rotations, states, lambda name, value: float(value), numbers.multiply)
    torques, forces = King(numbers).inverse_dynamics(links, GRAVITY)
    return np.array([*torques, *(force for modal in forces for force in modal)]), numbers


def _rotation(numbers: Numbers, angle: float, twist: float) -> tuple:
    """Return (2.1); its four products are counted."""
    c, s = np.cos(angle), np.sin(angle)
    ca, sa = np.cos(np.radians(twist)), np.sin(np.radians(twist))
    times = numbers.multiply
    return (
        (c, -times(ca, s), times(sa, s)), (s, times(ca, c), -times(sa, c)), (0.0, sa, ca),
    )


def numeric_counts(entry: dict) -> tuple[int, int]:
    """
    Return products and sums of mass matrix and bias by the numeric recursion.

    The bias and each column of the matrix are one inverse dynamics. A joint mass is a rigid link
    more, as the printed counts have it.
    """
    rows = flexible_rows(entry['links'], entry['modes'], 0.0)
    freedom = entry['degrees_of_freedom']
    rng = np.random.default_rng(1)
    _, numbers = inverse_dynamics(rows, *rng.normal(size=(3, freedom)))
    masses = entry['joint_mass']  # two where there are any
    products, sums = of_a_rigid_link()
    return (
        (freedom + 1) * (numbers.products + masses * products),
        (freedom + 1) * (numbers.sums + masses * sums),
    )


def of_a_rigid_link() -> tuple[int, int]:
    """Return products and sums that a rigid link more takes in one inverse dynamics."""
    (_, one), (_, two) = (
        inverse_dynamics([DhRow(mass=1.0)] * count, *np.zeros((3, count))) for count in (2, 3)
    )
    return two.products - one.products, two.sums - one.sums


def listing(entry: dict) -> Listing:
    """Return FLEX's listing of a case, before CLEAR."""
    out = Listing()
    for number, value in enumerate(_statements(entry, out, {}), 1):
        out.result(f'RES{number}', value)
    return out


def direct_dynamics(entry: dict) -> tuple[Listing, dict[str, float]]:
    """
    Return FLEXHB's listing of a case without joint masses, and the values of its constants.

    The bias, and each column of the mass matrix from the diagonal down, by Walker and Orin's
    method 2.
    """
    out, values = Listing(), {'g': GRAVITY, '2': 2.0}
    for number, value in enumerate(_statements(entry, out, values, 'bias')):
        out.result(f'B{number}', value)
    for column in range(entry['degrees_of_freedom']):
        forces = _statements(entry, out, values, column)
        for number, value in enumerate(forces[column:], column):
            out.result(f'H{number}_{column}', value)
    return out, values


def _statements(
    entry: dict, out: Listing, values: dict[str, float], what: Union[int, str] = 'all'
) -> list[Term]:
    """
    Add one inverse dynamics to a listing; return its forces, link by link.

    Args:
        entry: The case.
        out: The listing.
        values: Takes the values of constants.
        what: All of it, the bias, or the number of a column of the mass matrix, link by link.
    """
    rows = flexible_rows(entry['links'], entry['modes'], 0.0)
    place = iter(range(entry['degrees_of_freedom']))

    whole = isinstance(what, str)

    def make(name: str, value: float) -> Term:
        # Columns of the mass matrix are without springs and weight.
        if abs(value) < 1e-15 or (name[0] == _LETTERS['stiffness'] and not whole):
            return ZERO
        if value == 1.0 and name[0] == 'd':
            return ONE
        values[name] = value
        return atom(name)

    def state(*names: str) -> tuple[Term, ...]:
        """Return a coordinate's terms, of which the last two are rate and acceleration."""
        own = next(place)
        *known, rate, acceleration = map(atom, names)
        if what == 'bias':
            acceleration = ZERO
        elif what != 'all':
            rate, acceleration = ZERO, ONE if what == own else ZERO
        return (*known, rate, acceleration)

    states, rotations, times = [], [], out.multiply
    for number, row in enumerate(rows, start=1):
        joint = state(f'QD{number}', f'QF{number}')
        tags = [
            f'{family.kind[-1]}{k + 1}_{number}'
            for family in (row.beam.families if row.beam else ()) for k in range(family.count)
        ]
        states.append((*joint, [state(f'D{tag}', f'DD{tag}', f'DF{tag}') for tag in tags]))
        cosine, sine = atom(f'C{number}'), atom(f'S{number}')
        ca, sa = {0.0: (ONE, ZERO), 90.0: (ZERO, ONE), -90.0: (ZERO, -ONE)}[row.alpha]
        rotations.append((
            (cosine, times(-ca, sine), times(sa, sine)),
            (sine, times(ca, cosine), times(-sa, cosine)), (ZERO, sa, ca),
        ))
    links = links_of(rows, rotations, states, make)
    weight = atom('g') if entry['gravity'] and whole else ZERO
    torques, forces = King(out, ZERO, ONE, atom('2')).inverse_dynamics(links, weight)
    return [
        value for torque, modal in zip(torques, forces) for value in (torque, *modal)
    ]
