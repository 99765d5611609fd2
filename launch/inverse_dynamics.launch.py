# SPDX-License-Identifier: Apache-2.0
"""Starts inverse_dynamics_node: joint torques for the measured or desired motion."""

from flexdyn_ros.nodes.node_launch import node_launch_description, use_sim_time_argument
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration


def generate_launch_description():
    """Return the arguments and the node."""
    return node_launch_description(
        'inverse_dynamics',
        arguments=[
            use_sim_time_argument(),
            DeclareLaunchArgument(
                'commands_topic',
                default_value='~/commands',
                description='where the torques go, such as /forward_effort_controller/commands',
            ),
            DeclareLaunchArgument(
                'reference_topic',
                default_value='~/reference',
                description='where the desired motion (JointTrajectory) comes from',
            ),
        ],
        parameters={'use_sim_time': bool},
        remappings=[
            ('~/commands', LaunchConfiguration('commands_topic')),
            ('~/reference', LaunchConfiguration('reference_topic')),
        ],
    )
