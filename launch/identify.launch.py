# SPDX-License-Identifier: Apache-2.0
"""Starts identification_node: it plays a trajectory, records, identifies and writes a URDF."""

from flexdyn_ros.nodes.node_launch import node_launch_description, USE_SIM_TIME


def generate_launch_description():
    """Return the arguments and the node."""
    switches = {
        **USE_SIM_TIME,
        'play': ('true', 'play the trajectory; false records until ~/identify is called'),
    }
    texts = {
        'trajectory_file': ('', 'joint_trajectory.yaml of flexdyn excite; empty: search one'),
        'output_folder': ('identified', 'folder of the identified URDF and of the report'),
    }
    topics = {
        'controller_topic': ('~/joint_trajectory', 'topic of the trajectory (JointTrajectory)'),
    }
    return node_launch_description(
        'identification', switches, topics, texts,
        {'controller_topic': 'joint_trajectory_controller/joint_trajectory'})
