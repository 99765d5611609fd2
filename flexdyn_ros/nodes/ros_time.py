# SPDX-License-Identifier: Apache-2.0
"""ROS times and durations as numbers."""

from typing import Any

NANOSECONDS = 10**9  # in a second


def nanoseconds(time: Any) -> int:
    """Return a builtin_interfaces/Time or Duration as a whole number [ns]."""
    return int(time.sec) * NANOSECONDS + int(time.nanosec)


def seconds(time: Any) -> float:
    """Return a builtin_interfaces/Time or Duration as a number [s]."""
    return time.sec + time.nanosec / NANOSECONDS
