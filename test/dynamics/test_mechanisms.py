# SPDX-License-Identifier: Apache-2.0
"""Mechanisms with loops against closed forms: four-bar linkage, Stewart platform, HSLM, delta."""

from functools import lru_cache
from pathlib import Path

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.errors import LoopsCannotClose
import numpy as np
from oracles.compare import load_data
from oracles.compare import reference_dynamics
from oracles.gimbal_chain import body
from oracles.gimbal_chain import Chain
from oracles.gimbal_chain import joint
from oracles.gimbal_chain import origin
from oracles.gimbal_chain import robot_text
import pytest
from scipy.optimize import minimize
import xacro

URDF = Path(__file__).resolve().parents[2] / 'urdf'
CRANK, COUPLER, ROCKER, GROUND, LINE_DENSITY = 0.3, 0.9, 0.7, 1.0, 2.0


@lru_cache(maxsize=None)
def mechanism(name, **arguments):
    """Return the robot of an example mechanism."""
    text = xacro.process_file(str(URDF / f'{name}.urdf.xacro'), mappings=arguments).toprettyxml()
    return fd.load_robot(text)


# --- four-bar ---------------------------------------------------------------------------------


def four_bar_angles(crank):
    """Return the angles of crank, coupler and rocker from the ground line."""
    pin = CRANK * np.array([np.cos(crank), np.sin(crank)])
    across = np.array([GROUND, 0.0]) - pin
    d = np.hypot(*across)
    coupler = np.arctan2(across[1], across[0]) + np.arccos(
        (COUPLER**2 + d * d - ROCKER**2) / (2 * COUPLER * d))
    end = pin + COUPLER * np.array([np.cos(coupler), np.sin(coupler)]) - [GROUND, 0.0]
    return np.array([crank, coupler, np.arctan2(end[1], end[0])])


def four_bar_state(crank, rate, acceleration):
    """Return absolute angles, rates and accelerations: the textbook's loop equations."""
    angles = four_bar_angles(crank)
    (s2, s3, s4), (c2, c3, c4) = np.sin(angles), np.cos(angles)
    system = np.array([[-COUPLER * s3, ROCKER * s4], [COUPLER * c3, -ROCKER * c4]])
    w3, w4 = np.linalg.solve(system, rate * np.array([CRANK * s2, -CRANK * c2]))
    right = acceleration * np.array([CRANK * s2, -CRANK * c2])
    right += CRANK * rate**2 * np.array([c2, s2]) + COUPLER * w3**2 * np.array([c3, s3])
    right -= ROCKER * w4**2 * np.array([c4, s4])
    a3, a4 = np.linalg.solve(system, right)
    return angles, np.array([rate, w3, w4]), np.array([acceleration, a3, a4])


def four_bar_torque(crank, rate, acceleration, gravity=9.81):
    """Return the crank's torque by the power of inertia and weight of three uniform rods."""
    angles, rates, accelerations = four_bar_state(crank, rate, acceleration)
    lengths = np.array([CRANK, COUPLER, ROCKER])
    pins = [np.zeros(2)] * 2

    def moving(k, half):
        """Return velocity and acceleration along rod k, from its first pin on."""
        n = np.array([np.cos(angles[k]), np.sin(angles[k])])
        t = np.array([-n[1], n[0]])
        length = half * lengths[k]
        return length * rates[k] * t, length * (accelerations[k] * t - rates[k]**2 * n)

    power = 0.0
    for k, start in ((0, None), (1, 0), (2, None)):
        velocity, acc = moving(k, 0.5)
        if start is not None:
            pins = moving(start, 1.0)
            velocity, acc = velocity + pins[0], acc + pins[1]
        mass = LINE_DENSITY * lengths[k]
        power += mass * (acc + [0.0, gravity]) @ velocity
        power += mass * lengths[k]**2 / 12 * accelerations[k] * rates[k]
    return power / rate


def joint_values(crank, rate=0.0, acceleration=0.0):
    """Return our coordinates (crank, coupler against crank, rocker) of a crank's motion."""
    start = four_bar_angles(1.0)
    angles, rates, accelerations = four_bar_state(crank, rate, acceleration)
    relative = np.array([[1, 0, 0], [-1, 1, 0], [0, 0, 1]])
    turned = np.mod(angles - start + np.pi, 2 * np.pi) - np.pi
    return relative @ turned, relative @ rates, relative @ accelerations


@pytest.mark.parametrize('constrain', ['tx tz', 'tx ty tz', 'rx rz tx ty tz'])
def test_torque_of_the_crank(constrain):
    """The actuated joint's torque of a motion, with constraints that repeat each other too."""
    dyn = reference_dynamics(mechanism('four_bar', constrain=constrain))
    for crank, rate, acceleration in ((1.0, 2.0, 3.0), (2.5, -4.0, 1.0), (5.0, 7.0, -20.0)):
        q, qd, qdd = joint_values(crank, rate, acceleration)
        assert np.abs(dyn.loop_gaps(q)).max() < 1e-14
        tau = dyn.inverse_dynamics(q, qd, qdd)
        expected = four_bar_torque(crank, rate, acceleration)
        assert tau[0] == pytest.approx(expected, abs=1e-9 * max(1.0, abs(expected)))
        assert np.array_equal(tau[1:], [0.0, 0.0])
        np.testing.assert_allclose(dyn.forward_dynamics(q, qd, tau), qdd, rtol=1e-9, atol=1e-9)


def test_pin_force_by_the_free_rocker():
    """The force on the coupler's end is what turns the rocker about its ground pin."""
    dyn = reference_dynamics(mechanism('four_bar'))
    q, qd, qdd = joint_values(2.0, 3.0, 4.0)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    force = -dyn.constraint_forces(q, qd, tau)  # on the rocker
    angles, _, accelerations = four_bar_state(2.0, 3.0, 4.0)
    across = np.array([-np.sin(angles[2]), np.cos(angles[2])])
    # The pin's axes are those of the rocker's end frame, which turn with the rocker.
    turned = dyn.frame_pose(q, 'rocker_pin')[np.ix_([0, 2], [0, 2])]
    mass = LINE_DENSITY * ROCKER
    moment = mass * ROCKER**2 / 3 * accelerations[2] + mass * 9.81 * ROCKER / 2 * np.cos(angles[2])
    assert ROCKER * across @ (turned @ force) == pytest.approx(moment, rel=1e-10)


def test_drift_over_a_minute():
    """Sixty seconds of a turning crank in coarse steps: the loop stays closed."""
    dyn = fd.Dynamics(mechanism('four_bar'), backend='python')
    q, qd, _ = joint_values(1.0, 6.0)
    run = fd.simulate(dyn, q, qd, None, 60.0, 0.03)
    assert np.ptp(run.q[:, 0]) > 50.0
    gaps = [np.abs(dyn.loop_gaps(q)).max() for q in run.q[::20]]
    assert max(gaps) < 1e-12
    assert np.abs(run.energy - run.energy[0]).max() < 0.2 * np.ptp(run.kinetic)


@pytest.mark.parametrize('drift, gains, limit', [
    ('projection', None, 1e-13), ('force', (2e3, 60.0), 1e-4), ('baumgarte', None, 1e-5),
    ('none', None, 1e-3),
])
def test_ways_to_hold_the_drift(drift, gains, limit):
    """Each holds it, and all four simulate the same motion."""
    dyn = fd.Dynamics(mechanism('four_bar'), backend='python')
    q, qd, _ = joint_values(1.0, 6.0)
    run = fd.simulate(dyn, q, qd, None, 1.0, 5e-3, drift=drift, drift_gains=gains)
    assert np.abs(dyn.loop_gaps(run.q[-1])).max() < limit
    exact = fd.simulate(dyn, q, qd, None, 1.0, 2e-3)
    np.testing.assert_allclose(run.q[-1], exact.q[-1], atol=5e-3)


def test_an_open_loop_is_pulled_shut():
    """From a gap that projection is not allowed to close: the signs of both forces."""
    dyn = fd.Dynamics(mechanism('four_bar'), backend='python')
    q, qd, _ = joint_values(1.0)
    q = q + [0.0, 2e-4, 0.0]
    gap = np.abs(dyn.loop_gaps(q)).max()
    for drift, gains in (('force', (4e4, 400.0)), ('baumgarte', (400.0, 40.0))):
        run = fd.simulate(dyn, q, qd, None, 0.4, 2e-3, drift=drift, drift_gains=gains)
        assert np.abs(dyn.loop_gaps(run.q[-1])).max() < 0.05 * gap
    run = fd.simulate(dyn, q, qd, None, 0.4, 2e-3, drift='none')
    assert np.abs(dyn.loop_gaps(run.q[-1])).max() > 0.5 * gap


def test_arguments_of_simulate():
    dyn = reference_dynamics(mechanism('four_bar'))
    q, qd, _ = joint_values(1.0)
    for given, word in (
        ({'drift': 'glue'}, 'drift'), ({'drift_gains': (1, 2)}, 'drift_gains'),
        ({'drift': 'force', 'drift_gains': (1,)}, 'drift_gains'),
        ({'drift': 'force', 'drift_gains': (-1, 1)}, 'drift_gains'),
    ):
        with pytest.raises(ArgumentError, match=word):
            fd.simulate(dyn, q, qd, None, 0.01, 1e-3, **given)
    with pytest.raises(ArgumentError, match=r'q0.*pin/t.*dyn.project'):
        fd.simulate(dyn, q + [0.1, 0, 0], qd, None, 0.01, 1e-3)
    with pytest.raises(ArgumentError, match=r'qd0.*dyn.project'):
        fd.simulate(dyn, q, qd + [1, 0, 0], None, 0.01, 1e-3)
    open_arm = reference_dynamics(mechanism('two_link_arm', modes='0'))
    with pytest.raises(ArgumentError, match='<loop>'):
        fd.simulate(open_arm, [0, 0], [0, 0], None, 0.01, 1e-3, drift='none')


# --- states -----------------------------------------------------------------------------------


def test_projection_is_the_nearest():
    """Against a general constrained minimiser."""
    dyn = reference_dynamics(mechanism('four_bar'))
    start = joint_values(2.0)[0] + [0.3, -0.2, 0.25]
    q, qd = dyn.project(start, [1.0, 2.0, -1.0])
    found = minimize(
        lambda x: np.sum((x - start) ** 2), q + 0.01, method='SLSQP', tol=1e-14,
        constraints={'type': 'eq', 'fun': dyn.loop_gaps},
    )
    np.testing.assert_allclose(q, found.x, atol=1e-6)
    a = dyn.loop_jacobian(q)
    free = np.linalg.svd(a)[2][-1]
    np.testing.assert_allclose(qd, free * (free @ [1.0, 2.0, -1.0]), atol=1e-12)


def test_projection_with_a_coordinate_held():
    dyn = reference_dynamics(mechanism('four_bar'))
    wanted = joint_values(2.0, 3.0)
    start = wanted[0] + [0.0, 0.4, -0.3]
    q, qd = dyn.project(start, [3.0, 0.0, 0.0], hold=['crank'])
    np.testing.assert_allclose(q, wanted[0], atol=1e-10)
    np.testing.assert_allclose(qd, wanted[1], atol=1e-10)


def test_where_no_state_closes():
    """A crank held where the coupler cannot reach, with a rocker held too."""
    dyn = reference_dynamics(mechanism('four_bar'))
    with pytest.raises(LoopsCannotClose, match=r'"pin" does not close: it is off by .* m in '):
        dyn.project(joint_values(1.0)[0] + [0, 0, 2.5], np.zeros(3), hold=['crank', 'rocker'])
    text = xacro.process_file(str(URDF / 'four_bar.urdf.xacro')).toprettyxml()
    text = text.replace('xyz="0.9 0 0"', 'xyz="0.1 0 0"')
    short = fd.load_robot(text.replace('xyz="0.7 0 0"', 'xyz="0.3 0 0"'))
    with pytest.raises(LoopsCannotClose) as caught:
        reference_dynamics(short).project(np.zeros(3), np.zeros(3))
    assert caught.value.loop == 'pin'
    # Stretched towards each other, the bars leave a gap.
    assert np.hypot(*caught.value.gaps.values()) == pytest.approx(1.0 - 0.3 - 0.1 - 0.3, abs=1e-3)


def parallelogram(third=False):
    """Return a parallelogram linkage, singular when flat; with a third crank it is redundant."""
    rod = (0.5, 0, 0), (0.001, 0.09, 0.09)
    text, cranks = '', (0.0, 1.0, 2.0) if third else (0.0, 2.0)
    for k, x in enumerate(cranks):
        axis = '<axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="1" velocity="1"/>'
        text += body(f'crank{k}', 1.0, *rod)
        text += joint(f'crank{k}', 'revolute', 'base', f'crank{k}', origin((x, 0, 0)), axis)
    text += body('bar', 2.0, (1.0, 0, 0), (0.001, 0.7, 0.7))
    text += joint('bar', 'revolute', 'crank0', 'bar', origin((1, 0, 0)), axis)
    loops = ''
    for k, x in list(enumerate(cranks))[1:]:
        text += f'<link name="end{k}"/>' + joint(
            f'end{k}', 'fixed', f'crank{k}', f'end{k}', origin((1, 0, 0)))
        text += f'<link name="hole{k}"/>' + joint(
            f'hole{k}', 'fixed', 'bar', f'hole{k}', origin((x, 0, 0)))
        loops += f'<loop name="pin{k}" frame1="hole{k}" frame2="end{k}" constrain="tx ty"/>'
    return fd.load_robot(
        f'<robot name="p"><link name="base"/>{text}<flexdyn version="1.0">'
        f'<gravity xyz="0 -9.81 0"/>{loops}</flexdyn></robot>')


def test_a_singular_configuration_is_found_and_solved(caplog):
    """Flat, a parallelogram can move two ways; nothing blows up, and it is said."""
    dyn = reference_dynamics(parallelogram())
    names = dyn.robot.joint_names
    q = np.zeros(3)
    report = dyn.loop_report(q)
    assert report.singular and not report.redundant
    assert (report.rank, report.usual_rank, report.degrees_of_freedom) == (1, 2, 2)
    assert report.dependent
    qdd = dyn.forward_dynamics(q, np.zeros(3), np.zeros(3))
    assert np.isfinite(qdd).all() and np.abs(qdd).max() < 100.0
    assert 'rank 1' in caplog.text
    bent = np.zeros(3)
    bent[[names.index('crank0'), names.index('crank1')]] = 0.7
    bent[names.index('bar')] = -0.7
    assert not dyn.loop_report(bent).singular
    # Two cranks turn about their pins, and the bar moves on a circle.
    inertia = 2 * (0.09 + 0.25) + 2.0
    pull = 9.81 * (2 * 0.5 + 2.0) * np.cos(0.7)
    qdd = dyn.forward_dynamics(bent, np.zeros(3), np.zeros(3))
    assert qdd[names.index('crank0')] == pytest.approx(-pull / inertia, rel=1e-10)


def test_constraints_that_repeat_each_other_only_when_closed():
    """Three cranks: the dependence holds on closed configurations, and through a simulation."""
    dyn = fd.Dynamics(parallelogram(third=True), backend='python')
    names = dyn.robot.joint_names
    q = np.array([-0.7 if name == 'bar' else 0.7 for name in names])
    report = dyn.loop_report(q)
    assert (report.redundant, report.rank, report.degrees_of_freedom) == (1, 3, 1)
    # A little open, the constraints only look independent.
    qdd = dyn.forward_dynamics(q, np.zeros(4), np.zeros(4))
    for seed in range(5):
        off = 1e-5 * np.random.default_rng(seed).normal(size=4)
        near = dyn.forward_dynamics(q + off, np.zeros(4), np.zeros(4))
        np.testing.assert_allclose(near, qdd, atol=1e-2)
    run = fd.simulate(dyn, q, np.zeros(4), None, 1.0, 1e-2)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-3
    cranks = [k for k, name in enumerate(names) if name != 'bar']
    np.testing.assert_allclose(run.q[-1, cranks], run.q[-1, cranks[0]], atol=1e-10)
    inertia, pull = 3 * 0.34 + 2.0, 9.81 * (3 * 0.5 + 2.0)
    energy = 0.5 * inertia * run.qd[:, cranks[0]]**2 + pull * np.sin(run.q[:, cranks[0]])
    np.testing.assert_allclose(energy, energy[0], atol=1e-3)


# --- one rotation held ------------------------------------------------------------------------


def shafts():
    """Return two shafts on universal mounts whose turns about x a loop makes equal."""
    axis = '<axis xyz="{}"/><limit lower="-9" upper="9" effort="1" velocity="1"/>'
    text = ''
    for side in 'ab':
        parent = 'base'
        for k, along in enumerate(('0 0 1', '0 1 0', '1 0 0')):
            name = f'{side}{k}'
            text += body(name, 0.5 + k, (0.1, 0.02 * k, -0.03), (0.02, 0.03, 0.04))
            text += joint(name, 'revolute', parent, name, origin((0, 0, 0)), axis.format(along))
            parent = name
    loop = '<loop name="cv" frame1="a2" frame2="b2" constrain="rx"/>'
    return fd.load_robot(
        f'<robot name="s"><link name="base"/>{text}'
        f'<flexdyn version="1.0">{loop}</flexdyn></robot>')


def test_one_rotation_is_a_constant_velocity_joint():
    """Shafts at an angle turn at equal rates, and the constraint is that of its place."""
    dyn = reference_dynamics(shafts())
    names = list(dyn.robot.joint_names)
    q, qd = np.zeros(6), np.zeros(6)
    q[names.index('a0')], q[names.index('b0')] = 0.4, -0.3
    q[names.index('a2')] = q[names.index('b2')] = 0.9
    assert np.abs(dyn.loop_gaps(q)).max() < 1e-14
    a = dyn.loop_jacobian(q)[0]
    assert a[names.index('a2')] == pytest.approx(-a[names.index('b2')], rel=1e-12)
    qd = np.random.default_rng(3).normal(size=6)
    q, qd = dyn.project(q + 0.2 * np.random.default_rng(4).normal(size=6), qd)
    h = 1e-5
    tau = np.random.default_rng(5).normal(size=6)
    qdd = dyn.forward_dynamics(q, qd, tau)
    gaps = [
        dyn.loop_gaps(q + s * qd + 0.5 * s * s * qdd)[0] for s in (-2 * h, -h, 0.0, h, 2 * h)
    ]
    rate = (gaps[0] - 8 * gaps[1] + 8 * gaps[3] - gaps[4]) / (12 * h)
    second = (-gaps[0] + 16 * gaps[1] - 30 * gaps[2] + 16 * gaps[3] - gaps[4]) / (12 * h * h)
    assert abs(rate) < 1e-9
    assert abs(second) < 1e-4
    run = fd.simulate(dyn, q, qd, None, 0.3, 5e-3, drift='none')
    assert np.abs(dyn.loop_gaps(run.q[-1])).max() < 1e-6
    assert np.abs(run.energy - run.energy[0]).max() < 1e-5 * max(1.0, np.ptp(run.kinetic))


# --- prescribed motion of the closing frames --------------------------------------------------


def test_frames_that_are_moved_apart():
    """A pin that is driven along x: the gap follows the double integral, projected too."""
    dyn = fd.Dynamics(mechanism('four_bar'), backend='python')
    q, qd, _ = joint_values(1.0, 1.0)

    def driven(t):
        return {'pin': [0.5 * np.cos(5.0 * t), 0.0]}

    run = fd.simulate(dyn, q, qd, None, 0.5, 5e-3, loop_accelerations=driven)
    gaps = np.array([dyn.loop_gaps(q) for q in run.q])
    np.testing.assert_allclose(gaps[:, 0], 0.5 / 25 * (1 - np.cos(5.0 * run.t)), atol=1e-8)
    np.testing.assert_allclose(gaps[:, 1], 0.0, atol=1e-8)
    free = fd.simulate(dyn, q, qd, None, 0.5, 5e-3, loop_accelerations=driven, drift='none')
    np.testing.assert_allclose(free.q[-1], run.q[-1], atol=1e-5)
    force = fd.simulate(
        dyn, q, qd, None, 0.5, 5e-3, loop_accelerations={'pin': [0.1, 0.0]}, drift='baumgarte')
    assert dyn.loop_gaps(force.q[-1])[0] == pytest.approx(0.5 * 0.1 * 0.25, abs=1e-6)


# --- Stewart platform -------------------------------------------------------------------------


@lru_cache(maxsize=None)
def stewart(leg_mass):
    """Return a platform on six sliding legs, and feet and hips [m]."""
    angles = np.radians([10, 110, 130, 230, 250, 350])
    feet = np.stack((np.cos(angles), np.sin(angles), 0 * angles), axis=1)
    angles = np.radians([50, 70, 170, 190, 290, 310])
    hips = 0.6 * np.stack((np.cos(angles), np.sin(angles), 0 * angles), axis=1)
    height = np.array([0, 0, 1.1])
    parts = body('platform', 4.0, (0, 0, 0.05), (0.3, 0.4, 0.5))
    parts += joint('floats', 'floating', 'base', 'platform', origin(height))
    legs, loops, lengths, motors = [], '', [], ''
    for k, (foot, hip) in enumerate(zip(feet, hips)):
        along = hip + height - foot
        length = np.linalg.norm(along)
        x = along / length
        y = np.cross([0, 0, 1], x)
        y /= np.linalg.norm(y)
        gamma = [0, 0, 0, length, 0, 0]
        link = {'gamma': gamma, 'axes': [1, 2, 3], 'mass': leg_mass, 'com': [0.4, 0, 0],
                'inertia_com': [leg_mass * m for m in (0.001, 0.05, 0.05)]}
        turn = np.stack((x, y, np.cross(x, y)), axis=1)
        legs.append(Chain([link], base=foot, prefix=f'leg{k}_', orientation=turn))
        parts += f'<link name="hip{k}"/>' + joint(
            f'hip{k}', 'fixed', 'platform', f'hip{k}', origin(hip))
        loops += f'<loop name="ball{k}" frame1="hip{k}" frame2="leg{k}_tip" constrain="tx ty tz"/>'
        lengths.append(length)
        motors += f' leg{k}_joint1/tx'
    loops += f'<actuated joints="{motors.strip()}"/>'
    robot = fd.load_robot(robot_text(legs, (0, 0, -9.81), loops, parts))
    q = robot.neutral_configuration()
    names = [name for each in robot.joints for name in each.position_names]
    for k, length in enumerate(lengths):
        q[names.index(f'leg{k}_joint1/tx')] = length
    return robot, q, feet, hips + height


def test_forces_of_a_stewart_platform():
    """Nearly massless legs carry a platform that accelerates: six forces along six lines."""
    robot, q, feet, hips = stewart(1e-9)
    dyn = reference_dynamics(robot)
    report = dyn.loop_report(q)
    assert (report.rank, report.degrees_of_freedom, report.actuated) == (18, 6, 6)
    # The twist of the platform gives all accelerations at rest.
    twist = np.array([0.3, -0.2, 0.5, 1.0, -0.4, 0.7])  # of the platform's frame, linear first
    a = dyn.loop_jacobian(q)
    first = robot.joint_names.index('floats/tx')
    qdd = np.zeros(robot.nv)
    qdd[first: first + 6] = twist
    others = [k for k in range(robot.nv) if not first <= k < first + 6]
    qdd[others] = np.linalg.solve(a[:, others], -a[:, first: first + 6] @ twist)
    tau = dyn.inverse_dynamics(q, np.zeros(robot.nv), qdd)
    lines = (hips - feet) / np.linalg.norm(hips - feet, axis=1)[:, None]
    centre = np.array([0, 0, 1.15])
    acceleration = twist[:3] + np.cross(twist[3:], [0, 0, 0.05])
    force = 4.0 * (acceleration + [0, 0, 9.81])
    moment = np.array([0.3, 0.4, 0.5]) * twist[3:]
    wrench = np.concatenate((lines.T, np.cross(hips - centre, lines).T))
    expected = np.linalg.solve(wrench, np.concatenate((force, moment)))
    ours = [tau[robot.joint_names.index(f'leg{k}_joint1/tx')] for k in range(6)]
    np.testing.assert_allclose(ours, expected, rtol=1e-6)
    assert np.count_nonzero(tau) == 6
    heavy = reference_dynamics(stewart(0.8)[0])
    tau = heavy.inverse_dynamics(q, np.zeros(robot.nv), qdd)
    np.testing.assert_allclose(
        heavy.forward_dynamics(q, np.zeros(robot.nv), tau), qdd, atol=1e-8)
    inertia = dyn.operational_space_inertia(q, 'platform')
    # The legs weigh nothing: what the platform's frame meets is the platform.
    np.testing.assert_allclose(inertia[:3, :3], 4.0 * np.eye(3), atol=1e-6)
    np.testing.assert_allclose(np.diag(inertia)[3:], [0.31, 0.41, 0.5], atol=1e-6)


# --- HSLM mechanism ---------------------------------------------------------------------------

CONTROL = load_data('van_der_merwe')['hslm_control']


@lru_cache(maxsize=None)
def one_leg():
    """Return one leg with a third of the platform on a guide: the mechanism's symmetry."""
    data = load_data('van_der_merwe')['hslm']
    run = 1 / np.sqrt(3) - 0.15
    reach, tilt = np.hypot(1, run), -np.arctan2(1, run)
    links = [
        {**data['links'][0], 'gamma': [0, 0, tilt, reach, 0, 0], 'axes': [2, 3]},
        {**data['links'][1], 'gamma': [0, 0, -tilt, 0.1, 0, 0], 'axes': [2]},
    ]
    parts = body('third', data['member']['mass'] / 3, (0, 0, 0), (0.1, 0.1, 0.1))
    parts += joint('carried', 'fixed', 'tip', 'third', origin((0, 0, 0)))
    parts += '<link name="guide"/>'
    parts += joint('guide', 'fixed', 'base', 'guide', origin((run + 0.1, 0, 0)))
    loop = '<loop name="guide" frame1="tip" frame2="guide" constrain="rz tx"/>'
    text = robot_text([Chain(links, base=(0, 1, 0))], data['gravity'], loop, parts)
    dyn = fd.Dynamics(fd.load_robot(text), backend='python')
    return dyn, np.array([tilt, reach, -tilt])


def controlled(target, joints, t_end, start=(0.0, 0.0, 0.0), h=5e-3):
    """Return heights of the platform and forces under the work's PID control, by RK4."""
    dyn, q = one_leg()
    gains = [CONTROL['gains'][name] for name in ('proportional', 'integral', 'derivative')]
    chosen = np.zeros(3)
    chosen[joints] = 1.0

    def force(q, qd, integral):
        return chosen * (gains[0] * (target - q) + integral - gains[2] * qd)

    def rate(y):
        q, qd, integral = y[:3], y[3:6], y[6:]
        qdd = dyn.forward_dynamics(q, qd, force(q, qd, integral))
        return np.concatenate((qd, qdd, chosen * gains[1] * (target - q)))

    y = np.concatenate((q, np.zeros(3), start))
    heights, forces = [], []
    for _ in range(int(round(t_end / h)) + 1):
        heights.append(dyn.frame_pose(y[:3], 'tip')[1, 3])
        forces.append(force(y[:3], y[3:6], y[6:]))
        k1 = rate(y)
        k2 = rate(y + h / 2 * k1)
        k3 = rate(y + h / 2 * k2)
        k4 = rate(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        y[:3], y[3:6] = dyn.project(y[:3], y[3:6])
    return np.array(heights), np.array(forces)


@pytest.mark.parametrize('name, joints', [('sim1', [1, 2]), ('sim1_prismatic_only', [1])])
def test_the_controller_holds_the_mechanism(name, joints):
    """It drops, stops, and creeps back as the integral grows."""
    expected = CONTROL['expected'][name]
    heights, _ = controlled(one_leg()[1], joints, 1.0)
    lowest = int(np.argmin(heights))
    assert heights[lowest] == pytest.approx(expected['min_y'], rel=0.02)
    assert lowest * 5e-3 == pytest.approx(expected['at_t'], abs=0.011)
    if 'y_at_1s' in expected:
        assert heights[-1] == pytest.approx(expected['y_at_1s'], rel=0.02)
    assert heights[-1] > 0.3 * heights[lowest]


@pytest.mark.parametrize('name, joints, held', [
    ('sim2', [1, 2], 'sim1'), ('sim3', [1], 'sim1_prismatic_only'),
])
def test_the_controller_lifts_the_mechanism(name, joints, held):
    """A quarter of a metre up, with some overshoot."""
    expected, at_rest = CONTROL['expected'][name], CONTROL['expected'][held]
    points = CONTROL['setpoints']
    target = np.array([points['Rot_z1'], points['Disp_x1'], points['Rot_z2']])
    start = np.array([0.0, at_rest['final_prismatic_force'],
                      at_rest.get('final_rot_z2_moment', 0.0)])
    heights, forces = controlled(target, joints, 1.0, start)
    assert forces[0, 1] == pytest.approx(expected['initial_prismatic_force'], rel=1e-4)
    if 2 in joints:
        assert forces[0, 2] == pytest.approx(expected['initial_rot_z2_moment'], rel=1e-4)
    highest = int(np.argmax(heights))
    assert heights[highest] == pytest.approx(expected['max_y'], rel=0.02)
    assert highest * 5e-3 == pytest.approx(expected['at_t'], abs=0.011)
    assert heights[-1] == pytest.approx(expected['y_at_1s'], rel=0.02)


def test_set_points_that_contradict_each_other_make_forces_grow():
    """A thousandth of a radian, and the two integrals pull against each other without end."""
    wanted = CONTROL['expected']['sim2_with_rot_z2_setpoint_off_by_1e-3_rad']
    at_rest, points = CONTROL['expected']['sim1'], CONTROL['setpoints']
    target = np.array([points['Rot_z1'], points['Disp_x1'], points['Rot_z2'] + 1e-3])
    start = np.array([0.0, at_rest['final_prismatic_force'], at_rest['final_rot_z2_moment']])
    heights, forces = controlled(target, [1, 2], 3.5, start, h=1e-2)
    slope = (forces[-1] - forces[-51]) / 0.5
    assert slope[1] == pytest.approx(wanted['prismatic_force_slope_N_per_s'], rel=0.02)
    assert slope[2] == pytest.approx(wanted['rot_z2_moment_slope_Nm_per_s'], rel=0.02)
    assert heights[-1] == pytest.approx(wanted['y_final'], abs=1e-3)


def test_the_whole_mechanism_moves_as_one_leg():
    """The example robot under the same three forces falls as its symmetric third."""
    dyn = reference_dynamics(mechanism('hslm'))
    robot = dyn.robot
    tau = np.zeros(robot.nv)
    tau[[robot.joint_names.index(f'leg{k}/tx') for k in (1, 2, 3)]] = -30.0
    run = fd.simulate(dyn, np.zeros(15), np.zeros(15), tau, 0.1, 2e-2)
    leg, q = one_leg()
    third = fd.simulate(leg, q, np.zeros(3), [0.0, -30.0, 0.0], 0.1, 2e-2)
    height = dyn.frame_pose(run.q[-1], 'tip')[2, 3]
    assert height == pytest.approx(leg.frame_pose(third.q[-1], 'tip')[1, 3], abs=1e-8)
    assert np.abs(dyn.loop_gaps(run.q[-1])).max() < 1e-12


# --- delta ------------------------------------------------------------------------------------


def test_the_delta_holds_its_platform_level():
    """Rigid arms: motors anywhere, the platform stays level; its weight by virtual work."""
    dyn = reference_dynamics(mechanism('delta', modes='0'))
    robot = dyn.robot
    motors = [f'motor{k}' for k in (1, 2, 3)]
    q = np.zeros(robot.nv)
    for value, name in zip((0.2, -0.1, 0.15), motors):
        q[robot.joint_names.index(name)] = value
    q, qd = dyn.project(q, np.zeros(robot.nv), hold=motors)
    np.testing.assert_allclose(dyn.frame_pose(q, 'tool')[:3, :3], np.eye(3), atol=1e-9)
    tau = dyn.inverse_dynamics(q, qd, 0 * qd)
    moved = np.flatnonzero(tau)
    assert [robot.joint_names[k] for k in moved] == motors
    # Virtual work: the torque of each motor is the slope of the energy along its motion.
    for k in moved:
        rate = np.zeros(robot.nv)
        rate[k] = 1.0
        _, way = dyn.project(q, rate, hold=motors)
        slope = dyn.gravity_vector(q) @ way
        assert tau[k] == pytest.approx(slope, rel=1e-9)


def test_the_flexible_delta_vibrates_and_keeps_its_energy():
    robot = mechanism('delta', damping_ratio='0')
    dyn = fd.Dynamics(robot, backend='reference')
    q, qd = robot.neutral_configuration(), np.zeros(robot.nv)
    q[-1] = 2e-3
    q, qd = dyn.project(q, qd, hold=['arm1/bending_z1', 'motor1', 'motor2', 'motor3'])
    report = dyn.loop_report(q)
    assert (report.degrees_of_freedom, report.rank) == (5, 12)
    run = fd.simulate(dyn, q, qd, None, 4e-3, 2e-4)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-3 * np.ptp(run.kinetic)
    assert np.ptp(run.q[:, -1]) > 1e-3


# --- loops on bases that move -----------------------------------------------------------------


def based(motion, extra=''):
    """Return the four-bar linkage on a base that moves."""
    text = xacro.process_file(str(URDF / 'four_bar.urdf.xacro')).toprettyxml()
    base = body('base', 3.0, (0.5, 0, 0), (0.2, 0.3, 0.4))
    text = text.replace('<link name="base"/>', base)
    return fd.load_robot(text.replace('<loop ', f'<base motion="{motion}"/>{extra}<loop '))


def test_a_floating_mechanism_keeps_its_momentum():
    """No gravity: the whole floats, and its inner motion moves no centre of mass."""
    robot = based('free', '<gravity xyz="0 0 0"/>')
    dyn = reference_dynamics(robot)
    assert dyn.loop_report(robot.neutral_configuration()).degrees_of_freedom == 7
    q, qd = robot.neutral_configuration(), np.zeros(robot.nv)
    qd[6:] = joint_values(1.0, 3.0)[1]
    q, qd = dyn.project(q, qd)
    run = fd.simulate(dyn, q, qd, None, 0.3, 1e-2)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-5 * run.energy[0]
    for k in (0, -1):
        at, rate = run.q[k], run.qd[k]
        turn = dyn.frame_pose(at, 'base')[:3, :3]
        momentum = turn @ (dyn.mass_matrix(at) @ rate)[:3]
        if k == 0:
            start = momentum
    np.testing.assert_allclose(momentum, start, atol=1e-5)
    # Its own motion needs no wrench on the base, and inverse dynamics asks for none.
    tau = np.zeros(robot.nv)
    tau[6] = 0.7
    qdd = dyn.forward_dynamics(q, qd, tau)
    np.testing.assert_allclose(dyn.inverse_dynamics(q, qd, qdd), tau, atol=1e-9)


def test_a_mechanism_on_a_base_that_accelerates():
    """A lift that rises is gravity that grows; the base's wrench carries the whole weight."""
    still, robot = mechanism('four_bar'), based('prescribed')
    dyn, fixed = reference_dynamics(robot), reference_dynamics(still)
    q, qd, _ = joint_values(2.0, 3.0)
    at, rate = np.r_[np.zeros(6), 1.0, q], np.r_[np.zeros(6), qd]
    tau, lift = np.array([0.4, 0.0, 0.0]), np.array([0.0, 0, 2.0, 0, 0, 0])
    fixed.set_gravity((0, 0, -11.81))
    expected = fixed.forward_dynamics(q, qd, tau)
    forces = np.r_[np.zeros(6), tau]
    qdd = dyn.forward_dynamics(at, rate, forces, base_acceleration=lift)
    np.testing.assert_allclose(qdd, np.r_[lift, expected], atol=1e-10)
    np.testing.assert_allclose(
        dyn.constraint_forces(at, rate, forces, base_acceleration=lift),
        fixed.constraint_forces(q, qd, tau), atol=1e-10,
    )
    own = dyn.inverse_dynamics(at, rate, qdd)
    np.testing.assert_allclose(own[6:], tau, atol=1e-9)
    torques, _ = dyn.hybrid_dynamics(at, rate, qdd)
    np.testing.assert_allclose(torques, own, atol=1e-8)
    run = fd.simulate(dyn, at, rate, forces, 0.1, 5e-3, base_acceleration=lift)
    alone = fd.simulate(fixed, q, qd, tau, 0.1, 5e-3)
    np.testing.assert_allclose(run.q[-1, 7:], alone.q[-1], atol=1e-9)
    np.testing.assert_allclose(run.tau[0, :6], own[:6], atol=1e-8)
    np.testing.assert_allclose(run.q[-1, 2], 0.5 * 2.0 * 0.01, atol=1e-12)


def test_a_body_on_legs():
    """A legged machine: a free base, feet on the ground by loops, motors in the knees."""
    rod = (0.25, 0, 0), (1e-4, 0.01, 0.01)
    axis = '<axis xyz="0 1 0"/><limit lower="-9" upper="9" effort="1" velocity="1"/>'
    parts, loops, motors = body('base', 5.0, (0, 0, 0), (0.1, 0.2, 0.3)), '', ''
    for k, (x, y) in enumerate(((0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2))):
        down = np.array([[0, 0, 1.0], [0, 1, 0], [-1, 0, 0]])
        parts += body(f'thigh{k}', 0.5, *rod) + body(f'shank{k}', 0.3, *rod)
        parts += joint(f'hip{k}', 'floating', 'base', f'thigh{k}', origin((x, y, 0), down))
        parts += joint(f'knee{k}', 'revolute', f'thigh{k}', f'shank{k}', origin((0.5, 0, 0)), axis)
        parts += f'<link name="foot{k}"/>'
        parts += joint(f'ankle{k}', 'fixed', f'shank{k}', f'foot{k}', origin((0.5, 0, 0)))
        loops += f'<multi_axis_joint joint="hip{k}" axes="ry rz"/>'
        loops += f'<loop name="ground{k}" frame1="foot{k}" frame2="world" constrain="tx ty tz"/>'
        motors += f' hip{k} knee{k}'
    # The ground is the resting frame, so each foot is led to where it stands at the start.
    stands = ''
    for k, (x, y) in enumerate(((0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2))):
        loops = loops.replace(f'frame1="foot{k}" frame2="world"',
                              f'frame1="foot{k}" frame2="spot{k}"')
        stands += f'<link name="spot{k}"/>'
        stands += joint(f'stand{k}', 'fixed', 'ground', f'spot{k}', origin((x, y, -0.9)))
    lifted = joint('body', 'floating', 'ground', 'base', origin((0, 0, 0)))
    text = (
        f'<robot name="dog"><link name="ground"/>{parts}{stands}{lifted}<flexdyn version="1.0">'
        f'{loops}<actuated joints="{motors.strip()}"/></flexdyn></robot>'
    )
    robot = fd.load_robot(text)
    dyn = reference_dynamics(robot)
    q = robot.neutral_configuration()
    names = [name for each in robot.joints for name in each.position_names]
    for k in range(4):
        q[names.index(f'hip{k}/ry')], q[names.index(f'knee{k}')] = 0.4, -0.8
    q, qd = dyn.project(q, np.zeros(robot.nv))
    report = dyn.loop_report(q)
    assert (report.rank, report.degrees_of_freedom) == (12, 6)
    tau = dyn.inverse_dynamics(q, qd, 0 * qd)
    first = robot.joint_names.index('body/tx')
    assert np.array_equal(tau[first: first + 6], np.zeros(6))
    np.testing.assert_allclose(dyn.forward_dynamics(q, qd, tau), 0 * qd, atol=1e-8)
    forces = dyn.constraint_forces(q, qd, tau).reshape(4, 3)
    weight = 9.81 * (5.0 + 4 * 0.8)
    np.testing.assert_allclose(forces.sum(axis=0), [0, 0, weight], atol=1e-8)
