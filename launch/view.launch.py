# SPDX-License-Identifier: Apache-2.0
"""Starts deflection_markers_node with its view in a browser."""

from flexdyn_ros.nodes.node_launch import node_launch_description, USE_SIM_TIME


def generate_launch_description():
    """Return the arguments and the node."""
    topics = {'modal_states_topic': (
        'modal_states', 'topic of the modal states; it may have no publisher')}
    texts = {'browser': (
        '127.0.0.1:8080', 'address and port of the page; 0.0.0.0:8080 lets other machines in')}
    return node_launch_description('deflection_markers', USE_SIM_TIME, topics, texts)
