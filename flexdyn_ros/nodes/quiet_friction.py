# SPDX-License-Identifier: Apache-2.0
"""Friction compensation that does not follow the noise of a measured velocity at standstill."""

from __future__ import annotations

from typing import Any

from flexdyn_ros.model.records.robot import Robot
import numpy as np


def coordinates_with_dry_friction(robot: Robot) -> set[str]:
    """Return the joint coordinates whose friction jumps with the sign of the velocity."""
    found: set[str] = set()
    for joint in robot.joints:
        if joint.dynamics.friction.breakaway or joint.dynamics.friction.coulomb:
            leader = joint if joint.mimic is None else robot.joint(joint.mimic.leader)
            found.update(leader.coordinate_names)
        found.update(
            f'{joint.name}/{axis}' for axis, drive in joint.drives
            if drive.friction.breakaway or drive.friction.coulomb)
    return found


class QuietFriction:
    """
    Takes friction at a velocity that is zero while the measured one is below a dead band.

    Near standstill dry friction jumps with the sign of the velocity, which is that of the noise.
    Between one and two dead bands the velocity fades in by a smooth step, so that the torque
    stays continuous. Desired velocities have no noise and are used as they are.

    Attributes:
        desired: Which joint velocities are desired ones, shape (n_joints,).
    """

    def __init__(self, robot: Robot, dead_band: float):
        """
        Prepare.

        Args:
            robot: The robot.
            dead_band: Speed below which a joint counts as standing [rad/s | m/s]; above 0.
        """
        self._band = dead_band
        self._n_joints = robot.n_joints
        self.desired = np.zeros(robot.n_joints, dtype=bool)
        dry = coordinates_with_dry_friction(robot)
        self._dry = np.array([name in dry for name in robot.joint_names], dtype=bool)

    def velocities(self, qd: np.ndarray) -> np.ndarray:
        """
        Return the velocities to take friction at.

        Args:
            qd: Velocities, shape (nv,) [rad/s | m/s].
        """
        joints = qd[: self._n_joints]
        s = np.clip(np.abs(joints) / self._band - 1.0, 0.0, 1.0)
        faded = joints * s * s * (3.0 - 2.0 * s)
        quiet = np.array(qd)
        quiet[: self._n_joints] = np.where(self._dry & ~self.desired, faded, joints)
        return quiet

    def correction(self, dyn: Any, qd: np.ndarray) -> np.ndarray:
        """
        Return what to add to the friction of the model, shape (nv,) [N m | N].

        Args:
            dyn: The dynamics.
            qd: Velocities, shape (nv,) [rad/s | m/s].
        """
        slow = self._dry & ~self.desired & (np.abs(qd[: self._n_joints]) < 2.0 * self._band)
        if not slow.any():
            return np.zeros(len(qd))
        return dyn.friction_vector(self.velocities(qd)) - dyn.friction_vector(qd)
