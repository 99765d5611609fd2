# SPDX-License-Identifier: Apache-2.0
"""What is doubtful in a beam's modes: a stout beam, a tip that is held, an idle pinned root."""

from __future__ import annotations

from flexdyn_ros.model.beam.beam_section import quadrature
from flexdyn_ros.model.beam.beam_section import section_at
from flexdyn_ros.model.check.findings import Finding
from flexdyn_ros.model.check.findings import NOTE
from flexdyn_ros.model.check.findings import WARNING
from flexdyn_ros.model.robot.link import Beam
from flexdyn_ros.model.robot.link import Link
from flexdyn_ros.model.robot.link import ModeFamily
from flexdyn_ros.model.robot.robot import Robot

# A beam shorter than this many radii of gyration of its section is not slender.
SLENDER = 10.0
# Fraction of the length from which on a thing stands at the tip.
_AT_TIP = 0.99


def beam_findings(link: Link) -> list[Finding]:
    """Return which families a link's beam is too short for."""
    beam = link.beam
    if beam is None:
        return []
    findings = []
    for family in beam.families:
        slenderness = _slenderness(beam, family)
        if slenderness < SLENDER * family.count:
            findings.append(
                Finding(
                    WARNING,
                    'link',
                    link.name,
                    f'the beam is {slenderness:.3g} radii of gyration long, short for '
                    f'{family.count} Euler-Bernoulli modes of {family.kind}',
                    'Its highest frequencies are overestimated; write shear_correction and '
                    'rotary_inertia, keep fewer modes or check the section',
                )
            )
    return findings


def _slenderness(beam: Beam, family: ModeFamily) -> float:
    """Return length over radius of gyration; infinite where the beam does not tell."""
    if not family.kind.startswith('bending') or family.shear_correction is not None:
        return float('inf')
    x, weight = quadrature(beam, 24)
    section = section_at(beam, x)
    bending = section.bending_y if family.kind == 'bending_y' else section.bending_z
    if not section.axial.all():
        return float('inf')
    return float(beam.length / (weight @ (bending / section.axial)) ** 0.5)


def boundary_findings(robot: Robot) -> list[Finding]:
    """Return which boundaries do not go with the joints at a beam's ends."""
    findings = []
    parents = {joint.child: joint for joint in robot.joints}
    for link in robot.links:
        for family in link.beam.families if link.beam is not None else ():
            root, _, tip = family.boundary.partition('-')
            carried = _at_tip(link, robot)
            if tip != 'free' and not family.static_modes and carried:
                findings.append(
                    Finding(
                        WARNING,
                        'link',
                        link.name,
                        f'no mode of {family.kind} moves the tip (boundary '
                        f'"{family.boundary}"), which carries {", ".join(carried)}',
                        'Write static_modes="2", which frees it, or boundary="clamped-free"',
                    )
                )
            joint = parents.get(link.name)
            if root == 'pinned' and (joint is None or not joint.coordinate_names):
                held = 'it has no parent joint'
                if joint is not None:
                    held = f'joint "{joint.name}" does not turn'
                findings.append(
                    Finding(
                        NOTE,
                        'link',
                        link.name,
                        f'the modes of {family.kind} are those of a pinned root, but {held}',
                        'With a root that is held, boundary="clamped-free" converges faster',
                    )
                )
    return findings


def _at_tip(link: Link, robot: Robot) -> list[str]:
    """Return what stands at the end of a link's beam, in words."""
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
