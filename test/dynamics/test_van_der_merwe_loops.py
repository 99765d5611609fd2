# SPDX-License-Identifier: Apache-2.0
"""Van der Merwe's closed chains: every digit that the work prints, and what it leaves out."""

from functools import lru_cache

import flexdyn_ros as fd
import numpy as np
from oracles.compare import load_data
from oracles.compare import reference_dynamics
from oracles.gimbal_chain import body
from oracles.gimbal_chain import Chain
from oracles.gimbal_chain import chain_urdf
from oracles.gimbal_chain import joint
from oracles.gimbal_chain import origin
from oracles.gimbal_chain import robot_text
import pytest

CASES = load_data('van_der_merwe')
FOUR = CASES['four_links_first_step']
TWO = CASES['two_chains_first_step']
PRINTED = 6e-8  # seven decimals


def close(ours, theirs, tolerance=PRINTED):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance)


def turned(six):
    """Return rows or entries with the angular part first."""
    return np.concatenate((six[3:], six[:3]))


def mobility(dyn, q, frame):
    """Return the inverse of the operational-space inertia, angular part first."""
    order = [3, 4, 5, 0, 1, 2]
    return dyn.operational_space_inertia(q, frame, inverse=True)[np.ix_(order, order)]


# --- four links on a pivot (section 5.5) ------------------------------------------------------


@lru_cache(maxsize=None)
def four_links(closed=True):
    """Return the dynamics of the chain, its tip on a pivot about y or not."""
    pivot = '<link name="pivot"/>' + joint('pivot', 'fixed', 'base', 'pivot', origin((2, 0, 3)))
    loop = '<loop name="tip" frame1="tip" frame2="pivot" constrain="rx rz tx ty tz"/>'
    text = robot_text([Chain(FOUR['links'])], FOUR['gravity'], loop if closed else '', pivot)
    return reference_dynamics(fd.load_robot(text))


REST = np.zeros(4)


def test_inertias_of_the_four_links():
    printed = FOUR['printed']
    for number, link in enumerate(FOUR['links'], 1):
        dyn = reference_dynamics(fd.load_robot(chain_urdf([link], (0, 0, 0), cut=True)))
        own = dyn.mass_matrix(np.zeros(dyn.robot.nv))[-6:, -6:]
        close(own, printed[f'I_{number}'])
        if number == 1:
            close(own[:3, :3], printed['Ibar_1'])


@pytest.mark.parametrize('number', [1, 2, 3, 4])
def test_jacobians_and_mass_matrices_grow_link_by_link(number):
    dyn = reference_dynamics(fd.load_robot(chain_urdf(FOUR['links'][:number], FOUR['gravity'])))
    q = np.zeros(number)
    close(dyn.mass_matrix(q), FOUR['printed'][f'H_{number}'])
    if number > 1:
        close(turned(dyn.jacobian(q, f'link{number}')), FOUR['printed'][f'J_{number}'])
        inner, outer = (dyn.frame_pose(q, f'link{k}')[:3, 3] for k in (number - 1, number))
        shift = np.cross(outer - inner, np.eye(3))
        transform = np.block([[np.eye(3), np.zeros((3, 3))], [shift, np.eye(3)]])
        close(transform, FOUR['printed'][f'X_{number}_{number - 1}'])


def test_first_step_of_the_open_chain():
    dyn, printed = four_links(closed=False), FOUR['printed']
    jacobian = turned(dyn.jacobian(REST, 'tip'))
    close(jacobian, printed['J_end'])
    close(dyn.jacobian_rate_qd(REST, REST, 'tip'), printed['Jdot_end_qd'])
    close(dyn.bias_vector(REST, REST), printed['Gamma_bias'])
    inverse = np.linalg.inv(dyn.mass_matrix(REST))
    close(inverse, printed['H_inv'], 6e-5)
    close(inverse @ jacobian.T, printed['Omega'])
    close(mobility(dyn, REST, 'tip'), printed['Lambda_inv'])
    qdd = dyn.forward_dynamics(REST, REST, REST)
    close(qdd, printed['qdd_open'])
    close(jacobian @ qdd, printed['xdd_open'])
    kept = FOUR['constrained']
    system = mobility(dyn, REST, 'tip')[np.ix_(kept, kept)]
    close(system, printed['A_tip'])
    assert np.linalg.matrix_rank(system) == printed['rank_A_tip']
    close((jacobian @ qdd)[kept], printed['b_tip'])


def test_first_step_of_the_closed_chain(caplog):
    """The work's forces are those that the tip exerts."""
    dyn, printed = four_links.__wrapped__(), FOUR['printed']
    qdd = dyn.forward_dynamics(REST, REST, REST)
    close(qdd, printed['qdd'])
    force = -dyn.constraint_forces(REST, REST, REST)
    close(force, printed['h_c'])
    close(np.insert(force, 1, 0.0), printed['f_tip'])
    close(turned(dyn.jacobian(REST, 'tip') @ qdd), printed['xdd_closed'], 1e-9)
    assert force[-1] == pytest.approx(-85 / 19, abs=1e-12)
    report = dyn.loop_report(REST)
    assert (report.rank, report.redundant) == (printed['rank_A_tip'], 3)
    # Redundancy is said once.
    assert [r.getMessage().count('rank 2') for r in caplog.records] == [1]


def viscous(t, q, qd):
    """Return the friction of the work's joints."""
    return -CASES['four_links_simulation']['friction'] * qd


@lru_cache(maxsize=None)
def four_link_run(friction=True, dt=2e-3, t_end=1.32):
    pivot = four_links().robot
    dyn = fd.Dynamics(pivot, backend='python')
    return dyn, fd.simulate(dyn, REST, REST, viscous if friction else None, t_end, dt)


def test_motion_of_the_four_links():
    """States and forces by another program, and the peak force that the work names."""
    data = CASES['four_links_simulation']
    dyn, run = four_link_run()
    for state in data['states']:
        k = int(round(state['t'] / 2e-3))
        close(run.q[k], state['q'], 2e-7)
        close(run.qd[k], state['qd'], 2e-6)
        force = -dyn.constraint_forces(run.q[k], run.qd[k], viscous(0, 0, run.qd[k]))
        close(force[[2, 4]], (state['fx'], state['fz']), 1e-4)
    window = range(640, 655)
    peaks = [
        abs(dyn.constraint_forces(run.q[k], run.qd[k], viscous(0, 0, run.qd[k]))[4])
        for k in window
    ]
    wanted, when = data['peak_fz']['rk4']
    assert max(peaks) == pytest.approx(wanted, rel=2e-3)
    assert max(peaks) == pytest.approx(data['peak_force_printed'], rel=0.06)
    assert run.t[640 + int(np.argmax(peaks))] == pytest.approx(when, abs=3e-3)
    assert np.abs(dyn.loop_gaps(run.q[-1])).max() < 1e-12


def test_energy_of_the_four_links_without_friction():
    _, run = four_link_run(friction=False, dt=4e-3, t_end=1.2)
    assert run.energy[0] == pytest.approx(CASES['four_links_simulation']['energy']['joule'])
    assert np.abs(run.energy - run.energy[0]).max() < 1e-4


def test_the_corrective_force_acts_on_the_tip():
    """Euler's method as in the work: the drift with the force, without it, and with its sign."""
    data = CASES['four_links_simulation']
    dyn, _ = four_link_run()
    kp, kd = data['proportional'], data['derivative']

    def largest_gap(sign, t_end):
        q, qd, worst, largest_force = REST.copy(), REST.copy(), 0.0, 0.0
        for _ in range(int(t_end / 1e-3)):
            chains, a = dyn.closed_chains, dyn.loop_jacobian(q)
            push = sign * (-kp * dyn.loop_gaps(q) - kd * (a @ qd))
            tau = viscous(0, q, qd)
            qdd = chains.motion(dyn.equations, list(q), list(qd), tau, rank=2,
                                correction=push).qdd
            q, qd = q + 1e-3 * qd, qd + 1e-3 * qdd
            gap = np.linalg.norm(dyn.loop_gaps(q))
            if not gap < 1.0:
                return np.inf, largest_force
            worst, largest_force = max(worst, gap), max(largest_force, np.linalg.norm(push))
        return worst, largest_force

    wrong, _ = largest_gap(-1.0, 0.4)
    assert wrong > 0.1
    with_force, push = largest_gap(1.0, 1.3)
    without, _ = largest_gap(0.0, 1.3)
    assert with_force < 0.5 * without
    assert with_force <= data['largest_tip_error']['euler_with_correction'] + 0.002
    assert push <= data['largest_corrective_force'] + 0.2


# --- two chains that carry a member (section 6.5) ---------------------------------------------


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


# --- three chains that carry a member (chapter 8) ---------------------------------------------

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
