# SPDX-License-Identifier: Apache-2.0
"""
Distance of a robot's flexible links and joints from buckling by its weight.

About a configuration the modes have the stiffness K + K_g. K is the stiffness of modes and
springs, and K_g the derivative of the forces of gravity by the modes. At the load that buckles it
is singular.
"""

from __future__ import annotations

from typing import Any, Optional

from flexdyn_ros.model.modal.matrices import reduced_eigenproblem
from flexdyn_ros.simulation.frequencies import stiffness_matrix
import numpy as np

_STEP = 1e-6  # of a modal coordinate [m | rad]


def buckling_load(dyn: Any, q: np.ndarray) -> Optional[tuple[float, str]]:
    """
    Return the smallest factor on gravity that buckles the robot, its joints held.

    Args:
        dyn: The dynamics.
        q: Configuration, (nq,).

    Returns:
        The factor, and the name of the mode that deflects most; None where no factor does, or
        where some mode has no stiffness.
    """
    robot = dyn.robot
    modes = slice(robot.n_joints, None)
    elastic = stiffness_matrix(dyn, q)[modes, modes]
    weight = np.zeros_like(elastic)
    for k in range(robot.n_modes):
        ahead, behind = np.array(q, dtype=float), np.array(q, dtype=float)
        ahead[robot.nq - robot.n_modes + k] += _STEP
        behind[robot.nq - robot.n_modes + k] -= _STEP
        difference = dyn.gravity_vector(ahead) - dyn.gravity_vector(behind)
        weight[:, k] = difference[modes] / (2.0 * _STEP)
    # -K_g x = K x / factor.
    try:
        values, vectors, _ = reduced_eigenproblem(-weight, elastic)
    except np.linalg.LinAlgError:  # some mode has no stiffness
        return None
    if not len(values) or values[-1] <= 1e-9:
        return None
    share = np.abs(vectors[:, -1])
    return 1.0 / float(values[-1]), robot.mode_names[int(np.argmax(share))]
