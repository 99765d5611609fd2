# SPDX-License-Identifier: Apache-2.0
"""The numbers of a robot, as C++ initialisers and YAML."""

from __future__ import annotations

import math
from typing import Iterable, Optional

from flexdyn_ros.model.records.joint import Limit
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.stability import step_limit
import numpy as np

STEP_SHARE = 0.5
"""Step of the simulated arm, as a share of the stability limit at rest."""
FREQUENCY, DAMPING = 2.0, 0.7
"""Natural frequency [Hz] and damping ratio of the PD at rest, as a first choice of gains."""


def number_text(value: Optional[float]) -> str:
    """Return a double in C++, exact; None and infinity are kInfinity."""
    if value is None or math.isinf(value):
        return '-kInfinity' if value is not None and value < 0.0 else 'kInfinity'
    return repr(float(value))


def array_text(values: Iterable[float]) -> str:
    """Return the numbers between the braces of a C++ array."""
    return ', '.join(map(number_text, values))


def declared_payload(robot: Robot, link: str) -> list[float]:
    """
    Return the payload that the description declares on a link, zeros for none.

    Returns:
        Mass, centre of mass, and ixx iyy izz ixy ixz iyz about it [kg, m, kg m^2].
    """
    for payload in robot.payloads:
        if payload.link == link:
            body = payload.inertia
            return [body.mass, *body.com, *body.entries]
    return [0.0] * 10


def start_of(limit: Limit) -> float:
    """Return zero, or the middle of a joint's limits [rad | m] where zero is outside."""
    if limit.lower is None or limit.upper is None or limit.lower <= 0.0 <= limit.upper:
        return 0.0
    return 0.5 * (limit.lower + limit.upper)


def robot_fields(dyn: Dynamics) -> dict[str, str]:
    """Return the fields of the files that a robot's numbers fill."""
    robot = dyn.robot
    limits = {joint.name: joint.limit for joint in robot.joints}
    springs = [
        (robot.joint_names.index(joint.name), robot.mode_names.index(joint.elastic_name))
        for joint in robot.joints
        if joint.elastic_name and joint.mimic is None
    ]
    start = np.zeros(robot.nq)
    start[: robot.n_joints] = [start_of(limits[name]) for name in robot.joint_names]
    inertia = np.diag(dyn.mass_matrix(start))[: robot.n_joints]
    limit = step_limit(dyn, start)
    rate = 2.0 * math.pi * FREQUENCY
    return {
        'robot': _plain(robot.name),
        'n_joints': str(robot.n_joints),
        'n_modes': str(robot.n_modes),
        'joint_names': _names(robot.joint_names),
        'mode_names': _names(robot.mode_names),
        'joint_limits': ''.join(
            f'    {{{_limits(limits[name])}}},\n' for name in robot.joint_names),
        'n_springs': str(len(springs)),
        'springs': ', '.join(f'{{{joint}, {mode}}}' for joint, mode in springs),
        'gravity': array_text(robot.gravity),
        'step': number_text(None if limit is None else STEP_SHARE * limit),
        'joint_list': ', '.join(robot.joint_names),
        'kp': _rounded(inertia * rate * rate),
        'kd': _rounded(inertia * 2.0 * DAMPING * rate),
        'torque_model': 'flexible_quasi_static' if robot.n_modes else 'rigid',
        # The simulated arm measures the links, as robots with two encoders do.
        'reference_side': 'link' if springs else 'motor',
    }


def _plain(text: str) -> str:
    """Return a name as it may stand in a string of C++ and in XML."""
    return ''.join(c if c.isalnum() or c in ' _-./' else '_' for c in text)


def _names(names: Iterable[str]) -> str:
    return ', '.join(f'"{_plain(name)}"' for name in names)


def _limits(limit: Limit) -> str:
    lower = -math.inf if limit.lower is None else limit.lower
    return array_text((lower, limit.upper, limit.velocity, limit.effort))


def _rounded(values: Iterable[float]) -> str:
    return ', '.join(repr(float(f'{value:.3g}')) for value in values)
