# SPDX-License-Identifier: Apache-2.0
"""Starts deflection_markers_node: the bent arm for RViz."""

from flexdyn_ros.nodes.node_launch import node_launch_description, use_sim_time_argument
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration


def generate_launch_description():
    """Return the arguments and the node."""
    return node_launch_description(
        'deflection_markers',
        arguments=[
            use_sim_time_argument(),
            DeclareLaunchArgument(
                'modal_states_topic',
                default_value='modal_states',
                description='where modal states come from; they may be silent',
            ),
        ],
        parameters={'use_sim_time': bool},
        remappings=[('modal_states', LaunchConfiguration('modal_states_topic'))],
    )
