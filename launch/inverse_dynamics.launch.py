# SPDX-License-Identifier: Apache-2.0
"""Starts inverse_dynamics_node: joint torques for the measured or desired motion."""

from flexdyn_ros.nodes.node_launch import node_launch_description, USE_SIM_TIME


def generate_launch_description():
    """Return the arguments and the node."""
    return node_launch_description('inverse_dynamics', USE_SIM_TIME, {
        'commands_topic': (
            '~/commands', 'topic of the torques, such as /forward_effort_controller/commands'),
        'reference_topic': (
            '~/reference', 'topic of the desired motion (JointTrajectory)'),
    })
