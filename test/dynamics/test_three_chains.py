# SPDX-License-Identifier: Apache-2.0
"""Van der Merwe's three chains that carry a member, the HSLM mechanism."""

from functools import lru_cache

import flexdyn_ros as fd
import numpy as np
from oracles.compare import reference_dynamics
from oracles.gimbal_chain import body
from oracles.gimbal_chain import Chain
from oracles.gimbal_chain import joint
from oracles.gimbal_chain import origin
from oracles.gimbal_chain import robot_text
from oracles.printed_loops import CASES
from oracles.printed_loops import close
from oracles.printed_loops import turned
import pytest

HSLM = CASES['hslm']
H = 1 / np.sqrt(3) - 0.15
REACH, TILT = np.hypot(1, H), -np.arctan2(1, H)


@lru_cache(maxsize=None)
def hslm():
    """Return the dynamics of the mechanism with its member afloat, and a state at rest."""
    parts = body('member', HSLM['member']['mass'], (0, 0, 0), HSLM['member']['inertia_com'])
    parts += joint('floats', 'floating', 'base', 'member', origin((0, 0, 0)))
    chains, loops = [], ''
    links = [{**link, 'gamma': list(link['gamma'])} for link in HSLM['links']]
    links[0]['gamma'][3] = REACH
    for number, (base, point) in enumerate(zip(HSLM['pivots'], HSLM['points']), 1):
        chain = Chain(links, base=base, prefix=f'c{number}_')
        chains.append(chain)
        # The tip is tied to the member with the orientation that it has at the start.
        parts += f'<link name="point{number}"/>'
        turn_y = -np.pi / 6 - (number - 1) * 2 * np.pi / 3
        where = origin(point, rotation_y(turn_y))
        parts += joint(f'at{number}', 'fixed', 'member', f'point{number}', where)
        loops += (
            f'<loop name="tie{number}" frame1="point{number}" frame2="c{number}_tip" '
            'constrain="rx ry rz tx ty tz"/>'
        )
    dyn = reference_dynamics(fd.load_robot(robot_text(chains, HSLM['gravity'], loops, parts)))
    robot = dyn.robot
    q = robot.neutral_configuration()
    names = [name for each in robot.joints for name in each.position_names]
    for number, chain in enumerate(chains, 1):
        turn_y = -np.pi / 6 - (number - 1) * 2 * np.pi / 3
        q[[names.index(n) for n in chain.coordinates]] = [turn_y, TILT, REACH, 0, -TILT]
    return dyn, q, chains


def rotation_y(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def places_of(robot, chain):
    return [robot.joint_names.index(name) for name in chain.coordinates]


def test_the_hslm_mechanism_falls():
    """No joint forces: the chains even push the member down."""
    dyn, q, chains = hslm()
    assert np.abs(dyn.loop_gaps(q)).max() < 1e-8  # pivots and points have nine digits
    rest = np.zeros(dyn.robot.nv)
    expected = HSLM['expected']['case1_no_joint_forces']
    qdd = dyn.forward_dynamics(q, rest, rest)
    member = dyn.jacobian(q, 'member') @ qdd
    assert member[1] == pytest.approx(-expected['reference_acceleration_downward'], abs=6e-8)
    forces = dyn.constraint_forces(q, rest, rest)
    for number, chain in enumerate(chains):
        close(qdd[places_of(dyn.robot, chain)], expected['qdd_each_chain'], 1.2e-7)
        tip = forces[6 * number: 6 * number + 6]
        close(tip, HSLM['expected']['case1_tip_force_tip_frame'], 2e-7)
        down = -tip[4]
        assert down == pytest.approx(expected['downward_force_on_reference_by_each_chain'],
                                     abs=6e-8)


def test_the_hslm_mechanism_stands():
    dyn, q, chains = hslm()
    tau, rest = np.zeros(dyn.robot.nv), np.zeros(dyn.robot.nv)
    printed = HSLM['expected']['case2_static_equilibrium']['tau_each_chain']
    exact = [
        0, 20 * 0.5 * H / REACH + 5 * H + 0.25,
        -(20 + 5 + 50 / 3) / REACH - 50 / 3 * H * H / REACH, 0, 0.25,
    ]
    close(exact, printed, 6e-7)
    for chain in chains:
        tau[places_of(dyn.robot, chain)] = printed
    close(dyn.forward_dynamics(q, rest, tau), rest, 1e-6)


def test_freedoms_of_the_hslm_mechanism():
    dyn, q, _ = hslm()
    report = dyn.loop_report(q)
    assert report.degrees_of_freedom == HSLM['expected']['dof_of_reference_member'] == 3
    assert (report.rank, report.redundant, report.singular) == (18, 0, False)


def test_the_hslm_mechanism_under_a_side_load():
    """Where the work's recipe breaks the constraints."""
    dyn, q, chains = hslm()
    rest = np.zeros(dyn.robot.nv)
    expected = HSLM['expected']['asymmetric_load_10N_x']
    qdd = dyn.forward_dynamics(q, rest, rest, wrenches={'member': [10, 0, 0, 0, 0, 0]})
    close(turned(dyn.jacobian(q, 'member') @ qdd), expected['a_r_correct'], 2e-6)
    for chain, own in zip(chains, expected['qdd_chains']):
        close(qdd[places_of(dyn.robot, chain)], own, 2e-6)
