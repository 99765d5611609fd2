# SPDX-License-Identifier: Apache-2.0
"""
Numbers and vectors written as text in XML attributes.

Each reader raises ValueError with a phrase that continues `attribute="text"`, such as
"is not a number"; `Place` turns it into a ModelError with its place.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
import re
from typing import Callable, Optional, TypeVar
import unicodedata
from xml.etree.ElementTree import Element

from flexdyn_ros.errors import ModelError

Value = TypeVar('Value')
# Of XML 1.0; for Python no-break spaces are white space too, and digits those of all scripts.
_SPACE = ' \t\r\n'
_NUMBER = re.compile(r'[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?')
_WHOLE = re.compile(r'\+?[0-9]+')
_NOT_FINITE = re.compile(r'[+-]?(nan|inf|infinity)', re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """
    Place of a value in a description.

    Attributes:
        file: Path of the description, or "<text>".
        element: The XML element that a user would look for.
        name: The name of the link, joint or loop concerned.
    """

    file: str
    element: str
    name: Optional[str] = None

    def error(self, problem: str, advice: Optional[str] = None) -> ModelError:
        """Return a ModelError at this place."""
        return ModelError(
            problem, file=self.file, element=self.element, name=self.name, advice=advice
        )

    def read(
        self, element: Element, attribute: str, reader: Callable[[str], Value], default: Value
    ) -> Value:
        """Return the attribute's value, or the default where it is not written."""
        text = element.get(attribute)
        if text is None:
            return default
        try:
            return reader(text)
        except ValueError as error:
            tag = '' if element.tag == self.element else f' of <{element.tag}>'
            advice = None
            if '${' in text or '$(' in text:
                advice = 'This is an unexpanded xacro expression: run xacro on the file first'
            raise self.error(f'{attribute}="{text}"{tag} {error}', advice) from None


def number(text: str) -> float:
    """Read one finite decimal number."""
    text = text.strip(_SPACE)
    if not text:
        raise ValueError('is empty where a number belongs: write one')
    if _NOT_FINITE.fullmatch(text):
        raise ValueError('is not finite, expected a number')
    if not _NUMBER.fullmatch(text):
        raise ValueError(f'is not a number{_reason(text)}')
    value = float(text)
    if not math.isfinite(value):
        raise ValueError('is not finite, expected a number below 1e308')
    return value


def whole_number(text: str, what: str = 'whole number that is zero or more') -> int:
    """Read a whole number that is zero or more; `what` names it in the error."""
    text = text.strip(_SPACE)
    if not _WHOLE.fullmatch(text):
        raise ValueError(f'must be a {what}{_reason(text)}')
    return int(text)


def words_of(text: str) -> list[str]:
    """Return the words of a text, which white space of XML separates."""
    return [word for word in re.split(f'[{_SPACE}]+', text) if word]


def _reason(text: str) -> str:
    """Return a sentence about the character that makes a text no number, and the remedy."""
    for character in text:
        if not character.isascii():
            name = unicodedata.name(character, 'a character without a name')
            return f': it holds U+{ord(character):04X}, {name}. Remove it'
    return '; use a point for decimals' if ',' in text else '. Write digits, such as 0.5'


def non_negative(text: str) -> float:
    """Read a number that is zero or more."""
    value = number(text)
    if value < 0.0:
        raise ValueError('must not be negative')
    return value


def numbers(text: str, count: int) -> tuple[float, ...]:
    """Read exactly `count` numbers separated by spaces."""
    words = words_of(text)
    if len(words) != count:
        raise ValueError(f'must be {count} numbers separated by spaces, not {len(words)}')
    values = []
    for word in words:
        try:
            values.append(number(word))
        except ValueError as error:
            raise ValueError(f'holds "{word}", which {error}') from None
    return tuple(values)


def vector3(text: str) -> tuple[float, float, float]:
    """Read three numbers separated by spaces."""
    x, y, z = numbers(text, 3)
    return (x, y, z)
