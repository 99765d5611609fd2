# SPDX-License-Identifier: Apache-2.0
"""Findings on a link or payload: inertia, modes, segments, moduli, springs of modes."""

from __future__ import annotations

import math
from typing import Iterator

from flexdyn_ros.model.beam.inertia import composite_moments
from flexdyn_ros.model.check_geometry import explaining_units, FAR, is_too_dense, LinkReport
from flexdyn_ros.model.check_joints import Remark, spring_remarks
from flexdyn_ros.model.records.beam import Beam, ModeFamily
from flexdyn_ros.model.records.inertia import ADVICE, failed_tests, failure, principal_moments
from flexdyn_ros.model.records.link import Link, Payload
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.records.section import quadrature, section_at
import numpy as np

# A beam shorter than this many radii of gyration of its section is not slender.
SLENDER = 10.0
# Static deflections of segments off by more than this fraction are reported.
COARSE = 0.02
# Elastic moduli of materials, from soft rubber to diamond [Pa].
SOFTEST, STIFFEST = 1e6, 1.3e12
# Mass of a uniform cantilever that counts at its tip, as it bends under a force there.
_OF_BEAM = 33.0 / 140.0
# Fraction of the length from which on a thing stands at the tip.
_AT_TIP = 0.99


def payload_remarks(payload: Payload) -> Iterator[Remark]:
    """Yield the tests that a payload's inertia fails."""
    mass = payload.inertia.mass
    moments = principal_moments(mass, np.array(payload.inertia.matrix))
    for test, excess in failed_tests(mass, moments).items():
        yield 'error', failure(test, moments, excess), ADVICE


def link_remarks(link: Link, report: LinkReport, robot: Robot, size: float) -> Iterator[Remark]:
    """
    Yield findings on a link.

    Args:
        link: The link.
        report: Its report.
        robot: Its robot.
        size: The robot's reach [m].
    """
    yield from _inertia_remarks(report, size)
    yield from _modulus_remarks(link)
    yield from _slenderness_remarks(link)
    yield from _segment_remarks(link)
    yield from _mode_spring_remarks(link)
    yield from _boundary_remarks(link, robot)
    yield from _share_remarks(link, robot)


def _inertia_remarks(report: LinkReport, size: float) -> Iterator[Remark]:
    moments = report.principal_moments
    for test in report.failed:
        yield 'error', failure(test, moments, report.excess), ADVICE
    if report.mass > 0.0 and not any(moments):
        yield (
            'warning', f'a mass of {report.mass:.4g} kg without any moment of inertia',
            'It is treated as a point mass; otherwise write its <inertia>',
        )
    if report.mass > 0.0 and any(moments) and not report.failed:
        radius = (sum(moments) / (2.0 * report.mass)) ** 0.5
        units = explaining_units(report.mass, sum(moments), size)
        if is_too_dense(report.mass, sum(moments)):
            yield (
                'warning', f'a mass of {report.mass:.4g} kg with principal moments '
                f'{" ".join(f"{m:.3g}" for m in moments)} kg m^2 is denser than any material',
                units or 'Write <mass> in kg and <inertia> in kg m^2, about the centre of mass',
            )
        if radius > FAR * max(size, 1.0):
            yield (
                'warning', f'a mass of {report.mass:.4g} kg with {moments[2]:.4g} kg m^2 has a '
                f'radius of gyration of {radius:.4g} m. The whole robot reaches {size:.4g} m',
                units or 'Write <mass> in kg and <inertia> in kg m^2',
            )


def _modulus_remarks(link: Link) -> Iterator[Remark]:
    """Yield a remark for each modulus of elasticity that no material has."""
    beam = link.undeformed_beam
    if beam is None:
        return
    for name, what in (('young', "Young's modulus"), ('shear', 'shear modulus')):
        given = [getattr(each, name) for each in (beam, *beam.stations)]
        for value in sorted({value for value in given if value is not None}):
            if SOFTEST <= value <= STIFFEST:
                continue
            advice = f'Write it in Pa: {name}="7e10" for 70 GPa'
            for unit, factor in (('GPa', 1e9), ('MPa', 1e6)):
                if 1e9 <= value * factor <= STIFFEST:
                    advice = f'Write it in Pa: {value:g} {unit} are {name}="{value * factor:g}"'
                    break
            side = 'below that of rubber' if value < SOFTEST else 'above that of diamond'
            yield 'warning', f'a {what} of {value:g} Pa is {side}', advice


def _slenderness_remarks(link: Link) -> Iterator[Remark]:
    """Yield a remark for each family that a link's beam is too short for."""
    for family in link.beam.families if link.beam is not None else ():
        slenderness = _slenderness(link.beam, family)
        if slenderness < SLENDER * family.count:
            yield (
                'warning', f'the beam is {slenderness:.3g} radii of gyration long, short for '
                f'{family.count} Euler-Bernoulli modes of {family.kind}',
                'Its highest frequencies are overestimated; write shear_correction and '
                'rotary_inertia, keep fewer modes or check the section',
            )


def _slenderness(beam: Beam, family: ModeFamily) -> float:
    """Return length over radius of gyration; infinite where the area is not given."""
    if not family.kind.startswith('bending') or family.shear_correction is not None:
        return float('inf')
    x, weight = quadrature(beam, 24)
    section = section_at(beam, x)
    bending = section.bending_y if family.kind == 'bending_y' else section.bending_z
    if not section.axial.all():
        return float('inf')
    return float(beam.length / (weight @ (bending / section.axial)) ** 0.5)


def _segment_remarks(link: Link) -> Iterator[Remark]:
    """Yield whether a link has too few segments to bend as its beam does."""
    segments = link.segments
    if segments is None or not set(segments.directions) - {'x'}:
        return
    n = segments.count
    # Static deflection of the tip under a force, as a fraction of the beam's: see segments.py.
    ratio = (2 * n * n - 3 * n + 1) / (2 * n * n)
    advice = 'Write placement="centred", whose error is of second order'
    if segments.placement == 'centred':
        ratio, advice = 1.0 - 0.25 / (n - 1) ** 2, 'Take more segments'
    if 1.0 - ratio > COARSE:
        yield (
            'warning', f'{n} segments, placement="{segments.placement}", let the tip bend by '
            f'{100.0 * ratio:.3g} percent of the deflection of their beam', advice,
        )


def _mode_spring_remarks(link: Link) -> Iterator[Remark]:
    """Yield findings on the nonlinear springs of a link's modes."""
    for spring in link.mode_springs:
        if spring.replaces:
            yield from spring_remarks(spring.points, f' of "{spring.mode}"')
        powers = [(n, k) for n, k in enumerate(spring.polynomial, start=1) if k != 0.0]
        order, highest = powers[-1] if powers else (1, 1.0)
        if order > 1 and (order % 2 == 0 or highest < 0.0):
            yield (
                'warning', f'the polynomial of "{spring.mode}" increases large deflections: its '
                f'highest power is {highest:g} x^{order}',
                'Write a positive coefficient of an odd power last, or keep deflections small',
            )


def _boundary_remarks(link: Link, robot: Robot) -> Iterator[Remark]:
    """Yield a remark for each boundary that contradicts the joints at a beam's ends."""
    parent = next((joint for joint in robot.joints if joint.child == link.name), None)
    for family in link.beam.families if link.beam is not None else ():
        root, _, tip = family.boundary.partition('-')
        at_tip = _at_tip(link, robot)
        if tip != 'free' and not family.static_modes and at_tip:
            yield (
                'warning', f'no mode of {family.kind} moves the tip (boundary '
                f'"{family.boundary}"), which carries {", ".join(at_tip)}',
                'Write static_modes="2", which frees it, or boundary="clamped-free"',
            )
        if root == 'pinned' and (parent is None or not parent.coordinate_names):
            held = 'it has no parent joint'
            if parent is not None:
                held = f'joint "{parent.name}" does not turn'
            yield (
                'note', f'the modes of {family.kind} are those of a pinned root, but {held}',
                'With a root that is held, boundary="clamped-free" converges faster',
            )


def _share_remarks(link: Link, robot: Robot) -> Iterator[Remark]:
    """
    Yield the share of `<inertial>` that a link's beam takes, and its effect on the frequency.

    A cantilever of mass m with M at its tip has w^2 = k / (M + 33 m / 140), by its static shape
    (Rayleigh). The rest of <inertial> counts at the tip or not at all.
    """
    beam = link.undeformed_beam
    if beam is None or beam.share is None:
        return
    share = f'{100.0 * beam.share:.3g} percent'
    if beam.mass == 0.0:
        yield (
            'note', f'the beam is massless and bends by static shapes, as it can take only '
            f'{share} of the mass of <inertial>',
            'Its modes move the bodies that hang on it; write mass="..." and inertial="hub" where '
            '<inertial> is the rigid part alone',
        )
        return
    at_tip = 0.0 if link.tip_inertia is None else link.tip_inertia.mass
    carried = composite_moments(robot)
    beyond = sum(carried[j.name].mass for j in robot.joints if j.parent == link.name)
    whole = beyond + _OF_BEAM * beam.mass / beam.share
    change = math.sqrt(whole / (beyond + _OF_BEAM * beam.mass + at_tip)) - 1.0
    place = 'the root' if link.tip_inertia is None else (
        'the tip' if link.inertia is None else 'root and tip')
    what = f'row of beams takes {share}' if link.number else f'beam takes {share}'
    yield (
        'note', f'the {what} of the mass of <inertial>, {beam.mass:.4g} kg. It carries '
        f'{beyond:.4g} kg. This changes its first frequency by about '
        f'{100.0 * change:+.2g} percent',
        f'The rest is a rigid body at {place}; write mass="..." to choose another share',
    )


def _at_tip(link: Link, robot: Robot) -> list[str]:
    """Return the joints and point masses at the end of a link's beam, in words."""
    beam = link.beam
    assert beam is not None
    found = [
        f'joint "{joint.name}"'
        for joint in robot.joints
        if joint.parent == link.name
        and sum(a * row[0] for a, row in zip(joint.origin.position, beam.axes))
        > _AT_TIP * beam.length
    ]
    masses = [point for point in beam.point_masses if point.at > _AT_TIP and point.mass]
    return found + ['a point mass' for _ in masses]
