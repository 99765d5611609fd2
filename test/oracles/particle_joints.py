# SPDX-License-Identifier: Apache-2.0
"""Joint motion of the particle model: transforms as jets, and the drivers of coordinates."""

from __future__ import annotations

import numpy as np
from oracles.jets import as_jet, axis_rotation, Jet, transform

CONFIGURATION_SIZE = {
    'revolute': 1, 'continuous': 1, 'prismatic': 1, 'fixed': 0, 'planar': 3, 'floating': 7,
}


def _sizes(joint) -> tuple[int, int]:
    """Return the number of the joint's configuration and of its velocity coordinates."""
    if joint.type == 'multi_axis':
        return len(joint.axes) + joint.quaternion, len(joint.axes)
    size = CONFIGURATION_SIZE[joint.type]
    return size, 6 if joint.type == 'floating' else size


def coordinate_slices(robot) -> dict[str, tuple[int, int]]:
    """Return joint name to (first index in q, first index in v); mimic joints have none."""
    at_q = at_v = 0
    result = {}
    for joint in robot.joints:
        if joint.mimic is None:
            result[joint.name] = (at_q, at_v)
            positions, velocities = _sizes(joint)
            at_q += positions
            at_v += velocities
    return result


def motor_map(model, joint) -> tuple[int | None, float]:
    """Return the velocity coordinate that drives a one-axis joint, and the ratio to it."""
    if joint.type not in ('revolute', 'continuous', 'prismatic'):
        return None, 0.0
    ratio = 1.0
    while joint.mimic is not None:
        ratio *= joint.mimic.multiplier
        joint = model.robot.joint(joint.mimic.leader)
    return model.slices[joint.name][1], ratio


def axis_drives(model) -> list:
    """Return velocity coordinate and drive of each driven axis of a joint of several."""
    return [
        (model.slices[joint.name][1] + joint.axes.index(axis), drive)
        for joint in model.robot.joints for axis, drive in joint.drives
    ]


def _motor(model, joint, q, qd, qdd) -> Jet:
    """Return the motor-side coordinate of a one-axis joint, (B,)."""
    if joint.mimic is not None:
        leader = _motor(model, model.robot.joint(joint.mimic.leader), q, qd, qdd)
        return leader * joint.mimic.multiplier + np.full(len(qd), joint.mimic.offset)
    at_q, at_v = model.slices[joint.name]
    return Jet(np.full(len(qd), q[at_q]), qd[:, at_v], qdd[:, at_v])


def plane_axes(axis) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the in-plane unit vectors of a planar joint.

    The first is unit vector number (i + 1) mod 3, where i is the largest component of the axis,
    projected on the plane. The second completes the right-handed set.
    """
    axis = np.asarray(axis, float)
    first = np.eye(3)[(int(np.argmax(np.abs(axis))) + 1) % 3]
    first = first - axis * (axis @ first)
    first /= np.linalg.norm(first)
    return first, np.cross(axis, first)


def _floating(at_q, at_v, q, qd, qdd) -> Jet:
    position, (x, y, z, w) = q[at_q: at_q + 3], q[at_q + 3: at_q + 7]
    rotation = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])
    twist, twist_rate = np.zeros((2, len(qd), 4, 4))
    for matrix, rates in ((twist, qd), (twist_rate, qdd)):
        matrix[:, :3, 3] = rates[:, at_v: at_v + 3]
        matrix[:, :3, :3] = np.cross(np.eye(3), rates[:, None, at_v + 3: at_v + 6])
    pose = transform(rotation, position).value
    rate = pose @ twist
    return Jet.of(np.broadcast_to(pose, rate.shape), rate, rate @ twist + pose @ twist_rate)


def _spherical(p, spin, spin_rate) -> Jet:
    """Return the rotation of a quaternion that spins in body axes, (B, 3, 3)."""
    x, y, z, w = p
    value = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])
    turn, turn_rate = (np.cross(np.eye(3), w[:, None, :]) for w in (spin, spin_rate))
    rate = value @ turn
    return Jet.of(np.broadcast_to(value, rate.shape), rate, rate @ turn + value @ turn_rate)


def _multi_axis(joint, at_q, at_v, q, qd, qdd) -> Jet:
    """Return the product of the joint's elementary motions, one after the other."""
    still = np.zeros(3)
    total = as_jet(np.eye(4))
    axes = joint.axes
    for k, axis in enumerate(joint.general_axes):
        motion = Jet(np.full(len(qd), q[at_q + k]), qd[:, at_v + k], qdd[:, at_v + k])
        total = total @ _along(axis, motion)
    if joint.general_axes:
        return total
    if joint.quaternion:
        spin, spin_rate = qd[:, at_v: at_v + 3], qdd[:, at_v: at_v + 3]
        total = transform(_spherical(q[at_q: at_q + 4], spin, spin_rate), still)
        axes, at_q, at_v = axes[3:], at_q + 4, at_v + 3
    for k, name in enumerate(axes):
        axis = np.eye(3)['xyz'.index(name[1])]
        motion = Jet(np.full(len(qd), q[at_q + k]), qd[:, at_v + k], qdd[:, at_v + k])
        if name[0] == 'r':
            total = total @ transform(axis_rotation(axis, motion), still)
        else:
            total = total @ transform(np.eye(3), motion[:, None] * axis)
    return total


def _along(axis, motion) -> Jet:
    """Return the motion along a turn, slide or screw, (B, 4, 4): there, turn and shift, back."""
    direction, through = np.asarray(axis.direction), np.asarray(axis.through)
    if axis.slides:
        return transform(np.eye(3), motion[:, None] * direction)
    there, back = (transform(np.eye(3), sign * through) for sign in (1.0, -1.0))
    turn = transform(axis_rotation(direction, motion), motion[:, None] * (axis.pitch * direction))
    return there @ turn @ back


def joint_transform(model, joint, q, qd, qdd) -> Jet:
    """Return the motion of the child frame in the joint frame, (B, 4, 4)."""
    if joint.type == 'fixed':
        return as_jet(np.eye(4))
    axis = np.asarray(joint.axis, float)
    still = np.zeros(3)
    if joint.type in ('revolute', 'continuous', 'prismatic'):
        motion = _motor(model, joint, q, qd, qdd)
        if joint.elastic_name:
            motion = motion + model.modes([joint.elastic_name], q, qd, qdd)[:, 0]
        if joint.type == 'prismatic':
            return transform(np.eye(3), motion[:, None] * axis)
        if joint.pitch:
            return transform(axis_rotation(axis, motion), motion[:, None] * (joint.pitch * axis))
        return transform(axis_rotation(axis, motion), still)
    at_q, at_v = model.slices[joint.name]
    if joint.type == 'floating':
        return _floating(at_q, at_v, q, qd, qdd)
    if joint.type == 'multi_axis':
        return _multi_axis(joint, at_q, at_v, q, qd, qdd)
    x, y, angle = (
        Jet(np.full(len(qd), q[at_q + k]), qd[:, at_v + k], qdd[:, at_v + k]) for k in range(3)
    )
    first, second = plane_axes(axis)
    return transform(
        axis_rotation(axis, angle), x[:, None] * first + y[:, None] * second
    )
