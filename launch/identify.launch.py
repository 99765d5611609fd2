# SPDX-License-Identifier: Apache-2.0
"""Starts identification_node: it plays a trajectory, records, identifies and writes a URDF."""

from flexdyn_ros.nodes.node_launch import node_launch_description, use_sim_time_argument
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration


def generate_launch_description():
    """Return the arguments and the node."""
    return node_launch_description(
        'identification',
        arguments=[
            use_sim_time_argument(),
            DeclareLaunchArgument(
                'controller_topic',
                default_value='joint_trajectory_controller/joint_trajectory',
                description='where the trajectory (JointTrajectory) goes',
            ),
            DeclareLaunchArgument(
                'trajectory_file',
                default_value='',
                description='joint_trajectory.yaml of flexdyn excite; empty: search one',
            ),
            DeclareLaunchArgument(
                'output_folder',
                default_value='identified',
                description='folder of the identified URDF and of the report',
            ),
            DeclareLaunchArgument(
                'play',
                default_value='true',
                description='play the trajectory; false records until ~/identify is called',
            ),
        ],
        parameters={
            'use_sim_time': bool, 'trajectory_file': str, 'output_folder': str, 'play': bool},
        remappings=[('~/joint_trajectory', LaunchConfiguration('controller_topic'))],
    )
