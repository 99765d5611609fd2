# SPDX-License-Identifier: Apache-2.0
"""Starts trajectory_correction_node: corrected positions between a planner and a controller."""

from flexdyn_ros.nodes.node_launch import node_launch_description, USE_SIM_TIME


def generate_launch_description():
    """Return the arguments and the node."""
    texts = {
        'controller_action': (
            'joint_trajectory_controller/follow_joint_trajectory',
            'action FollowJointTrajectory of the controller of the motors'),
    }
    topics = {
        'rigid_joint_states_topic': (
            '~/joint_states', 'topic of the joint states for the planner'),
    }
    return node_launch_description('trajectory_correction', USE_SIM_TIME, topics, texts)
