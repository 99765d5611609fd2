# SPDX-License-Identifier: Apache-2.0
"""Starts inverse_dynamics_node: joint torques for the measured or desired motion."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.conditions import UnlessCondition
from launch.substitutions import Command
from launch.substitutions import FindExecutable
from launch.substitutions import LaunchConfiguration
from launch.substitutions import PathJoinSubstitution
from launch.substitutions import PythonExpression
from launch_ros.actions import LifecycleNode
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    """Return the arguments and the node."""
    share = FindPackageShare('flexdyn_ros')
    description_file = LaunchConfiguration('description_file')
    from_topic = PythonExpression(["'", description_file, "' == ''"])
    xacro = Command([FindExecutable(name='xacro'), ' "', description_file, '"'])
    common = {
        'extension_file': ParameterValue(LaunchConfiguration('extension_file'), value_type=str),
        'use_sim_time': ParameterValue(LaunchConfiguration('use_sim_time'), value_type=bool),
    }

    def node(condition, description):
        return LifecycleNode(
            package='flexdyn_ros',
            executable='inverse_dynamics_node',
            name='inverse_dynamics_node',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            condition=condition,
            parameters=[LaunchConfiguration('params_file'), {**common, **description}],
            remappings=[
                ('~/commands', LaunchConfiguration('commands_topic')),
                ('~/reference', LaunchConfiguration('reference_topic')),
            ],
        )

    described = {'robot_description': ParameterValue(xacro, value_type=str)}
    return LaunchDescription([
        DeclareLaunchArgument(
            'description_file',
            default_value='',
            description='URDF or xacro file of the robot; empty: the topic robot_description',
        ),
        DeclareLaunchArgument(
            'extension_file',
            default_value='',
            description='file with a <flexdyn> element to add to the description; empty: none',
        ),
        DeclareLaunchArgument(
            'params_file',
            default_value=PathJoinSubstitution([share, 'config', 'inverse_dynamics.yaml']),
            description='parameters of the node',
        ),
        DeclareLaunchArgument('namespace', default_value='', description='namespace of the node'),
        DeclareLaunchArgument(
            'use_sim_time', default_value='false', description='take the time from /clock'
        ),
        DeclareLaunchArgument(
            'commands_topic',
            default_value='~/commands',
            description='where the torques go, such as /forward_effort_controller/commands',
        ),
        DeclareLaunchArgument(
            'reference_topic',
            default_value='~/reference',
            description='where the desired motion comes from (trajectory_msgs/JointTrajectory)',
        ),
        node(UnlessCondition(from_topic), described),
        node(IfCondition(from_topic), {}),
    ])
