# SPDX-License-Identifier: Apache-2.0
"""
The bytes of a trajectory_msgs/JointTrajectory, read and written a point at a time.

The conversion of rclpy holds Python's interpreter from the first point to the last, 10 us a point
and direction. Here others run between two points.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Any, Iterator, Sequence, Union

from flexdyn_ros.nodes.common.message_bytes import (
    MessageBytes,
    MessageUnreadable,
    TimeFields,
    to_double,
)

LEAST_POINT = 24  # size of a point without numbers


@dataclass(slots=True)
class Point:
    """A point, with the fields of trajectory_msgs/JointTrajectoryPoint."""

    positions: Sequence[float] = ()
    velocities: Sequence[float] = ()
    accelerations: Sequence[float] = ()
    effort: Sequence[float] = ()
    time_from_start: Any = TimeFields(0, 0)


@dataclass
class TrajectoryBytes:
    """
    A trajectory, with the fields of trajectory_msgs/JointTrajectory that are read.

    Attributes:
        data: The bytes of the message.
        joint_names: The joints.
        count: Number of points in the message.
        points: Those that have been read.

    Raises:
        MessageUnreadable: The bytes are no trajectory.
    """

    data: bytes
    joint_names: list[str] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._message = MessageBytes(self.data)
        self._message.checked(self._read_names)
        self._first = self._message.at

    def read(self) -> Iterator[int]:
        """
        Read the points, yielding after each.

        Yields:
            The number of points that have been read.

        Raises:
            MessageUnreadable: The bytes end too early.
        """
        for _ in range(self.count):
            self.points.append(self._message.checked(self._point))
            yield len(self.points)

    def write(self) -> Iterator[Union[int, bytes]]:
        """
        Return the message with `points` as they are now, all else unchanged.

        Yields:
            The number of points after each, and at the end the bytes.
        """
        out, message = bytearray(self.data[: self._first]), self._message
        for number, point in enumerate(self.points):
            for values in (point.positions, point.velocities, point.accelerations, point.effort):
                out += message.count.pack(len(values))
                if len(values):
                    out += bytes(to_double(len(out)))
                    out += message.ordered(array('d', values)).tobytes()
            out += message.moment.pack(*point.time_from_start)
            yield number + 1
        yield bytes(out)

    def _read_names(self) -> None:
        message = self._message
        message.time()
        message.string()  # frame_id
        self.joint_names = message.strings()
        self.count = message.number()
        if self.count * LEAST_POINT > len(self.data):
            raise MessageUnreadable('the message ends before its points. Check its publisher.')

    def _point(self) -> Point:
        message = self._message
        positions, velocities, accelerations, effort = (message.doubles() for _ in range(4))
        return Point(positions, velocities, accelerations, effort, message.time())
