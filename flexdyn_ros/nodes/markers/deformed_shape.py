# SPDX-License-Identifier: Apache-2.0
"""The shape of a bent arm: centre lines and tubes of its beams, nodes of its files of modes."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Union

from flexdyn_ros.model.beam.body import beam_field, link_axial_shapes
from flexdyn_ros.model.modal.foreshortening import axial_displacement
from flexdyn_ros.model.records.beam import Beam
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.records.segments import bent_segments
import numpy as np
from scipy.spatial.transform import Rotation

SIDES = 10  # of a tube's cross-section
MOST_NODES = 2000  # of a file, that are drawn
SLENDERNESS = 60.0  # length over radius where the beam gives no area


@dataclass(frozen=True)
class DeformedLink:
    """
    One flexible link as drawn, in the root frame.

    Attributes:
        name: Name of the link.
        line: Points of the centre line, or nodes of a file of modes, shape (n, 3) [m].
        rings: Points around a centre line, shape (n, SIDES, 3) [m]; (n, 0, 3) for nodes.
        deflection: True distance of each point from its undeformed place, shape (n,) [m].
    """

    name: str
    line: np.ndarray
    rings: np.ndarray
    deflection: np.ndarray


class LinkShape:
    """A link that bends, sampled along its beam or the one that its segments are cut from."""

    def __init__(self, link: Link, first_mode: int, points: int, radius: float):
        """
        Sample the undeformed beam.

        Args:
            link: A link that bends along a beam.
            first_mode: Index of its first mode among the robot's modes.
            points: Number of points along the beam.
            radius: Of the tube [m]; 0 takes that of a round bar of the beam's area.
        """
        beam = link.undeformed_beam
        assert beam is not None
        self.link = link.name
        self._modes = slice(first_mode, first_mode + len(link.mode_names))
        self._axes = np.array(beam.axes)
        fractions = np.linspace(0.0, 1.0, points)
        self._straight = np.outer(fractions * beam.length, [1.0, 0.0, 0.0])
        angles = np.linspace(0.0, 2.0 * math.pi, SIDES, endpoint=False)
        radius = radius or _radius(beam)
        self._ring = radius * np.array([[0.0, math.cos(a), math.sin(a)] for a in angles])
        self._segments = link.segments
        if self._segments is None:
            self._field = beam_field(beam, fractions)
            self._axial = link_axial_shapes(link)
            self._drawn = self._axial.at(fractions) if self._axial else np.zeros((0, points))

    def bent(self, modes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """
        Return points, (n, 3) [m], and rotations of cross-sections, (n, 3, 3), in beam axes.

        Args:
            modes: The link's own modal coordinates.
        """
        if self._segments is not None:
            return bent_segments(self._segments, modes, self._straight[:, 0])
        line = self._straight + np.einsum('k,kna->na', modes, self._field.translation)
        if self._axial is not None:
            line[:, 0] += axial_displacement(self._axial.terms, self._drawn, modes)
        turned = np.einsum('k,kna->na', modes, self._field.rotation)
        return line, Rotation.from_rotvec(turned).as_matrix()

    def deformed(self, pose: np.ndarray, modes: np.ndarray, exaggeration: float) -> DeformedLink:
        """
        Return the link as drawn.

        Args:
            pose: Pose of the link frame in the root frame, shape (4, 4).
            modes: Modal coordinates of the robot, shape (n_modes,).
            exaggeration: Factor on the deflection as drawn.
        """
        own = modes[self._modes]
        line, sections = self.bent(exaggeration * own)
        rings = line[:, None, :] + np.einsum('nab,sb->nsa', sections, self._ring)
        to_root = pose[:3, :3] @ self._axes
        return DeformedLink(
            self.link,
            line @ to_root.T + pose[:3, 3],
            rings @ to_root.T + pose[:3, 3],
            np.linalg.norm(self.bent(own)[0] - self._straight, axis=1),
        )


class NodeShape:
    """A link whose modes come from a file, as the cloud of its nodes."""

    def __init__(self, link: Link, first_mode: int):
        """
        Take the nodes, of very many a part.

        Args:
            link: A link with modes from a file.
            first_mode: Index of its first mode among the robot's modes.
        """
        assert link.modal is not None and link.modal.arrays is not None
        self.link, arrays = link.name, link.modal.arrays
        self._modes = slice(first_mode, first_mode + len(link.mode_names))
        part = slice(None, None, 1 + len(arrays.node_ids) // MOST_NODES)
        self._places, self._moves = arrays.node_positions[part], arrays.translation[:, part]
        self._drawn = arrays.stiffening if link.stiffens else None
        self._part = part

    def _moved(self, modes: np.ndarray) -> np.ndarray:
        found = np.einsum('k,kna->na', modes, self._moves)
        if self._drawn is not None:
            along = np.einsum('nkl,k,l->n', self._drawn.nodes[self._part], modes, modes)
            found += 0.5 * np.outer(along, self._drawn.direction)
        return found

    def deformed(self, pose: np.ndarray, modes: np.ndarray, exaggeration: float) -> DeformedLink:
        """Return the link as drawn, as LinkShape does."""
        own = modes[self._modes]
        points = (self._places + self._moved(exaggeration * own)) @ pose[:3, :3].T + pose[:3, 3]
        return DeformedLink(self.link, points, np.zeros((len(points), 0, 3)),
                            np.linalg.norm(self._moved(own), axis=1))


def link_shapes(robot: Robot, points: int, radius: float) -> list[Union[LinkShape, NodeShape]]:
    """Return the links that bend, depth first, sampled along their beams or at their nodes."""
    found: list[Union[LinkShape, NodeShape]] = []
    for link in robot.links:
        first = robot.mode_names.index(link.mode_names[0]) if link.mode_names else 0
        if link.mode_names and link.undeformed_beam is not None:
            found.append(LinkShape(link, first, points, radius))
        elif link.mode_names:
            found.append(NodeShape(link, first))
    return found


def rigid_segments(robot: Robot, poses: dict[str, np.ndarray]) -> np.ndarray:
    """
    Return lines from the origin of each link that is not drawn as a beam to its children's.

    Args:
        robot: The robot.
        poses: Pose of each link frame in the root frame, shape (4, 4).

    Returns:
        Pairs of points, shape (2 k, 3) [m].
    """
    rigid = {
        link.name for link in robot.links if link.undeformed_beam is None or not link.mode_names
    }
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


def _radius(beam: Beam) -> float:
    return math.sqrt(beam.area / math.pi) if beam.area else beam.length / SLENDERNESS
