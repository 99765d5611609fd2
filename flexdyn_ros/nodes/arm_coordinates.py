# SPDX-License-Identifier: Apache-2.0
"""From joint measurements and modal coordinates to the coordinates of the robot."""

from __future__ import annotations

from typing import Sequence

from flexdyn_ros.errors import NotYetSupported
from flexdyn_ros.errors import UnknownName
from flexdyn_ros.model.robot import Robot
import numpy as np


class ArmCoordinates:
    """
    Joins joint and modal coordinates; takes elastic deflections off link-side measurements.

    Attributes:
        joint_names: The single-axis joints, in the order of joint vectors.
        n_joints: Their number.
        n_modes: Number of modal coordinates.
        elastic: For each elastic joint: its index among the joints, its index among the modes.
    """

    def __init__(self, robot: Robot, measured_side: str = 'motor'):
        """
        Prepare for one robot.

        Args:
            robot: The robot.
            measured_side: "motor" or "link": what joint values of elastic joints stand for.

        Raises:
            NotYetSupported: A joint with several coordinates, whose state no JointState carries.
        """
        for joint in robot.joints:
            if len(joint.coordinate_names) > 1:
                raise NotYetSupported(
                    f'the nodes read joint_states, which cannot carry a {joint.type} joint',
                    file=robot.source,
                    element='joint',
                    name=joint.name,
                    advice='Give the nodes a description that is fixed to its root there',
                )
        self.joint_names = robot.joint_names
        self.n_joints = robot.n_joints
        self.n_modes = robot.n_modes
        self.elastic = tuple(
            (robot.joint_names.index(joint.name), robot.mode_names.index(joint.elastic_name))
            for joint in robot.joints
            if joint.elastic_name and joint.mimic is None
        )
        self._link_side = measured_side == 'link'

    def columns(self, joints: Sequence[str]) -> list[int]:
        """
        Return the index of each of these joints in joint vectors.

        Raises:
            UnknownName: A joint has no coordinate.
        """
        for name in joints:
            if name not in self.joint_names:
                raise UnknownName('joint', name, self.joint_names)
        return [self.joint_names.index(name) for name in joints]

    def join(self, joint_values: np.ndarray, modal_values: np.ndarray) -> np.ndarray:
        """
        Return robot coordinates (or velocities, or accelerations).

        Args:
            joint_values: Shape (n_joints,), on the measured side.
            modal_values: Shape (n_modes,).

        Returns:
            Shape (nv,): motor-side joint coordinates, then modes.
        """
        joined = np.concatenate((joint_values, modal_values))
        if self._link_side:
            for joint, mode in self.elastic:
                joined[joint] -= modal_values[mode]
        return joined

    def link_side(self, coordinates: np.ndarray) -> np.ndarray:
        """
        Return joint values on the link side of the springs, shape (n_joints,).

        Args:
            coordinates: Robot coordinates or velocities, shape (nv,).
        """
        joints = np.array(coordinates[: self.n_joints])
        for joint, mode in self.elastic:
            joints[joint] += coordinates[self.n_joints + mode]
        return joints


def actuated_joints(robot: Robot) -> tuple[str, ...]:
    """Return the actuated joints in the depth-first order of the URDF."""
    actuated = robot.actuated or robot.joint_names
    return tuple(name for name in robot.joint_names if name in actuated)
