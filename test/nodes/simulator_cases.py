# SPDX-License-Identifier: Apache-2.0
"""Common parts of tests of the simulator node."""

NODE = 'forward_dynamics_node'
FREE_RUNNING = {'real_time_factor': 0.0, 'publish_clock': True, 'publish_rate': 100.0}


def seconds(stamp):
    """Return a stamp as a number [s]."""
    return stamp.sec + 1e-9 * stamp.nanosec
