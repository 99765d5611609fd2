# SPDX-License-Identifier: Apache-2.0
"""Starts the simulated arm, its inverse dynamics and its markers, connected to each other."""

from flexdyn_ros.nodes.node_launch import (
    declared,
    description_parameter,
    EXTENSION_FILE,
    root_frame,
)
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    """Return the arguments, the three launch files of the nodes, and RViz."""
    share = FindPackageShare('flexdyn_ros')

    def config(name):
        return PathJoinSubstitution([share, 'config', name])

    def include(name, arguments):
        return IncludeLaunchDescription(
            PythonLaunchDescriptionSource(PathJoinSubstitution([share, 'launch', name])),
            launch_arguments={
                'description_file': LaunchConfiguration('description_file'),
                'extension_file': LaunchConfiguration('extension_file'),
                'namespace': LaunchConfiguration('namespace'),
                # The clock of this simulation, beside those of others.
                'clock_topic': 'clock',
                **arguments,
            }.items(),
        )

    def viewer(name, **arguments):
        return Node(
            package=name,
            executable=name,
            namespace=LaunchConfiguration('namespace'),
            condition=IfCondition(LaunchConfiguration('use_rviz')),
            remappings=[('/clock', 'clock')],
            **arguments,
        )

    description_file = PathJoinSubstitution([share, 'urdf', 'canadarm.urdf.xacro'])
    return LaunchDescription([
        *declared({
            'description_file': (description_file, 'URDF or xacro file of the robot'),
            **EXTENSION_FILE,
            'namespace': ('', 'namespace of all nodes'),
            'forward_dynamics_params': (
                config('forward_dynamics.yaml'), 'parameters of the simulator'),
            'inverse_dynamics_params': (
                config('inverse_dynamics.yaml'), 'parameters of the inverse dynamics'),
            'deflection_markers_params': (
                config('deflection_markers.yaml'), 'parameters of the markers'),
            'lockstep': (
                'true', 'let the simulation wait for the torques; false runs at its own pace'),
            'use_rviz': ('false', 'start rviz2 and robot_state_publisher as well'),
        }),
        include('forward_dynamics.launch.py', {
            'params_file': LaunchConfiguration('forward_dynamics_params'),
            'publish_clock': 'true',
            'lockstep': LaunchConfiguration('lockstep'),
            'joint_efforts_topic': 'inverse_dynamics_node/joint_torques',
            'swing_reference_topic': 'inverse_dynamics_node/reference',
        }),
        include('inverse_dynamics.launch.py', {
            'params_file': LaunchConfiguration('inverse_dynamics_params'),
            'use_sim_time': 'true',
        }),
        include('deflection_markers.launch.py', {
            'params_file': LaunchConfiguration('deflection_markers_params'),
            'use_sim_time': 'true',
            'modal_states_topic': 'forward_dynamics_node/modal_states',
        }),
        viewer(
            'robot_state_publisher',
            parameters=[{'robot_description': description_parameter(), 'use_sim_time': True}],
        ),
        viewer(
            'rviz2',
            arguments=[
                '-d', PathJoinSubstitution([share, 'rviz', 'flexible_arm.rviz']),
                '-f', root_frame(),
            ],
            parameters=[{'use_sim_time': True}],
        ),
    ])
