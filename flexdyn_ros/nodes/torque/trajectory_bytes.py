# SPDX-License-Identifier: Apache-2.0
"""
The bytes of a trajectory_msgs/JointTrajectory, read and written a point at a time.

The conversion of rclpy holds Python's interpreter from the first point to the last, 10 us a point
and direction. Here others run between two points. The bytes are CDR as all middlewares of ROS send
it (OMG DDSI-RTPS 2.5, section 10). That is 4 bytes for the order of bytes, then numbers, each at a
multiple of its size from there on.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
import struct
import sys
from typing import Any, Iterator, NamedTuple, Sequence, Union

from flexdyn_ros.errors import FlexdynError

ORDERS = {b'\0\0': '>', b'\0\1': '<'}
"""Signs of the orders of bytes for struct, by how the message begins."""
START = 4  # where alignment counts from
DOUBLE = 8  # size of a double
LEAST_POINT = 24  # size of a point without numbers


class TrajectoryUnreadable(FlexdynError):
    """Bytes are no trajectory."""


class TimeFromStart(NamedTuple):
    """A time with the fields of builtin_interfaces/Duration."""

    sec: int
    nanosec: int


@dataclass(slots=True)
class Point:
    """A point, with the fields of trajectory_msgs/JointTrajectoryPoint."""

    positions: Sequence[float] = ()
    velocities: Sequence[float] = ()
    accelerations: Sequence[float] = ()
    effort: Sequence[float] = ()
    time_from_start: Any = TimeFromStart(0, 0)


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
        TrajectoryUnreadable: The bytes are no trajectory.
    """

    data: bytes
    joint_names: list[str] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)

    def __post_init__(self) -> None:
        order = ORDERS.get(bytes(self.data[:2]))
        if order is None:
            raise TrajectoryUnreadable('the encapsulation of the message is not plain CDR.')
        self._count = struct.Struct(f'{order}I')
        self._time = struct.Struct(f'{order}iI')
        self._swapped = (order == '<') != (sys.byteorder == 'little')
        self._at = START + self._time.size
        self._guarded(self._read_names)
        self._first = self._at

    def read(self) -> Iterator[int]:
        """
        Read the points, yielding after each.

        Yields:
            The number of points that have been read.

        Raises:
            TrajectoryUnreadable: The bytes end too early.
        """
        for _ in range(self.count):
            self.points.append(self._guarded(self._point))
            yield len(self.points)

    def write(self) -> Iterator[Union[int, bytes]]:
        """
        Return the message with `points` as they are now, all else unchanged.

        Yields:
            The number of points after each, and at the end the bytes.
        """
        out = bytearray(self.data[: self._first])
        for number, point in enumerate(self.points):
            for values in (point.positions, point.velocities, point.accelerations, point.effort):
                out += self._count.pack(len(values))
                if len(values):
                    out += bytes(_to_double(len(out)))
                    out += self._ordered(array('d', values)).tobytes()
            out += self._time.pack(*point.time_from_start)
            yield number + 1
        yield bytes(out)

    def _guarded(self, read: Any) -> Any:
        try:
            return read()
        except (struct.error, UnicodeDecodeError) as error:
            raise TrajectoryUnreadable(f'the message ends too early: {error}.') from None

    def _read_names(self) -> None:
        self._string()  # frame_id
        self.joint_names = []
        for _ in range(self._number()):
            self.joint_names.append(self._string())
        self.count = self._number()
        if self.count * LEAST_POINT > len(self.data):
            raise TrajectoryUnreadable('the message ends before its points.')

    def _number(self) -> int:
        self._at += -self._at % self._count.size
        (value,) = self._count.unpack_from(self.data, self._at)
        self._at += self._count.size
        return value

    def _string(self) -> str:
        size = self._number()
        if self._at + size > len(self.data):
            raise TrajectoryUnreadable('the message ends in a name.')
        self._at += size
        return self.data[self._at - size : self._at - 1].decode()

    def _doubles(self) -> array[float]:
        count = self._number()
        begin = self._at + (_to_double(self._at) if count else 0)
        self._at = end = begin + DOUBLE * count
        if end > len(self.data):
            raise TrajectoryUnreadable('the message ends in a point.')
        return self._ordered(array('d', self.data[begin:end]))

    def _ordered(self, values: array[float]) -> array[float]:
        if self._swapped:
            values.byteswap()
        return values

    def _point(self) -> Point:
        positions, velocities, accelerations, effort = (self._doubles() for _ in range(4))
        when = TimeFromStart(*self._time.unpack_from(self.data, self._at))
        self._at += self._time.size
        return Point(positions, velocities, accelerations, effort, when)


def _to_double(at: int) -> int:
    """Return the number of bytes from a place to the next one of a double."""
    return (START - at) % DOUBLE
