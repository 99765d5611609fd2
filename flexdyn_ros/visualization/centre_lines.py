# SPDX-License-Identifier: Apache-2.0
"""The bent arm as lines: centre lines of its beams, nodes of its files of modes, rigid links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.visualization.cross_sections import bending_points
import numpy as np

MOST_NODES = 2000  # of a file, that are drawn


@dataclass(frozen=True)
class DeformedLink:
    """
    One flexible link as drawn, in the root frame.

    Attributes:
        name: Name of the link.
        line: Points of the centre line, or nodes of a file of modes, shape (n, 3) [m].
        deflection: True distance of each point from its undeformed place, shape (n,) [m].
        is_line: Whether the points follow each other along a beam.
    """

    name: str
    line: np.ndarray
    deflection: np.ndarray
    is_line: bool = True


class CentreLine:
    """
    A link that bends, as points along its beam, or as the nodes of its modes.

    Attributes:
        link: Name of the link.
    """

    def __init__(self, link: Link, first_mode: int, points: int):
        """
        Sample the undeformed link.

        Args:
            link: A link that bends.
            first_mode: Index of its first mode among the robot's modes.
            points: Number of points along the beam.
        """
        self.link = link.name
        beam = link.undeformed_beam
        self._is_line = beam is not None
        places = nodes_of(link)
        if beam is not None:
            places = np.outer(np.linspace(0.0, beam.length, points), beam.direction)
        self._modes = slice(first_mode, first_mode + len(link.mode_names))
        self._points = bending_points(link, places)

    def deformed(
        self, pose: np.ndarray, shown: np.ndarray, modes: Optional[np.ndarray] = None,
        reference: Optional[np.ndarray] = None,
    ) -> DeformedLink:
        """
        Return the link as drawn.

        Args:
            pose: Pose of the link frame in the root frame, shape (4, 4).
            shown: Modal coordinates of the robot as drawn, shape (n_modes,).
            modes: The true ones; those that are shown when None.
            reference: Modal coordinates that the deflection counts from; zero when None.
        """
        own = (shown if modes is None else modes)[self._modes]
        start = 0.0 * own if reference is None else reference[self._modes]
        line = self._points.bent(shown[self._modes]) @ pose[:3, :3].T + pose[:3, 3]
        way = np.linalg.norm(self._points.bent(own) - self._points.bent(start), axis=1)
        return DeformedLink(self.link, line, way, self._is_line)


def nodes_of(link: Link) -> np.ndarray:
    """Return the nodes of a link's modes from a file, of many nodes a part, (n, 3) [m]."""
    if link.modal is None or link.modal.arrays is None:
        return np.zeros((0, 3))
    nodes = link.modal.arrays.node_positions
    return nodes[:: 1 + len(nodes) // MOST_NODES]


def centre_lines(robot: Robot, points: int) -> list[CentreLine]:
    """Return the links that bend, depth first, sampled along their beams or at their nodes."""
    return [
        CentreLine(link, robot.mode_names.index(link.mode_names[0]), points)
        for link in robot.links if link.mode_names
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
