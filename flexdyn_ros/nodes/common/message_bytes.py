# SPDX-License-Identifier: Apache-2.0
"""
The bytes of messages, read field by field.

The conversion of rclpy makes a Python object of every field and holds the interpreter meanwhile.
The bytes are CDR as all middlewares of ROS send it (OMG DDSI-RTPS 2.5, section 10). That is 4
bytes for the order of bytes, then numbers, each at a multiple of its size from there on.
"""

from __future__ import annotations

from array import array
import struct
import sys
from typing import Callable, NamedTuple, TypeVar

from flexdyn_ros.errors import FlexdynError
import numpy as np

T = TypeVar('T')
ORDERS = {b'\0\0': '>', b'\0\1': '<'}
"""Signs of the orders of bytes for struct, by the start of the message."""
COUNTS = {sign: struct.Struct(f'{sign}I') for sign in ORDERS.values()}
TIMES = {sign: struct.Struct(f'{sign}iI') for sign in ORDERS.values()}
START = 4  # origin of the alignment
DOUBLE = 8  # size of a double


class MessageUnreadable(FlexdynError):
    """Bytes are not a message of the expected type."""


class TimeFields(NamedTuple):
    """A time with the fields of builtin_interfaces/Time and Duration."""

    sec: int
    nanosec: int


class MessageBytes:
    """
    The bytes of a message and the place up to which they have been read.

    Attributes:
        data: The bytes.
        at: The place of the next field.
        count: Packs and unpacks the length of a sequence.
        moment: Packs and unpacks a time.
    """

    def __init__(self, data: bytes):
        """
        Begin at the first field.

        Args:
            data: The bytes.

        Raises:
            MessageUnreadable: They do not begin as plain CDR does.
        """
        order = ORDERS.get(bytes(data[:2]))
        if order is None:
            raise MessageUnreadable(
                'the encapsulation of the message is unknown, expected plain CDR.')
        self.data, self.at = data, START
        self.count, self.moment = COUNTS[order], TIMES[order]
        self._swapped = (order == '<') != (sys.byteorder == 'little')

    def checked(self, read: Callable[[], T]) -> T:
        """Return the result of `read`; raise MessageUnreadable where the bytes end too early."""
        try:
            return read()
        except (struct.error, UnicodeDecodeError) as error:
            raise MessageUnreadable(
                f'the message ends too early: {error}. Check its publisher.') from None

    def number(self) -> int:
        """Return the next whole number of four bytes, such as the length of a sequence."""
        self.at += -self.at % self.count.size
        (value,) = self.count.unpack_from(self.data, self.at)
        self.at += self.count.size
        return value

    def time(self) -> TimeFields:
        """Return the next time, which is aligned."""
        found = TimeFields(*self.moment.unpack_from(self.data, self.at))
        self.at += self.moment.size
        return found

    def string(self) -> str:
        """Return the next string."""
        size = self.number()
        if self.at + size > len(self.data):
            raise MessageUnreadable('the message ends in a name. Check its publisher.')
        self.at += size
        return self.data[self.at - size : self.at - 1].decode()

    def strings(self) -> list[str]:
        """Return the next sequence of strings."""
        return [self.string() for _ in range(self.number())]

    def doubles(self) -> array[float]:
        """Return the next sequence of doubles."""
        count = self.number()
        begin = self.at + (to_double(self.at) if count else 0)
        self.at = end = begin + DOUBLE * count
        if end > len(self.data):
            raise MessageUnreadable(
                'the message ends in a sequence of numbers. Check its publisher.')
        return self.ordered(array('d', self.data[begin:end]))

    def ordered(self, values: array[float]) -> array[float]:
        """Return doubles turned between the order of the message and that of this machine."""
        if self._swapped:
            values.byteswap()
        return values


def to_double(at: int) -> int:
    """Return the number of bytes from a place to the next one of a double."""
    return (START - at) % DOUBLE


def doubles(values: np.ndarray) -> array[float]:
    """Return the numbers as ROS messages keep them."""
    return array('d', np.ascontiguousarray(values, dtype=float).tobytes())


class StampedHeader(NamedTuple):
    """The field of a std_msgs/Header that is read."""

    stamp: TimeFields


class MeasuredJoints(NamedTuple):
    """The fields of a sensor_msgs/JointState that are read."""

    header: StampedHeader
    name: list[str]
    position: array[float]
    velocity: array[float]


class JointStateReader:
    """Reads sensor_msgs/JointState; names are kept as long as their bytes stay the same."""

    def __init__(self) -> None:
        self._order = b''
        self._bytes = b''  # from behind the stamp to behind the names
        self._names: list[str] = []

    def read(self, data: bytes) -> MeasuredJoints:
        """
        Return a message.

        Args:
            data: Its bytes.

        Raises:
            MessageUnreadable: They are not such a message.
        """
        message = MessageBytes(data)
        return message.checked(lambda: self._fields(message))

    def _fields(self, message: MessageBytes) -> MeasuredJoints:
        header, begin, data = StampedHeader(message.time()), message.at, message.data
        end = begin + len(self._bytes)
        if self._bytes and data[begin:end] == self._bytes and data[:START] == self._order:
            message.at = end
        else:
            message.string()  # frame_id
            self._names = message.strings()
            self._order, self._bytes = data[:START], data[begin : message.at]
        return MeasuredJoints(header, self._names, message.doubles(), message.doubles())
