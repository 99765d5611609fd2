# SPDX-License-Identifier: Apache-2.0
"""Mass, first moment and inertia of a body about a frame's origin, which add up."""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.model.robot.joint import Pose
from flexdyn_ros.model.robot.link import Inertia
from flexdyn_ros.model.robot.vectors import symmetric_matrix3
from flexdyn_ros.model.robot.vectors import ZERO
import numpy as np


@dataclass(frozen=True, eq=False)
class MassMoments:
    """
    The ten inertial parameters of a rigid body about a frame's origin, in its axes.

    Attributes:
        mass: [kg].
        first: First moment, mass times centre of mass, shape (3,) [kg m].
        inertia: Inertia about the origin, shape (3, 3) [kg m^2].
    """

    mass: float
    first: np.ndarray
    inertia: np.ndarray

    @classmethod
    def of(cls, body: Inertia) -> MassMoments:
        """Return the moments of a rigid body in its link's frame."""
        com = np.array(body.com)
        return cls(
            body.mass, body.mass * com, np.array(body.matrix) + _parallel_axis(body.mass, com)
        )

    def __add__(self, other: MassMoments) -> MassMoments:
        """Return the moments of both bodies together."""
        return MassMoments(
            self.mass + other.mass, self.first + other.first, self.inertia + other.inertia
        )

    def __sub__(self, other: MassMoments) -> MassMoments:
        """Return what is left of this body without the other."""
        return MassMoments(
            self.mass - other.mass, self.first - other.first, self.inertia - other.inertia
        )

    def about_com(self) -> np.ndarray:
        """Return the inertia about the centre of mass, (3, 3); about the origin without mass."""
        if self.mass == 0.0:
            return self.inertia
        return self.inertia - _parallel_axis(self.mass, self.first / self.mass)

    def rigid_body(self, negligible: float) -> Inertia:
        """Return the body; its centre of mass is the origin where mass is negligible [kg]."""
        if self.mass <= negligible:
            return Inertia(max(self.mass, 0.0), ZERO, symmetric_matrix3(self.inertia))
        x, y, z = (self.first / self.mass).tolist()
        return Inertia(self.mass, (x, y, z), symmetric_matrix3(self.about_com()))

    def negligible(self, limit: float) -> bool:
        """Whether mass [kg] and all moments [kg m^2] lie within a limit."""
        return self.mass <= limit and bool(np.abs(self.inertia).max() <= limit)

    def in_parent(self, pose: Pose) -> MassMoments:
        """Return the moments about the frame that this one is placed in."""
        rotation, offset = np.array(pose.rotation), np.array(pose.position)
        first = rotation @ self.first
        shift = (
            2.0 * (offset @ first) * np.eye(3)
            - np.outer(offset, first)
            - np.outer(first, offset)
            + _parallel_axis(self.mass, offset)
        )
        return MassMoments(
            self.mass,
            first + self.mass * offset,
            rotation @ self.inertia @ rotation.T + shift,
        )

    def pseudo_inertia(self) -> np.ndarray:
        """
        Return the 4x4 matrix [[S, h], [h^T, m]], S = tr(I)/2 E - I, h the first moment.

        It is positive semidefinite exactly where a distribution of non-negative mass can have
        this inertia (Wensing, Kim and Slotine 2018, "Linear matrix inequalities for physically
        consistent inertial parameter identification").
        """
        pseudo = np.empty((4, 4))
        pseudo[:3, :3] = 0.5 * np.trace(self.inertia) * np.eye(3) - self.inertia
        pseudo[:3, 3] = pseudo[3, :3] = self.first
        pseudo[3, 3] = self.mass
        return pseudo


NOTHING = MassMoments(0.0, np.zeros(3), np.zeros((3, 3)))


def _parallel_axis(mass: float, offset: np.ndarray) -> np.ndarray:
    """Return m (d.d E - d d^T), the inertia of a point mass at d, (3, 3) [kg m^2]."""
    return mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))
