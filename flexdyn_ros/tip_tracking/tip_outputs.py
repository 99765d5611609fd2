# SPDX-License-Identifier: Apache-2.0
"""
Outputs of an arm: components of the pose of a frame, and joints.

A rotation is a rotation vector r in root axes from the orientation R0 at the start of a path,
R = exp(r) R0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

from flexdyn_ros.errors import ArgumentError, require_known
from flexdyn_ros.model.records.robot import Robot
import numpy as np
from scipy.spatial.transform import Rotation

COMPONENTS = ('x', 'y', 'z', 'rx', 'ry', 'rz')


@dataclass(frozen=True)
class Outputs:
    """
    Outputs that follow a path: components of a frame's pose, and joints.

    Attributes:
        frame: Name of the frame.
        names: The components, some of COMPONENTS, then names of joints.
        rows: Entries of the components in a pose, (n,).
        joints: Entries of the joints in q, (m,).
    """

    frame: str
    names: tuple[str, ...]
    rows: np.ndarray
    joints: np.ndarray

    @classmethod
    def of(cls, robot: Robot, frame: str, names: Sequence[str]) -> Outputs:
        """
        Return the outputs with these names.

        Raises:
            UnknownName: The robot has no such frame, or no component or joint of a name.
            ArgumentError: A name comes twice.
        """
        require_known('frame', [frame], robot.frame_names)
        require_known('output', names, (*COMPONENTS, *robot.joint_names))
        if len(set(names)) != len(names):
            raise ArgumentError('outputs', f'{tuple(names)} has a name twice. Keep one')
        pose = [name for name in names if name in COMPONENTS]
        joints = [name for name in names if name not in COMPONENTS]
        return cls(
            frame, (*pose, *joints),
            np.array([COMPONENTS.index(name) for name in pose], dtype=int),
            np.array([robot.joint_names.index(name) for name in joints], dtype=int),
        )

    def values(self, dyn: Any, q: np.ndarray, start: np.ndarray) -> np.ndarray:
        """
        Return the outputs at configurations, (T, n): rotations as vectors from `start`.

        Args:
            dyn: The dynamics.
            q: Configurations, (T, nq).
            start: Pose of the frame at the start of the path, (4, 4).
        """
        pose = self._displacement(dyn, q, start[np.newaxis])
        return np.hstack([pose + np.append(start[:3, 3], np.zeros(3))[self.rows],
                          q[:, self.joints]])

    def errors(
        self, dyn: Any, q: np.ndarray, start: np.ndarray, wanted: np.ndarray
    ) -> np.ndarray:
        """Return the errors of the outputs from wanted values, (T, n); see `values`."""
        n = len(self.rows)
        six = np.zeros((len(q), 6))
        six[:, self.rows] = wanted[:, :n]
        poses = np.tile(start, (len(q), 1, 1))
        poses[:, :3, 3] = six[:, :3]
        poses[:, :3, :3] = Rotation.from_rotvec(six[:, 3:]).as_matrix() @ start[:3, :3]
        return np.hstack([
            self._displacement(dyn, q, poses), q[:, self.joints] - wanted[:, n:]])

    def jacobian(self, dyn: Any, q: np.ndarray) -> np.ndarray:
        """Return the derivative of the errors by q where they are small, (T, n, nv)."""
        of_pose = dyn.batch.jacobian(q, self.frame)[:, self.rows]
        of_joints = np.eye(dyn.robot.nv)[self.joints]
        return np.concatenate(
            [of_pose, np.broadcast_to(of_joints, (len(q), *of_joints.shape))], axis=1)

    def _displacement(self, dyn: Any, q: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """Return the components of the pose from given ones, (T, n)."""
        found = dyn.batch.frame_pose(q, self.frame)
        rotation = found[:, :3, :3] @ np.swapaxes(poses[:, :3, :3], 1, 2)
        return np.hstack([
            found[:, :3, 3] - poses[:, :3, 3], Rotation.from_matrix(rotation).as_rotvec(),
        ])[:, self.rows]
