# SPDX-License-Identifier: Apache-2.0
"""The simulated arm, without ROS."""

from arms import flexible_arm, rigid_arm
import flexdyn_ros as fd
from flexdyn_ros.errors import FlexdynError, SingularMassMatrix
from flexdyn_ros.nodes.simulator.arm_simulator import (
    ArmSimulator,
    JointController,
    SimulationStopped,
)
import numpy as np
import pytest

NAMES = ('shoulder', 'elbow')


def simulator(urdf, step=0.001, kp=(), kd=(), **options):
    """Return a simulator of an arm."""
    dyn = fd.Dynamics(fd.load_robot(urdf))
    return ArmSimulator(dyn, NAMES, step, JointController(kp, kd, 2), **options)


def test_the_motion_is_that_of_the_library_with_the_same_step():
    arm = simulator(rigid_arm(), initial_positions=(0.1, 0.2))
    arm.effort = np.array([-5.0, 1.0])
    arm.advance(0.05)
    dyn = fd.Dynamics(fd.load_robot(rigid_arm()))
    motion = fd.simulate(dyn, [0.1, 0.2], [0.0, 0.0], [-5.0, 1.0], 0.05, 0.001)
    assert np.allclose(arm.q, motion.q[-1], rtol=1e-12)
    assert np.allclose(arm.qd, motion.qd[-1], rtol=1e-12)
    assert arm.time == pytest.approx(0.05)


def test_the_step_is_shortened_for_fast_modes_and_stiff_controllers():
    soft = simulator(flexible_arm(young=2e9), step=0.01)
    stiff = simulator(flexible_arm(young=8e9), step=0.01)
    assert stiff.fastest_rate == pytest.approx(2.0 * soft.fastest_rate, rel=0.01)
    assert stiff.step * stiff.fastest_rate == pytest.approx(1.4)
    controlled = simulator(rigid_arm(), step=1.0, kp=(1e6,), kd=(10.0,))
    assert controlled.step < 0.005


def test_a_static_start_stays_at_rest_under_the_holding_torque():
    arm = simulator(flexible_arm(), initial_positions=(0.1, 0.2), static_deflection=True)
    dyn = fd.Dynamics(fd.load_robot(flexible_arm()))
    arm.effort = dyn.gravity_vector(arm.q)[:2]
    start = arm.q.copy()
    arm.advance(0.02)
    assert np.abs(arm.q - start).max() < 1e-8
    assert np.abs(start[2:]).max() > 1e-4


def test_a_reset_restores_the_state_and_keeps_the_time():
    arm = simulator(rigid_arm(), initial_positions=(0.1, 0.2))
    arm.effort[:] = 3.0
    arm.wrenches['fore'] = np.ones(6)
    arm.advance(0.02)
    arm.reset()
    assert arm.q.tolist() == [0.1, 0.2]
    assert arm.qd.tolist() == [0.0, 0.0]
    assert arm.effort.tolist() == [0.0, 0.0]
    assert arm.wrenches == {}
    assert arm.time == pytest.approx(0.02)


def test_gains_and_positions_of_the_wrong_number_are_refused():
    with pytest.raises(FlexdynError, match='pd.kp has 3 gains for 2 joints'):
        JointController((1.0, 2.0, 3.0), (), 2)
    with pytest.raises(FlexdynError, match='initial_positions has 1 elements'):
        simulator(rigid_arm(), initial_positions=(0.1,))


def test_a_massless_arm_is_refused():
    urdf = rigid_arm().replace('mass value="1"', 'mass value="0"')
    urdf = urdf.replace('ixx="0.01" iyy="0.05" izz="0.05"', 'ixx="0" iyy="0" izz="0"')
    with pytest.raises(FlexdynError, match='elbow'):
        simulator(urdf)
    assert issubclass(SingularMassMatrix, FlexdynError)


def test_a_motion_without_bound_stops():
    arm = simulator(rigid_arm())
    arm.step = 1.0
    arm.effort = np.array([1e200, -1e200])
    with pytest.raises(SimulationStopped, match='at 0 s'):
        arm.advance(5.0)
