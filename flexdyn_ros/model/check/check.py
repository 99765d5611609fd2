# SPDX-License-Identifier: Apache-2.0
"""
What is doubtful in a model that loads: inertias, massless motion, limits, friction and beams.

`load_robot` accepts all of it, as vendors ship such models; `check_robot` reports it, and
`load_robot(..., strict=True)` refuses what is reported as an error.
"""

from __future__ import annotations

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.check.check_joints import joint_findings
from flexdyn_ros.model.check.check_links import link_findings
from flexdyn_ros.model.check.check_links import link_report
from flexdyn_ros.model.check.check_links import payload_findings
from flexdyn_ros.model.check.check_modes import boundary_findings
from flexdyn_ros.model.check.findings import CheckReport
from flexdyn_ros.model.check.findings import ERROR
from flexdyn_ros.model.check.findings import Finding
from flexdyn_ros.model.check.findings import NOTE
from flexdyn_ros.model.check.findings import WARNING
from flexdyn_ros.model.robot.robot import require_robot
from flexdyn_ros.model.robot.robot import Robot


def check_robot(robot: Robot) -> CheckReport:
    """Return what is doubtful in the robot, and a table of its links."""
    require_robot(robot)
    reports = tuple(link_report(link) for link in robot.links)
    findings = [
        finding
        for link, report in zip(robot.links, reports)
        for finding in link_findings(link, report)
    ]
    for payload in robot.payloads:
        findings += payload_findings(payload)
    findings += boundary_findings(robot)
    findings += joint_findings(robot)
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
