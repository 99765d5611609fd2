# SPDX-License-Identifier: Apache-2.0
"""Masses and moments of links, and of all that a joint moves, with every joint at zero."""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.model.hub import beam_inertia
from flexdyn_ros.model.hub import moments_at_origin
from flexdyn_ros.model.joint import Pose
from flexdyn_ros.model.link import Inertia
from flexdyn_ros.model.link import Link
from flexdyn_ros.model.robot import Robot
import numpy as np


@dataclass(frozen=True)
class Moments:
    """
    Inertia about a frame's origin, in its axes.

    Attributes:
        mass: [kg].
        first: Mass times centre of mass, shape (3,) [kg m].
        matrix: Inertia about the origin, shape (3, 3) [kg m^2].
    """

    mass: float
    first: np.ndarray
    matrix: np.ndarray

    def __add__(self, other: Moments) -> Moments:
        """Return the moments of both bodies together."""
        return Moments(
            self.mass + other.mass, self.first + other.first, self.matrix + other.matrix
        )

    def about_com(self) -> np.ndarray:
        """Return the inertia about the centre of mass, (3, 3); about the origin without mass."""
        if self.mass == 0.0:
            return self.matrix
        com = self.first / self.mass
        return self.matrix - self.mass * (com @ com * np.eye(3) - np.outer(com, com))

    def negligible(self, limit: float) -> bool:
        """Whether mass [kg] and all moments [kg m^2] lie within a limit."""
        return self.mass <= limit and bool(np.abs(self.matrix).max() <= limit)

    def moved(self, pose: Pose) -> Moments:
        """Return the moments about the frame that this one is placed in."""
        rotation, offset = np.array(pose.rotation), np.array(pose.position)
        first = rotation @ self.first
        cross = offset @ first
        shift = (
            (2.0 * cross + self.mass * (offset @ offset)) * np.eye(3)
            - np.outer(offset, first)
            - np.outer(first, offset)
            - self.mass * np.outer(offset, offset)
        )
        return Moments(
            self.mass,
            first + self.mass * offset,
            rotation @ self.matrix @ rotation.T + shift,
        )


NOTHING = Moments(0.0, np.zeros(3), np.zeros((3, 3)))


def body_moments(inertia: Inertia) -> Moments:
    """Return the moments of a rigid body in its link's frame."""
    return Moments(*moments_at_origin(inertia))


def link_moments(link: Link) -> Moments:
    """Return the moments of the undeformed link: rigid part, beam and point masses."""
    whole = NOTHING if link.inertia is None else body_moments(link.inertia)
    if link.beam is None:
        return whole
    beam = link.beam
    whole += body_moments(beam_inertia(beam))
    axes = np.array(beam.axes)
    for point in beam.point_masses:
        first = point.mass * point.at * beam.length * axes[:, 0]
        own = axes @ np.diag(point.inertia) @ axes.T
        across = np.eye(3) - np.outer(axes[:, 0], axes[:, 0])
        whole += Moments(
            point.mass, first, own + point.mass * (point.at * beam.length) ** 2 * across
        )
    return whole


def subtree_moments(robot: Robot) -> dict[str, Moments]:
    """Return the moments of all that each joint moves, about the child link's frame."""
    at = {link.name: link_moments(link) for link in robot.links}
    for payload in robot.payloads:
        at[payload.link] += body_moments(payload.inertia)
    for joint in reversed(robot.joints):
        at[joint.parent] += at[joint.child].moved(joint.origin)
    return {joint.name: at[joint.child] for joint in robot.joints}
