# SPDX-License-Identifier: Apache-2.0
"""Joints that are measured on both sides of their spring: link side and motor side."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Optional, Sequence

from flexdyn_ros.errors import require_known
from flexdyn_ros.model.records.robot import Robot
import numpy as np

ELASTIC, MOTOR = '/elastic', '_motor'
# Of joints that the description has as stiff, to start with [N m/rad | N/m].
NOMINAL_STIFFNESS = 1e4


def with_springs(robot: Robot, joints: Collection[str]) -> Robot:
    """
    Return the robot with springs in some of its joints; those that have one keep it.

    Raises:
        UnknownName: There is no such joint.
    """
    require_known('joint', joints, robot.joint_names)
    return replace(robot, joints=tuple(
        replace(joint, dynamics=replace(
            joint.dynamics, stiffness=NOMINAL_STIFFNESS, damping=0.0,
            friction=joint.dynamics.losses))
        if joint.name in joints and not joint.dynamics.elastic else joint
        for joint in robot.joints))


def recorded_names(coordinates: Sequence[str]) -> list[str]:
    """Return the names that logs of both sides have: `<joint>_motor` for `<joint>/elastic`."""
    return [f'{name[: -len(ELASTIC)]}{MOTOR}' if name.endswith(ELASTIC) else name
            for name in coordinates]


def from_both_sides(
    coordinates: Sequence[str], q: np.ndarray, qd: Optional[np.ndarray],
    tau: Optional[np.ndarray],
) -> None:
    """
    Change columns of link sides and motor sides into those of coordinates, in place.

    The coordinate of a joint is its motor side, `<joint>/elastic` is link side less motor side.
    The torque of the motor is that of the joint, and the deflection has none.

    Args:
        coordinates: Their names; the columns have those of `recorded_names`.
        q: Positions, (T, n).
        qd: Velocities, (T, n), or None.
        tau: Torques, (T, n), or None.
    """
    for motor, name in enumerate(coordinates):
        if name.endswith(ELASTIC):
            link = list(coordinates).index(name[: -len(ELASTIC)])
            for values in (q, qd):
                if values is not None:
                    values[:, [link, motor]] = np.column_stack(
                        [values[:, motor], values[:, link] - values[:, motor]])
            if tau is not None:
                tau[:, link], tau[:, motor] = tau[:, motor], 0.0
