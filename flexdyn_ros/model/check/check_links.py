# SPDX-License-Identifier: Apache-2.0
"""What is doubtful in a link: an inertia that no rigid body has, or a beam's modes."""

from __future__ import annotations

from flexdyn_ros.model.check.check_modes import beam_findings
from flexdyn_ros.model.check.check_segments import segment_findings
from flexdyn_ros.model.check.check_springs import mode_spring_findings
from flexdyn_ros.model.check.findings import ERROR
from flexdyn_ros.model.check.findings import Finding
from flexdyn_ros.model.check.findings import LinkReport
from flexdyn_ros.model.check.findings import WARNING
from flexdyn_ros.model.inertia.composite_inertia import link_moments
from flexdyn_ros.model.robot.link import Link
import numpy as np

# Tolerance of the tests on principal moments, relative to a link's largest moment.
RELATIVE_TOLERANCE = 1e-4
# Inertia below this fraction of mass times 1 m^2 counts as none.
NEGLIGIBLE = 1e-12


def link_report(link: Link) -> LinkReport:
    """Return the link's principal moments and which of the tests on them fail."""
    whole = link_moments(link)
    if link.undeformed_beam is None and link.modal is None and link.inertia is not None:
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


def link_findings(link: Link, report: LinkReport) -> list[Finding]:
    """Return what is doubtful in a link, given its report."""
    findings = _inertia_findings(report) + beam_findings(link)
    findings += segment_findings(link) + mode_spring_findings(link)
    return findings


def _inertia_findings(report: LinkReport) -> list[Finding]:
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
