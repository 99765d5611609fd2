# SPDX-License-Identifier: Apache-2.0
"""
Inertia of a rigid body: the record, sums about a frame's origin, and whether a body can have it.

Mass of one sign has principal moments that are not negative. None exceeds the sum of the others:
I1 + I2 - I3 = 2 int z^2 dm (Wittenburg, Dynamics of Multibody Systems, 2008, section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Collection, Optional

from flexdyn_ros.model.records.base import Matrix3, Record, symmetric_matrix3, Vector3, ZERO
from flexdyn_ros.model.records.joint import Pose
import numpy as np

# Tolerance of the tests, relative to the largest moment: inertias are often printed in few digits.
RELATIVE_TOLERANCE = 1e-4
# Inertia below this fraction of mass times 1 m^2 counts as none.
NEGLIGIBLE = 1e-12
ADVICE = 'No rigid body has this inertia: export it from the CAD model again, in kg m^2'
Moments = tuple[float, float, float]


@dataclass(frozen=True, repr=False)
class Inertia(Record):
    """
    Rigid-body inertia in a link's frame.

    Attributes:
        mass: Mass [kg].
        com: Centre of mass in the link frame [m].
        matrix: Inertia about the centre of mass, in link axes [kg m^2].
    """

    mass: float
    com: Vector3
    matrix: Matrix3

    @property
    def entries(self) -> tuple[float, float, float, float, float, float]:
        """Entries xx, yy, zz, xy, xz and yz of the matrix [kg m^2]."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = self.matrix
        return xx, yy, zz, xy, xz, yz

    def seen_from(self, point: Vector3) -> Inertia:
        """Return the inertia in a parallel frame at a point [m]."""
        x, y, z = (a - b for a, b in zip(self.com, point))
        return Inertia(self.mass, (x, y, z), self.matrix)

    def times(self, factor: float) -> Inertia:
        """Return a body with a multiple of the mass, distributed alike."""
        matrix = symmetric_matrix3(factor * np.array(self.matrix))
        return Inertia(factor * self.mass, self.com, matrix)


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
        """Return the rest of this body without the other."""
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


NO_MASS = MassMoments(0.0, np.zeros(3), np.zeros((3, 3)))


def _parallel_axis(mass: float, offset: np.ndarray) -> np.ndarray:
    """Return m (d.d E - d d^T), the inertia of a point mass at d, (3, 3) [kg m^2]."""
    return mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))


def principal_moments(mass: float, matrix: np.ndarray) -> Moments:
    """Return the principal moments of an inertia (3, 3), ascending; zeros for a point mass."""
    low, middle, high = np.linalg.eigvalsh(matrix).tolist()
    if max(abs(low), abs(high)) <= NEGLIGIBLE * mass:
        return 0.0, 0.0, 0.0
    return low, middle, high


def failed_tests(mass: float, moments: Moments) -> dict[str, float]:
    """
    Return the tests that a body fails, and their excess relative to the largest moment.

    They are "mass" (inertia without mass), "positive" (a negative principal moment) and "triangle"
    (the largest moment exceeds the sum of the others).

    Args:
        mass: [kg].
        moments: Principal moments, ascending [kg m^2].
    """
    low, middle, high = moments
    largest = max(abs(low), abs(high))
    failed = {}
    if mass == 0.0 and largest > 0.0:
        failed['mass'] = 1.0
    if low < -RELATIVE_TOLERANCE * largest:
        failed['positive'] = -low / largest
    elif high - low - middle > RELATIVE_TOLERANCE * largest:
        failed['triangle'] = (high - low - middle) / largest
    return failed


def failure(test: str, moments: Moments, excess: float) -> str:
    """Return the fault of a body that fails a test by this much of its largest moment."""
    values = ' '.join(f'{m:.4g}' for m in moments)
    by = f'by {100.0 * excess:.3g} percent of the largest'
    return {
        'mass': f'inertia without mass, principal moments {values} kg m^2',
        'positive': f'a principal moment is negative {by}: {values} kg m^2',
        'triangle': f'the largest principal moment exceeds the sum of the others {by}: {values} '
        'kg m^2',
    }[test]


def inertia_problem(
    mass: float, matrix: np.ndarray, tests: Collection[str] = ('positive', 'triangle')
) -> Optional[str]:
    """
    Return the defect of a matrix (3, 3) [kg m^2] as a rigid body's inertia, with advice, or None.

    Zeros are a point mass.

    Args:
        mass: [kg].
        matrix: The inertia.
        tests: Names of `failed_tests` that apply.
    """
    moments = principal_moments(mass, matrix)
    for test, excess in failed_tests(mass, moments).items():
        if test in tests:
            return f'{failure(test, moments, excess)}. {ADVICE}'
    return None
