# SPDX-License-Identifier: Apache-2.0
"""Contexts of rclpy whose DDS participants end with them."""

import os
from pathlib import Path

from flexdyn_ros.isolation import discovery_port
import rclpy

# Fast DDS finds the first 32 participants of a domain on this machine, and no others.
MOST_PARTICIPANTS = 16


def participants():
    """
    Return the number of DDS participants in the domain of this run, of all processes.

    Participant i listens for others on port 7410 + 250 domain + 2 i, DDSI-RTPS 2.2, 9.6.1.1.
    """
    first = discovery_port(int(os.environ['ROS_DOMAIN_ID'])) + 10
    lines = Path('/proc/net/udp').read_text().splitlines()[1:]
    used = {int(line.split()[1].rpartition(':')[2], 16) for line in lines}
    return len(used.intersection(range(first, first + 240, 2)))


def new_context():
    """Return an initialised context."""
    living = participants()
    assert living < MOST_PARTICIPANTS, (
        f'{living} DDS participants live in this domain: end contexts by `end_context`')
    context = rclpy.Context()
    rclpy.init(context=context)
    return context


def end_context(context, *nodes):
    """Destroy nodes and shut their context down."""
    for node in nodes:
        node.destroy_node()
        # Its participant lives as long as this, which rclpy leaves to the garbage collector.
        if machine := getattr(node, '_state_machine', None):
            machine.destroy_when_not_in_use()
    context.try_shutdown()
