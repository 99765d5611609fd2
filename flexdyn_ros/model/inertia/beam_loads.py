# SPDX-License-Identifier: Apache-2.0
"""
What the cross-sections of a beam carry, for its loaded modes.

Point masses, the link's payload, and all that its child joints move as one rigid body, every
joint and mode at zero. Each family sees of a body what moves with it in its own direction: a
centre of mass beside the axis couples bending with torsion in the equations of motion, but not in
the shapes.
"""

from __future__ import annotations

from dataclasses import replace

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.beam.beam_body import beam_fraction
from flexdyn_ros.model.beam.beam_section import SAME_PLACE
from flexdyn_ros.model.beam.family_shapes import family_shapes
from flexdyn_ros.model.inertia.composite_inertia import composite_moments
from flexdyn_ros.model.inertia.mass_moments import MassMoments
from flexdyn_ros.model.robot.joint import Pose
from flexdyn_ros.model.robot.link import Beam
from flexdyn_ros.model.robot.link import Link
from flexdyn_ros.model.robot.link import SectionLoad
from flexdyn_ros.model.robot.robot import Robot
import numpy as np


def with_shapes(robot: Robot) -> Robot:
    """
    Return the robot with the loads of beams whose modes are loaded, once their shapes exist.

    Raises:
        ModelError: A loaded beam carries nothing, or a family's shapes do not exist.
    """
    carried = composite_moments(robot) if any(_loaded(link) for link in robot.links) else {}
    links = []
    for link in robot.links:
        if _loaded(link):
            link = replace(link, beam=replace(link.beam, loads=_loads(link, robot, carried)))
        if link.beam is not None:
            _check_shapes(link, robot)
        links.append(link)
    return replace(robot, links=tuple(links))


def _loaded(link: Link) -> bool:
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


def _loads(
    link: Link, robot: Robot, carried: dict[str, MassMoments]
) -> tuple[SectionLoad, ...]:
    beam = link.beam
    assert beam is not None
    loads = [SectionLoad(p.at, p.mass, 0.0, p.inertia) for p in beam.point_masses]
    for payload in robot.payloads:
        if payload.link == link.name:
            fraction = beam_fraction(beam, np.array(payload.inertia.com))
            loads.append(_section_load(beam, fraction, MassMoments.of(payload.inertia)))
    for joint in robot.joints:
        if joint.parent == link.name:
            fraction = beam_fraction(beam, np.array(joint.origin.position))
            moments = carried[joint.name].in_parent(joint.origin)
            loads.append(_section_load(beam, fraction, moments))
    loads = [load for load in loads if load.at > 0.0 and (load.mass > 0.0 or any(load.inertia))]
    if not loads:
        raise ModelError(
            'loaded="true" has no effect, as the beam carries nothing',
            file=robot.source,
            element='beam',
            name=link.name,
            advice='Take it out, or give it a point mass, a payload or a child link with mass',
        )
    return tuple(loads)


def _section_load(beam: Beam, fraction: float, moments: MassMoments) -> SectionLoad:
    """Return a body given by its moments about the link's origin as a cross-section sees it."""
    axes = np.array(beam.axes)
    if fraction > 1.0 - SAME_PLACE:
        fraction = 1.0
    centre = Pose(position=tuple((-fraction * beam.length * axes[:, 0]).tolist()))
    about = moments.in_parent(centre)
    first, inertia = axes.T @ about.first, np.diag(axes.T @ about.inertia @ axes)
    x, y, z = inertia.tolist()
    return SectionLoad(fraction, float(about.mass), float(first[0]), (x, y, z))
