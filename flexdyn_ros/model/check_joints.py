# SPDX-License-Identifier: Apache-2.0
"""Findings on a joint: motion without inertia, limits, friction, springs without stiffness."""

from __future__ import annotations

from typing import Iterator, Sequence

from flexdyn_ros.model.beam.inertia import composite_moments
from flexdyn_ros.model.records.inertia import MassMoments
from flexdyn_ros.model.records.joint import Joint
from flexdyn_ros.model.records.robot import Robot
import numpy as np

# Severity, message and advice of a finding.
Remark = tuple[str, str, str]
# Inertia [kg m^2] and mass [kg] below this fraction of the robot's mass count as none.
NEGLIGIBLE = 1e-12


def joint_remarks(robot: Robot) -> Iterator[tuple[str, Remark]]:
    """Yield findings on the robot's joints, each with the joint's name."""
    moved_moments = composite_moments(robot)
    payload = sum(p.inertia.mass for p in robot.payloads)
    negligible = NEGLIGIBLE * max(robot.total_mass + payload, 1e-300)
    for joint in robot.joints:
        remarks: list[Remark] = []
        if joint.coordinate_names:
            remarks += _motor_remarks(joint, robot, moved_moments, negligible)
        if joint.elastic_name:
            remarks += _inertia_remarks([(joint, 1.0)], robot, moved_moments, negligible)
        elif joint.bearing_names and moved_moments[joint.name].negligible(negligible):
            remarks += _inertia_remarks([(joint, 1.0)], robot, moved_moments, negligible)
        remarks += [*_limit_remarks(joint), *_friction_remarks(joint)]
        if joint.pitch:
            remarks.append((
                'warning', f'it is a screw of {joint.pitch:g} m/rad here, and a revolute joint in '
                'other programs',
                'Take the transforms of its links from deflection_markers_node, with a tf_prefix, '
                'and not from robot_state_publisher',
            ))
        remarks += spring_remarks(joint.dynamics.spring)
        for remark in remarks:
            yield joint.name, remark


def _motor_remarks(
    joint: Joint, robot: Robot, moved_moments: dict[str, MassMoments], negligible: float
) -> list[Remark]:
    """
    Return whether a joint's own coordinate, the motor side, meets no inertia.

    It meets the rotors of the joint and of its followers, and the links behind those of them
    that have no spring.

    Args:
        joint: A joint with coordinates.
        robot: Its robot.
        moved_moments: Mass moments that each joint carries, about its child's frame.
        negligible: Inertia [kg m^2] and mass [kg] that count as none.
    """
    moved = [(joint, 1.0)] + [
        (j, j.mimic.multiplier) for j in robot.joints if j.mimic and j.mimic.leader == joint.name
    ]
    if any(m * j.dynamics.reflected_inertia for j, m in moved):
        return []
    stiff = [(j, m) for j, m in moved if not j.dynamics.elastic]
    if stiff:
        return _inertia_remarks(stiff, robot, moved_moments, negligible)
    return [(
        'error', 'the motor side of the elastic joint has no inertia',
        'Write rotor_inertia in its <joint_dynamics>; forward dynamics needs it',
    )]


def _inertia_remarks(
    moved: list[tuple[Joint, float]],
    robot: Robot,
    moved_moments: dict[str, MassMoments],
    negligible: float,
) -> list[Remark]:
    """Return whether the links behind joints that move together, the first by 1, are massless."""
    if all(moved_moments[j.name].negligible(negligible) for j, _ in moved):
        links = [name for j, _ in moved for name in _links_beyond(j, robot)]
        shown = ', '.join(f'"{name}"' for name in links[:6]) + (', ...' if len(links) > 6 else '')
        return [(
            'error', f'no link that it moves has mass ({shown})',
            'Give one of them an <inertial>, or make the joint fixed; forward dynamics needs it',
        )]
    if sum(m * m * _smallest_inertia(j, moved_moments[j.name]) for j, m in moved) <= negligible:
        return [(
            'warning', 'with all joints at zero, the links that it moves have no inertia about '
                       'its axis',
            'Check the <inertia> and <origin> of the links that it moves',
        )]
    return []


def _links_beyond(joint: Joint, robot: Robot) -> list[str]:
    """Return the names of the links that a joint moves, depth first."""
    beyond = [joint.child]
    for other in robot.joints:
        if other.parent in beyond:
            beyond.append(other.child)
    return beyond


def _smallest_inertia(joint: Joint, moved: MassMoments) -> float:
    """Return the smallest inertia that a velocity of the joint meets [kg m^2 | kg]."""
    axis = np.array(joint.axis)
    turning = float(axis @ moved.inertia @ axis)
    if joint.type == 'prismatic':
        return moved.mass
    if joint.type == 'planar':
        return min(moved.mass, turning)
    if joint.type in ('floating', 'multi_axis'):
        kinds = {'t' if axis.slides else 'r' for axis in joint.motion_axes} or {'t', 'r'}
        smallest = {'t': moved.mass, 'r': float(np.linalg.eigvalsh(moved.inertia)[0])}
        if kinds == {'t', 'r'}:
            smallest['r'] = float(np.linalg.eigvalsh(moved.about_com())[0])
        return min(smallest[kind] for kind in kinds)
    return turning


def _limit_remarks(joint: Joint) -> Iterator[Remark]:
    limit = joint.limit
    if joint.type not in ('revolute', 'prismatic', 'continuous'):
        return
    for name, value in (('effort', limit.effort), ('velocity', limit.velocity)):
        if value == 0.0:
            yield (
                'warning', f'<limit {name}="0"> leaves the joint no {name}',
                f'Write the real limit, or leave {name} out if there is none',
            )
    if limit.lower is not None and limit.upper is not None and joint.type != 'continuous':
        if limit.lower > limit.upper:
            message = f'<limit> has lower {limit.lower:g} above upper {limit.upper:g}'
            yield 'warning', message, 'Exchange them'
        elif limit.lower == limit.upper:
            message = f'<limit> has lower and upper at {limit.lower:g}: the joint cannot move'
            yield 'warning', message, 'Write the real limits, or make the joint fixed'


def _friction_remarks(joint: Joint) -> Iterator[Remark]:
    friction = joint.dynamics.friction
    if friction.breakaway < friction.coulomb:
        yield (
            'warning', f'the break-away level stribeck="{friction.breakaway:g}" lies below '
            f'coulomb="{friction.coulomb:g}", so that friction rises with speed',
            'A Stribeck curve falls from break-away to the level at speed: exchange the two, '
            'unless this was measured',
        )


def spring_remarks(points: Sequence[tuple[float, float]], of: str = '') -> Iterator[Remark]:
    """
    Yield findings on a table of a nonlinear spring: deflections without a force.

    Args:
        points: Deflections and forces; () for no table.
        of: The spring, for the messages.
    """
    if not points:
        return
    for side, (first, second) in (('below', points[:2]), ('above', points[:-3:-1])):
        where = f'{side} its deflection {first[0]:g}'
        if first[0] == 0.0 and first[1] == second[1]:
            message = f'the spring table{of} opposes no deflection {side} zero'
        elif first[0] == 0.0:
            message = f'the spring table{of} ends at zero and continues straight {side} it'
        elif first[1] == second[1]:
            stays = f'the force stays {first[1]:g}'
            message = f'the spring table{of} grows no stiffer {where}: {stays}'
        else:
            continue
        yield 'warning', message, 'Add the points on that side, unless this was measured'
