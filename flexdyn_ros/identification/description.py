# SPDX-License-Identifier: Apache-2.0
"""The URDF text of an identified robot: the description, with identified values in it."""

from __future__ import annotations

from xml.etree.ElementTree import Element, fromstring, indent, SubElement, tostring

from flexdyn_ros.errors import NotYetSupported
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.joint import Joint
from flexdyn_ros.model.records.robot import Robot


def identified_urdf(described: Robot, identified: Robot) -> str:
    """
    Return the description of a robot with the values of another where they differ.

    Args:
        described: The robot as `load_robot` read it.
        identified: The same with other inertias, drives, payloads or gravity.

    Raises:
        NotYetSupported: The robot does not come from a description.
    """
    if not described.descriptions:
        raise NotYetSupported(
            'Only robots that load_robot read can be written as URDF', name=described.name,
            advice='Load the robot by load_robot')
    root, *others = map(fromstring, described.descriptions)
    extension = _merged_extension(root, others)
    elements = {element.get('name'): element for element in root.findall('link')}
    for before, link in zip(described.links, identified.links):
        if link.inertia is not None and link.inertia != before.inertia:
            _set_inertial(elements[link.name], link.inertia)
    joints = {element.get('name'): element for element in root.findall('joint')}
    for old, joint in zip(described.joints, identified.joints):
        if joint.dynamics != old.dynamics:
            for element in joints[joint.name].findall('dynamics'):
                joints[joint.name].remove(element)
            _drop(extension, 'joint_dynamics', joint.name)
            _add_drive(extension, joint)
    if identified.payloads != described.payloads:
        for payload in identified.payloads:
            _drop(extension, 'payload', payload.link)
            body = payload.inertia
            SubElement(extension, 'payload', {
                'link': payload.link, 'mass': _number(body.mass), 'com': _numbers(*body.com),
                **_moments(body)})
    if identified.gravity_vector != described.gravity_vector:
        _drop(extension, 'gravity', None)
        SubElement(extension, 'gravity', {'xyz': _numbers(*identified.gravity_vector)})
    if not len(extension):
        root.remove(extension)
    indent(root)
    return '<?xml version="1.0"?>\n' + tostring(root, encoding='unicode') + '\n'


def _merged_extension(root: Element, others: list[Element]) -> Element:
    """Return the one <flexdyn> element of a description, with the content of others."""
    merged = Element('flexdyn', {'version': '1.0'})
    for source in (root, *others):
        for element in [source] if source.tag == 'flexdyn' else source.findall('flexdyn'):
            merged.extend(list(element))
            if source is root:
                root.remove(element)
    root.append(merged)
    return merged


def _drop(extension: Element, kind: str, name: object) -> None:
    """Remove the elements of a kind that are about a joint or link; all where name is None."""
    for element in extension.findall(kind):
        if name in (None, element.get('joint'), element.get('link')):
            extension.remove(element)


def _set_inertial(link: Element, body: Inertia) -> None:
    for element in link.findall('inertial'):
        link.remove(element)
    inertial = Element('inertial')
    SubElement(inertial, 'origin', {'xyz': _numbers(*body.com), 'rpy': '0 0 0'})
    SubElement(inertial, 'mass', {'value': _number(body.mass)})
    SubElement(inertial, 'inertia', _moments(body))
    link.insert(0, inertial)


def _add_drive(extension: Element, joint: Joint) -> None:
    drive, law = joint.dynamics, joint.dynamics.friction
    values: dict[str, str] = {'joint': joint.name}
    if drive.stiffness is not None:
        values['stiffness'] = _number(drive.stiffness)
    if drive.damping:
        values['damping'] = _number(drive.damping)
    if drive.rotor_inertia:
        values['rotor_inertia'] = _number(drive.rotor_inertia)
        values['gear_ratio'] = _number(drive.gear_ratio)
    element = SubElement(extension, 'joint_dynamics', values)
    losses = {'viscous': _number(law.viscous), 'coulomb': _number(law.coulomb)}
    if law.stribeck is not None:
        losses['stribeck'] = _number(law.stribeck)
        losses['stribeck_velocity'] = _number(law.stribeck_velocity)
    if law.coulomb or law.stribeck:
        losses['smoothing_velocity'] = _number(law.smoothing_velocity)
    SubElement(element, 'friction', losses)
    if drive.spring:
        points = ', '.join(_numbers(*point) for point in drive.spring)
        SubElement(element, 'spring', {'points': points})


def _moments(body: Inertia) -> dict[str, str]:
    return {f'i{"xyz"[i]}{"xyz"[j]}': _number(body.matrix[i][j])
            for i in range(3) for j in range(i, 3)}


def _numbers(*values: float) -> str:
    return ' '.join(map(_number, values))


def _number(value: float) -> str:
    return repr(float(value))
