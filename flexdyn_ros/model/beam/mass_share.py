# SPDX-License-Identifier: Apache-2.0
"""
The share of `<inertial>` that a beam without a mass of its own takes.

With J the pseudo-inertia of the link and B that of the beam at the link's mass, a remainder
J - s B is a real body exactly where it is positive semidefinite (Wensing, Kim and Slotine 2018,
"Linear matrix inequalities for physically consistent inertial parameter identification"). With
J = C C^T that is E - s C^-1 B C^-T >= 0, so that the largest share is
s = 1 / lambda_max(C^-1 B C^-T) = 1 / lambda_max(J^-1 B), and at most 1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Optional

from flexdyn_ros.model.records.beam import Beam
from flexdyn_ros.model.records.inertia import Inertia, inertia_problem, MassMoments
from flexdyn_ros.model.records.section import beam_inertia
from flexdyn_ros.model.urdf.values import Place
import numpy as np

# Pseudo-inertia that counts as none, over the link's mass and the beam's length squared.
ROUNDING = 1e-12
# Share below which a beam gives modes too little mass.
SMALLEST = 0.05


def largest_share(inertial: Inertia, beam: Beam) -> float:
    """
    Return the largest share of a link's mass that leaves a real body without the beam.

    The formula is that of the module. An `<inertial>` that is physical only within the digits it
    is printed with leaves a remainder that is as close to a real body as it is itself.

    Args:
        inertial: Inertia of the whole undeformed link, in link axes.
        beam: The beam, with the mass of the link.

    Returns:
        In 0 ... 1.
    """
    scale = np.array([1.0 / beam.length] * 3 + [1.0]) / np.sqrt(inertial.mass)
    link, rod = (
        scale[:, None] * MassMoments.of(body).pseudo_inertia() * scale
        for body in (inertial, beam_inertia(beam))
    )
    lift = max(ROUNDING, ROUNDING - float(np.linalg.eigvalsh(link)[0]))
    lower = np.linalg.cholesky(link + lift * np.eye(4))
    whitened = np.linalg.solve(lower, np.linalg.solve(lower, rod).T)
    return float(min(1.0, 1.0 / np.linalg.eigvalsh(0.5 * (whitened + whitened.T))[-1]))


def shared_inertia(inertial: Inertia, beam: Beam, place: Place) -> tuple[Beam, Optional[Inertia]]:
    """
    Return the beam with its share of `<inertial>`, and the rest, a rigid body, or None.

    Mass, centre of mass and inertia of both together are those of `<inertial>`.

    Args:
        inertial: Inertia of the whole undeformed link, in link axes.
        beam: The beam, with the mass of the link.
        place: Where it is described, for errors.

    Raises:
        ModelError: `<inertial>` is not physical, or the share is too small.
    """
    problem = inertia_problem(inertial.mass, np.array(inertial.matrix))
    if problem:
        raise place.error(
            f'The beam has no mass, and takes no share of an <inertial> that is not physical: '
            f'{problem}',
            'Or write mass="..." [kg] and inertial="hub"',
        )
    share = largest_share(inertial, beam)
    if share < SMALLEST:
        raise place.error(
            f'The beam has no mass, and <inertial> spares it {100.0 * share:.2g} percent of '
            f'{inertial.mass:.4g} kg: with more, the rest is not a real body',
            'Write mass="..." [kg] and inertial="hub", or describe the link as rigid',
        )
    beam = scaled(beam, share)
    rest = MassMoments.of(inertial) - MassMoments.of(beam_inertia(beam))
    size = inertial.mass * max(beam.length, 1.0) ** 2
    if rest.negligible(ROUNDING * size):
        return beam, None
    return beam, rest.rigid_body(ROUNDING * inertial.mass)


def scaled(beam: Beam, share: float) -> Beam:
    """Return the beam with a share of its mass, distributed as before."""
    stations = tuple(
        replace(station, linear_density=share * station.linear_density)
        for station in beam.stations
    )
    return replace(beam, mass=share * beam.mass, stations=stations, share=share)
