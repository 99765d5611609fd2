# SPDX-License-Identifier: Apache-2.0
"""
Whether modes of massless beams move the mass of bodies on them, joints free to follow.

A load on a joint resists the joint's own frame with its articulated-body inertia, I - I S (S^T I S
+ R)^-1 S^T I. S is the joint's motion and R its rotors (Featherstone, Rigid Body Dynamics
Algorithms, 2008, section 7.2). It is taken with every joint and mode at zero. Modes of beams with
mass are left out: they are clamped at the root and follow no rigid motion. Twists are linear then
angular, at a frame's origin and in its axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.beam.body import beam_node
from flexdyn_ros.model.beam.inertia import composite_moments, link_moments
from flexdyn_ros.model.beam.mass_share import massless_reason, OWN_MASS
from flexdyn_ros.model.records.base import cross_matrices
from flexdyn_ros.model.records.beam import Beam
from flexdyn_ros.model.records.inertia import Inertia, MassMoments
from flexdyn_ros.model.records.joint import Joint, MotionAxis, Pose
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import DIRECTIONS, Robot
import numpy as np

# Inertia below this fraction of that with all joints held is none.
NO_INERTIA = 1e-9


@dataclass(frozen=True, eq=False)
class _Rider:
    """
    A body or subtree on a link, with its inertia about its own frame, (6, 6).

    Attributes:
        pose: Of its frame on the link.
        free: Inertia with the joints beyond free to follow.
        held: Inertia with them held.
    """

    pose: Pose
    free: np.ndarray
    held: np.ndarray


def check_massless_beams(robot: Robot) -> None:
    """
    Refuse massless beams with modes that move no mass.

    Raises:
        ModelError: A combination of a link's modes and of joints beyond it moves no mass.
    """
    if not any(_bends_massless(link) for link in robot.links):
        return
    composite = composite_moments(robot)
    riders: dict[str, list[_Rider]] = {link.name: [] for link in robot.links}
    for payload in robot.payloads:
        riders[payload.link].append(_rigid_rider(payload.inertia))
    # Depth first, so that the joints of a link all follow the joint to it.
    for joint in reversed(robot.joints):
        total = _link_inertia(robot.link(joint.child), riders[joint.child], robot)
        held = spatial_inertia(composite[joint.name])
        riders[joint.parent].append(_Rider(joint.origin, _behind_joint(total, joint), held))
    _link_inertia(robot.link(robot.root), riders[robot.root], robot)


def _bends_massless(link: Link) -> bool:
    return link.beam is not None and link.beam.mass == 0.0 and bool(link.beam.families)


def _rigid_rider(body: Inertia) -> _Rider:
    own = spatial_inertia(MassMoments.of(Inertia(body.mass, (0.0, 0.0, 0.0), body.matrix)))
    return _Rider(Pose(body.com), own, own)


def _link_inertia(link: Link, riders: list[_Rider], robot: Robot) -> np.ndarray:
    """Return the inertia (6, 6) of a link with all that hangs on it, massless modes free."""
    beam = link.beam
    if beam is None or not _bends_massless(link):
        inertia = spatial_inertia(link_moments(link))
        return inertia + sum(_carried(rider.free, rider.pose) for rider in riders)
    riders = [*riders, *_point_masses(beam)]
    if link.tip_inertia is not None:
        own = spatial_inertia(MassMoments.of(link.tip_inertia.seen_from(beam.tip_place)))
        riders.append(_Rider(Pose(beam.tip_place), own, own))
    inertia = np.zeros((6, 6))
    if link.inertia is not None:
        inertia = spatial_inertia(MassMoments.of(link.inertia))
    size = len(beam.mode_names)
    modal, held, coupling = np.zeros((size, size)), np.zeros((size, size)), np.zeros((6, size))
    for rider in riders:
        shift, motion = twist_transform(rider.pose), _modal_twists(beam, rider.pose)
        inertia = inertia + shift.T @ rider.free @ shift
        coupling += shift.T @ rider.free @ motion
        modal += motion.T @ rider.free @ motion
        held += motion.T @ rider.held @ motion
    _check_modes(link, modal, np.diag(held), robot)
    return inertia - coupling @ np.linalg.solve(modal, coupling.T)


def _point_masses(beam: Beam) -> list[_Rider]:
    axes = np.array(beam.axes)
    riders = []
    for point in beam.point_masses:
        x, y, z = (point.at * beam.length * axes[:, 0]).tolist()
        moments = MassMoments(point.mass, np.zeros(3), axes @ np.diag(point.inertia) @ axes.T)
        own = spatial_inertia(moments)
        riders.append(_Rider(Pose((x, y, z)), own, own))
    return riders


def _modal_twists(beam: Beam, pose: Pose) -> np.ndarray:
    """Return the twists of a frame on the beam for unit rates of its modes, (6, m)."""
    node = beam_node(beam, np.array(pose.position))
    moved = node.translation + np.cross(node.rotation, node.offset)
    rotation = np.array(pose.rotation).T
    return np.concatenate((rotation @ moved.T, rotation @ node.rotation.T))


def _check_modes(link: Link, modal: np.ndarray, held: np.ndarray, robot: Robot) -> None:
    """Refuse modes whose mass (m, m) is singular against that with all joints held, (m,)."""
    names, worst = link.mode_names, int(np.argmin(held))
    smallest = 0.0
    if held[worst] > 0.0:
        scale = 1.0 / np.sqrt(held)
        values, vectors = np.linalg.eigh(scale[:, None] * modal * scale)
        smallest, worst = float(values[0]), int(np.argmax(np.abs(vectors[:, 0])))
    if smallest > NO_INERTIA:
        return
    assert link.beam is not None
    raise ModelError(
        f'{massless_reason(link.beam.share or 0.0)}, and mode "{names[worst]}" moves no mass: '
        'nothing hangs there that resists it, or joints beyond can follow',
        file=robot.source,
        element='beam',
        name=link.name,
        advice=f'Use fewer modes, or write {OWN_MASS}',
    )


def _behind_joint(inertia: np.ndarray, joint: Joint) -> np.ndarray:
    """Return the articulated inertia (6, 6) at a joint's frame of the bodies that it moves."""
    bearing = [axis.direction for axis in joint.dynamics.bearing]
    motion = np.concatenate((_joint_motion(joint), _directed(bearing)), axis=1)
    own = motion.T @ inertia @ motion + np.diag([*_rotors(joint), *(0.0 for _ in bearing)])
    momentum = inertia @ motion
    return inertia - momentum @ np.linalg.pinv(own, hermitian=True) @ momentum.T


def _joint_motion(joint: Joint) -> np.ndarray:
    """Return the twists of a joint's frame for unit rates of its own coordinates, (6, n)."""
    linear, angular = np.eye(6)[:, :3], np.eye(6)[:, 3:]
    axis = np.array(joint.axis)[:, None]
    if not joint.coordinate_names:
        return np.zeros((6, 0))
    if joint.motion_axes:
        return np.transpose([_twist(each) for each in joint.motion_axes])
    if joint.type == 'floating':
        return np.eye(6)
    if joint.type == 'planar':
        across = np.linalg.svd(axis.T)[2][1:].T
        return np.concatenate((linear @ across, angular @ axis), axis=1)
    return linear @ axis if joint.type == 'prismatic' else angular @ axis


def _twist(axis: MotionAxis) -> np.ndarray:
    """Return the twist of a unit rate of one axis of a joint at zero, (6,)."""
    direction = np.array(axis.direction)
    if axis.slides:
        return np.append(direction, np.zeros(3))
    linear = axis.pitch * direction - np.cross(direction, axis.through)
    return np.append(linear, direction)


def _directed(names: Sequence[str]) -> np.ndarray:
    """Return the twists of unit rates in directions such as rx and ty, (6, n)."""
    return np.eye(6)[:, [(DIRECTIONS.index(name) + 3) % 6 for name in names]]


def _rotors(joint: Joint) -> list[float]:
    """Return the inertia that stiff drives add to each coordinate; springs set theirs free."""
    drives = dict(joint.drives)
    found = []
    for k in range(len(joint.coordinate_names)):
        drive = drives.get(joint.axes[k]) if joint.axes else joint.dynamics
        stiff = drive is not None and not drive.elastic
        found.append(drive.reflected_inertia if drive is not None and stiff else 0.0)
    return found


def spatial_inertia(moments: MassMoments) -> np.ndarray:
    """Return the inertia (6, 6) of a rigid body about its frame's origin."""
    cross = cross_matrices(moments.first)
    return np.block([[moments.mass * np.eye(3), -cross], [cross, moments.inertia]])


def twist_transform(pose: Pose) -> np.ndarray:
    """Return the matrix (6, 6) from a parent's twist to that of a frame placed in it."""
    rotation, cross = np.array(pose.rotation).T, cross_matrices(pose.position)
    return np.block([[rotation, -rotation @ cross], [np.zeros((3, 3)), rotation]])


def _carried(inertia: np.ndarray, pose: Pose) -> np.ndarray:
    """Return the inertia (6, 6) about the parent's frame of a body placed in it."""
    shift = twist_transform(pose)
    return shift.T @ inertia @ shift
