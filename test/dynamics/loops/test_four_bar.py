# SPDX-License-Identifier: Apache-2.0
"""The four-bar linkage against its closed form, and ways to hold its drift."""

import flexdyn_ros as fd
from flexdyn_ros.closed_chains.stepping import LoopMotion
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.simulation.tableaus import RK4
import numpy as np
from oracles.compare import reference_dynamics
from oracles.mechanisms import mechanism
import pytest
from validation.beams_and_linkages.four_bar import (
    four_bar_state,
    four_bar_torque,
    joint_values,
    LINE_DENSITY,
    ROCKER,
)


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
    """The force on the coupler's end turns the rocker about its ground pin."""
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


@pytest.mark.parametrize('rate', [0.0, 0.02])
def test_baumgarte_accelerates_an_open_loop_by_both_gains(rate):
    """Its gap obeys g'' = -kp g - kd g', by central differences along the motion."""
    dyn = fd.Dynamics(mechanism('four_bar'), backend='reference')
    q, qd, _ = joint_values(1.0)
    q, qd = q + np.array([0.0, 2e-4, 0.0]), qd + np.array([0.0, rate, 0.0])
    kp, kd, step = 400.0, 40.0, 1e-4
    loops = LoopMotion(dyn, 'baumgarte', (kp, kd), None, None)
    loops.begin_step(0.0, step, RK4)
    qdd = loops.acceleration(q, qd, np.zeros(dyn.robot.nv), 0)
    before, now, after = (
        dyn.loop_gaps(q + t * qd + 0.5 * t * t * qdd) for t in (-step, 0.0, step))
    wanted = -kp * now - kd * (after - before) / (2.0 * step)
    assert np.abs(wanted).max() > 0.01
    np.testing.assert_allclose((after - 2.0 * now + before) / step**2, wanted, atol=2e-4)


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
