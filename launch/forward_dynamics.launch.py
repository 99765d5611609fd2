# SPDX-License-Identifier: Apache-2.0
"""Starts forward_dynamics_node: the simulated arm."""

from flexdyn_ros.nodes.node_launch import node_launch_description


def generate_launch_description():
    """Return the arguments and the node."""
    switches = {
        'publish_clock': ('false', 'publish simulated time on /clock'),
        'lockstep': ('false', 'wait for the torques of each joint_states'),
    }
    topics = {
        'joint_efforts_topic': (
            '~/joint_efforts', 'topic of torques with names (sensor_msgs/JointState)'),
        'swing_reference_topic': (
            '~/swing_reference', 'topic of the reference of swing.amplitude (JointTrajectory)'),
    }
    return node_launch_description('forward_dynamics', switches, topics)
