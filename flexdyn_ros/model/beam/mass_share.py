# SPDX-License-Identifier: Apache-2.0
"""
The share of `<inertial>` that a beam without a mass of its own takes.

With J the pseudo-inertia of the link and B that of the beam at the link's mass, a remainder
J - s B is a real body exactly where it is positive semidefinite (Wensing, Kim and Slotine 2018,
"Linear matrix inequalities for physically consistent inertial parameter identification"). With
J = C C^T that is E - s C^-1 B C^-T >= 0, so that the largest share is
s = 1 / lambda_max(C^-1 B C^-T) = 1 / lambda_max(J^-1 B), and at most 1.

Where that share is small, the beam is massless. It then bends by the static shapes of a force and
a moment at its tip, and its modes move what hangs on it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Optional

from flexdyn_ros.model.records.beam import Beam, ModeFamily
from flexdyn_ros.model.records.inertia import Inertia, inertia_problem, MassMoments
from flexdyn_ros.model.records.section import beam_inertia
from flexdyn_ros.model.urdf.values import Place
import numpy as np

# Pseudo-inertia that counts as none, over the link's mass and the beam's length squared.
ROUNDING = 1e-12
# Share below which a beam is massless.
SMALLEST = 0.05
# What to write instead of a massless beam.
OWN_MASS = 'mass="..." [kg] and inertial="hub", where <inertial> is the rigid part alone'


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
        ModelError: `<inertial>` is not physical, or a massless beam has no such modes.
    """
    problem = inertia_problem(inertial.mass, np.array(inertial.matrix))
    if problem:
        raise place.error(
            f'The beam has no mass, and takes no share of an <inertial> that is not physical: '
            f'{problem}',
            f'Or write {OWN_MASS}',
        )
    share = largest_share(inertial, beam)
    if share < SMALLEST:
        for family in beam.families:
            _check_massless(family, share, place)
        loaded = bool(beam.families)
        return replace(scaled(beam, 0.0), share=share, loaded=loaded), inertial
    beam = scaled(beam, share)
    rest = MassMoments.of(inertial) - MassMoments.of(beam_inertia(beam))
    size = inertial.mass * max(beam.length, 1.0) ** 2
    if rest.negligible(ROUNDING * size):
        return beam, None
    return beam, rest.rigid_body(ROUNDING * inertial.mass)


def _check_massless(family: ModeFamily, share: float, place: Place) -> None:
    """Refuse a family that static shapes of a massless beam cannot stand for."""
    reason = massless_reason(share)
    most = 2 if family.kind.startswith('bending') else 1
    if family.size > most:
        raise place.error(
            f'{reason}. Static shapes then stand for modes, and {family.kind} has {most} of them, '
            f'but {family.size} modes are asked for',
            f'Write modes="{most}" or less, or {OWN_MASS}',
        )
    if not family.boundary.endswith('-free'):
        raise place.error(
            f'{reason}, and boundary="{family.boundary}" holds the tip, where its load hangs',
            f'Write boundary="clamped-free", or {OWN_MASS}',
        )


def massless_reason(share: float) -> str:
    """Return why a beam with that largest share of <inertial> is massless, for errors."""
    return f'The beam is massless, as it can take only {100.0 * share:.2g} percent of <inertial>'


def scaled(beam: Beam, share: float) -> Beam:
    """Return the beam with a share of its mass, distributed as before."""
    stations = tuple(
        replace(station, linear_density=share * station.linear_density)
        for station in beam.stations
    )
    return replace(beam, mass=share * beam.mass, stations=stations, share=share)
