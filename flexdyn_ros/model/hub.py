# SPDX-License-Identifier: Apache-2.0
"""
The rigid hub that is left of a link's <inertial> when its beam is taken away.

Inertias are compared as pseudo-inertias, the 4x4 matrix [[S, h], [h^T, m]] with the second
moments S = tr(I)/2 E - I and the first moment h, which is positive semidefinite exactly where
a distribution of non-negative mass can have that inertia (Wensing, Kim and Slotine 2018,
"Linear matrix inequalities for physically consistent inertial parameter identification").
"""

from __future__ import annotations

from typing import Optional

from flexdyn_ros.model.link import Beam
from flexdyn_ros.model.link import Inertia
from flexdyn_ros.model.values import Place
from flexdyn_ros.model.vectors import Matrix3
from flexdyn_ros.model.vectors import ZERO
import numpy as np

# Relative to the link's mass and the beam's length: rounding, and what may be overlooked.
ROUNDING = 1e-9
AGREEMENT = 0.01


def beam_inertia(beam: Beam) -> Inertia:
    """
    Return the inertia of the undeformed beam, without its point masses, in link axes.

    A slender uniform rod, m L^2 / 12 about its centre across the beam, with the polar inertia
    rho polar L of its cross-sections about the beam axis; rotary_inertia adds rho iy L and
    rho iz L across it (rho = mass / (area length)).
    """
    across = beam.mass * beam.length**2 / 12.0
    moments = np.array([0.0, across, across])
    if beam.area is not None:
        per_area = beam.mass / beam.area
        moments[0] += per_area * (beam.polar or 0.0)
        if beam.rotary_inertia:
            moments[1] += per_area * (beam.iy or 0.0)
            moments[2] += per_area * (beam.iz or 0.0)
    axes = np.array(beam.axes)
    x, y, z = (0.5 * beam.length * axes[:, 0]).tolist()
    return Inertia(beam.mass, (x, y, z), as_matrix3(axes @ np.diag(moments) @ axes.T))


def as_matrix3(array: np.ndarray) -> Matrix3:
    """Return a symmetric 3x3 array as a tuple of tuples."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (array + 0.0).tolist()
    xy, xz, yz = 0.5 * (xy + yx), 0.5 * (xz + zx), 0.5 * (yz + zy)
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def moments_at_origin(inertia: Inertia) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass, first moment (3,) and inertia (3, 3), both about the link frame's origin."""
    com = np.array(inertia.com)
    shift = inertia.mass * (com @ com * np.eye(3) - np.outer(com, com))
    return inertia.mass, inertia.mass * com, np.array(inertia.matrix) + shift


def pseudo_inertia(mass: float, first: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return the 4x4 pseudo-inertia of a mass, first moment and inertia about one point."""
    pseudo = np.empty((4, 4))
    pseudo[:3, :3] = 0.5 * np.trace(matrix) * np.eye(3) - matrix
    pseudo[:3, 3] = pseudo[3, :3] = first
    pseudo[3, 3] = mass
    return pseudo


def hub_of(inertial: Inertia, beam: Beam, place: Place) -> tuple[Optional[Inertia], Optional[str]]:
    """
    Return <inertial> minus the beam, and a note where the beam's values win over <inertial>.

    Args:
        inertial: Inertia of the whole undeformed link, in link axes.
        beam: The link's beam.
        place: Where the beam is described, for errors.

    Raises:
        ModelError: The difference is not physical and larger than 1 percent.
    """
    total, part = moments_at_origin(inertial), moments_at_origin(beam_inertia(beam))
    mass, first, matrix = total[0] - part[0], total[1] - part[1], total[2] - part[2]
    scale_mass, length = max(total[0], part[0]), beam.length
    scale = np.array([1.0 / length] * 3 + [1.0]) / np.sqrt(scale_mass)
    pseudo = scale[:, None] * pseudo_inertia(mass, first, matrix) * scale
    if np.abs(pseudo).max() < ROUNDING:
        return None, None
    if np.linalg.eigvalsh(pseudo)[0] > -ROUNDING:
        return _inertia_from(mass, first, matrix, ROUNDING * scale_mass), None
    largest = np.linalg.eigvalsh(total[2])[-1]
    within = (
        abs(mass) <= AGREEMENT * total[0]
        and np.linalg.norm(first) <= AGREEMENT * total[0] * length
        and np.abs(np.linalg.eigvalsh(matrix)).max() <= AGREEMENT * largest
    )
    values = f'<inertial>: {_describe(inertial)}; beam: {_describe(beam_inertia(beam))}'
    if within:
        return None, (
            f'Link "{place.name}": the beam is used and <inertial> is not, as they differ by less '
            f'than 1 percent ({values}). Make them equal to be rid of this note.'
        )
    raise place.error(
        f'<inertial> minus the beam is not a physical rigid body. {values}',
        'Correct one of them, or write inertial="hub" if <inertial> is the rigid part alone',
    )


def _inertia_from(
    mass: float, first: np.ndarray, matrix: np.ndarray, negligible: float
) -> Inertia:
    if mass <= negligible:
        return Inertia(max(mass, 0.0), ZERO, as_matrix3(matrix))
    com = first / mass
    shift = mass * (com @ com * np.eye(3) - np.outer(com, com))
    x, y, z = com.tolist()
    return Inertia(mass, (x, y, z), as_matrix3(matrix - shift))


def _describe(inertia: Inertia) -> str:
    com = ' '.join(f'{c:.4g}' for c in inertia.com)
    moments = ' '.join(f'{m:.4g}' for m in np.linalg.eigvalsh(np.array(inertia.matrix)))
    return f'{inertia.mass:.6g} kg at ({com}) m, principal moments {moments} kg m^2'
