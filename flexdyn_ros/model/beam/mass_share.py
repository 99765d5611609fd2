# SPDX-License-Identifier: Apache-2.0
"""
The share of `<inertial>` that a beam without a mass of its own takes.

J is the pseudo-inertia of the link and B that of the beam at the link's mass. A remainder
J - s B is a real body exactly where it is positive semidefinite (Wensing, Kim and Slotine 2018,
"Linear matrix inequalities for physically consistent inertial parameter identification"). With
J = C C^T that is E - s C^-1 B C^-T >= 0, so that the largest share is
s = 1 / lambda_max(C^-1 B C^-T) = 1 / lambda_max(J^-1 B), and at most 1. B of a row of beams is the
sum of theirs, so that each takes the same share of its part.

The mass per length of a fitted beam is (1 + a (2 x - 1)) times its mean, with the slope a in
-1 ... 1 that gives the largest share: up to twice the mean at one end. The pairs (s, s a) whose
remainder is a real body are a convex set around 0, so that s(a) has no second local maximum.

Where that share is small, the beam is massless. It then bends by the static shapes of a force and
a moment at its tip, and its modes move the bodies on it.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Optional, Sequence

from flexdyn_ros.model.records.beam import Beam, ModeFamily, SectionProperties, Station
from flexdyn_ros.model.records.inertia import Inertia, inertia_problem, MassMoments, NO_MASS
from flexdyn_ros.model.records.section import beam_inertia, mean_area
from flexdyn_ros.model.urdf.values import Place
import numpy as np

# Pseudo-inertia that counts as none, over the link's mass and the beam's length squared.
ROUNDING = 1e-12
# Share below which a beam is massless.
SMALLEST = 0.05
# The text to write instead of a massless beam.
OWN_MASS = 'mass="..." [kg] and inertial="hub", where <inertial> is the rigid part alone'


def largest_share(inertial: Inertia, beam: Beam) -> float:
    """
    Return the largest share of a link's mass that leaves a real body without the beam.

    The formula is that of the module. An `<inertial>` may be physical only within its printed
    digits. The remainder is then as close to a real body as the `<inertial>` itself.

    Args:
        inertial: Inertia of the whole undeformed link, in link axes.
        beam: The beam, with the mass of the link.

    Returns:
        In 0 ... 1.
    """
    return min(1.0, _unlimited_share(inertial, MassMoments.of(beam_inertia(beam)), beam.length))


def _unlimited_share(inertial: Inertia, part: MassMoments, length: float) -> float:
    """Return the largest share, which exceeds 1 where a part is shorter than its link."""
    scale = np.array([1.0 / length] * 3 + [1.0]) / np.sqrt(inertial.mass)
    link, rod = (
        scale[:, None] * body.pseudo_inertia() * scale
        for body in (MassMoments.of(inertial), part)
    )
    lift = max(ROUNDING, ROUNDING - float(np.linalg.eigvalsh(link)[0]))
    lower = np.linalg.cholesky(link + lift * np.eye(4))
    whitened = np.linalg.solve(lower, np.linalg.solve(lower, rod).T)
    return float(1.0 / np.linalg.eigvalsh(0.5 * (whitened + whitened.T))[-1])


def fitted(inertial: Inertia, beam: Beam) -> Beam:
    """
    Return a uniform beam with the slope of its mass per length that gives the largest share.

    The section stays uniform. A beam that takes all of the mass is returned as it is.

    Args:
        inertial: Inertia of the whole undeformed link, in link axes.
        beam: The beam, with the mass of the link.
    """
    from scipy.optimize import minimize_scalar

    if largest_share(inertial, beam) == 1.0:
        return beam

    def share(slope: float) -> float:
        part = MassMoments.of(beam_inertia(_sloped(beam, slope)))
        return _unlimited_share(inertial, part, beam.length)

    found = minimize_scalar(
        lambda slope: -share(slope), bounds=(-1.0, 1.0), method='bounded', options={'xatol': 1e-9}
    )
    return _sloped(beam, max((-1.0, 1.0, float(found.x)), key=share))


def _sloped(beam: Beam, slope: float) -> Beam:
    """Return a uniform beam with a mass per length of (1 + slope (2 x - 1)) times the mean."""
    section = {item.name: getattr(beam, item.name) for item in fields(SectionProperties)}
    mean = beam.mass / beam.length
    return replace(beam, stations=(
        Station(at=0.0, linear_density=(1.0 - slope) * mean, **section),
        Station(at=1.0, linear_density=(1.0 + slope) * mean, **section),
    ))


def row_inertia(beams: Sequence[Beam], starts: Sequence[np.ndarray]) -> MassMoments:
    """Return the moments of beams that start at places in the link frame, (3,) [m]."""
    total = NO_MASS
    for beam, start in zip(beams, starts):
        x, y, z = (-start).tolist()
        total += MassMoments.of(beam_inertia(beam).seen_from((x, y, z)))
    return total


def parts_of_row(beams: Sequence[Beam]) -> list[Beam]:
    """
    Return the beams of a row, each with its part of the mass that each has.

    The parts are those of one density where every beam has an area, and else those of one mass
    per length.
    """
    sizes = [beam.length for beam in beams]
    areas = [mean_area(beam) for beam in beams]
    if all(areas):
        sizes = [size * area for size, area in zip(sizes, areas)]
    return [scaled(beam, size / sum(sizes)) for beam, size in zip(beams, sizes)]


def shared_inertia(
    inertial: Inertia, beams: Sequence[Beam], starts: Sequence[np.ndarray], place: Place,
    fit: bool = False,
) -> tuple[list[Beam], Optional[Inertia]]:
    """
    Return beams with their share of `<inertial>`, and the rest, a rigid body, or None.

    Mass, centre of mass and inertia of all together are those of `<inertial>`.

    Args:
        inertial: Inertia of the whole undeformed link, in link axes.
        beams: The beam, or the row of beams, with the mass of the link.
        starts: Where they start in the link frame, each (3,) [m].
        place: Where they are described, for errors.
        fit: Whether the mass per length of one beam is fitted for a larger share.

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
    plain, beams = beams, [fitted(inertial, beam) for beam in beams] if fit else beams
    length = sum(beam.length for beam in beams)
    share = min(1.0, _unlimited_share(inertial, row_inertia(beams, starts), length))
    if share < SMALLEST:
        for family in (family for beam in plain for family in beam.families):
            _check_massless(family, share, place)
        return [
            replace(scaled(beam, 0.0), share=share, loaded=bool(beam.families)) for beam in plain
        ], inertial
    beams = [scaled(beam, share) for beam in beams]
    rest = MassMoments.of(inertial) - row_inertia(beams, starts)
    size = inertial.mass * max(length, 1.0) ** 2
    if rest.negligible(ROUNDING * size):
        return beams, None
    return beams, rest.rigid_body(ROUNDING * inertial.mass)


def _check_massless(family: ModeFamily, share: float, place: Place) -> None:
    """Refuse a family that static shapes of a massless beam cannot stand for."""
    reason = massless_reason(share)
    most = 2 if family.kind.startswith('bending') else 1
    if family.size > most:
        raise place.error(
            f'{reason}. Static shapes then replace the modes: {family.kind} has {most} of them, '
            f'but {family.size} modes are requested',
            f'Write modes="{most}" or less, or {OWN_MASS}',
        )
    if not family.boundary.endswith('-free'):
        raise place.error(
            f'{reason}, and boundary="{family.boundary}" holds the tip, where its load hangs',
            f'Write boundary="clamped-free", or {OWN_MASS}',
        )


def massless_reason(share: float) -> str:
    """Return the reason why a beam with that largest share of <inertial> is massless."""
    return f'The beam is massless, as it can take only {100.0 * share:.2g} percent of <inertial>'


def scaled(beam: Beam, share: float) -> Beam:
    """Return the beam with a share of its mass, distributed as before."""
    stations = tuple(
        replace(station, linear_density=share * station.linear_density)
        for station in beam.stations
    )
    return replace(beam, mass=share * beam.mass, stations=stations, share=share)
