# SPDX-License-Identifier: Apache-2.0
"""Starts forward_dynamics_node: the simulated arm."""

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
        'publish_clock': ParameterValue(LaunchConfiguration('publish_clock'), value_type=bool),
        'lockstep': ParameterValue(LaunchConfiguration('lockstep'), value_type=bool),
    }

    def node(condition, description):
        return LifecycleNode(
            package='flexdyn_ros',
            executable='forward_dynamics_node',
            name='forward_dynamics_node',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            condition=condition,
            parameters=[LaunchConfiguration('params_file'), {**common, **description}],
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
            default_value=PathJoinSubstitution([share, 'config', 'forward_dynamics.yaml']),
            description='parameters of the node',
        ),
        DeclareLaunchArgument('namespace', default_value='', description='namespace of the node'),
        DeclareLaunchArgument(
            'publish_clock', default_value='false', description='publish simulated time on /clock'
        ),
        DeclareLaunchArgument(
            'lockstep',
            default_value='false',
            description='wait for an effort command after each joint_states',
        ),
        node(UnlessCondition(from_topic), described),
        node(IfCondition(from_topic), {}),
    ])
