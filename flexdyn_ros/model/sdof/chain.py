# SPDX-License-Identifier: Apache-2.0
"""
From a robot to a chain in the SDOF notation, where that can express it.

Frames of links are chosen anew: a gimbal about x and y points the z axis along the axis of a
joint. The coordinates q are kept. Axes that no gimbal holds have a massless link each.
"""

from __future__ import annotations

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.records.joint import Joint, JointDynamics, MotionAxis
from flexdyn_ros.model.records.robot import DIRECTIONS, Robot
from flexdyn_ros.model.sdof.notation import SdofChain, SdofLink, turn
import numpy as np

_SAME = 1e-12
_ONE_AXIS = ('revolute', 'continuous', 'prismatic')


def robot_to_sdof(robot: Robot) -> SdofChain:
    """
    Return a robot as a chain; its coordinates stay in their order, with their values.

    Raises:
        ModelError: The robot is no open chain of rigid links behind joints whose axes turn or
            slide, or a joint has more than viscous friction.
    """
    if robot.loops or robot.base_motion != 'fixed' or robot.payloads or robot.n_modes:
        raise ModelError(
            'has loops, a moving base, payloads or modes, which the SDOF notation cannot express',
            file=robot.source, advice='Convert an open chain of rigid links',
        )
    writer = _Writer(robot)
    link, behind = robot.root, list(robot.joints)
    while behind:
        joint = behind.pop(0)
        if joint.parent != link:
            raise _cannot(robot, joint, 'starts a branch')
        writer.joint(joint)
        link = joint.child
    writer.end()
    return SdofChain(robot.name, np.array(robot.gravity_vector), writer.base, writer.links)


class _Writer:
    """
    A chain as far as it is written, and the place of the robot's link in its last frame.

    Attributes:
        base: Place of the first frame.
        links: The links.
    """

    def __init__(self, robot: Robot):
        self._robot = robot
        self.base = np.zeros(3)
        self.links: list[SdofLink] = []
        self._rotation, self._position = np.eye(3), np.zeros(3)

    def joint(self, joint: Joint) -> None:
        """Write a joint and the link behind it."""
        axes = self._axes(joint)
        place = np.array(joint.origin.position)
        self._position = self._position + self._rotation @ place
        self._rotation = self._rotation @ np.array(joint.origin.rotation)
        plain = len(axes) > 1 and not joint.general_axes
        if plain and np.allclose(self._rotation, np.eye(3), atol=_SAME):
            self._go_to(self._position)
            numbers = tuple(DIRECTIONS.index(name) for name in joint.axes)
            self._add(joint.child, np.zeros(6), numbers, tuple(_viscous(self._robot, joint)))
            self._rotation, self._position = np.eye(3), np.zeros(3)
        else:
            for k, (axis, viscous) in enumerate(zip(axes, _viscous(self._robot, joint)), 1):
                self._one(joint.child if k == len(axes) else f'{joint.child}_{k}', axis, viscous)
        inertia = self._robot.link(joint.child).inertia
        if inertia is None:
            return
        if not axes:  # the body before it may have slid here
            self._add(joint.child, np.zeros(6), ())
        last = self.links[-1]
        last.mass, last.com = inertia.mass, self._position + self._rotation @ inertia.com
        last.inertia = self._rotation @ np.array(inertia.matrix) @ self._rotation.T

    def _one(self, name: str, axis: MotionAxis, viscous: float) -> None:
        """Write a link whose frame has its z axis along one axis."""
        x, y, z = self._rotation @ np.array(axis.direction)
        gamma = np.zeros(6)
        gamma[:2] = np.arctan2(-y, z), np.arctan2(x, np.hypot(y, z))
        aside = self._rotation @ np.array(axis.through)
        self._go_to(self._position + aside)
        self._add(name, gamma, (5 if axis.slides else 2,), (viscous,))
        back = (turn(0, gamma[0]) @ turn(1, gamma[1])).T
        self._rotation, self._position = back @ self._rotation, -back @ aside

    def end(self) -> None:
        """Put the end of the chain at the origin of the robot's last link."""
        if self.links:
            self._go_to(self._position)

    def _go_to(self, place: np.ndarray) -> None:
        """Put the next frame's origin at a place in the last frame."""
        place = np.where(np.abs(place) > _SAME, place, 0.0)
        if not self.links:
            self.base = place
            return
        last = self.links[-1]
        if any(k >= 3 and place[k - 3] for k in last.axes):  # q has taken that entry
            self._add(f'{last.name}_end', np.zeros(6), ())
        self.links[-1].gamma[3:] = place

    def _add(
        self, name: str, gamma: np.ndarray, axes: tuple[int, ...], viscous: tuple[float, ...] = ()
    ) -> None:
        taken = {'base', 'tip', *(link.name for link in self.links)}
        while name in taken:
            name += '_'
        self.links.append(SdofLink(name, gamma, axes, viscous=viscous))

    def _axes(self, joint: Joint) -> tuple[MotionAxis, ...]:
        """Return the axes of a joint, which turn or slide."""
        known = joint.type in (*_ONE_AXIS, 'fixed', 'multi_axis') and not joint.quaternion
        if not known or joint.mimic is not None:
            kind = 'follows another one' if joint.mimic else f'is of type "{joint.type}"'
            raise _cannot(self._robot, joint, kind)
        if joint.type == 'fixed':
            return ()
        axes = joint.motion_axes
        if joint.type in _ONE_AXIS and not joint.pitch:
            axes = (MotionAxis(joint.axis, slides=joint.type == 'prismatic'),)
        if any(axis.pitch for axis in axes):
            raise _cannot(self._robot, joint, 'is a screw')
        return axes


def _viscous(robot: Robot, joint: Joint) -> list[float]:
    """Return the friction of each axis of a joint."""
    drives = dict(joint.drives)
    found = [drives.get(axis, JointDynamics()) for axis in joint.axes] or [joint.dynamics]
    for drive in found:
        law = drive.losses
        dry = law.coulomb or law.breakaway or drive.reflected_inertia
        if dry or drive.elastic or drive.parallel_stiffness:
            raise _cannot(robot, joint, 'has a rotor, a spring or dry friction')
    return [drive.losses.viscous for drive in found]


def _cannot(robot: Robot, joint: Joint, why: str) -> ModelError:
    return ModelError(
        f'{why}, which the SDOF notation cannot express', file=robot.source, element='joint',
        name=joint.name, advice='Convert an open chain of rigid links whose joints turn or slide',
    )
