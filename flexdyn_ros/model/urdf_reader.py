# SPDX-License-Identifier: Apache-2.0
"""
Links and joints of a URDF, as frozen records.

The raw XML is read, not a parser's objects: every mistake can then be told with its element
and name, unwritten limits stay unwritten, and what belongs to other programs (visual, gazebo,
ros2_control, transmission, elements with a namespace prefix, any extra attribute) is passed
over without a word.
"""

from __future__ import annotations

import math
from typing import Optional
from xml.etree.ElementTree import Element

from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.model.robot import Friction
from flexdyn_ros.model.robot import Inertia
from flexdyn_ros.model.robot import Joint
from flexdyn_ros.model.robot import JOINT_COORDINATES
from flexdyn_ros.model.robot import JointDynamics
from flexdyn_ros.model.robot import Limit
from flexdyn_ros.model.robot import Link
from flexdyn_ros.model.robot import Matrix3
from flexdyn_ros.model.robot import Mimic
from flexdyn_ros.model.robot import Pose
from flexdyn_ros.model.robot import Robot
from flexdyn_ros.model.robot import Vector3
from flexdyn_ros.model.robot import ZERO
from flexdyn_ros.model.urdf_tree import resolve_mimics
from flexdyn_ros.model.urdf_tree import sort_depth_first
from flexdyn_ros.model.values import non_negative
from flexdyn_ros.model.values import number
from flexdyn_ros.model.values import numbers
from flexdyn_ros.model.values import Place
from flexdyn_ros.model.values import vector3
from flexdyn_ros.model.xml_document import Document

_X_AXIS: Vector3 = (1.0, 0.0, 0.0)


def read_urdf(document: Document) -> Robot:
    """
    Return the robot that the URDF proper describes, without its <flexdyn> data.

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
    _check_version(root, place)
    name = _name(root, place)
    notes: list[str] = []
    links = [_link(element, source) for element in root if element.tag == 'link']
    joints = [_joint(element, source, notes) for element in root if element.tag == 'joint']
    ordered_links, ordered_joints = sort_depth_first(links, joints, source)
    return Robot(
        name=name,
        links=ordered_links,
        joints=resolve_mimics(ordered_joints, source),
        notes=tuple(notes),
        source=source,
    )


def rotation_from_rpy(rpy: Vector3) -> Matrix3:
    """Return R = Rz(yaw) Ry(pitch) Rx(roll) for fixed-axis angles [rad], as URDF has them."""
    (sr, sp, sy), (cr, cp, cy) = map(math.sin, rpy), map(math.cos, rpy)
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def _rotation_from_quaternion(text: str) -> Matrix3:
    """Return the rotation of a quaternion x y z w of any length but zero."""
    x, y, z, w = numbers(text, 4)
    square = x * x + y * y + z * z + w * w
    if square < 1e-12:
        raise ValueError('has zero length')
    s = 2.0 / square
    return (
        (1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)),
        (s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)),
        (s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)),
    )


def _check_version(root: Element, place: Place) -> None:
    version = root.get('version', '1.0')
    if version.partition('.')[0] != '1':
        raise place.error(
            f'URDF version "{version}" is unknown', 'Versions 1.0, 1.1 and 1.2 can be read'
        )


def _name(element: Element, place: Place) -> str:
    name = element.get('name', '')
    if not name.strip():
        raise place.error(f'<{place.element}> has no name', f'Write <{place.element} name="...">')
    return name


def _child(element: Element, tag: str, place: Place) -> Optional[Element]:
    found = element.findall(tag)
    if len(found) > 1:
        raise place.error(f'There are {len(found)} <{tag}> elements where one belongs')
    return found[0] if found else None


def _required(element: Element, attribute: str, place: Place) -> str:
    value = element.get(attribute)
    if value is None or not value.strip():
        raise place.error(f'<{element.tag}> has no {attribute}', f'Write its {attribute}="..."')
    return value


def _link(element: Element, source: str) -> Link:
    name = _name(element, Place(source, 'link'))
    place = Place(source, 'link', name)
    inertial = _child(element, 'inertial', place)
    return Link(name, None if inertial is None else _inertia(inertial, place))


def _inertia(inertial: Element, place: Place) -> Optional[Inertia]:
    """Return the inertia in link axes, I_link = R I R^T; None where all of it is zero."""
    pose = _origin(inertial, place)
    mass_element = _child(inertial, 'mass', place)
    if mass_element is None:
        raise place.error('<inertial> has no <mass>', 'Write <mass value="..."/> [kg]')
    _required(mass_element, 'value', place)
    mass = place.read(mass_element, 'value', non_negative, 0.0)
    matrix_element = _child(inertial, 'inertia', place)
    moments = dict.fromkeys(('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), 0.0)
    if matrix_element is not None:
        for key in moments:
            _required(matrix_element, key, place)
            moments[key] = place.read(matrix_element, key, number, 0.0)
    if mass == 0.0 and not any(moments.values()):
        return None
    m = moments
    matrix = (
        (m['ixx'], m['ixy'], m['ixz']),
        (m['ixy'], m['iyy'], m['iyz']),
        (m['ixz'], m['iyz'], m['izz']),
    )
    return Inertia(mass, pose.position, _rotate(matrix, pose.rotation))


def _rotate(matrix: Matrix3, rotation: Matrix3) -> Matrix3:
    """Return R M R^T, symmetric to the last bit."""
    r = rotation
    half = [[sum(r[i][k] * matrix[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    full = [[sum(half[i][k] * r[j][k] for k in range(3)) for j in range(3)] for i in range(3)]
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = full
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def _origin(element: Element, place: Place) -> Pose:
    origin = _child(element, 'origin', place)
    if origin is None:
        return Pose()
    position = place.read(origin, 'xyz', vector3, ZERO)
    if origin.get('quat_xyzw') is not None:
        if origin.get('rpy') is not None:
            raise place.error('<origin> has both rpy and quat_xyzw', 'Keep one of them')
        rotation = place.read(origin, 'quat_xyzw', _rotation_from_quaternion, Pose().rotation)
        return Pose(position, rotation)
    return Pose(position, rotation_from_rpy(place.read(origin, 'rpy', vector3, ZERO)))


def _joint(element: Element, source: str, notes: list[str]) -> Joint:
    name = _name(element, Place(source, 'joint'))
    place = Place(source, 'joint', name)
    kind = _joint_type(element, place)
    ends = []
    for tag in ('parent', 'child'):
        end = _child(element, tag, place)
        if end is None:
            raise place.error(f'There is no <{tag}>', f'Write <{tag} link="..."/>')
        ends.append(_required(end, 'link', place))
    return Joint(
        name=name,
        type=kind,
        parent=ends[0],
        child=ends[1],
        origin=_origin(element, place),
        axis=_axis(element, kind, place),
        limit=_limit(element, place),
        mimic=_mimic(element, place),
        dynamics=_dynamics(element, kind, place, notes),
    )


def _joint_type(element: Element, place: Place) -> str:
    kind = _required(element, 'type', place)
    if kind not in JOINT_COORDINATES:
        advice = did_you_mean(kind, JOINT_COORDINATES)
        if kind in ('ball', 'spherical', 'universal'):
            advice = (
                'Use type "floating" and say its axes with <multi_axis_joint> inside <flexdyn>'
            )
        raise place.error(f'The joint type "{kind}" is unknown', advice)
    return kind


def _axis(element: Element, kind: str, place: Place) -> Vector3:
    """Return the unit axis; (1, 0, 0) where none is written or the type has none."""
    axis = _child(element, 'axis', place)
    if axis is None:
        return _X_AXIS
    _required(axis, 'xyz', place)
    x, y, z = place.read(axis, 'xyz', vector3, _X_AXIS)
    if kind in ('fixed', 'floating'):
        return _X_AXIS
    length = math.hypot(x, y, z)
    if length < 1e-9:
        raise place.error(
            f'The axis "{axis.get("xyz")}" is zero',
            'Give the direction that the joint moves about or along',
        )
    return (x / length, y / length, z / length)


def _limit(element: Element, place: Place) -> Limit:
    limit = _child(element, 'limit', place)
    if limit is None:
        return Limit()
    return Limit(
        lower=place.read(limit, 'lower', number, None),
        upper=place.read(limit, 'upper', number, None),
        effort=place.read(limit, 'effort', non_negative, None),
        velocity=place.read(limit, 'velocity', non_negative, None),
    )


def _mimic(element: Element, place: Place) -> Optional[Mimic]:
    mimic = _child(element, 'mimic', place)
    if mimic is None:
        return None
    return Mimic(
        leader=_required(mimic, 'joint', place),
        multiplier=place.read(mimic, 'multiplier', number, 1.0),
        offset=place.read(mimic, 'offset', number, 0.0),
    )


def _dynamics(element: Element, kind: str, place: Place, notes: list[str]) -> JointDynamics:
    """Return URDF's <dynamics>: damping is viscous friction, friction is Coulomb friction."""
    dynamics = _child(element, 'dynamics', place)
    if dynamics is None:
        return JointDynamics()
    friction = Friction(
        viscous=place.read(dynamics, 'damping', non_negative, 0.0),
        coulomb=place.read(dynamics, 'friction', non_negative, 0.0),
    )
    if kind in ('planar', 'floating') and friction != Friction():
        notes.append(
            f'Joint "{place.name}": <dynamics> is left out, as a {kind} joint moves in metres '
            'and radians at once. Use joints with one coordinate if there is friction.'
        )
        return JointDynamics()
    if kind == 'fixed':
        return JointDynamics()
    return JointDynamics(friction)
