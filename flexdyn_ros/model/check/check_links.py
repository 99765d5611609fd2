# SPDX-License-Identifier: Apache-2.0
"""What is doubtful in a link or payload: an inertia that no rigid body has, or modes."""

from __future__ import annotations

from flexdyn_ros.model.check.check_modes import beam_findings
from flexdyn_ros.model.check.check_segments import segment_findings
from flexdyn_ros.model.check.check_springs import mode_spring_findings
from flexdyn_ros.model.check.findings import ERROR
from flexdyn_ros.model.check.findings import Finding
from flexdyn_ros.model.check.findings import LinkReport
from flexdyn_ros.model.check.findings import WARNING
from flexdyn_ros.model.inertia.composite_inertia import link_moments
from flexdyn_ros.model.inertia.rigid_body_tests import ADVICE
from flexdyn_ros.model.inertia.rigid_body_tests import failed_tests
from flexdyn_ros.model.inertia.rigid_body_tests import failure
from flexdyn_ros.model.inertia.rigid_body_tests import principal_moments
from flexdyn_ros.model.robot.link import Link
from flexdyn_ros.model.robot.link import Payload
import numpy as np


def link_report(link: Link) -> LinkReport:
    """Return the link's principal moments and which of the tests on them fail."""
    whole = link_moments(link)
    if link.undeformed_beam is None and link.modal is None and link.inertia is not None:
        matrix = np.array(link.inertia.matrix)  # as written, without rounding by shifts
    else:
        matrix = whole.about_com()
    moments = principal_moments(whole.mass, matrix)
    failed = failed_tests(whole.mass, moments)
    return LinkReport(
        link.name,
        whole.mass,
        moments,
        tuple(failed),
        max(failed.values(), default=0.0),
    )


def payload_findings(payload: Payload) -> list[Finding]:
    """Return the tests that a payload's inertia fails."""
    mass = payload.inertia.mass
    moments = principal_moments(mass, np.array(payload.inertia.matrix))
    return [
        Finding(ERROR, 'payload', payload.link, failure(test, moments, excess), ADVICE)
        for test, excess in failed_tests(mass, moments).items()
    ]


def link_findings(link: Link, report: LinkReport) -> list[Finding]:
    """Return what is doubtful in a link, given its report."""
    findings = _inertia_findings(report) + beam_findings(link)
    findings += segment_findings(link) + mode_spring_findings(link)
    return findings


def _inertia_findings(report: LinkReport) -> list[Finding]:
    findings = [
        Finding(
            ERROR,
            'link',
            report.name,
            failure(test, report.principal_moments, report.excess),
            ADVICE,
        )
        for test in report.failed
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
