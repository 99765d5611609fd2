# SPDX-License-Identifier: Apache-2.0
"""What is doubtful in a spring table: deflections that nothing opposes."""

from __future__ import annotations

from typing import Sequence

from flexdyn_ros.model.findings import Finding
from flexdyn_ros.model.findings import WARNING


def spring_findings(
    element: str, name: str, points: Sequence[tuple[float, float]]
) -> list[Finding]:
    """
    Return what is doubtful in a table.

    Args:
        element: What it belongs to: joint or link.
        name: Name of the joint, or of the link and mode.
        points: Deflections and forces; () for no table.
    """
    if not points:
        return []
    findings = []
    for side, (first, second) in (('below', points[:2]), ('above', points[:-3:-1])):
        where = f'{side} its deflection {first[0]:g}'
        if first[0] == 0.0 and first[1] == second[1]:
            message = f'the spring table opposes no deflection {side} zero'
        elif first[0] == 0.0:
            message = f'the spring table ends at zero and goes on straight {side} it'
        elif first[1] == second[1]:
            message = f'the spring table grows no stiffer {where}: the force stays {first[1]:g}'
        else:
            continue
        advice = 'Add the points on that side, unless this was measured'
        findings.append(Finding(WARNING, element, name, message, advice))
    return findings
