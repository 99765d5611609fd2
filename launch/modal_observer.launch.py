# SPDX-License-Identifier: Apache-2.0
"""Starts modal_observer_node: estimated modal states of an arm."""

from flexdyn_ros.nodes.node_launch import node_launch_description, USE_SIM_TIME


def generate_launch_description():
    """Return the arguments and the node."""
    return node_launch_description('modal_observer', USE_SIM_TIME, {
        'joint_states_topic': ('joint_states', 'topic of positions and efforts'),
    })
