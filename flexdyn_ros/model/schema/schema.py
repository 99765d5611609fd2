# SPDX-License-Identifier: Apache-2.0
"""The terms of a schema: elements and attributes with unit, default and meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from flexdyn_ros.model.schema.extension_values import KINDS

# Unit of what has none.
PURE = '-'
# Unit of names, words and addresses.
NO_UNIT = ''


@dataclass(frozen=True)
class Attribute:
    """
    An attribute of an element.

    Attributes:
        name: Its name.
        kind: The kind of its value, a key of `KINDS`.
        unit: SI unit; "-" for pure numbers, '' where the value is no number.
        text: What it means.
        default: The value of an unwritten attribute, as it would be written; None where an
            unwritten attribute differs from every written one.
        required: Whether it must be written.
        choices: The words allowed, for kind "choice".
    """

    name: str
    kind: str
    unit: str
    text: str
    default: Optional[str] = None
    required: bool = False
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> object:
        """Return the value of the text; raise ValueError with what is wrong with it."""
        value = KINDS[self.kind][0](text)
        if self.choices and value not in self.choices:
            raise ValueError(f'is not one of {", ".join(self.choices)}')
        return value


@dataclass(frozen=True)
class Element:
    """
    An element inside <flexdyn>.

    Attributes:
        name: Its tag.
        text: What it means.
        attributes: Its attributes.
        children: Elements that may stand in it.
        key: Attribute that tells one such element from the next; None where there is one only.
        repeats: Whether it may stand several times without a key.
        later: Whether it is checked but cannot be computed yet.
    """

    name: str
    text: str
    attributes: tuple[Attribute, ...] = ()
    children: tuple[Element, ...] = ()
    key: Optional[str] = None
    repeats: bool = False
    later: bool = False

    def attribute(self, name: str) -> Optional[Attribute]:
        """Return the attribute of that name, or None."""
        return next((a for a in self.attributes if a.name == name), None)

    def child(self, name: str) -> Optional[Element]:
        """Return the child element of that name, or None."""
        return next((c for c in self.children if c.name == name), None)


# Of point masses and payloads.
MOMENTS_OF_INERTIA = tuple(
    Attribute(name, 'non_negative', 'kg m^2', f'Moment of inertia {name}.', default='0')
    for name in ('ixx', 'iyy', 'izz')
)
