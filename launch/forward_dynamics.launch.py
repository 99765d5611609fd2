# SPDX-License-Identifier: Apache-2.0
"""Starts forward_dynamics_node: the simulated arm."""

from flexdyn_ros.nodes.node_launch import node_launch_description
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration


def generate_launch_description():
    """Return the arguments and the node."""
    return node_launch_description(
        'forward_dynamics',
        arguments=[
            DeclareLaunchArgument(
                'publish_clock',
                default_value='false',
                description='publish simulated time on /clock',
            ),
            DeclareLaunchArgument(
                'lockstep',
                default_value='false',
                description='wait for the torques that answer each joint_states',
            ),
            DeclareLaunchArgument(
                'joint_efforts_topic',
                default_value='~/joint_efforts',
                description='where torques with names come from (sensor_msgs/JointState)',
            ),
            DeclareLaunchArgument(
                'swing_reference_topic',
                default_value='~/swing_reference',
                description='where the reference of swing.amplitude goes (JointTrajectory)',
            ),
        ],
        parameters={'publish_clock': bool, 'lockstep': bool},
        remappings=[
            ('~/joint_efforts', LaunchConfiguration('joint_efforts_topic')),
            ('~/swing_reference', LaunchConfiguration('swing_reference_topic')),
        ],
    )
