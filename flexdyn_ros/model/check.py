# SPDX-License-Identifier: Apache-2.0
"""
What is doubtful in a model that loads: inertias, massless motion, limits and drives.

`load_robot` accepts all of it, as vendors ship such models; `check_robot` reports it, and
`load_robot(..., strict=True)` refuses what is reported as an error.
"""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.joint import Joint
from flexdyn_ros.model.link import Link
from flexdyn_ros.model.moved_inertia import link_moments
from flexdyn_ros.model.moved_inertia import Moments
from flexdyn_ros.model.moved_inertia import subtree_moments
from flexdyn_ros.model.robot import Robot
import numpy as np

ERROR = 'error'
WARNING = 'warning'
NOTE = 'note'

# Tolerance of the tests on principal moments, relative to a link's largest moment.
RELATIVE_TOLERANCE = 1e-4
# Inertia below this fraction of mass times 1 m^2 counts as none, as does mass below this
# fraction of the robot's.
NEGLIGIBLE = 1e-12
# A beam shorter than this many radii of gyration of its section is not slender.
SLENDER = 10.0


@dataclass(frozen=True)
class Finding:
    """
    Something doubtful in a model.

    Attributes:
        severity: "error" (strict loading refuses it), "warning" or "note".
        element: The XML element, "link" or "joint", or "robot".
        name: The name of the link or joint.
        message: What was found, with its value.
        advice: What the user should do next.
    """

    severity: str
    element: str
    name: str
    message: str
    advice: str

    def __str__(self) -> str:
        """Return one line."""
        return f'{self.severity}: <{self.element}> "{self.name}": {self.message}. {self.advice}.'


@dataclass(frozen=True)
class LinkReport:
    """
    A link's row in the table of `flexdyn check`, for its undeformed whole.

    Attributes:
        name: Its name.
        mass: Mass [kg], of hub, beam and point masses.
        principal_moments: About the centre of mass, ascending [kg m^2].
        failed: Tests that failed: "mass", "positive" (a negative principal moment),
            "triangle" (the largest moment exceeds the sum of the others).
        excess: By how much the worst test failed, relative to the largest moment.
    """

    name: str
    mass: float
    principal_moments: tuple[float, float, float]
    failed: tuple[str, ...] = ()
    excess: float = 0.0


@dataclass(frozen=True)
class CheckReport:
    """
    All that `check_robot` found.

    Attributes:
        findings: What is doubtful, errors first.
        links: One row for each link.
    """

    findings: tuple[Finding, ...]
    links: tuple[LinkReport, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that strict loading refuses."""
        return tuple(finding for finding in self.findings if finding.severity == ERROR)


def check_robot(robot: Robot) -> CheckReport:
    """Return what is doubtful in the robot, and a table of its links."""
    reports = tuple(_link_report(link) for link in robot.links)
    findings = [finding for report in reports for finding in _link_findings(report)]
    findings += _motion_findings(robot)
    for joint in robot.joints:
        findings += _limit_findings(joint)
    for link in robot.links:
        findings += _beam_findings(link)
    if not robot.coordinate_names:
        findings.append(
            Finding(WARNING, 'robot', robot.name, 'nothing moves', 'Check the joint types')
        )
    for note in robot.notes:
        message, _, advice = note.rstrip('.').partition('. ')
        findings.append(Finding(NOTE, 'robot', robot.name, message, advice))
    order = (ERROR, WARNING, NOTE)
    findings.sort(key=lambda finding: order.index(finding.severity))
    return CheckReport(tuple(findings), reports)


def refuse_errors(robot: Robot) -> None:
    """Raise a ModelError for the first finding that is an error."""
    errors = check_robot(robot).errors
    if errors:
        first = errors[0]
        more = f' (and {len(errors) - 1} more: see flexdyn check)' if len(errors) > 1 else ''
        raise ModelError(
            first.message + more,
            file=robot.source,
            element=first.element,
            name=first.name,
            advice=first.advice,
        )


def _link_report(link: Link) -> LinkReport:
    whole = link_moments(link)
    if link.beam is None and link.inertia is not None:
        matrix = np.array(link.inertia.matrix)  # as written, without rounding by shifts
    else:
        matrix = whole.about_com()
    low, middle, high = np.linalg.eigvalsh(matrix).tolist()
    if max(abs(low), abs(high)) <= NEGLIGIBLE * whole.mass:
        low = middle = high = 0.0
    largest = max(abs(low), abs(high))
    failed = {}
    if whole.mass == 0.0 and largest > 0.0:
        failed['mass'] = 1.0
    if low < -RELATIVE_TOLERANCE * largest:
        failed['positive'] = -low / largest
    elif high - low - middle > RELATIVE_TOLERANCE * largest:
        failed['triangle'] = (high - low - middle) / largest
    return LinkReport(
        link.name,
        whole.mass,
        (low, middle, high),
        tuple(failed),
        max(failed.values(), default=0.0),
    )


def _link_findings(report: LinkReport) -> list[Finding]:
    moments = ' '.join(f'{m:.4g}' for m in report.principal_moments)
    by = f'by {100.0 * report.excess:.3g} percent of the largest'
    messages = {
        'mass': f'inertia without mass, principal moments {moments} kg m^2',
        'positive': f'a principal moment is negative {by}: {moments} kg m^2',
        'triangle': f'the largest principal moment exceeds the sum of the others {by}: {moments} '
        'kg m^2',
    }
    advice = 'No rigid body has this inertia: take it from the CAD model again, in kg m^2'
    findings = [
        Finding(ERROR, 'link', report.name, messages[test], advice) for test in report.failed
    ]
    if report.mass > 0.0 and not any(report.principal_moments):
        findings.append(
            Finding(
                WARNING,
                'link',
                report.name,
                f'a mass of {report.mass:.4g} kg without any moment of inertia',
                'It is treated as a point mass; write its <inertia> if it has one',
            )
        )
    return findings


def _motion_findings(robot: Robot) -> list[Finding]:
    """Return joints that move no inertia, so that forward dynamics has no answer."""
    below = subtree_moments(robot)
    scale = max(sum((below[j.name].mass for j in robot.joints), robot.total_mass), 1e-300)
    findings = []
    for joint in robot.joints:
        if not joint.coordinate_names:
            continue
        followers = [j for j in robot.joints if j.mimic and j.mimic.leader == joint.name]
        drive = joint.dynamics.reflected_inertia
        drive += sum(
            j.mimic.multiplier**2 * j.dynamics.reflected_inertia for j in followers if j.mimic
        )
        if joint.dynamics.elastic and drive == 0.0:
            findings.append(
                Finding(
                    ERROR,
                    'joint',
                    joint.name,
                    'the motor side of the elastic joint has no inertia',
                    'Write rotor_inertia in its <joint_dynamics>; forward dynamics needs it',
                )
            )
        moved = [(joint, 1.0)] + [(j, j.mimic.multiplier) for j in followers if j.mimic]
        if not joint.dynamics.elastic and drive > 0.0:
            continue
        if all(below[j.name].negligible(NEGLIGIBLE * scale) for j, _ in moved):
            findings.append(_massless(joint, robot))
        elif sum(m * m * _about_axis(j, below[j.name]) for j, m in moved) <= NEGLIGIBLE * scale:
            findings.append(
                Finding(
                    WARNING,
                    'joint',
                    joint.name,
                    'with all joints at zero, it moves no inertia about its axis',
                    'Check the <inertia> and <origin> of the links that it moves',
                )
            )
    return findings


def _massless(joint: Joint, robot: Robot) -> Finding:
    links, inside = [], {joint.child}
    for link in robot.links:
        if link.name in inside:
            links.append(link.name)
            inside.update(j.child for j in robot.joints if j.parent == link.name)
    shown = ', '.join(f'"{name}"' for name in links[:6]) + (', ...' if len(links) > 6 else '')
    return Finding(
        ERROR,
        'joint',
        joint.name,
        f'all links that it moves are without mass ({shown})',
        'Give one of them an <inertial>, or make the joint fixed; forward dynamics needs it',
    )


def _about_axis(joint: Joint, moved: Moments) -> float:
    """Return the smallest inertia that a velocity of the joint meets."""
    axis = np.array(joint.axis)
    turning = float(axis @ moved.matrix @ axis)
    if joint.type == 'prismatic':
        return moved.mass
    if joint.type == 'planar':
        return min(moved.mass, turning)
    if joint.type == 'floating':
        return float(min(moved.mass, np.linalg.eigvalsh(moved.about_com())[0]))
    return turning


def _limit_findings(joint: Joint) -> list[Finding]:
    limit, findings = joint.limit, []
    if joint.type not in ('revolute', 'prismatic', 'continuous'):
        return []
    for name, value in (('effort', limit.effort), ('velocity', limit.velocity)):
        if value == 0.0:
            findings.append(
                (
                    f'<limit {name}="0"> leaves the joint no {name}',
                    f'Write the real limit, or leave {name} out if there is none',
                )
            )
    if limit.lower is not None and limit.upper is not None and joint.type != 'continuous':
        if limit.lower > limit.upper:
            findings.append(
                (
                    f'<limit> has lower {limit.lower:g} above upper {limit.upper:g}',
                    'Exchange them',
                )
            )
        elif limit.lower == limit.upper:
            findings.append(
                (
                    f'<limit> has lower and upper at {limit.lower:g}: the joint cannot move',
                    'Write the real limits, or make the joint fixed',
                )
            )
    return [Finding(WARNING, 'joint', joint.name, *finding) for finding in findings]


def _beam_findings(link: Link) -> list[Finding]:
    beam = link.beam
    if beam is None or beam.area is None:
        return []
    findings = []
    for family in beam.families:
        section = {'bending_y': beam.iz, 'bending_z': beam.iy}.get(family.kind)
        if section is None:
            continue
        slenderness = beam.length / (section / beam.area) ** 0.5
        if slenderness < SLENDER * family.count:
            findings.append(
                Finding(
                    WARNING,
                    'link',
                    link.name,
                    f'the beam is {slenderness:.3g} radii of gyration long, short for '
                    f'{family.count} Euler-Bernoulli modes of {family.kind}',
                    'Its highest frequencies are overestimated; keep fewer modes or check the '
                    'section',
                )
            )
    return findings
