# SPDX-License-Identifier: Apache-2.0
"""The part of the extension about joints: the motion of the base, axes, drives and friction."""

from __future__ import annotations

from dataclasses import replace
import math
from typing import Mapping, Optional

from flexdyn_ros.model.extension.items import Item, joint_name
from flexdyn_ros.model.records.joint import (
    BearingAxis,
    Friction,
    Joint,
    JointDynamics,
    MotionAxis,
)
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot

BASE_JOINT = 'base_motion'
# Velocity coordinates of the base: linear, then angular, in its own axes.
BASE_COORDINATES = 6
INERTIAL_FRAME = 'world'
_ROTATIONS = ('rx', 'ry', 'rz')
_ONE_COORDINATE = ('revolute', 'continuous', 'prismatic')


def with_base_motion(robot: Robot, item: Optional[Item]) -> Robot:
    """
    Return the robot on a base that moves as described.

    A new root link that rests, "world", carries the former root on the floating joint
    "base_motion". Where a link is called "world" already, the new one is "base_motion/world".

    Args:
        robot: The robot of the URDF proper.
        item: Its <base> element, or None.

    Raises:
        ModelError: The robot has a joint called "base_motion" already.
    """
    if item is None or item.value('motion') == 'fixed':
        return robot
    if any(joint.name == BASE_JOINT for joint in robot.joints):
        raise item.place.error(
            f'The robot has a joint "{BASE_JOINT}", and motion="{item.value("motion")}" adds one',
            'Rename that joint, or remove <base>',
        )
    taken = INERTIAL_FRAME in robot.frame_names
    rest = Link(f'{BASE_JOINT}/{INERTIAL_FRAME}' if taken else INERTIAL_FRAME)
    joint = Joint(BASE_JOINT, 'floating', rest.name, robot.root)
    return replace(
        robot,
        links=(rest, *robot.links),
        joints=(joint, *robot.joints),
        base_motion=item.value('motion'),
    )


def with_multi_axis_joints(robot: Robot, extension: Item) -> Robot:
    """
    Return the robot with its floating joints limited to the axes that the extension gives them.

    Raises:
        ModelError: The joint is not of type floating, or a quaternion lacks rotations.
    """
    changed = {}
    for item in extension.all('multi_axis_joint'):
        joint = robot.joint(joint_name(item, item.value('joint'), robot))
        if joint.type != 'floating':
            raise item.place.error(
                f'The joint is of type "{joint.type}"',
                'Write it on a URDF joint of type "floating"',
            )
        axes, quaternion = item.value('axes'), item.value('rotation') == 'quaternion'
        general = tuple(map(_general_axis, item.all('axis')))
        if bool(axes) == bool(general):
            raise item.place.error(
                'The joint needs either axes or <axis> elements',
                'Write axes="..." for axes of its frame, or an <axis> for each general one',
            )
        axes = axes or tuple(each.value('name') for each in item.all('axis'))
        if quaternion and (general or axes[:3] != _ROTATIONS):
            raise item.place.error(
                f'rotation="quaternion" needs all three rotations, and axes is "{" ".join(axes)}"',
                'Begin axes with "rx ry rz", or write rotation="angles"',
            )
        changed[joint.name] = replace(
            joint, type='multi_axis', axes=axes, quaternion=quaternion, general_axes=general
        )
    return replace(robot, joints=tuple(changed.get(j.name, j) for j in robot.joints))


def _general_axis(item: Item) -> MotionAxis:
    """
    Return one axis of a multi-axis joint in any direction and place.

    Raises:
        ModelError: Its name is no word, or a value has no effect.
    """
    if not item.value('name').isidentifier():
        raise item.place.error(
            f'name is "{item.value("name")}"', 'Write a word of letters, digits and underscores'
        )
    x, y, z = item.value('xyz')
    size, slides = math.hypot(x, y, z), item.value('motion') == 'slide'
    if slides and (item.is_set('through') or item.is_set('pitch')):
        raise item.place.error(
            'through and pitch have no effect on a slide', 'Remove them, or write motion="turn"'
        )
    direction = x / size, y / size, z / size
    return MotionAxis(direction, item.value('through'), item.value('pitch'), slides)


def driven_joint(item: Item, joints: Mapping[str, Joint], robot: Robot) -> Joint:
    """
    Return the joint that a <joint_dynamics> element is about, with its drive.

    Args:
        item: The element; it names a joint, or one axis of a joint of several, `<joint>/tx`.
        joints: The joints by name, with the drives read so far.
        robot: The robot.

    Raises:
        ModelError: There is no such joint or axis, it cannot have a drive, or a value has no
            effect.
    """
    name = item.value('joint')
    owner, _, axis = name.rpartition('/')
    joint = joints.get(owner)
    if joint is None or name not in joint.coordinate_names or joint.type != 'multi_axis':
        joint = joints[joint_name(item, name, robot)]
        pitch = item.value('pitch')
        if pitch and joint.type == 'prismatic':
            raise item.place.error(
                'A prismatic joint has no pitch', 'Write it on a revolute or continuous joint'
            )
        return replace(joint, dynamics=read_drive(item, joint), pitch=pitch)
    if joint.quaternion and axis in _ROTATIONS:
        raise item.place.error(
            'A rotation by quaternion has no axis for a drive',
            'Write rotation="angles" in its <multi_axis_joint>',
        )
    if item.is_set('pitch'):
        raise item.place.error(
            'An axis of a multi-axis joint has its pitch elsewhere',
            'Write pitch in its <axis>, inside <multi_axis_joint>',
        )
    springs = ('stiffness', 'parallel_stiffness', 'parallel_damping')
    if any(map(item.written, springs)) or item.child('spring') or item.child('bearing'):
        raise item.place.error(
            'An axis of a multi-axis joint cannot have a spring',
            'Use single-axis joints for elastic drives',
        )
    return replace(joint, drives=(*joint.drives, (axis, _drive(item, Friction()))))


def read_drive(item: Item, joint: Joint) -> JointDynamics:
    """
    Return the drive of a joint: <joint_dynamics> over the URDF's <dynamics>.

    Args:
        item: The <joint_dynamics> element.
        joint: The joint as in the URDF.

    Raises:
        ModelError: The joint cannot have a drive, or a value has no effect.
    """
    place = item.place
    bearing = item.child('bearing')
    if joint.type == 'fixed' and item.children == (bearing,) and set(item.values) == {'joint'}:
        assert bearing is not None
        return JointDynamics(bearing=_bearing(bearing, joint))
    if joint.type not in _ONE_COORDINATE:
        raise place.error(
            f'A joint of type "{joint.type}" cannot have <joint_dynamics>',
            'Name a revolute, continuous or prismatic joint, or an axis of a multi-axis joint, '
            'joint="<joint>/tx". A fixed joint has <bearing> alone',
        )
    drive = _drive(item, joint.dynamics.friction)
    return replace(drive, bearing=_bearing(bearing, joint)) if bearing else drive


def _bearing(item: Item, joint: Joint) -> tuple[BearingAxis, ...]:
    """Return the compliant directions of a bearing; refuse the joint's own motion."""
    directions = item.value('directions')
    found = {}
    for name in ('stiffness', 'damping'):
        values = item.value(name)
        values = values * len(directions) if values == (0.0,) else values
        if len(values) != len(directions):
            raise item.place.error(
                f'{name}="{item.texts[name]}" holds {len(values)} numbers, and there are '
                f'{len(directions)} directions',
                'Write one number for each direction',
            )
        found[name] = values
    kind = {'prismatic': 't', 'fixed': ''}.get(joint.type, 'r')
    free = {name[1] for name in directions if name[0] == kind}
    if kind and all(x == 0.0 or axis in free for axis, x in zip('xyz', joint.axis)):
        raise item.place.error(
            'The directions of the bearing contain the motion of the joint',
            'Leave it out, and write stiffness="..." in <joint_dynamics> for the gear',
        )
    return tuple(map(BearingAxis, directions, found['stiffness'], found['damping']))


def _drive(item: Item, losses: Friction) -> JointDynamics:
    """Return the drive that an element describes, over the losses that the URDF gives."""
    place = item.place
    friction = item.child('friction')
    spring = item.child('spring')
    if not item.children and set(item.values) == {'joint'}:
        raise place.error('The element is empty', 'Write an attribute, or remove the element')
    if item.is_set('gear_ratio') and item.value('rotor_inertia') == 0.0:
        raise place.error(
            'gear_ratio has no effect without rotor_inertia',
            'Write rotor_inertia="..." [kg m^2 | kg], or remove gear_ratio',
        )
    if item.is_set('rest_position') and item.value('parallel_stiffness') == 0.0:
        raise place.error(
            'rest_position has no effect without parallel_stiffness',
            'Write parallel_stiffness="..." [N m/rad | N/m], or remove rest_position',
        )
    if spring is not None and item.written('stiffness'):
        raise place.error('There are both stiffness and <spring>', 'Keep one of them')
    return JointDynamics(
        friction=losses if friction is None else read_friction(friction),
        damping=item.value('damping'),
        stiffness=item.value('stiffness'),
        rotor_inertia=item.value('rotor_inertia'),
        gear_ratio=item.value('gear_ratio'),
        spring=() if spring is None else spring.value('points'),
        parallel_stiffness=item.value('parallel_stiffness'),
        parallel_damping=item.value('parallel_damping'),
        rest_position=item.value('rest_position'),
    )


def read_friction(item: Item) -> Friction:
    """
    Return the friction that a <friction> element gives.

    Raises:
        ModelError: A value has no effect, or stribeck is without its velocity.
    """
    place = item.place
    coulomb = item.value('coulomb')
    stribeck = item.value('stribeck')
    if stribeck is None:
        if item.written('stribeck_velocity'):
            raise place.error(
                'stribeck_velocity has no effect without stribeck',
                'Write stribeck="..." [N m | N], or remove stribeck_velocity',
            )
    elif not item.written('stribeck_velocity'):
        raise place.error('stribeck needs stribeck_velocity', 'Write it [rad/s | m/s]')
    if item.is_set('smoothing_velocity') and coulomb == 0.0 and not stribeck:
        raise place.error(
            'smoothing_velocity has no effect without coulomb or stribeck', 'Take it out'
        )
    velocity = item.value('stribeck_velocity')
    return Friction(
        viscous=item.value('viscous'),
        coulomb=coulomb,
        stribeck=stribeck,
        stribeck_velocity=Friction.stribeck_velocity if velocity is None else velocity,
        smoothing_velocity=item.value('smoothing_velocity'),
    )
