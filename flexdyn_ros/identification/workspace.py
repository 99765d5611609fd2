# SPDX-License-Identifier: Apache-2.0
"""
The space of an arm: walls, a box, and distances between its links, as capsules.

A link is the lines from its frame to those that it carries, with a radius. A wall and a box are
convex, so that both ends of a line decide. The distance of two lines is that of Ericson, Real-Time
Collision Detection, 2005, section 5.1.9.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Optional, Sequence

from flexdyn_ros.dynamics.reference import ReferenceBackend
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.identification.regressor import sample_scalars, stacked
from flexdyn_ros.model.records.robot import Robot
import numpy as np

STILL = 1e-9  # [m], motion of a frame that counts as none


@dataclass(frozen=True)
class Workspace:
    """
    Limits that the links of an arm keep, in the root frame.

    Attributes:
        walls: Numbers (nx, ny, nz, d), one row a wall: links stay where n . p >= d [m], n made a
            unit vector. A floor at height z is (0, 0, 1, z).
        box: Least and greatest x, y, z of the links, (2, 3) [m], or None; may be infinite.
        radius: Of the capsules that stand for links [m].
        clearance: Least distance of two capsules that no joint connects [m]; None where the arm
            may meet itself.
    """

    walls: Sequence[Sequence[float]] = ()
    box: Optional[Sequence[Sequence[float]]] = None
    radius: float = 0.0
    clearance: Optional[float] = None

    def planes(self) -> np.ndarray:
        """
        Return walls and sides of the box as (nx, ny, nz, d) with unit vectors, (w, 4).

        Raises:
            ArgumentError: A number has the wrong shape, or is out of range.
        """
        try:
            walls = np.array([*self.walls, np.zeros(4)], dtype=float)[:-1]
            box = 2 * [3 * [np.inf]] if self.box is None else self.box
            low, high = np.array(box, dtype=float).reshape(2, 3)
        except (TypeError, ValueError):
            raise ArgumentError(
                'workspace', 'is wrong, expected walls of four numbers each, and a box of least '
                'and greatest x, y, z') from None
        sizes = np.linalg.norm(walls[:, :3], axis=1)
        if not (np.isfinite(walls).all() and np.all(sizes > 0.0)):
            raise ArgumentError('walls', 'need a normal that is not zero, and finite numbers')
        walls = np.column_stack((walls[:, :3] / sizes[:, None], walls[:, 3]))
        if self.box is not None:
            if not np.all(high > low):
                raise ArgumentError('box', f'is empty: {self.box}, expected least below greatest')
            sides = [np.column_stack((sign * np.eye(3), sign * ends))
                     for sign, ends in ((1.0, low), (-1.0, high))]
            walls = np.concatenate((walls, *(side[np.isfinite(side[:, 3])] for side in sides)))
        for name, value in (('radius', self.radius), ('clearance', self.clearance)):
            if value is not None and not 0.0 <= value < np.inf:
                raise ArgumentError(name, f'is {value}, expected a number from 0')
        return walls


class LinkLines:
    """
    The lines that stand for the links of a robot, and their distances.

    Args:
        robot: The robot; modes rest.
        workspace: Limits of its links.
        states: Random positions, (N, nv). Frames that never move in them are not checked against
            walls. Pairs of lines that are always too close are left out.
    """

    def __init__(self, robot: Robot, workspace: Workspace, states: np.ndarray):
        """Find the lines, and the frames and pairs to check."""
        self._backend = ReferenceBackend(robot, [0.0, 0.0, 0.0], {})
        self._space, self._planes = workspace, workspace.planes()
        self._frames = [robot.root, *(joint.child for joint in robot.joints)]
        at = {name: k for k, name in enumerate(self._frames)}
        places = self._places(states)
        self._moving = np.ptp(places, axis=0).max(axis=1) > STILL
        # Links behind fixed joints are one body.
        body = {robot.root: 0}
        joined = set()
        for joint in robot.joints:
            own = len(body) if joint.type != 'fixed' else body[joint.parent]
            body[joint.child] = own
            joined.add((body[joint.parent], own))
        ends = [(at[joint.parent], at[joint.child], body[joint.parent]) for joint in robot.joints]
        lengths = [np.linalg.norm(places[:, b] - places[:, a], axis=1).max() for a, b, _ in ends]
        lines = [line for line, length in zip(ends, lengths) if length > STILL]
        pairs = [(one[:2], other[:2]) for one, other in combinations(lines, 2)
                 if one[2] != other[2] and (one[2], other[2]) not in joined]
        self._pairs = np.array(pairs, dtype=int).reshape(-1, 2, 2)
        if workspace.clearance is None:
            self._pairs = self._pairs[:0]
        met = (self._gaps(places) < 0.0).all(axis=0)
        self._pairs = self._pairs[~met]

    def _places(self, q: np.ndarray) -> np.ndarray:
        """Return the origins of all frames at positions (N, nv), (N, frames, 3) [m]."""
        at = sample_scalars(q)
        return np.stack([stacked(self._backend.frame_pose(at, frame), len(q))[:, :3, 3]
                         for frame in self._frames], axis=1)

    def _gaps(self, places: np.ndarray) -> np.ndarray:
        """Return the distances of pairs of capsules beyond the clearance, (N, pairs) [m]."""
        (a, b), (c, d) = (
            (places[:, self._pairs[:, k, 0]], places[:, self._pairs[:, k, 1]]) for k in (0, 1))
        least = (self._space.clearance or 0.0) + 2.0 * self._space.radius
        return line_distance(a, b, c, d) - least

    def margin(self, q: np.ndarray) -> np.ndarray:
        """
        Return the least distance to the limits of links, negative where one is violated.

        Args:
            q: Positions, (N, nv).

        Returns:
            Shape (N,) [m], infinite without limits.
        """
        places = self._places(q)
        points = places[:, self._moving]
        walls = points @ self._planes[:, :3].T - self._planes[:, 3] - self._space.radius
        found = [walls.reshape(len(q), -1), self._gaps(places)]
        return np.concatenate((np.full((len(q), 1), np.inf), *found), axis=1).min(axis=1)


def line_distance(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Return the distance of the lines from a to b and from c to d, (..., 3) each, not points."""
    u, v, w = b - a, d - c, a - c
    uu, vv, uv = (np.sum(x * y, axis=-1) for x, y in ((u, u), (v, v), (u, v)))
    uw, vw = np.sum(u * w, axis=-1), np.sum(v * w, axis=-1)
    across = uu * vv - uv * uv
    parallel = across <= 1e-12 * uu * vv
    s = np.where(parallel, 0.0, (uv * vw - vv * uw) / np.where(parallel, 1.0, across))
    s = np.clip(s, 0.0, 1.0)
    t = np.clip((uv * s + vw) / vv, 0.0, 1.0)
    s = np.clip((uv * t - uw) / uu, 0.0, 1.0)
    apart = w + s[..., None] * u - t[..., None] * v
    return np.asarray(np.linalg.norm(apart, axis=-1))
