# SPDX-License-Identifier: Apache-2.0
"""
Inertia of links: with their beam, the rest without it, and bodies on a beam's sections.

Loaded modes carry point masses, the link's payload, and all that its child joints move as one
rigid body, every joint and mode at zero. Each family carries the inertia of a body that moves in
the family's own direction. A centre of mass beside the axis couples bending with torsion in the
equations of motion, but not in the shapes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Optional

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.beam.body import beam_fraction
from flexdyn_ros.model.beam.family_shapes import family_shapes
from flexdyn_ros.model.beam.mass_share import massless_reason, OWN_MASS
from flexdyn_ros.model.records.base import symmetric_matrix3
from flexdyn_ros.model.records.beam import Beam, CarriedBody
from flexdyn_ros.model.records.inertia import Inertia, MassMoments, NO_MASS
from flexdyn_ros.model.records.joint import Pose
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.records.section import beam_inertia, SAME_PLACE
from flexdyn_ros.model.urdf.values import Place
import numpy as np

# Relative to the link's mass and the beam's length: rounding, and a tolerance.
ROUNDING = 1e-9
AGREEMENT = 0.01


def rigid_remainder(
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
            f'Link "{place.name}": the {what} replaces <inertial>, since they differ by less than '
            f'1 percent ({values}). Equal values avoid this note.'
        )
    raise place.error(
        f'<inertial> minus the {what} is not a physical rigid body. {values}',
        'Correct one of them, or write inertial="hub" if <inertial> is the rigid part alone',
    )


def _describe(inertia: Inertia) -> str:
    com = ' '.join(f'{c:.4g}' for c in inertia.com)
    moments = ' '.join(f'{m:.4g}' for m in np.linalg.eigvalsh(np.array(inertia.matrix)))
    return f'{inertia.mass:.6g} kg at ({com}) m, principal moments {moments} kg m^2'


def link_moments(link: Link) -> MassMoments:
    """Return the moments of the undeformed link: rigid part, beam and point masses."""
    whole = NO_MASS if link.inertia is None else MassMoments.of(link.inertia)
    if link.modal is not None:
        whole += MassMoments.of(link.modal.inertia)
    if link.tip_inertia is not None:
        whole += MassMoments.of(link.tip_inertia)
    beam = link.undeformed_beam
    if beam is None:
        return whole
    whole += MassMoments.of(beam_inertia(beam))
    axes = np.array(beam.axes)
    for point in beam.point_masses:
        x, y, z = (point.at * beam.length * axes[:, 0]).tolist()
        moments = symmetric_matrix3(axes @ np.diag(point.inertia) @ axes.T)
        whole += MassMoments.of(Inertia(point.mass, (x, y, z), moments))
    return whole


def composite_moments(robot: Robot) -> dict[str, MassMoments]:
    """
    Return the moments of all that each joint moves, payloads included, about its child's frame.

    They are those of the composite rigid bodies (Featherstone, Rigid Body Dynamics Algorithms,
    2008, section 6.2) with every joint and mode at zero.
    """
    at = {link.name: link_moments(link) for link in robot.links}
    for payload in robot.payloads:
        at[payload.link] += MassMoments.of(payload.inertia)
    for joint in reversed(robot.joints):
        at[joint.parent] += at[joint.child].in_parent(joint.origin)
    return {joint.name: at[joint.child] for joint in robot.joints}


def with_carried_bodies(robot: Robot) -> Robot:
    """
    Return the robot with bodies that beams with loaded modes carry, once their shapes exist.

    Raises:
        ModelError: A loaded beam carries nothing, or a family's shapes do not exist.
    """
    moved = composite_moments(robot) if any(_carries(link) for link in robot.links) else {}
    links = []
    for link in robot.links:
        if _carries(link):
            bodies = _carried_bodies(link, robot, moved)
            link = replace(link, beam=replace(link.beam, carried=bodies))
        if link.beam is not None:
            _check_shapes(link, robot)
        links.append(link)
    return replace(robot, links=tuple(links))


def _carries(link: Link) -> bool:
    return link.beam is not None and link.beam.loaded


def _check_shapes(link: Link, robot: Robot) -> None:
    beam = link.beam
    assert beam is not None
    for family in beam.families:
        try:
            family_shapes(beam, family)
        except ModelError as error:
            raise ModelError(
                error.problem, file=robot.source, element='beam', name=link.name,
                advice=error.advice,
            ) from None


def _carried_bodies(
    link: Link, robot: Robot, carried: dict[str, MassMoments]
) -> tuple[CarriedBody, ...]:
    beam = link.beam
    assert beam is not None
    arm = beam.shear_centre[0] ** 2 + beam.shear_centre[1] ** 2
    bodies = [
        CarriedBody(p.at, p.mass, 0.0, (p.inertia[0] + arm * p.mass, *p.inertia[1:]))
        for p in beam.point_masses
    ]
    if link.tip_inertia is not None:
        bodies.append(_carried_body(beam, 1.0, MassMoments.of(link.tip_inertia)))
    for payload in robot.payloads:
        if payload.link == link.name:
            fraction = beam_fraction(beam, np.array(payload.inertia.com))
            bodies.append(_carried_body(beam, fraction, MassMoments.of(payload.inertia)))
    for joint in robot.joints:
        if joint.parent == link.name:
            fraction = beam_fraction(beam, np.array(joint.origin.position))
            moments = carried[joint.name].in_parent(joint.origin)
            bodies.append(_carried_body(beam, fraction, moments))
    bodies = [b for b in bodies if b.at > 0.0 and (b.mass > 0.0 or any(b.inertia))]
    if not bodies and beam.mass == 0.0:
        raise ModelError(
            f'{massless_reason(beam.share or 0.0)}, and nothing with mass hangs on it',
            file=robot.source,
            element='beam',
            name=link.name,
            advice=f'Give it a child link, payload or point mass, or write {OWN_MASS}',
        )
    if not bodies:
        raise ModelError(
            'loaded="true" has no effect, since the beam has no load',
            file=robot.source,
            element='beam',
            name=link.name,
            advice='Remove it, or add a point mass, a payload or a child link with mass',
        )
    return tuple(bodies)


def _carried_body(beam: Beam, fraction: float, moments: MassMoments) -> CarriedBody:
    """Return a body, given by moments about the link's origin, in axes of its cross-section."""
    axes = np.array(beam.axes)
    if fraction > 1.0 - SAME_PLACE:
        fraction = 1.0
    centre = Pose(position=tuple((-fraction * beam.length * axes[:, 0]).tolist()))
    about = moments.in_parent(centre)
    first, inertia = axes.T @ about.first, np.diag(axes.T @ about.inertia @ axes)
    x, y, z = inertia.tolist()
    # Torsion turns it about the shear centre.
    x += sum(arm * (arm * about.mass - 2.0 * f) for arm, f in zip(beam.shear_centre, first[1:]))
    return CarriedBody(fraction, float(about.mass), float(first[0]), (float(x), y, z))
