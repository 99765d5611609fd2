# SPDX-License-Identifier: Apache-2.0
"""A flexible arm falls, and deflection_markers_node draws its bent links."""

import sys

from flexdyn_ros.nodes.node_launch import declared, description_parameter, EXTENSION_FILE
from launch import LaunchDescription
from launch.actions import ExecuteProcess, Shutdown
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution, ThisLaunchFileDir
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    """Return the arguments, the nodes and the program that draws."""
    description_file = PathJoinSubstitution(
        [FindPackageShare('flexdyn_ros'), 'urdf', 'two_link_arm.urdf.xacro'])
    robot = {
        'robot_description': description_parameter(),
        'extension_file': ParameterValue(LaunchConfiguration('extension_file'), value_type=str),
    }
    return LaunchDescription([
        *declared({
            'description_file': (description_file, 'URDF or xacro file of the robot'),
            **EXTENSION_FILE,
            'picture': ('falling_arm.png', 'file of the picture'),
            'duration': ('2.0', 'simulated time to draw [s]'),
        }),
        Node(
            package='flexdyn_ros', executable='forward_dynamics_node', output='screen',
            parameters=[{**robot, 'publish_clock': True, 'publish_rate': 200.0}],
        ),
        Node(
            package='flexdyn_ros', executable='deflection_markers_node', output='screen',
            parameters=[{**robot, 'exaggeration': 3.0, 'use_sim_time': True}],
            remappings=[('modal_states', 'forward_dynamics_node/modal_states')],
        ),
        ExecuteProcess(
            cmd=[
                sys.executable, PathJoinSubstitution([ThisLaunchFileDir(), 'draw_topics.py']),
                LaunchConfiguration('picture'), LaunchConfiguration('duration'), '6',
            ],
            output='screen',
            on_exit=Shutdown(),
        ),
    ])
