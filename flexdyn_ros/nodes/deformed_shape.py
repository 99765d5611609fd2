# SPDX-License-Identifier: Apache-2.0
"""The shape of a bent arm: centre lines, tubes and deflections of its links."""

from __future__ import annotations

from dataclasses import dataclass
import math

from flexdyn_ros.model.beam import beam_field
from flexdyn_ros.model.beam import link_axial_shapes
from flexdyn_ros.model.foreshortening import drawn_in
from flexdyn_ros.model.link import Beam
from flexdyn_ros.model.link import Link
from flexdyn_ros.model.robot import Robot
import numpy as np

SIDES = 10  # of a tube's cross-section
SLENDERNESS = 60.0  # length over radius where the beam gives no area


@dataclass(frozen=True)
class DeformedLink:
    """
    One flexible link as drawn, in the root frame.

    Attributes:
        name: Name of the link.
        line: Points of the centre line, shape (n, 3) [m].
        rings: Points around it, shape (n, SIDES, 3) [m].
        deflection: True distance of each point from the undeformed beam, shape (n,) [m].
    """

    name: str
    line: np.ndarray
    rings: np.ndarray
    deflection: np.ndarray


class BeamShape:
    """A link's beam, sampled once."""

    def __init__(self, link: Link, beam: Beam, first_mode: int, points: int, radius: float):
        """
        Sample the mode shapes.

        Args:
            link: A link that bends.
            beam: Its beam.
            first_mode: Index of its first mode among the robot's modes.
            points: Number of points along the beam.
            radius: Of the tube [m]; 0 takes that of a round bar of the beam's area.
        """
        self.link = link.name
        self._modes = slice(first_mode, first_mode + len(link.mode_names))
        fractions = np.linspace(0.0, 1.0, points)
        self._axes = np.array(beam.axes)
        self._straight = np.outer(fractions * beam.length, [1.0, 0.0, 0.0])
        field = beam_field(beam, fractions)
        self._translation, self._rotation = field.translation, field.rotation
        self._axial = link_axial_shapes(link)
        self._drawn = self._axial.at(fractions) if self._axial else np.zeros((0, points))
        angles = np.linspace(0.0, 2.0 * math.pi, SIDES, endpoint=False)
        radius = radius or _radius(beam)
        self._ring = radius * np.array([[0.0, math.cos(a), math.sin(a)] for a in angles])

    def deformed(self, pose: np.ndarray, modes: np.ndarray, exaggeration: float) -> DeformedLink:
        """
        Return the beam as drawn.

        Args:
            pose: Pose of the link frame in the root frame, shape (4, 4).
            modes: Modal coordinates of the robot, shape (n_modes,).
            exaggeration: Factor on the deflection as drawn.
        """
        own = modes[self._modes]
        turned = exaggeration * np.einsum('k,kna->na', own, self._rotation)
        line = self._straight + self._moved(exaggeration * own)
        sections = np.array([rotation_matrix(angle) for angle in turned])
        rings = line[:, None, :] + np.einsum('nab,sb->nsa', sections, self._ring)
        to_root = pose[:3, :3] @ self._axes
        return DeformedLink(
            self.link,
            line @ to_root.T + pose[:3, 3],
            rings @ to_root.T + pose[:3, 3],
            np.linalg.norm(self._moved(own), axis=1),
        )

    def _moved(self, modes: np.ndarray) -> np.ndarray:
        """Return the displacement of the points at modal coordinates of the link, (n, 3)."""
        moved = np.einsum('k,kna->na', modes, self._translation)
        if self._axial is not None:
            moved[:, 0] += drawn_in(self._axial.terms, self._drawn, modes)
        return moved


def beam_shapes(robot: Robot, points: int, radius: float) -> list[BeamShape]:
    """Return the sampled beams of all links that have one with modes, depth first."""
    return [
        BeamShape(link, link.beam, robot.mode_names.index(link.mode_names[0]), points, radius)
        for link in robot.links
        if link.beam is not None and link.mode_names
    ]


def rigid_segments(robot: Robot, poses: dict[str, np.ndarray]) -> np.ndarray:
    """
    Return lines from the origin of each link that is not drawn as a beam to its children's.

    Args:
        robot: The robot.
        poses: Pose of each link frame in the root frame, shape (4, 4).

    Returns:
        Pairs of points, shape (2 k, 3) [m].
    """
    rigid = {link.name for link in robot.links if link.beam is None or not link.mode_names}
    ends = [
        poses[link][:3, 3]
        for joint in robot.joints
        if joint.parent in rigid
        for link in (joint.parent, joint.child)
    ]
    return np.array(ends).reshape(-1, 3)


def tube_triangles(points: int) -> np.ndarray:
    """
    Return the corners of a tube's triangles as indices (point, side), shape (t, 3, 2).

    Args:
        points: Number of rings.
    """
    triangles = []
    for n in range(points - 1):
        for s in range(SIDES):
            t = (s + 1) % SIDES
            triangles.append(((n, s), (n + 1, s), (n + 1, t)))
            triangles.append(((n, s), (n + 1, t), (n, t)))
    return np.array(triangles)


def colour(fraction: float) -> tuple[float, float, float]:
    """Return red, green and blue: blue at 0, green at one half, red from 1 on."""
    s = min(max(float(fraction), 0.0), 1.0)
    return max(0.0, 2.0 * s - 1.0), 1.0 - abs(2.0 * s - 1.0), max(0.0, 1.0 - 2.0 * s)


def rotation_matrix(vector: np.ndarray) -> np.ndarray:
    """Return the rotation by a rotation vector [rad], Rodrigues' formula, shape (3, 3)."""
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * cross @ cross


def _radius(beam: Beam) -> float:
    return math.sqrt(beam.area / math.pi) if beam.area else beam.length / SLENDERNESS
