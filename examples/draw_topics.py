#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A node of the launch files that draws topics: draw_topics.py PICTURE.png SECONDS [INSTANTS]."""

import sys

import matplotlib.pyplot as plt
import rclpy
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from visualization_msgs.msg import MarkerArray

TOPICS = {
    'joint_states': ('position', 'joint position [rad]'),
    'inverse_dynamics_node/joint_torques': ('effort', 'torque [N m]'),
    'forward_dynamics_node/modal_states': ('position', 'deflection [m]'),
}


def draw(received, lines, instants, picture):
    """Write a panel for each topic that published, and one of the centre lines [m]."""
    topics = [topic for topic in TOPICS if received[topic] and received[topic][0].name]
    panels = plt.subplots(1, len(topics) + bool(instants), figsize=(12, 3.5), squeeze=False,
                          constrained_layout=True)[1]
    for axes, topic in zip(panels[0], topics):
        field, label = TOPICS[topic]
        time = [m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in received[topic]]
        axes.plot(time, [getattr(message, field) for message in received[topic]])
        axes.set(xlabel='time [s]', ylabel=label)
        axes.legend(received[topic][0].name, fontsize=7)
    for k, markers in enumerate(lines[:: len(lines) // max(1, instants) or 1]):
        for marker in markers:
            panels[0, -1].plot([p.x for p in marker.points], [p.y for p in marker.points],
                               color=plt.cm.viridis(k / instants), lw=3)
        panels[0, -1].set(xlabel='x [m]', ylabel='y [m]', aspect='equal',
                          title='centre lines, dark to light over time')
    plt.savefig(picture, bbox_inches='tight')


def main():
    rclpy.init()
    picture, duration, instants = sys.argv[1], float(sys.argv[2]), int([*sys.argv, '0'][3])
    node = rclpy.create_node('draw_topics')
    every = QoSProfile(depth=10_000, reliability=ReliabilityPolicy.BEST_EFFORT)
    received, lines = {topic: [] for topic in TOPICS}, []
    for topic, kept in received.items():
        node.create_subscription(JointState, topic, kept.append, every)
    node.create_subscription(
        MarkerArray, 'deflection_markers_node/markers',
        lambda array: lines.append([m for m in array.markers if m.ns == 'centre_line']), 10)
    states = received['joint_states']
    while not states or states[-1].header.stamp.sec < duration or len(lines) < instants:
        rclpy.spin_once(node)
    for topic, kept in received.items():
        received[topic] = [m for m in kept if m.header.stamp.sec < duration]
    draw(received, lines, instants, picture)


if __name__ == '__main__':
    main()
