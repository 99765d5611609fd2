# SPDX-License-Identifier: Apache-2.0
"""Static deflections and steps of vibration along a joint motion, by independent ways."""

from functools import lru_cache
from pathlib import Path
import timeit

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError, NotYetSupported
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import root
from thinned import thinned
import xacro

URDF = Path(__file__).resolve().parents[2] / 'urdf'
# File and arguments of xacro; the first has seven joints and four modes.
ARMS = {
    'seven joints': ('cobot7', {'modes': '2'}),
    'spring tables': ('cobot7', {'elastic_joints': 'true', 'joint_spring': 'strain_wave'}),
    'two links': ('two_link_arm', {'modes': '2'}),
    'segments': ('segmented_arm', {'first_joint': 'revolute', 'damping_ratio': '0.01'}),
}


@lru_cache(maxsize=None)
def arm(name, **arguments):
    """Return one of the arms, some arguments replaced."""
    file, own = ARMS[name]
    text = xacro.process_file(
        str(URDF / f'{file}.urdf.xacro'), mappings={**own, **arguments}).toxml()
    return fd.load_robot(text)


def swing(robot, time, rate=6.0):
    """Return positions, velocities and accelerations of a smooth joint motion."""
    size = 0.3 * np.cos(np.arange(robot.n_joints))
    phase = rate * time + 0.7 * np.arange(robot.n_joints)
    return (size * np.sin(phase), size * rate * np.cos(phase), -size * rate**2 * np.sin(phase))


@pytest.mark.parametrize('name', thinned(ARMS, ('two links', 'segments', 'spring tables')))
def test_the_static_deflection_balances_springs_and_loads(name):
    """Against scipy's root finder on the equations of the other formulation."""
    robot = arm(name)
    other = fd.Dynamics(robot, formulation='kinematic_influence')
    q, qd, qdd = swing(robot, 0.1)
    wrenches = {robot.frame_names[-1]: [3.0, -2.0, 5.0, 0.1, 0.2, -0.3]}
    still = np.zeros(robot.n_modes)

    def forces(delta):
        at = [np.concatenate(pair) for pair in ((q, delta), (qd, still), (qdd, still))]
        return other.inverse_dynamics(*at, wrenches)

    found = root(lambda delta: forces(delta)[robot.n_joints:], still, tol=1e-14)
    for backend in ('reference', 'auto'):
        dyn = fd.Dynamics(robot, backend)
        torque, deflection, change = dyn.quasi_static_torque(q, qd, qdd, wrenches)
        assert np.abs(deflection).max() > 1e-5
        np.testing.assert_allclose(deflection, found.x, rtol=1e-6, atol=1e-11)
        np.testing.assert_allclose(torque, forces(found.x)[:robot.n_joints], rtol=1e-6, atol=1e-9)
        assert np.abs(change).max() < 1e-6 * np.abs(deflection).max()


def test_near_buckling_the_last_change_is_large():
    robot = arm('two links', ei_factor='0.005')
    _, deflection, change = fd.Dynamics(robot).quasi_static_torque(*swing(robot, 0.1, 12.0))
    assert np.abs(change).max() > 1e-2 * np.abs(deflection).max()


def stepped(dyn, end, count, radius=0.9):
    """Return torques and modal state after `count` steps from rest at time zero."""
    robot = dyn.robot
    state = np.zeros(4 * robot.n_modes)
    start = swing(robot, 0.0)
    undeformed = np.concatenate((start[0], state[:robot.n_modes]))
    acceleration = dyn.hybrid_dynamics(
        undeformed, np.concatenate((start[1], state[:robot.n_modes])), start[2])[1]
    state[2 * robot.n_modes :] = np.tile(acceleration, 2)
    for k in range(count):
        motion = swing(robot, end * (k + 1) / count)
        torque, state = dyn.hybrid_step(*motion, state, (end / count, radius))
    return torque, state.reshape(4, -1)


@pytest.mark.parametrize('name', thinned(ARMS, ('two links', 'segments')))
def test_steps_converge_to_the_motion_of_the_modes_with_second_order(name):
    """Against scipy's integration of the modal accelerations of hybrid dynamics."""
    robot = arm(name)
    dyn, m = fd.Dynamics(robot), robot.n_modes

    def slope(time, state):
        q, qd, qdd = swing(robot, time)
        at, rate = np.concatenate((q, state[:m])), np.concatenate((qd, state[m:]))
        return np.concatenate((state[m:], dyn.hybrid_dynamics(at, rate, qdd)[1]))

    end = 0.02
    solution = solve_ivp(slope, (0.0, end), np.zeros(2 * m), 'DOP853', rtol=1e-11, atol=1e-13)
    exact = solution.y[:, -1]
    size = np.abs(exact[:m]).max()
    errors = [np.abs(stepped(dyn, end, n)[1][0] - exact[:m]).max() / size for n in (400, 800)]
    assert errors[1] < 0.3 * errors[0]
    assert errors[1] < 1e-3
    torque, state = stepped(dyn, end, 400)
    q, qd, qdd = swing(robot, end)
    expected, acceleration = dyn.hybrid_dynamics(
        np.concatenate((q, state[0])), np.concatenate((qd, state[1])), qdd)
    # The equations of motion hold at the end of every step.
    scale = np.abs(acceleration).max()
    np.testing.assert_allclose(state[2], acceleration, rtol=1e-6, atol=1e-7 * scale)
    np.testing.assert_allclose(torque, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_a_step_far_longer_than_a_period_stays_at_the_static_deflection():
    robot = arm('two links')
    dyn = fd.Dynamics(robot)
    still = np.zeros(robot.n_joints)
    q, state = swing(robot, 0.0)[0], np.zeros(4 * robot.n_modes)
    for _ in range(200):
        _, state = dyn.hybrid_step(q, still, still, state, (10.0, 0.5))
    static = dyn.quasi_static_torque(q, still, still)[1]
    np.testing.assert_allclose(state[:robot.n_modes], static, rtol=1e-7)


def test_gravity_and_payload_are_arguments_of_the_compiled_functions():
    robot = arm('seven joints')
    found = []
    for backend in ('reference', 'auto'):
        dyn = fd.Dynamics(robot, backend)
        dyn.set_gravity([1.0, 2.0, -9.0])
        dyn.set_payload(robot.frame_names[-1], 2.0, [0.0, 0.01, 0.05], np.diag([0.01] * 3))
        motion = swing(robot, 0.1)
        found.append(np.concatenate([
            *dyn.quasi_static_torque(*motion)[:2],
            *dyn.hybrid_step(*motion, np.full(4 * robot.n_modes, 1e-3), (0.001, 0.9)),
        ]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-10)


def test_both_are_compiled_and_quick():
    """Below 5 us a call on an idle machine; here with room for a busy one."""
    robot = arm('seven joints')
    assert (robot.n_joints, robot.n_modes) == (7, 4)
    dyn = fd.Dynamics(robot)
    if dyn.backend != 'c':
        pytest.skip('there is no compiler')
    motion = [np.ascontiguousarray(each) for each in swing(robot, 0.1)]
    state, step = np.zeros(4 * robot.n_modes), np.array([0.001, 0.9])
    dyn.quasi_static_torque(*motion), dyn.hybrid_step(*motion, state, step)
    for call in (lambda: dyn.quasi_static_torque(*motion),
                 lambda: dyn.hybrid_step(*motion, state, step)):
        assert min(timeit.repeat(call, number=100, repeat=50)) / 100 < 20e-6


def test_robots_without_modes_and_with_loops():
    rigid = fd.load_robot(URDF / 'puma560.urdf.xacro')
    dyn = fd.Dynamics(rigid)
    motion = swing(rigid, 0.1)
    torque, deflection, _ = dyn.quasi_static_torque(*motion)
    np.testing.assert_allclose(torque, dyn.inverse_dynamics(*motion), rtol=1e-12)
    assert deflection.shape == (0,)
    torque, state = dyn.hybrid_step(*motion, [], (0.001, 0.9))
    np.testing.assert_allclose(torque, dyn.inverse_dynamics(*motion), rtol=1e-12)
    with pytest.raises(ArgumentError, match='step'):
        dyn.hybrid_step(*motion, [], (0.001,))
    closed = fd.Dynamics(fd.load_robot(URDF / 'four_bar.urdf.xacro'))
    zero = np.zeros(closed.robot.n_joints)
    with pytest.raises(NotYetSupported, match='loops'):
        closed.quasi_static_torque(zero, zero, zero)
    with pytest.raises(NotYetSupported, match='loops'):
        closed.hybrid_step(zero, zero, zero, np.zeros(4 * closed.robot.n_modes), (0.001, 0.9))
