# SPDX-License-Identifier: Apache-2.0
"""
Serial arms from Denavit-Hartenberg rows (Paul's convention, frames at the links' far ends).

A link's frame of ours stands at its joint, Denavit-Hartenberg frame i-1 turned by theta_i. The far
frame i is at (a, 0, d) from there, turned about x by alpha.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Sequence

from flexdyn_ros.model.records.base import Matrix3, Vector3
from flexdyn_ros.model.records.beam import Beam
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.joint import Joint, Pose
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot
import numpy as np

GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class DhRow:
    """
    One link.

    Attributes:
        alpha: Twist [deg].
        a: Length [m].
        d: Offset [m]; of a prismatic joint the coordinate takes its place.
        mass: Of the rigid link, or of a flexible one's hub [kg].
        com: Centre of mass in the far frame, of a flexible link in the near one [m].
        moments: Principal moments about the centre of mass, far axes [kg m^2].
        prismatic: Whether the joint slides.
        beam: The beam that the link bends as, or None.
    """

    alpha: float = 0.0
    a: float = 0.0
    d: float = 0.0
    mass: float = 0.0
    com: Vector3 = (0.0, 0.0, 0.0)
    moments: Vector3 = (0.0, 0.0, 0.0)
    prismatic: bool = False
    beam: Beam | None = None


def turn_about_x(degrees: float) -> np.ndarray:
    """Return the rotation about x, exact at right angles."""
    exact = {0.0: (1.0, 0.0), 90.0: (0.0, 1.0), -90.0: (0.0, -1.0)}
    angle = np.radians(degrees)
    c, s = exact.get(float(degrees), (float(np.cos(angle)), float(np.sin(angle))))
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def chain(name: str, rows: Sequence[DhRow], gravity: Vector3 = GRAVITY) -> Robot:
    """Return the arm of these rows, with a frame "tool" at its far end."""
    links = [Link('base')]
    joints = []
    origin = Pose()
    for number, row in enumerate(rows, start=1):
        parent, child = links[-1].name, f'link{number}'
        joints.append(Joint(
            f'joint{number}', 'prismatic' if row.prismatic else 'revolute', parent, child,
            origin, (0.0, 0.0, 1.0),
        ))
        rotation = turn_about_x(row.alpha)
        far = np.array([row.a, 0.0, 0.0 if row.prismatic else row.d])
        links.append(_link(child, row, rotation, far))
        origin = Pose(vector(far), matrix(rotation))
    joints.append(Joint('tool_mount', 'fixed', links[-1].name, 'tool', origin))
    links.append(Link('tool'))
    return Robot(name, tuple(links), tuple(joints), gravity)


def _link(name: str, row: DhRow, rotation: np.ndarray, far: np.ndarray) -> Link:
    if row.beam is not None:
        hub = Inertia(row.mass, row.com, matrix(np.diag(row.moments)))
        return Link(name, hub if row.mass else None, row.beam, 'linear')
    com = far + rotation @ np.array(row.com)
    moments = rotation @ np.diag(row.moments) @ rotation.T
    return Link(name, Inertia(row.mass, vector(com), matrix(moments)))


def without_gravity(robot: Robot) -> Robot:
    """Return the robot in weightlessness."""
    return replace(robot, gravity_vector=(0.0, 0.0, 0.0))


def vector(values: np.ndarray) -> Vector3:
    """Return three numbers, minus zero as zero."""
    x, y, z = (float(value) + 0.0 for value in values)
    return x, y, z


def matrix(values: np.ndarray) -> Matrix3:
    """Return a matrix of three."""
    first, second, third = (vector(row) for row in values)
    return first, second, third
