# SPDX-License-Identifier: Apache-2.0
"""
The whole loop over DDS: simulator with a joint controller, and feed-forward from our node.

The controller alone lags behind a swing of the flexible arm. The torque of the inverse dynamics on
top must reduce the tracking error by the factors stated here.
"""

from arms import flexible_arm
from node_processes import trajectory
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from thinned import thinned

pytestmark = pytest.mark.ros

NAMES = ('shoulder', 'elbow')
SWING = np.array([0.8, -0.6])  # [rad]
START = np.array([-0.4, 0.5])  # [rad]
DURATION = 0.8  # [s]
RATE = 100.0  # [Hz]
SIMULATOR = {
    'robot_description': flexible_arm(young=2e9),
    'initial_positions': START.tolist(),
    'initial_deflection': 'static',
    'pd.kp': [300.0, 150.0],
    'pd.kd': [40.0, 12.0],
    'publish_rate': RATE,
    'publish_clock': True,
    'lockstep': True,
    'pd.lockstep': True,
    'real_time_factor': 0.0,
    'step': 0.002,
}


def desired(time):
    """Return position, velocity, acceleration of a smooth swing (quintic in time), each (2,)."""
    s = min(time / DURATION, 1.0)
    q = START + SWING * (10 * s**3 - 15 * s**4 + 6 * s**5)
    qd = SWING * (30 * s**2 - 60 * s**3 + 30 * s**4) / DURATION
    qdd = SWING * (60 * s - 180 * s**2 + 120 * s**3) / DURATION**2
    return q, qd, qdd


def tracking_error(probe, start, mode):
    """Return the root mean square joint error of one swing [rad]; without torque for mode None."""
    states = probe.listen(JointState, 'joint_states', 1000)
    processes = [start('forward_dynamics_node', SIMULATOR)]
    if mode:
        parameters = {
            'robot_description': SIMULATOR['robot_description'],
            'torque_model': mode,
            'compute_on': 'reference',
            'reference_timeout': 0.0,
            'timeout': 30.0,
            'use_sim_time': True,
        }
        remap = ('-r', '~/joint_torques:=/forward_dynamics_node/joint_efforts')
        processes.append(start('inverse_dynamics_node', parameters, remap))
    errors = {}

    def answer():
        # Every state is answered, a repeated one again: answers count for their own state alone.
        for state in states:
            time = state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec
            # The command is held until the next state: that of the middle is right.
            message = trajectory(NAMES, (0.0, *desired(time + 0.5 / RATE)))
            message.header.stamp = state.header.stamp
            probe.publish('/forward_dynamics_node/pd_reference', message)
            if mode:
                probe.publish('/inverse_dynamics_node/reference', message)
            else:
                zero = JointState(header=state.header, name=NAMES, effort=[0.0, 0.0])
                probe.publish('/forward_dynamics_node/joint_efforts', zero)
            errors[time] = np.array(state.position) - desired(time)[0]
        states.clear()
        return max(errors, default=0.0) >= DURATION

    probe.wait_for(answer, 'swing', limit=120.0)
    for process in processes:
        process.stop()
    assert len(errors) == round(DURATION * RATE) + 1
    return float(np.sqrt(np.mean(np.square(list(errors.values())))))


@pytest.mark.parametrize(('mode', 'factor'), thinned(
    [('rigid', 3.0), ('flexible_hybrid', 50.0)], lambda mode, factor: mode != 'rigid'))
def test_feed_forward_reduces_the_tracking_error_of_the_controller(probe, start, mode, factor):
    alone, helped = (tracking_error(probe, start, each) for each in (None, mode))
    assert helped < alone / factor, (alone, helped)
