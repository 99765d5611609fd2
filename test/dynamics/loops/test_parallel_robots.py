# SPDX-License-Identifier: Apache-2.0
"""A Stewart platform against its statics, and the delta with a flexible arm."""

from functools import lru_cache

import flexdyn_ros as fd
import numpy as np
from oracles.compare import reference_dynamics
from oracles.mechanisms import mechanism
import pytest
from validation.van_der_merwe.gimbal_chain import body, Chain, joint, origin, robot_text


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
    # The legs weigh nothing: the inertia at the platform's frame is the platform's.
    np.testing.assert_allclose(inertia[:3, :3], 4.0 * np.eye(3), atol=1e-6)
    np.testing.assert_allclose(np.diag(inertia)[3:], [0.31, 0.41, 0.5], atol=1e-6)


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
