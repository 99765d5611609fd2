# SPDX-License-Identifier: Apache-2.0
"""A simulated arm follows a swing by PD and the torque of inverse_dynamics_node."""

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
        [FindPackageShare('flexdyn_ros'), 'urdf', 'cobot7.urdf.xacro'])
    robot = {
        'robot_description': description_parameter(),
        'extension_file': ParameterValue(LaunchConfiguration('extension_file'), value_type=str),
    }
    return LaunchDescription([
        *declared({
            'description_file': (description_file, 'URDF or xacro file of the robot'),
            **EXTENSION_FILE,
            'picture': ('feed_forward.png', 'file of the picture'),
            'duration': ('2.0', 'simulated time to draw [s]'),
        }),
        Node(
            package='flexdyn_ros', executable='forward_dynamics_node', output='screen',
            parameters=[{
                **robot, 'lockstep': True, 'publish_clock': True, 'publish_rate': 200.0,
                'initial_deflection': 'static', 'swing.amplitude': 0.3, 'swing.period': 4.0,
            }],
            remappings=[
                ('~/joint_efforts', 'inverse_dynamics_node/joint_torques'),
                ('~/swing_reference', 'inverse_dynamics_node/reference'),
            ],
        ),
        Node(
            package='flexdyn_ros', executable='inverse_dynamics_node', output='screen',
            parameters=[{
                **robot, 'torque_model': 'flexible_quasi_static', 'use_sim_time': True,
            }],
        ),
        ExecuteProcess(
            cmd=[
                sys.executable, PathJoinSubstitution([ThisLaunchFileDir(), 'draw_topics.py']),
                LaunchConfiguration('picture'), LaunchConfiguration('duration'),
            ],
            output='screen',
            on_exit=Shutdown(),
        ),
    ])
