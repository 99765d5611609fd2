# SPDX-License-Identifier: Apache-2.0
"""
What dynamics needs of a URDF, checked and copied for urdf_parser_py.

The parser prints a line for what it does not know, stops at some of it (URDF 1.2, capsules,
transmissions of ROS 2), and takes numbers that are not finite and elements that occur twice. So it
gets the elements and attributes listed here and no others, with every value checked while a
mistake can still be told with its element and name.
"""

from __future__ import annotations

from typing import Any
from typing import Callable
from typing import Optional
from xml.etree.ElementTree import Element

from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.model.robot.joint import JOINT_COORDINATES
from flexdyn_ros.model.xml.values import non_negative
from flexdyn_ros.model.xml.values import number
from flexdyn_ros.model.xml.values import Place
from flexdyn_ros.model.xml.values import vector3
from flexdyn_ros.model.xml.xml_document import Document

_MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')

_ELEMENTS: dict[str, tuple[str, ...]] = {
    'link': ('inertial',),
    'inertial': ('origin', 'mass', 'inertia'),
    'joint': ('parent', 'child', 'origin', 'axis', 'limit', 'mimic', 'dynamics'),
}
_REQUIRED_ELEMENTS = {
    'mass': ('<inertial> has no <mass>', 'Write <mass value="..."/> [kg]'),
    'parent': ('There is no <parent>', 'Write <parent link="..."/>'),
    'child': ('There is no <child>', 'Write <child link="..."/>'),
}
_ATTRIBUTES: dict[str, dict[str, Callable[[str], Any]]] = {
    'link': {'name': str},
    'joint': {'name': str, 'type': str},
    'origin': {'xyz': vector3, 'rpy': vector3},
    'mass': {'value': non_negative},
    'inertia': dict.fromkeys(_MOMENTS, number),
    'parent': {'link': str},
    'child': {'link': str},
    'axis': {'xyz': vector3},
    'limit': {
        'lower': number, 'upper': number, 'effort': non_negative, 'velocity': non_negative,
    },
    'mimic': {'joint': str, 'multiplier': number, 'offset': number},
    'dynamics': {'damping': non_negative, 'friction': non_negative},
}
_REQUIRED_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    'joint': ('type',),
    'mass': ('value',),
    'inertia': _MOMENTS,
    'parent': ('link',),
    'child': ('link',),
    'axis': ('xyz',),
    'mimic': ('joint',),
}
# The parser demands these, which vendors leave out; the reader of limits looks what was written.
_FILLED = {'limit': {'effort': '0', 'velocity': '0'}}


def clean_urdf(document: Document) -> Element:
    """
    Return a copy of the robot with its links, then its joints, and nothing unknown or wrong.

    Raises:
        ModelError: The URDF is wrong; the error names the element and what to do.
    """
    root, source = document.root, document.source
    place = Place(source, 'robot')
    if root.tag == 'flexdyn':
        raise Place(source, 'flexdyn').error(
            'This file has the extension only, and no robot',
            'Give the URDF as the description and this file as its extension',
        )
    if root.tag != 'robot':
        raise place.error(
            f'The root element is <{root.tag}>, not <robot>', 'Give a URDF description'
        )
    version = root.get('version', '1.0')
    if version.partition('.')[0] != '1':
        raise place.error(
            f'URDF version "{version}" is unknown', 'Versions 1.0, 1.1 and 1.2 can be read'
        )
    clean = Element('robot', name=_name(root, place))
    for element in [*root.findall('link'), *root.findall('joint')]:
        name = _name(element, Place(source, element.tag))
        clean.append(_copy(element, Place(source, element.tag, name)))
    return clean


def _name(element: Element, place: Place) -> str:
    name = element.get('name', '')
    if not name.strip():
        raise place.error(f'<{place.element}> has no name', f'Write <{place.element} name="...">')
    return name


def _copy(element: Element, place: Place) -> Element:
    """Return the element with what is listed above, checked."""
    tag = element.tag
    clean = Element(tag, _FILLED.get(tag, {}))
    for attribute, reader in _ATTRIBUTES.get(tag, {}).items():
        text = element.get(attribute)
        if attribute in _REQUIRED_ATTRIBUTES.get(tag, ()) and not (text and text.strip()):
            raise place.error(f'<{tag}> has no {attribute}', f'Write its {attribute}="..."')
        if text is not None:
            place.read(element, attribute, reader, None)
            clean.set(attribute, text)
    if tag == 'joint':
        _check_joint_type(clean.get('type', ''), place)
    for inner in _ELEMENTS.get(tag, ()):
        child = _only(element, inner, place)
        if child is not None:
            clean.append(_copy(child, place))
    return clean


def _only(element: Element, tag: str, place: Place) -> Optional[Element]:
    """Return the child of this tag; None where there is none and none is needed."""
    found = element.findall(tag)
    if len(found) > 1:
        raise place.error(f'There are {len(found)} <{tag}> elements where one belongs')
    if not found and tag in _REQUIRED_ELEMENTS:
        raise place.error(*_REQUIRED_ELEMENTS[tag])
    return found[0] if found else None


def _check_joint_type(kind: str, place: Place) -> None:
    if kind in JOINT_COORDINATES:
        return
    advice = did_you_mean(kind, JOINT_COORDINATES)
    if kind in ('ball', 'spherical', 'universal'):
        advice = 'Use type "floating" and say its axes with <multi_axis_joint> inside <flexdyn>'
    raise place.error(f'The joint type "{kind}" is unknown', advice)
