# SPDX-License-Identifier: Apache-2.0
"""The terms of the schema: elements and attributes, and the kinds of values that these hold."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
import math
from typing import Callable, Optional, Union

from flexdyn_ros.model.records.robot import DIRECTIONS
from flexdyn_ros.model.urdf.values import (
    non_negative,
    number,
    numbers,
    vector3,
    whole_number,
    words_of,
)

# Unit of a value without one.
PURE = '-'
# Unit of names, words and addresses.
NO_UNIT = ''


def positive(text: str) -> float:
    """Read a number above zero."""
    value = number(text)
    if value <= 0.0:
        raise ValueError('must be positive')
    return value


def fraction(text: str) -> float:
    """Read a number from 0 to 1."""
    value = number(text)
    if not 0.0 <= value <= 1.0:
        raise ValueError('must lie between 0 and 1')
    return value


def damping_ratios(text: str) -> Union[float, tuple[float, ...]]:
    """Read one number from 0 to 1, or several."""
    values = tuple(fraction(word) for word in words_of(text))
    if not values:
        raise ValueError('is empty where a number belongs: write one')
    return values[0] if len(values) == 1 else values


def positives(text: str) -> tuple[float, ...]:
    """Read one number above zero or more."""
    return tuple(map(positive, _several(text)))


def non_negatives(text: str) -> tuple[float, ...]:
    """Read one number that is zero or more, or several."""
    return tuple(map(non_negative, _several(text)))


def powers(text: str) -> tuple[int, ...]:
    """Read one whole number from 1 to 8 or more."""
    values = tuple(map(whole_number, _several(text)))
    if not all(1 <= value <= 8 for value in values):
        raise ValueError('must hold whole numbers from 1 to 8')
    return values


def count(text: str) -> int:
    """Read a whole number that is zero or more."""
    value = whole_number(text)
    if value > 1000:
        raise ValueError('is more than 1000, expected less')
    return value


def boolean(text: str) -> bool:
    """Read true or false."""
    if text not in ('true', 'false'):
        raise ValueError('must be "true" or "false"')
    return text == 'true'


def pair(text: str) -> tuple[float, float]:
    """Read two numbers."""
    first, second = numbers(text, 2)
    return first, second


def direction(text: str) -> tuple[float, float, float]:
    """Read a vector that is not zero."""
    value = vector3(text)
    if math.hypot(*value) < 1e-9:
        raise ValueError('has zero length, expected a direction')
    return value


def text_value(text: str) -> str:
    """Read a name or an address."""
    if not text.strip():
        raise ValueError('is empty, expected text')
    return text


def names(text: str) -> tuple[str, ...]:
    """Read names separated by spaces, each once."""
    return _distinct(words_of(text), 'name')


def mode_numbers(text: str) -> tuple[int, ...]:
    """Read mode numbers, counted from 1, each once."""
    words = _distinct(words_of(text), 'mode number')
    values = []
    for word in words:
        try:
            values.append(whole_number(word))
        except ValueError:
            values.append(0)
        if values[-1] < 1:
            raise ValueError(f'holds "{word}", which is not a mode number; write 1, 2, ...')
    return tuple(values)


def node_number(text: str) -> int:
    """Read a node number, a whole number."""
    return whole_number(text, 'node number')


def motion_directions(text: str) -> tuple[str, ...]:
    """Read a subset of rx ry rz tx ty tz, in that order."""
    return _ordered_subset(text, DIRECTIONS)


def rotation_axes(text: str) -> tuple[str, ...]:
    """Read a subset of x y z, in that order."""
    return _ordered_subset(text, ('x', 'y', 'z'))


def spring_points(text: str) -> tuple[tuple[float, float], ...]:
    """Read pairs of deflection and torque, deflections rising, through 0 0."""
    points = []
    for pair in text.split(','):
        deflection, torque = numbers(pair, 2)
        points.append((deflection, torque))
    if len(points) < 2:
        raise ValueError('must hold at least two points, separated by commas')
    for (left, low), (right, high) in pairwise(points):
        if right <= left:
            raise ValueError(f'must have rising deflections, but {right:g} follows {left:g}')
        if high < low:
            raise ValueError(f'must not fall, but torque {high:g} follows {low:g}')
    if (0.0, 0.0) not in points:
        raise ValueError('must hold the point "0 0", the spring at rest')
    return tuple(points)


def coefficients(text: str) -> tuple[float, ...]:
    """Read one number or more."""
    return tuple(numbers(text, len(_several(text))))


def _several(text: str) -> list[str]:
    words = words_of(text)
    if not words:
        raise ValueError('must hold at least one number')
    return words


def _distinct(words: list[str], what: str) -> tuple[str, ...]:
    if not words:
        raise ValueError(f'must hold at least one {what}')
    for word in words:
        if words.count(word) > 1:
            raise ValueError(f'holds {what} "{word}" twice. Keep one')
    return tuple(words)


def _ordered_subset(text: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    words = _distinct(words_of(text), 'direction')
    for word in words:
        if word not in allowed:
            raise ValueError(f'holds "{word}"; allowed are {" ".join(allowed)}')
    if list(words) != [word for word in allowed if word in words]:
        raise ValueError(f'must keep the order {" ".join(allowed)}')
    return words


# Name of a kind of value, in the schema: its reader, and its name in the documentation.
KINDS: dict[str, tuple[Callable[[str], object], str]] = {
    'number': (number, 'number'),
    'positive': (positive, 'number > 0'),
    'non_negative': (non_negative, 'number >= 0'),
    'fraction': (fraction, 'number from 0 to 1'),
    'damping_ratios': (damping_ratios, 'numbers from 0 to 1'),
    'positives': (positives, 'numbers > 0'),
    'non_negatives': (non_negatives, 'numbers >= 0'),
    'powers': (powers, 'whole numbers from 1 to 8'),
    'count': (count, 'whole number >= 0'),
    'boolean': (boolean, 'true or false'),
    'vector': (vector3, 'three numbers'),
    'pair': (pair, 'two numbers'),
    'direction': (direction, 'three numbers, not all zero'),
    'text': (text_value, 'text'),
    'link': (text_value, 'name of a link'),
    'joint': (text_value, 'name of a joint'),
    'joints': (names, 'names of joints'),
    'modes': (names, 'names of modes'),
    'choice': (text_value, 'one of the words listed'),
    'mode_numbers': (mode_numbers, 'numbers, counted from 1'),
    'node': (node_number, 'whole number'),
    'motion_directions': (motion_directions, 'some of rx ry rz tx ty tz, in that order'),
    'rotation_axes': (rotation_axes, 'some of x y z, in that order'),
    'coefficients': (coefficients, 'numbers'),
    'spring_points': (spring_points, 'pairs separated by commas, rising, through 0 0'),
}


@dataclass(frozen=True)
class Attribute:
    """
    An attribute of an element.

    Attributes:
        name: Its name.
        kind: The kind of its value, a key of `KINDS`.
        unit: SI unit; "-" for pure numbers, '' where the value is no number.
        text: Its meaning.
        default: The value of an unwritten attribute, as it would be written; None where an
            unwritten attribute differs from every written one.
        required: Whether it must be written.
        choices: The words allowed, for kind "choice".
    """

    name: str
    kind: str
    text: str
    unit: str = NO_UNIT
    default: Optional[str] = None
    required: bool = False
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> object:
        """Return the value of the text; raise ValueError with the fault of it."""
        value = KINDS[self.kind][0](text)
        if self.choices and value not in self.choices:
            raise ValueError(f'is wrong, expected one of {", ".join(self.choices)}')
        return value


@dataclass(frozen=True)
class Element:
    """
    An element inside <flexdyn>.

    Attributes:
        name: Its tag.
        text: Its meaning.
        attributes: Its attributes.
        children: Elements that may stand in it.
        key: Attribute that distinguishes such elements; None where there is one only.
        repeats: Whether it may stand several times without a key.
        in_row: Whether several in one element are a row; those of one place in it are merged.
    """

    name: str
    text: str
    attributes: tuple[Attribute, ...] = ()
    children: tuple[Element, ...] = ()
    key: Optional[str] = None
    repeats: bool = False
    in_row: bool = False

    def attribute(self, name: str) -> Optional[Attribute]:
        """Return the attribute of that name, or None."""
        return next((a for a in self.attributes if a.name == name), None)

    def child(self, name: str) -> Optional[Element]:
        """Return the child element of that name, or None."""
        return next((c for c in self.children if c.name == name), None)
