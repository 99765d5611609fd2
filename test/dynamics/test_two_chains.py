# SPDX-License-Identifier: Apache-2.0
"""Van der Merwe's two chains that carry a member: all printed digits."""

from functools import lru_cache

import flexdyn_ros as fd
import numpy as np
from oracles.compare import reference_dynamics
from oracles.gimbal_chain import body
from oracles.gimbal_chain import Chain
from oracles.gimbal_chain import chain_urdf
from oracles.gimbal_chain import joint
from oracles.gimbal_chain import origin
from oracles.gimbal_chain import robot_text
from oracles.printed_loops import CASES
from oracles.printed_loops import close
from oracles.printed_loops import mobility
from oracles.printed_loops import turned
import pytest

TWO = CASES['two_chains_first_step']


@lru_cache(maxsize=None)
def two_chains(closed=True, com=(0, 0, 0)):
    """Return the dynamics of two chains and the member, which floats."""
    gamma = TWO['links'][0]['gamma']
    tip = 1.5 * np.array([np.cos(gamma[1]), 0, -np.sin(gamma[1])])
    parts = body('member', TWO['member']['mass'], com, TWO['member']['inertia_com'])
    parts += joint('floats', 'floating', 'base', 'member', origin(tip + [0.4, 0, 0]))
    chains, loops = [], ''
    for number, (base, point) in enumerate(zip(TWO['bases'], TWO['points']), 1):
        chains.append(Chain(TWO['links'], base=base, prefix=f'c{number}_'))
        parts += f'<link name="point{number}"/>'
        parts += joint(f'at{number}', 'fixed', 'member', f'point{number}', origin(point))
        loops += (
            f'<loop name="hold{number}" frame1="point{number}" frame2="c{number}_tip" '
            'constrain="rx rz tx ty tz"/>'
        )
    text = robot_text(chains, TWO['gravity'], loops if closed else '', parts)
    return reference_dynamics(fd.load_robot(text))


def state_of_two_chains(dyn, rate=0.0):
    """Return q and qd, with both chains at 45 degrees and turning."""
    robot = dyn.robot
    q, qd = robot.neutral_configuration(), np.zeros(robot.nv)
    names = [name for joint in robot.joints for name in joint.position_names]
    angle = TWO['links'][0]['gamma'][1]
    q[[names.index(f'c{k}_joint1/ry') for k in (1, 2)]] = angle
    for k in (1, 2):
        qd[robot.joint_names.index(f'c{k}_joint1/ry')] = rate
    first = robot.joint_names.index('floats/tx')
    qd[first: first + 3] = 1.5 * rate * np.array([-np.sin(angle), 0, -np.cos(angle)])
    return q, qd


def places(robot):
    """Return the places of the member's twist, angular first, and of both chains in qd."""
    first = robot.joint_names.index('floats/tx')
    chains = [robot.joint_names.index(f'c{k}_joint1/ry') for k in (1, 2)]
    return [*range(first + 3, first + 6), *range(first, first + 3)], chains


def member_acceleration(dyn, q, qd, qdd):
    """Return angular and linear acceleration of the member, in its own axes."""
    total = dyn.jacobian(q, 'member') @ qdd + dyn.jacobian_rate_qd(q, qd, 'member')
    return turned(total)


def test_one_chain_of_the_two():
    printed = TWO['printed']
    link = TWO['links'][0]
    cut = reference_dynamics(fd.load_robot(chain_urdf([link], (0, 0, 0), cut=True)))
    own = cut.mass_matrix(np.array([link['gamma'][1], *np.zeros(6)]))[-6:, -6:]
    close(own, printed['I_k1'])
    close(own[:3, :3], printed['Ibar_k1'])
    dyn = reference_dynamics(fd.load_robot(chain_urdf([link], TWO['gravity'])))
    q, rest = np.array([link['gamma'][1]]), np.zeros(1)
    axes = dyn.frame_pose(q, 'tip')[:3, :3].T
    both = np.kron(np.eye(2), axes)
    jacobian = both @ turned(dyn.jacobian(q, 'tip'))
    close(jacobian, printed['J_tip'])
    close(dyn.mass_matrix(q), printed['H_k'])
    lambda_inverse = both @ mobility(dyn, q, 'tip') @ both.T
    close(lambda_inverse, printed['Lambda_inv_k'])
    close(np.linalg.solve(dyn.mass_matrix(q), jacobian.T), printed['Omega_k'])
    close(dyn.bias_vector(q, rest), printed['bias_force'])
    qdd = dyn.forward_dynamics(q, rest, rest)
    close(qdd, printed['qdd_open'])
    close(jacobian @ qdd, printed['xdd_open'])
    kept = TWO['constrained']
    close((jacobian @ qdd)[kept], printed['S_k'])
    small = lambda_inverse[np.ix_(kept, kept)]
    close(small, printed['M_k_inv'])
    close(np.linalg.pinv(small, rcond=1e-9), printed['M_k'])


def test_the_recipe_of_the_two_chains():
    """The work's own steps to the member's acceleration, from our Jacobians and inertias."""
    printed = TWO['printed']
    link = TWO['links'][0]
    dyn = reference_dynamics(fd.load_robot(chain_urdf([link], TWO['gravity'])))
    q, rest = np.array([link['gamma'][1]]), np.zeros(1)
    axes = dyn.frame_pose(q, 'tip')[:3, :3].T
    kept = np.eye(6)[:, TWO['constrained']]
    both = np.kron(np.eye(2), axes)
    lambda_inverse = both @ mobility(dyn, q, 'tip') @ both.T
    softness = np.linalg.pinv(kept.T @ lambda_inverse @ kept, rcond=1e-9)
    xdd = both @ turned(dyn.jacobian(q, 'tip')) @ dyn.forward_dynamics(q, rest, rest)
    pushed, resisted = np.zeros(6), np.zeros((6, 6))
    transforms = []
    for number, point in enumerate(TWO['points'], 1):
        x = np.block([[axes, np.zeros((3, 3))], [axes @ np.cross(point, np.eye(3)), axes]])
        transforms.append(x)
        close(axes, printed[f'A_{number}_r'])
        close(x, printed[f'X_{number}_r'], 6e-4)
        force = kept @ softness @ kept.T @ xdd
        close(force, printed['P_k'])
        r = kept @ softness @ kept.T @ x
        close(r[5], printed[f'R_{number}_row6'])
        pushed, resisted = pushed + x.T @ force, resisted + x.T @ r
    inertia = np.diag([*TWO['member']['inertia_com'], *[TWO['member']['mass']] * 3])
    close(inertia + resisted, printed['I_eff'])
    weight = np.array([0, 0, 0, *(TWO['member']['mass'] * np.array(TWO['gravity']))])
    total = pushed - np.array(printed['b_r']) + weight
    close(total, printed['rhs'])
    u, s, _ = np.linalg.svd(resisted)
    columns = u[:, s > 1e-9 * s[0]]
    base = np.array(printed['base_columns'])
    close(columns @ columns.T, base @ base.T, 1e-6)
    reduced = columns @ columns.T @ total
    close(reduced, printed['f_prime'])
    acceleration = np.linalg.solve(inertia + resisted, reduced)
    close(acceleration, printed['a_r'])
    tip = force - kept @ softness @ kept.T @ transforms[0] @ acceleration
    close(tip, printed['f_k_source'])


@pytest.mark.parametrize('rate', [0.0, 1.3])
def test_two_chains_closed(rate):
    """The member's acceleration and the chains', at rest as printed and moving as derived."""
    dyn, more = two_chains(), CASES['two_chains_more']['moving_qd_1_3']
    q, qd = state_of_two_chains(dyn, rate)
    qdd = dyn.forward_dynamics(q, qd, 0 * qd)
    _, chains = places(dyn.robot)
    close(qdd[chains], np.repeat(TWO['printed']['qdd_k'], 2))
    expected = more['a_r_correct'] if rate else TWO['printed']['a_r']
    close(member_acceleration(dyn, q, qd, qdd), expected)
    forces = dyn.constraint_forces(q, qd, 0 * qd)
    expected = more['f_k_true'] if rate else TWO['printed']['f_k_true']
    for own in (forces[:5], forces[5:]):
        close(own, np.delete(expected, 1), 2e-7)
    if not rate:
        acceleration = dyn.jacobian(q, 'c1_tip') @ qdd
        axes = dyn.frame_pose(q, 'c1_tip')[:3, :3].T
        own = np.concatenate((axes @ acceleration[3:], axes @ acceleration[:3]))
        close(own, TWO['printed']['tip_acceleration'])
        point = axes @ (dyn.jacobian(q, 'point1') @ qdd)[:3]
        close(point[2], TWO['printed']['reference_point_acceleration_z_tip'])


def test_a_moment_on_the_member_changes_forces_only():
    """A parallelogram cannot turn its coupler."""
    dyn, data = two_chains(), CASES['two_chains_more']['extra_moment_1Nm_about_y_on_reference']
    q, qd = state_of_two_chains(dyn)
    wrench = {'member': [0, 0, 0, 0, 1, 0]}
    qdd = dyn.forward_dynamics(q, qd, 0 * qd, wrenches=wrench)
    close(member_acceleration(dyn, q, qd, qdd), data['a_r_correct'])
    forces = dyn.constraint_forces(q, qd, 0 * qd, wrenches=wrench)
    close(forces[:5], np.delete(data['f_1_true'], 1), 2e-7)
    close(forces[5:], np.delete(data['f_2_true'], 1), 2e-7)


def test_a_centre_of_mass_off_the_origin_changes_nothing_either():
    dyn = two_chains(com=(0, 0, -0.2))
    q, qd = state_of_two_chains(dyn)
    qdd = dyn.forward_dynamics(q, qd, 0 * qd)
    close(member_acceleration(dyn, q, qd, qdd), TWO['printed']['a_r'])


def test_static_forces_of_the_two_chains():
    data = CASES['two_chains_static']
    dyn = two_chains()
    q, qd = state_of_two_chains(dyn)
    tau = np.zeros(dyn.robot.nv)
    _, chains = places(dyn.robot)
    tau[chains] = data['tau']
    assert data['tau'] == pytest.approx(data['printed']['tau_exact'], abs=6e-7)
    close(dyn.forward_dynamics(q, qd, tau), 0 * qd, 1e-9)
    link = reference_dynamics(fd.load_robot(chain_urdf(TWO['links'], TWO['gravity'])))
    at, rest = np.array([TWO['links'][0]['gamma'][1]]), [0.0]
    qdd = link.forward_dynamics(at, rest, [data['tau']])
    close(qdd, data['printed']['qdd_open'], 6e-7)
    axes = link.frame_pose(at, 'tip')[:3, :3].T
    open_motion = link.jacobian(at, 'tip') @ qdd
    own = np.concatenate((axes @ open_motion[3:], axes @ open_motion[:3]))
    close(own, data['printed']['xdd_open'], 6e-7)


def test_two_chains_swing_as_one_pendulum():
    """12.875 qdd = 90 cos q, by simulation of the floating member between its chains."""
    data = CASES['two_chains_more']['pendulum_motion']
    robot = two_chains().robot
    dyn = fd.Dynamics(robot, backend='python')
    q, qd = state_of_two_chains(dyn)
    run = fd.simulate(dyn, q, qd, None, 1.0, 1e-2)
    angle, rate = run.coordinate('c1_joint1/ry'), run.qd[:, places(robot)[1][0]]
    for state in data['states']:
        if state['t'] <= 1.0:
            k = int(round(state['t'] / 1e-2))
            assert angle[k] == pytest.approx(state['q'], abs=1e-5)
            assert rate[k] == pytest.approx(state['qd'], abs=1e-4)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-3
    q, _ = run.q[-1], run.qd[-1]
    pose = dyn.frame_pose(q, 'member')
    close(pose[:3, :3], np.eye(3), 1e-9)
    close(pose[:3, 3], [0.4 + 1.5 * np.cos(angle[-1]), 0, -1.5 * np.sin(angle[-1])], 1e-9)


def test_two_chains_as_one_chain():
    """The same mechanism as one chain of three links, the last one on a pivot."""
    data = TWO['as_one_chain']
    place = data['tip_pinned_at']
    pivot = '<link name="pivot"/>' + joint('pivot', 'fixed', 'base', 'pivot', origin(place))
    loop = '<loop name="tip" frame1="tip" frame2="pivot" constrain="tx tz"/>'
    text = robot_text([Chain(data['links'])], TWO['gravity'], loop, pivot)
    dyn = reference_dynamics(fd.load_robot(text))
    q = [link['gamma'][1] for link in data['links']]
    close(dyn.forward_dynamics(q, [0] * 3, [0] * 3), data['qdd'], 2e-7)
    force = -dyn.constraint_forces(q, [0] * 3, [0] * 3)
    close(force, np.array(data['f_tip_base_frame'])[[3, 5]], 2e-7)
