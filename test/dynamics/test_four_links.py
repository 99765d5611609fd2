# SPDX-License-Identifier: Apache-2.0
"""Van der Merwe's four links on a pivot: open, closed, and their motion."""

from functools import lru_cache

import flexdyn_ros as fd
import numpy as np
from oracles.compare import reference_dynamics
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

FOUR = CASES['four_links_first_step']


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
