# SPDX-License-Identifier: Apache-2.0
"""What the launch files of the nodes have in common; needs launch_ros or the stand-in for it."""

from __future__ import annotations

import sys
from typing import Any, Mapping, Sequence

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition, UnlessCondition
from launch.substitutions import (
    Command,
    LaunchConfiguration,
    PathJoinSubstitution,
    PythonExpression,
)
from launch_ros.actions import LifecycleNode
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare


def description_parameter() -> ParameterValue:
    """
    Return the description that the argument description_file names, as text.

    xacro runs on files that end with `.xacro`; others reach the nodes as they are, as xacro
    refuses some that load elsewhere (prefixes without a declaration).
    """
    file = LaunchConfiguration('description_file')
    program = PythonExpression(["'xacro' if '", file, "'.endswith('.xacro') else 'cat'"])
    return ParameterValue(Command([program, ' "', file, '"']), value_type=str)


def root_frame() -> Command:
    """Return the root link of the argument description_file."""
    return Command([
        sys.executable, ' -m flexdyn_ros.nodes.root_frame "',
        LaunchConfiguration('description_file'), '"',
    ])


def use_sim_time_argument() -> DeclareLaunchArgument:
    """Return the argument use_sim_time."""
    return DeclareLaunchArgument(
        'use_sim_time', default_value='false', description='take the time from /clock'
    )


def node_launch_description(
    name: str,
    arguments: Sequence[DeclareLaunchArgument],
    parameters: Mapping[str, type],
    remappings: Sequence[tuple[str, Any]] = (),
) -> LaunchDescription:
    """
    Return a launch description of one node of this package.

    Args:
        name: Name of the node without "_node", which is that of its file in config/ as well.
        arguments: Arguments beside those of all nodes.
        parameters: Parameters that arguments of the same names set, with their types.
        remappings: Topics of the node and where they lead.
    """
    share = FindPackageShare('flexdyn_ros')
    from_topic = PythonExpression(["'", LaunchConfiguration('description_file'), "' == ''"])
    set_by_arguments = {
        key: ParameterValue(LaunchConfiguration(key), value_type=kind)
        for key, kind in {'extension_file': str, **parameters}.items()
    }

    def node(condition: Any, description: Mapping[str, Any]) -> LifecycleNode:
        return LifecycleNode(
            package='flexdyn_ros',
            executable=f'{name}_node',
            name=f'{name}_node',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            condition=condition,
            parameters=[LaunchConfiguration('params_file'), {**set_by_arguments, **description}],
            remappings=[*remappings, ('/clock', LaunchConfiguration('clock_topic'))],
        )

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
            default_value=PathJoinSubstitution([share, 'config', f'{name}.yaml']),
            description='parameters of the node',
        ),
        DeclareLaunchArgument('namespace', default_value='', description='namespace of the node'),
        DeclareLaunchArgument(
            'clock_topic',
            default_value='/clock',
            description='topic of simulated time; relative: in the namespace',
        ),
        *arguments,
        node(UnlessCondition(from_topic), {'robot_description': description_parameter()}),
        node(IfCondition(from_topic), {}),
    ])
