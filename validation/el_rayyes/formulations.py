# SPDX-License-Identifier: Apache-2.0
"""King's and Book's formulations as programs of their own: their numbers and their counts."""

from __future__ import annotations

from typing import Any

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation import simulate
from flexdyn_ros.simulation.frequencies import natural_modes
import numpy as np
from validation.beam_arms import beam_arm_urdf
from validation.case import Progress, Row, Verdict
from validation.case_file import inputs, make_rows
from validation.counts.clear import all_steps
from validation.counts.published import published
from validation.counts.robots import flexible_arm, flexible_rows
from validation.el_rayyes import flexible_programs, two_links
from validation.el_rayyes.book import direct_dynamics
from validation.el_rayyes.transforms import Rod, RodArm
from validation.registry import Code
from validation.studies import apart, reference

# The rod of table 4.8, with the radius of its area and second moments.
_AREA, _SECOND = np.pi * 0.006**2, np.pi * 0.006**4 / 4.0
_BENDING, _TORSION = 2e11 * _SECOND, 8.3e10 * 2.0 * _SECOND
_KINDS = {'R': '', 'BB': 'yz', 'TBB': 'yzx'}


def _rod(mass: float, modes: str, **others: Any) -> Rod:
    polar = mass * 2.0 * _SECOND / _AREA
    return Rod(1.0, mass, _BENDING, modes, polar, _TORSION, **others)


def transforms(progress: Progress) -> list[Row]:
    """Return differences of motions of cases 3 and 4 by transformation matrices from ours."""
    given = inputs('er_transforms')
    found: dict[str, Any] = {
        'forces': _forces(), 'bending': _clamped('y'), 'torsion': _clamped('x'),
    }
    for number, name in enumerate(given['cases'], 1):
        key = f'case{name[-1]}'
        found[key] = _deviation_of_four(name, 1.0)
        found[f'{key}_small'] = _deviation_of_four(name, 0.1)
        progress(number / (len(given['cases']) + 1))
    found |= {key: _deviation_of_three(rigidity) for key, rigidity in given['rigidity'].items()}
    return make_rows('er_transforms', found)


def _arm_of_four(torsion: bool) -> tuple[RodArm, Dynamics]:
    """Return case 4 in both formulations."""
    hub = inputs('er_case4_1')['hub']
    arm = RodArm([
        _rod(1.0, 'yzx' if torsion else 'yz'), _rod(1.0, 'yz', hub=(2.0, hub)),
    ])
    return arm, Dynamics(two_links.arm(torsion_modes='1' if torsion else '0'))


def _forces() -> float:
    """Return the largest difference of the forces of undeflected links at rest in their modes."""
    arm, dyn = _arm_of_four(True)
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, arm.size))
    q[2:] = qd[2:] = 0.0
    theirs = arm.inverse_dynamics(q, qd, qdd[None])[0]
    return float(np.max(np.abs(dyn.inverse_dynamics(q, qd, qdd) - theirs)))


def _clamped(kind: str) -> np.ndarray:
    """Return the frequencies of a clamped link by its first four modes [Hz]."""
    arm = RodArm([_rod(0.5, 4 * kind)])
    rest, given = np.zeros(arm.size), np.vstack((np.zeros(arm.size), np.eye(arm.size)))
    bias, *columns = arm.inverse_dynamics(rest, rest, given)
    mass = (np.array(columns) - bias)[1:, 1:]
    rates, _ = natural_modes(mass, np.diag(arm.rods[0].stiffness))
    return rates / (2.0 * np.pi)


def _deviation_of_four(name: str, share: float) -> float:
    """Return the largest deviation of a coordinate, of the largest deflection."""
    given, data = inputs('er_transforms'), inputs(name)
    arm, dyn = _arm_of_four('torsion_modes' in data['arm'])
    start = np.zeros(arm.size)
    for key, value in data['start'].items():
        place = dyn.robot.coordinate_names.index(two_links.NAMES[key])
        start[place] = value * (1.0 if key == 'q2' else share)
    theirs = arm.run(start, data['dt'], given['duration'])
    ours = simulate(
        dyn, start, np.zeros(arm.size), None, given['duration'], data['dt'], 'rk4', progress=False
    )
    return float(np.max(np.abs(ours.q - theirs)) / np.max(np.abs(ours.q[:, 2:])))


def _deviation_of_three(rigidity: float) -> float:
    """Return the largest deviation of a joint angle in the swing of case 3 [rad]."""
    data = inputs('er_case3')
    tip, (length, mass) = data['tip_masses'][0], (data['length'], data['mass'])
    arm = RodArm([
        Rod(length, mass, rigidity, 'y'), Rod(length, mass, rigidity, 'y', tip_mass=tip),
    ], data['gravity'])
    robot = load_robot(beam_arm_urdf(
        [length] * 2, [mass] * 2, [rigidity] * 2, 1, gravity=data['gravity'], tip_mass=tip,
    ))
    start = np.concatenate((data['angles'], np.zeros(2)))
    t_end = inputs('er_transforms')['duration']
    theirs = arm.run(start, data['dt'], t_end)
    ours = simulate(
        Dynamics(robot), start, np.zeros(4), None, t_end, data['dt'], 'rk4', progress=False
    )
    return float(np.max(np.abs(ours.q - theirs)[:, :2]))


def numeric_counts(progress: Progress) -> list[Row]:
    """Return the rows of the numeric columns of tables 4.14 and 4.15, and of FLEX's listing."""
    cases = published()['flexible']
    ours = np.array([flexible_programs.numeric_counts(entry) for entry in cases.values()])
    law = np.array([_law(entry) for entry in cases.values()])
    book = np.array([_count_of_book(entry) for case, entry in cases.items() if case != 'R'])
    misprinted = [list(cases).index(case) for case in 'EF']
    shares = ours[:len(book)].sum(axis=1) / book.sum(axis=1)
    return make_rows('er_numeric_counts', {
        'recursion': max(_recursion(case) for case in inputs('er_numeric_counts')['arms']),
        'statements': len(flexible_programs.listing(cases['K']).statements),
        'rigid_link': flexible_programs.of_a_rigid_link(),
        'products': ours[:, 0], 'sums': ours[:, 1],
        'law_products': law[:, 0], 'law_sums': np.delete(law[:, 1], misprinted),
        'law_sums_misprint': law[misprinted, 1],
        'law_total': law[misprinted[1]].sum(),
        'book_forces': max(_book(case) for case in inputs('er_numeric_counts')['arms']),
        'book_products': book[:, 0], 'book_sums': book[:, 1],
        'book': Verdict(
            bool(np.all(shares < 1.0)),
            f'{100 * shares.min():.0f} to {100 * shares.max():.0f} percent of them',
        ),
    })


def symbolic_counts(progress: Progress) -> list[Row]:
    """Return the rows of FLEXHB's code, rebuilt from the equations and CLEAR's steps."""
    given, found = inputs('er_flexhb'), []
    for number, case in enumerate(given['cases'], 1):
        steps = all_steps(*flexible_programs.direct_dynamics(published()['flexible'][case]))
        found.append(sum(steps[-1].operations))
        progress(number / len(given['cases']))
    return make_rows('er_flexhb', {'operations': found})


def _recursion(case: str) -> float:
    """Return the largest difference of King's recursion from ours, of the largest force."""
    entry = published()['flexible'][case]
    rows = flexible_rows(entry['links'], entry['modes'], 0.0)
    robot = flexible_arm(case, entry['links'], entry['modes'], 0.0, True)
    q, qd, qdd = np.random.default_rng(2).normal(size=(3, robot.nv))
    q[robot.n_joints:] *= 0.05
    ours = reference(robot).inverse_dynamics(q, qd, qdd)
    theirs, _ = flexible_programs.inverse_dynamics(rows, q, qd, qdd)
    return apart(theirs, ours)


def _law(entry: dict[str, Any]) -> tuple[int, int]:
    """Return a case's products and sums from the operations of each link in a pass."""
    parts = inputs('er_numeric_counts')['law']
    columns, modes = entry['degrees_of_freedom'], entry['modes']
    kinds = entry['links'].split('-')
    rigid = kinds.count('R') + entry['joint_mass']
    bending, torsion = len(kinds) - kinds.count('R'), modes * ('TBB' in kinds)
    found = []
    for what in ('products', 'sums'):
        column, bias = parts[what]['bending'][modes - 1]
        every = rigid * parts[what]['rigid'] + torsion * parts[what]['torsion']
        found.append(
            (columns + 1) * every + bending * (columns * column + bias)
            + entry['joint_mass'] * parts[what]['joint_mass']
        )
    return found[0], found[1]


def _count_of_book(entry: dict[str, Any]) -> tuple[int, int]:
    """Return products and sums of mass matrix and bias by Book's equations."""
    arm, gravity = RodArm(_rods(entry)), (0.0, 0.0, -flexible_programs.GRAVITY)
    _, _, count = direct_dynamics(arm, np.zeros(arm.size), np.zeros(arm.size), gravity)
    return count.products, count.sums


def _book(case: str) -> float:
    """Return the largest difference of Book's equations from inverse dynamics, of the largest."""
    entry, gravity = published()['flexible'][case], (0.0, 0.0, -flexible_programs.GRAVITY)
    arm = RodArm(_rods(entry), gravity)
    q, qd = np.random.default_rng(3).normal(size=(2, arm.size))
    q[len(arm.rods):] *= 0.05
    mass, bias, _ = direct_dynamics(arm, q, qd, gravity)
    forces = arm.inverse_dynamics(q, qd, np.vstack((np.zeros(arm.size), np.eye(arm.size))))
    theirs = np.vstack((bias, bias + mass))
    return apart(theirs, forces)


def _rods(entry: dict[str, Any]) -> list[Rod]:
    return [
        _rod(1.0, ''.join(kind * entry['modes'] for kind in _KINDS[word]))
        for word in entry['links'].split('-')
    ]


CODE = {
    'er_transforms': Code(transforms),
    'er_numeric_counts': Code(numeric_counts),
    'er_flexhb': Code(symbolic_counts),
}
