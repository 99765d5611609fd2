# SPDX-License-Identifier: Apache-2.0
"""What is doubtful in nonlinear springs: deflections that nothing opposes."""

from __future__ import annotations

from typing import Sequence

from flexdyn_ros.model.check.findings import Finding
from flexdyn_ros.model.check.findings import WARNING
from flexdyn_ros.model.robot.link import Link


def mode_spring_findings(link: Link) -> list[Finding]:
    """Return what is doubtful in the nonlinear springs of a link's modes."""
    findings = []
    for spring in link.mode_springs:
        if spring.replaces:
            findings += spring_findings('link', link.name, spring.points, f' of "{spring.mode}"')
        powers = [(n, k) for n, k in enumerate(spring.polynomial, start=1) if k != 0.0]
        order, highest = powers[-1] if powers else (1, 1.0)
        if order > 1 and (order % 2 == 0 or highest < 0.0):
            findings.append(
                Finding(
                    WARNING,
                    'link',
                    link.name,
                    f'the polynomial of "{spring.mode}" drives large deflections further out: its '
                    f'highest power is {highest:g} x^{order}',
                    'End with a positive coefficient of an odd power, or keep deflections small',
                )
            )
    return findings


def spring_findings(
    element: str, name: str, points: Sequence[tuple[float, float]], of: str = ''
) -> list[Finding]:
    """
    Return what is doubtful in a table.

    Args:
        element: What it belongs to: joint or link.
        name: Name of the joint or link.
        points: Deflections and forces; () for no table.
        of: Which of its springs, for the messages.
    """
    if not points:
        return []
    findings = []
    for side, (first, second) in (('below', points[:2]), ('above', points[:-3:-1])):
        where = f'{side} its deflection {first[0]:g}'
        if first[0] == 0.0 and first[1] == second[1]:
            message = f'the spring table{of} opposes no deflection {side} zero'
        elif first[0] == 0.0:
            message = f'the spring table{of} ends at zero and goes on straight {side} it'
        elif first[1] == second[1]:
            stays = f'the force stays {first[1]:g}'
            message = f'the spring table{of} grows no stiffer {where}: {stays}'
        else:
            continue
        advice = 'Add the points on that side, unless this was measured'
        findings.append(Finding(WARNING, element, name, message, advice))
    return findings
