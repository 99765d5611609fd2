# SPDX-License-Identifier: Apache-2.0
"""The rigid hub that is left of a link's <inertial> when its beam is taken away."""

from __future__ import annotations

from typing import Optional

from flexdyn_ros.model.beam.beam_section import quadrature
from flexdyn_ros.model.beam.beam_section import section_at
from flexdyn_ros.model.inertia.mass_moments import MassMoments
from flexdyn_ros.model.robot.link import Beam
from flexdyn_ros.model.robot.link import Inertia
from flexdyn_ros.model.robot.vectors import symmetric_matrix3
from flexdyn_ros.model.xml.values import Place
import numpy as np

# Relative to the link's mass and the beam's length: rounding, and what may be overlooked.
ROUNDING = 1e-9
AGREEMENT = 0.01
# Gauss points between two stations.
_POINTS = 24


def beam_inertia(beam: Beam) -> Inertia:
    """
    Return the inertia of the undeformed beam, without its point masses, in link axes.

    A slender rod, m L^2 / 12 about its centre across a uniform beam, and the rotary inertia of its
    cross-sections.
    """
    fraction, across = 0.5, beam.mass * beam.length**2 / 12.0
    at, weight = quadrature(beam, _POINTS)
    section = section_at(beam, at)
    if beam.stations:
        line = weight * section.linear_density * beam.length
        fraction = float(line @ at) / beam.mass
        across = float(line @ (at - fraction) ** 2) * beam.length**2
    moments = np.array([0.0, across, across]) + weight @ section.rotary * beam.length
    axes = np.array(beam.axes)
    x, y, z = (fraction * beam.length * axes[:, 0]).tolist()
    return Inertia(beam.mass, (x, y, z), symmetric_matrix3(axes @ np.diag(moments) @ axes.T))


def rigid_hub(
    inertial: Inertia, beam: Beam, place: Place
) -> tuple[Optional[Inertia], Optional[str]]:
    """
    Return <inertial> minus the beam, and a note where the beam's values win over <inertial>.

    See `rigid_rest`.
    """
    return rigid_rest(inertial, beam_inertia(beam), beam.length, 'beam', place)


def rigid_rest(
    inertial: Inertia, part: Inertia, length: float, what: str, place: Place
) -> tuple[Optional[Inertia], Optional[str]]:
    """
    Return <inertial> minus a part of the link, and a note where the part wins over <inertial>.

    The difference is a rigid body where its pseudo-inertia, made dimensionless by the mass and
    the part's length, is positive semidefinite.

    Args:
        inertial: Inertia of the whole undeformed link, in link axes.
        part: Inertia of the part, in link axes.
        length: Of the part [m].
        what: Its name, "beam" or "file".
        place: Where it is described, for errors.

    Raises:
        ModelError: The difference is not physical and larger than 1 percent.
    """
    total, taken = MassMoments.of(inertial), MassMoments.of(part)
    rest, mass = total - taken, max(total.mass, taken.mass)
    scale = np.array([1.0 / length] * 3 + [1.0]) / np.sqrt(mass)
    pseudo = scale[:, None] * rest.pseudo_inertia() * scale
    if np.abs(pseudo).max() < ROUNDING:
        return None, None
    if np.linalg.eigvalsh(pseudo)[0] > -ROUNDING:
        return rest.rigid_body(ROUNDING * mass), None
    largest = np.linalg.eigvalsh(total.inertia)[-1]
    within = (
        abs(rest.mass) <= AGREEMENT * total.mass
        and np.linalg.norm(rest.first) <= AGREEMENT * total.mass * length
        and np.abs(np.linalg.eigvalsh(rest.inertia)).max() <= AGREEMENT * largest
    )
    values = f'<inertial>: {_describe(inertial)}; {what}: {_describe(part)}'
    if within:
        return None, (
            f'Link "{place.name}": the {what} is used and <inertial> is not, as they differ by '
            f'less than 1 percent ({values}). Make them equal to be rid of this note.'
        )
    raise place.error(
        f'<inertial> minus the {what} is not a physical rigid body. {values}',
        'Correct one of them, or write inertial="hub" if <inertial> is the rigid part alone',
    )


def _describe(inertia: Inertia) -> str:
    com = ' '.join(f'{c:.4g}' for c in inertia.com)
    moments = ' '.join(f'{m:.4g}' for m in np.linalg.eigvalsh(np.array(inertia.matrix)))
    return f'{inertia.mass:.6g} kg at ({com}) m, principal moments {moments} kg m^2'
