# SPDX-License-Identifier: Apache-2.0
"""Starts deflection_markers_node: the bent arm for RViz."""

from flexdyn_ros.nodes.node_launch import node_launch_description, USE_SIM_TIME


def generate_launch_description():
    """Return the arguments and the node."""
    return node_launch_description('deflection_markers', USE_SIM_TIME, {
        'modal_states_topic': (
            'modal_states', 'topic of the modal states; it may have no publisher'),
    })
