# SPDX-License-Identifier: Apache-2.0
"""
Findings on a model that loads: inertias, massless motion, limits, friction and beams.

`load_robot` accepts all of it, as vendors ship such models; `check_robot` reports it, and
`load_robot(..., strict=True)` refuses reported errors.
"""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.check_geometry import link_report, LinkReport, reach
from flexdyn_ros.model.check_joints import joint_remarks
from flexdyn_ros.model.check_links import link_remarks, payload_remarks
from flexdyn_ros.model.records.robot import require_robot, Robot

ERROR = 'error'
WARNING = 'warning'
NOTE = 'note'


@dataclass(frozen=True)
class Finding:
    """
    A doubtful value of a model.

    Attributes:
        severity: "error" (strict loading refuses it), "warning" or "note".
        element: The XML element, "link", "joint" or "payload", or "robot".
        name: The name of the link or joint; of a payload, of the link that carries it.
        message: The finding, with its value.
        advice: The next step for the user.
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
class CheckReport:
    """
    All that `check_robot` found.

    Attributes:
        findings: The findings, errors first.
        links: One row for each link.
    """

    findings: tuple[Finding, ...]
    links: tuple[LinkReport, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that strict loading refuses."""
        return tuple(finding for finding in self.findings if finding.severity == ERROR)


def check_robot(robot: Robot) -> CheckReport:
    """Return findings on the robot, and a table of its links."""
    require_robot(robot)
    reports = tuple(link_report(link) for link in robot.links)
    size = reach(robot)
    findings = [
        Finding(severity, 'link', link.name, message, advice)
        for link, report in zip(robot.links, reports)
        for severity, message, advice in link_remarks(link, report, robot, size)
    ]
    for payload in robot.payloads:
        for severity, message, advice in payload_remarks(payload):
            findings.append(Finding(severity, 'payload', payload.link, message, advice))
    for name, (severity, message, advice) in joint_remarks(robot):
        findings.append(Finding(severity, 'joint', name, message, advice))
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
