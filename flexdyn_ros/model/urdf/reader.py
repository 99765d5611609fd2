# SPDX-License-Identifier: Apache-2.0
"""
Links and joints of a URDF, as frozen records of the output of urdf_parser_py.

The parser prints a line for unknown elements, and stops at some (URDF 1.2, capsules, transmissions
of ROS 2). It takes numbers that are not finite and elements that occur twice. So it gets a copy
with the elements and attributes that dynamics needs and no others. Every value is checked while a
mistake still has its element and name. Data of other programs (visual, gazebo, ros2_control,
transmission, elements with a namespace prefix, any extra attribute) are ignored.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Optional
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.model.records.base import IDENTITY, Matrix3, rotation_from_rpy, Vector3, ZERO
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.joint import (
    Friction,
    Joint,
    JOINT_COORDINATES,
    JointDynamics,
    Limit,
    Mimic,
    Pose,
)
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.urdf.document import Document
from flexdyn_ros.model.urdf.tree import resolve_mimics, sort_depth_first
from flexdyn_ros.model.urdf.values import non_negative, number, numbers, Place, vector3
from urdf_parser_py import urdf

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
# The parser demands these, which vendors leave out; the reader of limits checks the written ones.
_FILLED = {'limit': {'effort': '0', 'velocity': '0'}}
# Data of a <transmission> on its drive, in ROS 1 and in ros2_control.
_DRIVES = ('mechanicalReduction', 'mechanical_reduction', 'motorInertia', 'rotor_inertia')
TRANSMISSIONS = 'The reductions in <transmission>'
_X_AXIS: Vector3 = (1.0, 0.0, 0.0)


def clean_urdf(document: Document) -> Element:
    """
    Return a copy of the robot with its links, then its joints, and nothing unknown or wrong.

    Raises:
        ModelError: The URDF is wrong; the error names the element and the correction.
    """
    root, source = document.root, document.source
    place = Place(source, 'robot')
    if root.tag == 'flexdyn':
        raise Place(source, 'flexdyn').error(
            'This file contains the extension only, and no robot',
            'Pass the URDF as the description and this file as its extension',
        )
    if root.tag != 'robot':
        raise place.error(
            f'The root element is <{root.tag}>, not <robot>', 'Give a URDF description'
        )
    version = root.get('version', '1.0')
    if version.partition('.')[0] != '1':
        raise place.error(
            f'URDF version "{version}" is unknown', 'Write version="1.0", "1.1" or "1.2"'
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
    """Return the element with the attributes and elements listed above, checked."""
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
        raise place.error(f'There are {len(found)} <{tag}> elements; one is allowed')
    if not found and tag in _REQUIRED_ELEMENTS:
        raise place.error(*_REQUIRED_ELEMENTS[tag])
    return found[0] if found else None


def _check_joint_type(kind: str, place: Place) -> None:
    if kind in JOINT_COORDINATES:
        return
    advice = did_you_mean(kind, JOINT_COORDINATES)
    if kind in ('ball', 'spherical', 'universal'):
        advice = 'Use type "floating" and give its axes in <multi_axis_joint> inside <flexdyn>'
    raise place.error(f'The joint type "{kind}" is unknown', advice)


def read_urdf(document: Document) -> Robot:
    """
    Return the robot that the URDF proper describes, without its <flexdyn> data.

    Raises:
        ModelError: The URDF is wrong; the error names the element and the correction.
    """
    root, source = document.root, document.source
    # As text, since one version of the parser takes ElementTree's elements and one lxml's.
    parsed = urdf.URDF.from_xml_string(ElementTree.tostring(clean_urdf(document)))
    notes: list[str] = []
    links = [
        _link(link, element, Place(source, 'link', link.name))
        for link, element in zip(parsed.links, root.findall('link'), strict=True)
    ]
    joints = [
        _joint(joint, element, Place(source, 'joint', joint.name), notes)
        for joint, element in zip(parsed.joints, root.findall('joint'), strict=True)
    ]
    notes += _transmission_notes(root)
    ordered_links, ordered_joints = sort_depth_first(links, joints, source)
    return Robot(
        name=parsed.name,
        links=ordered_links,
        joints=resolve_mimics(ordered_joints, source),
        notes=tuple(notes),
        source=source,
    )


def _rotation_from_quaternion(text: str) -> Matrix3:
    """Return the rotation of a quaternion x y z w of any length but zero."""
    x, y, z, w = numbers(text, 4)
    square = x * x + y * y + z * z + w * w
    if square < 1e-12:
        raise ValueError('has zero length, expected a direction')
    s = 2.0 / square
    return (
        (1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)),
        (s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)),
        (s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)),
    )


def _pose(origin: Any, parent: Element, place: Place) -> Pose:
    """Return the parser's origin, which is that of the parent element."""
    if origin is None:
        return Pose()
    x, y, z = origin.xyz or ZERO
    element = parent.find('origin')
    # The parser has no quat_xyzw.
    if element is None or element.get('quat_xyzw') is None:
        return Pose((x, y, z), rotation_from_rpy(origin.rpy or ZERO))
    if element.get('rpy') is not None:
        raise place.error('<origin> has both rpy and quat_xyzw', 'Keep one of them')
    rotation = place.read(element, 'quat_xyzw', _rotation_from_quaternion, IDENTITY)
    return Pose((x, y, z), rotation)


def _link(link: Any, element: Element, place: Place) -> Link:
    inertial = element.find('inertial')
    if inertial is None:
        return Link(link.name)
    return Link(link.name, _inertia(link.inertial, _pose(link.inertial.origin, inertial, place)))


def _inertia(inertial: Any, pose: Pose) -> Optional[Inertia]:
    """Return the inertia in link axes, I_link = R I R^T; None where all of it is zero."""
    matrix = inertial.inertia.to_matrix() if inertial.inertia else (ZERO, ZERO, ZERO)
    if inertial.mass == 0.0 and not any(map(any, matrix)):
        return None
    return Inertia(inertial.mass, pose.position, _rotate(matrix, pose.rotation))


def _rotate(matrix: Matrix3, rotation: Matrix3) -> Matrix3:
    """Return R M R^T, symmetric to the last bit."""
    r = rotation
    half = [[sum(r[i][k] * matrix[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    full = [[sum(half[i][k] * r[j][k] for k in range(3)) for j in range(3)] for i in range(3)]
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = full
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def _joint(joint: Any, element: Element, place: Place, notes: list[str]) -> Joint:
    return Joint(
        name=joint.name,
        type=joint.type,
        parent=joint.parent,
        child=joint.child,
        origin=_pose(joint.origin, element, place),
        axis=_axis(joint, element, place),
        limit=_limit(joint, element),
        mimic=_mimic(joint.mimic),
        dynamics=_dynamics(joint, notes),
    )


def _axis(joint: Any, element: Element, place: Place) -> Vector3:
    """Return the unit axis; (1, 0, 0) where none is written or the type has none."""
    axis = element.find('axis')
    if axis is None or joint.type in ('fixed', 'floating'):
        return _X_AXIS
    x, y, z = joint.axis
    length = math.hypot(x, y, z)
    if length < 1e-9:
        raise place.error(
            f'The axis "{axis.get("xyz")}" is zero',
            'Give the direction that the joint moves about or along',
        )
    return (x / length, y / length, z / length)


def _limit(joint: Any, element: Element) -> Limit:
    """Return the limits that are written; the parser has a zero for those that are not."""
    limit = element.find('limit')
    names = ('lower', 'upper', 'effort', 'velocity')
    if limit is None:
        return Limit()
    return Limit(**{n: getattr(joint.limit, n) for n in names if limit.get(n) is not None})


def _transmission_notes(root: Element) -> list[str]:
    """Return a note where <transmission> elements have reductions or motor inertias."""
    found = {}
    for element in root.findall('transmission'):
        texts = [(child.text or '').strip() for child in element.iter() if child.tag in _DRIVES]
        texts = [text for text in texts if text not in ('', '1', '1.0')]
        found.update({joint.get('name', ''): texts for joint in element.findall('joint') if texts})
    if not found:
        return []
    joint, texts = next(iter(found.items()))
    return [
        f'{TRANSMISSIONS} ({len(found)} joints) are ignored, such as {texts[0]} of joint '
        f'"{joint}". Write <joint_dynamics joint="{joint}" gear_ratio="{texts[0]}" '
        'rotor_inertia="..."/> in <flexdyn>, with the inertia before the gear [kg m^2].'
    ]


def _mimic(mimic: Any) -> Optional[Mimic]:
    if mimic is None:
        return None
    return Mimic(
        leader=mimic.joint,
        multiplier=1.0 if mimic.multiplier is None else mimic.multiplier,
        offset=mimic.offset or 0.0,
    )


def _dynamics(joint: Any, notes: list[str]) -> JointDynamics:
    """Return URDF's <dynamics>: damping is viscous friction, friction is Coulomb friction."""
    if joint.dynamics is None or joint.type == 'fixed':
        return JointDynamics()
    friction = Friction(
        viscous=joint.dynamics.damping or 0.0, coulomb=joint.dynamics.friction or 0.0
    )
    if joint.type in ('planar', 'floating') and friction != Friction():
        notes.append(
            f'Joint "{joint.name}": <dynamics> is ignored, since a {joint.type} joint moves in '
            'metres and radians. Model friction by joints with one coordinate.'
        )
        return JointDynamics()
    return JointDynamics(friction)
