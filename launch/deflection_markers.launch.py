# SPDX-License-Identifier: Apache-2.0
"""Starts deflection_markers_node: the bent arm for RViz."""

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
            executable='deflection_markers_node',
            name='deflection_markers_node',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            condition=condition,
            parameters=[LaunchConfiguration('params_file'), {**common, **description}],
            remappings=[('modal_states', LaunchConfiguration('modal_states_topic'))],
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
            default_value=PathJoinSubstitution([share, 'config', 'deflection_markers.yaml']),
            description='parameters of the node',
        ),
        DeclareLaunchArgument('namespace', default_value='', description='namespace of the node'),
        DeclareLaunchArgument(
            'use_sim_time', default_value='false', description='take the time from /clock'
        ),
        DeclareLaunchArgument(
            'modal_states_topic',
            default_value='modal_states',
            description='where modal states come from, such as forward_dynamics_node/modal_states',
        ),
        node(UnlessCondition(from_topic), described),
        node(IfCondition(from_topic), {}),
    ])
