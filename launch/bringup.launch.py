# SPDX-License-Identifier: Apache-2.0
"""Starts the simulated arm, its inverse dynamics and its markers, connected to each other."""

from flexdyn_ros.nodes.node_launch import description_parameter, root_frame
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
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

    clock = [('/clock', 'clock')]
    use_rviz = IfCondition(LaunchConfiguration('use_rviz'))
    return LaunchDescription([
        DeclareLaunchArgument(
            'description_file',
            default_value=PathJoinSubstitution([share, 'urdf', 'canadarm.urdf.xacro']),
            description='URDF or xacro file of the robot',
        ),
        DeclareLaunchArgument(
            'extension_file',
            default_value='',
            description='file with a <flexdyn> element to add to the description; empty: none',
        ),
        DeclareLaunchArgument(
            'namespace', default_value='', description='namespace of all nodes'
        ),
        DeclareLaunchArgument(
            'forward_dynamics_params',
            default_value=config('forward_dynamics.yaml'),
            description='parameters of the simulator',
        ),
        DeclareLaunchArgument(
            'inverse_dynamics_params',
            default_value=config('inverse_dynamics.yaml'),
            description='parameters of the inverse dynamics',
        ),
        DeclareLaunchArgument(
            'deflection_markers_params',
            default_value=config('deflection_markers.yaml'),
            description='parameters of the markers',
        ),
        DeclareLaunchArgument(
            'lockstep',
            default_value='true',
            description='let the simulation wait for the torques; false runs at its own pace',
        ),
        DeclareLaunchArgument(
            'use_rviz',
            default_value='false',
            description='start rviz2 and robot_state_publisher as well',
        ),
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
        Node(
            package='robot_state_publisher',
            executable='robot_state_publisher',
            namespace=LaunchConfiguration('namespace'),
            condition=use_rviz,
            parameters=[{'robot_description': description_parameter(), 'use_sim_time': True}],
            remappings=clock,
        ),
        Node(
            package='rviz2',
            executable='rviz2',
            namespace=LaunchConfiguration('namespace'),
            condition=use_rviz,
            arguments=[
                '-d', PathJoinSubstitution([share, 'rviz', 'flexible_arm.rviz']),
                '-f', root_frame(),
            ],
            parameters=[{'use_sim_time': True}],
            remappings=clock,
        ),
    ])
