# SPDX-License-Identifier: Apache-2.0
"""Mechanisms on bases that float or move, and a body on legs."""

import flexdyn_ros as fd
import numpy as np
from oracles.compare import reference_dynamics
from oracles.mechanisms import mechanism, URDF
from validation.beams_and_linkages.four_bar import joint_values
from validation.van_der_merwe.gimbal_chain import body, joint, origin
import xacro


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
    # Its own motion needs no wrench on the base, and inverse dynamics returns none.
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
    # The ground is the resting frame, so each foot is led to its place at the start.
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
