# SPDX-License-Identifier: Apache-2.0
"""Findings on the loops of a model: whether they close, and the motions that they leave."""

from __future__ import annotations

from typing import Any

from flexdyn_ros.errors import LoopsCannotClose
from flexdyn_ros.model.check import Finding, NOTE, WARNING
from flexdyn_ros.model.extension.joint_reader import BASE_COORDINATES
import numpy as np

# Constraint errors above this [m | rad] are reported.
OPEN = 1e-9


def loop_findings(dyn: Any) -> list[Finding]:
    """Return findings on a robot's loops at the closed configuration nearest to zero."""
    robot = dyn.robot
    zero = robot.neutral_configuration()
    errors = dyn.loop_gaps(zero)
    findings = []
    try:
        q, _ = dyn.project(zero, np.zeros(robot.nv))
    except LoopsCannotClose as error:
        return [
            Finding(
                WARNING, 'loop', error.loop, str(error).split(': ', 1)[1].split('. ')[0],
                'It does not close near the zero configuration: check lengths and frames, or '
                'start simulations from another state',
            )
        ]
    worst = int(np.argmax(np.abs(errors)))
    if abs(errors[worst]) > OPEN:
        name, _, direction = robot.constraint_names[worst].rpartition('/')
        unit = 'rad' if direction[0] == 'r' else 'm'
        findings.append(
            Finding(
                NOTE, 'loop', name,
                f'with all coordinates at zero it is open by {abs(errors[worst]):.3g} {unit}',
                'Dynamics.project gives the nearest closed state',
            )
        )
    found = dyn.loop_report(q)
    severity = WARNING if found.singular else NOTE
    findings.append(
        Finding(severity, 'robot', robot.name, str(found), 'Loops are solved by rank')
    )
    freedoms = found.degrees_of_freedom - robot.n_modes
    freedoms -= BASE_COORDINATES if robot.base_motion == 'free' else 0
    if found.actuated < freedoms:
        findings.append(
            Finding(
                WARNING, 'robot', robot.name,
                f'{found.actuated} actuated coordinates cannot make {freedoms} motions',
                'Name more joints in <actuated>',
            )
        )
    return findings
