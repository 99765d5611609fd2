# SPDX-License-Identifier: Apache-2.0
"""Starts ros2_control with the simulated arm, or with a description of your own."""

import os

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import Command, FindExecutable, LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue


def generate_launch_description():
    """Return the nodes, and the spawner, which activates the whole chain at once."""
    share = get_package_share_directory('arm_dynamics')
    description = ParameterValue(
        Command([FindExecutable(name='xacro'), ' "', LaunchConfiguration('description'), '"']),
        value_type=str)
    robot = {'robot_description': description}
    controllers = LaunchConfiguration('controllers')
    return LaunchDescription([
        DeclareLaunchArgument(
            'description', default_value=os.path.join(share, 'urdf', 'arm_dynamics.urdf'),
            description='URDF or xacro file with a <ros2_control> element'),
        DeclareLaunchArgument(
            'controllers', default_value=os.path.join(share, 'config', 'controllers.yaml'),
            description='parameters of the controller manager and of the controllers'),
        Node(package='robot_state_publisher', executable='robot_state_publisher',
             parameters=[robot]),
        Node(package='controller_manager', executable='ros2_control_node',
             parameters=[controllers], output='screen'),
        Node(package='controller_manager', executable='spawner',
             arguments=['joint_state_broadcaster', 'flexible_feed_forward_controller',
                        'joint_trajectory_controller', '--activate-as-group']),
    ])
