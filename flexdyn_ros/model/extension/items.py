# SPDX-License-Identifier: Apache-2.0
"""From <flexdyn> elements to items checked against the schema and merged into one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, Iterable, Iterator, Optional
from xml.etree.ElementTree import Element as XmlElement

from flexdyn_ros.errors import did_you_mean, ModelError
from flexdyn_ros.model.extension.elements import FLEXDYN
from flexdyn_ros.model.extension.schema import Attribute, Element, NO_UNIT, PURE
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.urdf.document import Document
from flexdyn_ros.model.urdf.values import Place
from flexdyn_ros.model.urdf.xml_text import local_name, namespace

# Foreign elements of a robot whose names come closer to ours than this are taken for misspelt.
_SIMILAR = 0.8


@dataclass(frozen=True)
class Item:
    """
    One element of the extension, checked against the schema.

    Attributes:
        schema: Its entry in the schema.
        place: Where it was read, under the name of the link, joint or loop that it is about.
        document: The description that it came from.
        values: Values of the attributes that are written.
        texts: The same as they are written.
        children: The items in it.
        number: Of an element in a row, its place there from 1; 0 for all others.
    """

    schema: Element
    place: Place
    document: Document
    values: dict[str, Any]
    texts: dict[str, str]
    children: tuple[Item, ...]
    number: int = 0

    def written(self, name: str) -> bool:
        """Whether an attribute is written."""
        return name in self.values

    def value(self, name: str) -> Any:
        """Return the value of an attribute, its default (or None) where it is not written."""
        if name in self.values:
            return self.values[name]
        attribute = self.schema.attribute(name)
        assert attribute is not None, name
        return None if attribute.default is None else attribute.read(attribute.default)

    def is_set(self, name: str) -> bool:
        """Whether an attribute is written with another value than its default."""
        attribute = self.schema.attribute(name)
        assert attribute is not None, name
        if name not in self.values or attribute.default is None:
            return name in self.values
        return bool(self.values[name] != attribute.read(attribute.default))

    def without_effect(self, name: str, why: str, advice: str) -> ModelError:
        """Return the error of an attribute without an effect; `why` ends its sentence."""
        return self.place.error(f'{name}="{self.texts[name]}" has no effect{why}', advice)

    def child(self, name: str) -> Optional[Item]:
        """Return the one child of that name, or None."""
        return next(self.all(name), None)

    def all(self, name: str) -> Iterator[Item]:
        """Iterate over the children of that name."""
        return (child for child in self.children if child.schema.name == name)

    @property
    def key(self) -> tuple[str, Any]:
        """Identity of this item among others: its element, and its key's value or place."""
        return self.schema.name, self.number or self.values.get(self.schema.key or '')

    def same(self, other: Item) -> bool:
        """Whether two items are equal, wherever they are written."""
        return (
            self.key == other.key
            and self.values == other.values
            and len(self.children) == len(other.children)
            and all(a.same(b) for a, b in zip(self.children, other.children, strict=True))
        )


def read_extension(documents: Iterable[Document]) -> Optional[Item]:
    """
    Return all <flexdyn> elements of the documents as one item, or None where there are none.

    Raises:
        ModelError: Something in them is unknown, malformed, or given twice with two values.
    """
    items = [
        _read(element, FLEXDYN, Place(document.source, 'flexdyn'), document, 'flexdyn')
        for document in documents
        for element in _extension_elements(document)
    ]
    if not items:
        return None
    merged = replace(items[0], children=_merge_children(items[0].children))
    for item in items[1:]:
        merged = _merge(merged, replace(item, children=_merge_children(item.children)))
    return merged


def link_name(item: Item, name: str, robot: Robot) -> str:
    """Return the name, or raise where the robot has no such link."""
    if name not in robot.frame_names:
        raise item.place.error(
            f'No link is called "{name}"', did_you_mean(name, robot.frame_names)
        )
    return name


def joint_name(item: Item, name: str, robot: Robot) -> str:
    """Return the name, or raise where the robot has no such joint."""
    known = [joint.name for joint in robot.joints]
    if name not in known:
        raise item.place.error(f'No joint is called "{name}"', did_you_mean(name, known))
    return name


def _extension_elements(document: Document) -> list[XmlElement]:
    """Return the <flexdyn> elements under <robot>; misplaced and misspelt ones are errors."""
    root = document.root
    if local_name(root) == 'flexdyn':
        return [root]
    found = []
    for element in root:
        name = local_name(element)
        place = Place(document.source, name)
        if name == 'flexdyn':
            found.append(element)
            continue
        for inner in element.iter():
            _refuse_misplaced(inner, element, document)
        if name == 'flexible_link':
            raise place.error(f'<{name}> is outside <flexdyn>', 'Put it inside <flexdyn>')
        elif SequenceMatcher(None, name.lower(), 'flexdyn').ratio() > _SIMILAR:
            raise place.error(f'<{name}> is unknown', 'Did you mean "flexdyn"?')
    return found


def _refuse_misplaced(inner: XmlElement, outer: XmlElement, document: Document) -> None:
    place = Place(document.source, local_name(inner), outer.get('name'))
    if 'flexdyn' in namespace(inner):
        raise place.error(
            f'<{place.element}> has a prefix or namespace of flexdyn',
            'Elements of flexdyn take no prefix: write them inside <flexdyn> under <robot>',
        )
    if place.element == 'flexdyn':
        raise place.error(
            f'<flexdyn> is inside <{local_name(outer)}>', 'Put it directly under <robot>'
        )


def _read(
    element: XmlElement, schema: Element, owner: Place, document: Document, path: str
) -> Item:
    """Check one element and its content; `owner` is the place of the element around it."""
    own = namespace(element)
    key = element.get(schema.key) if schema.key not in (None, 'axis') else None
    # Inner elements have the name of the link or joint that they are written for.
    place = Place(document.source, schema.name, owner.name or key)
    values, texts = {}, {}
    for name, text in element.attrib.items():
        attribute = schema.attribute(name)
        if attribute is None:
            raise place.error(
                f'unknown attribute "{name}" at {path}',
                did_you_mean(name, (a.name for a in schema.attributes)),
            )
        values[name], texts[name] = _value(attribute, text, place), text
    for attribute in schema.attributes:
        if attribute.required and attribute.name not in values:
            raise place.error(
                f'The attribute {attribute.name} is missing',
                f'Write {attribute.name}="..."{_unit(attribute)}',
            )
    _refuse_text(element, place)
    children: list[Item] = []
    for inner in element:
        if not isinstance(inner.tag, str):
            continue
        name = local_name(inner)
        child = schema.child(name)
        if child is None or namespace(inner) != own:
            raise Place(document.source, name, place.name).error(
                f'unknown element at {path}/{name}',
                did_you_mean(name, (c.name for c in schema.children))
                if child is None
                else 'Elements of flexdyn take no prefix',
            )
        found = _read(inner, child, place, document, f'{path}/{name}')
        if child.in_row:
            found = replace(found, number=1 + sum(each.schema is child for each in children))
        children.append(found)
    return Item(schema, place, document, values, texts, tuple(children))


def _value(attribute: Attribute, text: str, place: Place) -> Any:
    try:
        return attribute.read(text)
    except ValueError as error:
        advice = did_you_mean(text, attribute.choices) if attribute.choices else None
        if '${' in text or '$(' in text:
            advice = 'This is an unexpanded xacro expression: run xacro on the file first'
        raise place.error(
            f'{attribute.name}="{text}"{_unit(attribute)} {error}', advice
        ) from None


def _unit(attribute: Attribute) -> str:
    return f' [{attribute.unit}]' if attribute.unit not in (NO_UNIT, PURE) else ''


def _refuse_text(element: XmlElement, place: Place) -> None:
    for text in (element.text, *(inner.tail for inner in element)):
        if text and text.strip():
            shown = ' '.join(text.split())[:40]
            raise place.error(
                f'The element holds the text "{shown}"', 'Write values as attributes'
            )


def _merge_children(children: tuple[Item, ...]) -> tuple[Item, ...]:
    """Merge the items of one parent that have the same key; repeating ones stay apart."""
    merged: dict[Any, Item] = {}
    for index, child in enumerate(children):
        child = replace(child, children=_merge_children(child.children))
        key = (child.key, index) if child.schema.repeats else child.key
        merged[key] = _merge(merged[key], child) if key in merged else child
    return tuple(merged.values())


def _merge(first: Item, second: Item) -> Item:
    """Return one item with the values of both; raise where they differ."""
    for name, value in second.values.items():
        if name in first.values and first.values[name] != value and first.schema.name != 'flexdyn':
            raise _conflict(
                first, second, f'{name} is "{first.texts[name]}"', f'"{second.texts[name]}"'
            )
    children = list(first.children) + list(second.children)
    for schema in first.schema.children:
        if schema.repeats:
            ours, theirs = list(first.all(schema.name)), list(second.all(schema.name))
            if ours and theirs:
                if len(ours) != len(theirs) or not all(map(Item.same, ours, theirs)):
                    raise _conflict(
                        ours[0],
                        theirs[0],
                        f'there are {len(ours)} <{schema.name}>',
                        f'{len(theirs)} others',
                    )
                children = [c for c in children if not any(c is t for t in theirs)]
    return replace(
        first,
        values={**first.values, **second.values},
        texts={**first.texts, **second.texts},
        children=_merge_children(tuple(children)),
    )


def _conflict(first: Item, second: Item, one: str, other: str) -> ModelError:
    where = [item.place.file for item in (first, second)]
    here = '' if where[0] == where[1] else f' in {where[0]}'
    there = 'elsewhere' if where[0] == where[1] else f'in {where[1]}'
    return first.place.error(
        f'Two descriptions differ: {one}{here} and {other} {there}', 'Keep one of them'
    )
