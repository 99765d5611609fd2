# SPDX-License-Identifier: Apache-2.0
"""Common parts of the launch files of the nodes; needs launch_ros or the stand-in for it."""

from __future__ import annotations

import sys
from typing import Any, Mapping

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

    xacro runs on files that end with `.xacro`. Others reach the nodes as they are: xacro refuses
    prefixes without a declaration, which load elsewhere.
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


def declared(arguments: Mapping[str, tuple[Any, str]]) -> list[DeclareLaunchArgument]:
    """Return launch arguments, given by name as default value and description."""
    return [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in arguments.items()
    ]


EXTENSION_FILE = {
    'extension_file': (
        '', 'file with a <flexdyn> element to add to the description; empty: none'),
}
USE_SIM_TIME = {'use_sim_time': ('false', 'take the time from /clock')}


def node_launch_description(
    name: str,
    switches: Mapping[str, tuple[str, str]],
    topics: Mapping[str, tuple[str, str]],
    texts: Mapping[str, tuple[str, str]] = {},
    topic_defaults: Mapping[str, str] = {},
) -> LaunchDescription:
    """
    Return a launch description of one node of this package.

    Args:
        name: Name of the node without "_node", which is that of its file in config/ as well.
        switches: Arguments that set boolean parameters of the same names: default value and
            description.
        topics: Arguments that remap topics: topic of the node, which is their default value,
            and description.
        texts: Arguments that set text parameters, as `switches`.
        topic_defaults: Default values of `topics` that are other topics, by argument.
    """
    share = FindPackageShare('flexdyn_ros')
    from_topic = PythonExpression(["'", LaunchConfiguration('description_file'), "' == ''"])
    set_by_arguments = {
        key: ParameterValue(LaunchConfiguration(key), value_type=kind)
        for key, kind in {
            'extension_file': str, **dict.fromkeys(switches, bool), **dict.fromkeys(texts, str),
        }.items()
    }
    remappings = {topic: LaunchConfiguration(key) for key, (topic, _) in topics.items()}
    topics = {
        key: (topic_defaults.get(key, topic), text) for key, (topic, text) in topics.items()
    }
    remappings['/clock'] = LaunchConfiguration('clock_topic')

    def node(condition: Any, description: Mapping[str, Any]) -> LifecycleNode:
        return LifecycleNode(
            package='flexdyn_ros',
            executable=f'{name}_node',
            name=f'{name}_node',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            condition=condition,
            parameters=[LaunchConfiguration('params_file'), {**set_by_arguments, **description}],
            remappings=list(remappings.items()),
        )

    config = PathJoinSubstitution([share, 'config', f'{name}.yaml'])
    return LaunchDescription([
        *declared({
            'description_file': (
                '', 'URDF or xacro file of the robot; empty: the topic robot_description'),
            **EXTENSION_FILE,
            'params_file': (config, 'parameters of the node'),
            'namespace': ('', 'namespace of the node'),
            'clock_topic': (
                '/clock', 'topic of simulated time; relative: in the namespace'),
            **switches,
            **texts,
            **topics,
        }),
        # Nodes that draw find the meshes from the file's place; others have no such parameter.
        node(UnlessCondition(from_topic), {
            'robot_description': description_parameter(),
            'description_file': ParameterValue(
                LaunchConfiguration('description_file'), value_type=str)}),
        node(IfCondition(from_topic), {}),
    ])
