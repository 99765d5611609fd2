# SPDX-License-Identifier: Apache-2.0
"""From <joint_dynamics> to what a joint's drive adds."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping

from flexdyn_ros.model.extension.extension_reader import Item
from flexdyn_ros.model.extension.extension_reader import joint_name
from flexdyn_ros.model.robot.joint import Friction
from flexdyn_ros.model.robot.joint import Joint
from flexdyn_ros.model.robot.joint import JointDynamics
from flexdyn_ros.model.robot.robot import Robot

_ONE_COORDINATE = ('revolute', 'continuous', 'prismatic')


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
        return replace(joint, dynamics=read_drive(item, joint))
    if joint.quaternion and axis[0] == 'r':
        raise item.place.error(
            'A rotation by quaternion has no axis that a drive could turn about',
            'Write rotation="angles" in its <multi_axis_joint>',
        )
    if item.written('stiffness') or item.child('spring') is not None:
        raise item.place.error(
            'An axis of a joint of several cannot have a spring',
            'Use joints of one axis where the drive is elastic',
        )
    return replace(joint, drives=(*joint.drives, (axis, _drive(item, Friction()))))


def read_drive(item: Item, joint: Joint) -> JointDynamics:
    """
    Return the drive of a joint: <joint_dynamics> over what the URDF says in <dynamics>.

    Args:
        item: The <joint_dynamics> element.
        joint: The joint as the URDF has it.

    Raises:
        ModelError: The joint cannot have a drive, or a value has no effect.
    """
    place = item.place
    if joint.type not in _ONE_COORDINATE:
        raise place.error(
            f'A joint of type "{joint.type}" cannot have <joint_dynamics>',
            'Only revolute, continuous and prismatic joints have a drive, and single axes of '
            'joints of several, joint="<joint>/tx"',
        )
    return _drive(item, joint.dynamics.friction)


def _drive(item: Item, losses: Friction) -> JointDynamics:
    """Return what an element says of a drive, over the losses that the URDF gives."""
    place = item.place
    friction = item.child('friction')
    spring = item.child('spring')
    if not friction and not spring and set(item.values) == {'joint'}:
        raise place.error('The element says nothing', 'Write an attribute, or take it out')
    if item.says('gear_ratio') and item.value('rotor_inertia') == 0.0:
        raise place.error(
            'gear_ratio has no effect without rotor_inertia',
            'Write rotor_inertia="..." [kg m^2 | kg], or take gear_ratio out',
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
                'Write stribeck="..." [N m | N], or take stribeck_velocity out',
            )
    elif not item.written('stribeck_velocity'):
        raise place.error('stribeck needs stribeck_velocity', 'Write it [rad/s | m/s]')
    if item.says('smoothing_velocity') and coulomb == 0.0 and not stribeck:
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
