# SPDX-License-Identifier: Apache-2.0
"""Rigid bodies by their ten inertial parameters, and the bodies of a robot that move."""

from __future__ import annotations

from typing import Optional

from flexdyn_ros.model.records.base import symmetric_matrix
from flexdyn_ros.model.records.inertia import Inertia, MassMoments
from flexdyn_ros.model.records.robot import Robot
import numpy as np

INERTIAL_UNITS = ('kg', *('kg m',) * 3, *('kg m^2',) * 6)
# Stands for the inertia of a moving body of which the description has none.
NOMINAL = Inertia(1.0, (0.0, 0.0, 0.0), ((0.08, 0.0, 0.0), (0.0, 0.08, 0.0), (0.0, 0.0, 0.08)))


def ten_numbers(body: Inertia) -> list[float]:
    """Return the ten numbers of a rigid body about its link frame's origin."""
    moments = MassMoments.of(body)
    matrix = moments.inertia
    return [moments.mass, *moments.first.tolist(),
            *(float(matrix[i, j]) for i, j in
              ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))]


def moments_of(values: np.ndarray) -> MassMoments:
    """Return the moments of a rigid body from its ten numbers."""
    return MassMoments(float(values[0]), values[1:4], np.array(symmetric_matrix(values[4:])))


def body_of(values: np.ndarray) -> Inertia:
    """Return a rigid body from its ten numbers."""
    return moments_of(values).rigid_body(0.0)


def moving_bodies(robot: Robot) -> dict[str, Inertia]:
    """Return the rigid links that move and have mass; of a body without any, its first link."""
    parents = {joint.child: joint for joint in robot.joints}
    leader: dict[str, Optional[str]] = {robot.root: None}
    groups: dict[str, list[str]] = {}
    for link in robot.links[1:]:
        joint = parents[link.name]
        moves = joint.type != 'fixed' or bool(joint.mode_names)
        leader[link.name] = link.name if moves else leader[joint.parent]
        if leader[link.name] is not None:
            groups.setdefault(leader[link.name], []).append(link.name)
    found = {}
    for first, names in groups.items():
        heavy = [name for name in names if robot.link(name).mass > 0.0]
        for name in heavy or [first]:
            link = robot.link(name)
            if not link.mode_names and link.beam is None and link.modal is None:
                found[name] = link.inertia or NOMINAL
    return found
