# SPDX-License-Identifier: Apache-2.0
"""Torques of a few states, which the tests of a written package compare with its own."""

from __future__ import annotations

from typing import Any, Iterable

from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.ros2_control.robot_numbers import array_text, declared_payload
import numpy as np

CASES = 4
MODAL_STEP, SPECTRAL_RADIUS = 1e-3, 0.9
HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// Torques by flexdyn_ros. SI units.
#ifndef EXPECTED_HPP_
#define EXPECTED_HPP_

#include <array>

#include "arm_dynamics/arm_model.hpp"

struct Case
{
  std::array<double, 3> gravity;
  std::array<double, 10> payload;
  arm_dynamics::JointMotion motion;
  std::array<double, 4 * arm_dynamics::kModes> modal_state;
  arm_dynamics::JointVector gravity_torque, rigid, quasi_static, hybrid;
};
"""


def expected_torques(dyn: Dynamics, link: str) -> str:
    """
    Return the header with states and torques, half of them with another gravity and payload.

    Args:
        dyn: The dynamics; its loads are those of the description again afterwards.
        link: The link whose payload changes.
    """
    robot, random = dyn.robot, np.random.default_rng(0)
    payload = np.array(declared_payload(robot, link))
    cases = []
    for k in range(CASES):
        gravity = np.array(robot.gravity)
        if k >= CASES // 2:
            gravity = gravity + random.uniform(-1.0, 1.0, 3)
            payload = np.array([0.05 * robot.total_mass, 0.01, -0.02, 0.03, *[0.0] * 6])
            dyn.set_gravity(gravity)
            dyn.set_payload(link, payload[0], payload[1:4], np.zeros((3, 3)))
        cases.append(_case(dyn, gravity, payload, random))
    dyn.set_gravity(robot.gravity)
    dyn.clear_payload()
    return '\n'.join([
        HEADER, f'constexpr double kModalStep = {MODAL_STEP!r};',
        f'constexpr double kSpectralRadius = {SPECTRAL_RADIUS!r};', '',
        f'const std::array<Case, {CASES}> kCases{{{{', *cases, '}};', '',
        '#endif  // EXPECTED_HPP_', '',
    ])


def _case(dyn: Dynamics, gravity: np.ndarray, payload: np.ndarray, random: Any) -> str:
    robot = dyn.robot
    joints, modes = robot.n_joints, robot.n_modes
    q, qd, qdd = random.uniform(-1.0, 1.0, (3, joints))
    still = np.zeros(modes)
    undeformed = np.concatenate((q, still))
    static, deflection, _ = dyn.quasi_static_torque(q, qd, qdd)
    modal = np.concatenate((deflection, *random.uniform(-1e-3, 1e-3, (3, modes))))
    hybrid, _ = dyn.hybrid_step(q, qd, qdd, modal, (MODAL_STEP, SPECTRAL_RADIUS))
    rigid = dyn.inverse_dynamics(
        undeformed, np.concatenate((qd, still)), np.concatenate((qdd, still)))
    torques = dyn.gravity_vector(undeformed)[:joints], rigid[:joints], static, hybrid
    motion = f'{{{_arrays((q, qd, qdd))}}}'
    return (
        f'  {{\n    {_arrays((gravity, payload))},\n    {motion},\n    {_arrays((modal,))},\n'
        f'    {_arrays(torques)},\n  }},'
    )


def _arrays(vectors: Iterable[np.ndarray]) -> str:
    return ',\n    '.join(f'{{{{{array_text(each)}}}}}' for each in vectors)
