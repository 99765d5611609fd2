# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics of a robot on a base whose acceleration is given."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from flexdyn_ros.arguments import real_vector
from flexdyn_ros.dynamics.linear_algebra import SymmetricFactors, ZeroPivot
from flexdyn_ros.dynamics.newton_euler import FrameWrench
from flexdyn_ros.dynamics.reference import ReferenceBackend
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.extension.joint_reader import BASE_COORDINATES
from flexdyn_ros.model.records.robot import Robot
import numpy as np

Floats = list[float]

# A pivot this far below the largest one may be round-off: the recursive form then decides.
DOUBTFUL_PIVOT = 1e-10


def checked_base_acceleration(robot: Robot, value: Any) -> Floats:
    """
    Return the acceleration of a prescribed base as six numbers.

    Args:
        robot: The robot.
        value: Rates of the base's velocity coordinates: linear, then angular, in its own axes,
            (6,) [m/s^2, rad/s^2].

    Raises:
        ArgumentError: The base is not prescribed, or the value is not six finite numbers.
    """
    if robot.base_motion != 'prescribed':
        raise ArgumentError(
            'base_acceleration',
            f'is given, but the base is {robot.base_motion}; write <base motion="prescribed"/>',
        )
    return real_vector('base_acceleration', value, BASE_COORDINATES)


def accelerations_on_base(
    backend: Any,
    exact: Callable[[], ReferenceBackend],
    state: tuple[Floats, Floats],
    tau: Floats,
    base_acceleration: Floats,
    wrenches: Sequence[FrameWrench],
    method: str,
) -> Floats:
    """
    Return the accelerations of all coordinates, (nv,), the base's as given.

    The rows of the other coordinates are M_oo qdd_o = tau_o - (M_ob a_b + bias_o); inverse
    dynamics with the base's acceleration alone gives the bracket.

    Args:
        backend: Any backend of the robot.
        exact: Returns the reference backend of the same robot under the same loads.
        state: Configuration (nq,) and velocity (nv,).
        tau: Generalised forces, (nv,); those on the base are not read.
        base_acceleration: Of the base's six velocity coordinates, (6,).
        wrenches: Wrenches on frames.
        method: "recursive", or any other for the mass matrix and its factors.

    Raises:
        SingularMassMatrix: A coordinate meets no inertia.
    """
    q, qd = state
    held = len(base_acceleration)
    of_base_alone = list(base_acceleration) + [0.0] * (len(tau) - held)
    at_rest = backend.inverse_dynamics(q, qd, of_base_alone, wrenches)
    right = [force - rest for force, rest in zip(tau, at_rest)]
    right[:held] = [0.0] * held
    if method == 'recursive':
        return list(base_acceleration) + exact().accelerations_beyond(held, q, right)
    full = np.reshape(backend.mass_matrix(q), (len(tau), len(tau)))
    block = full[held:, held:].tolist()
    try:
        factors = SymmetricFactors(block, [0.0] * len(block))
        if block and min(factors.pivots) <= DOUBTFUL_PIVOT * max(factors.pivots):
            raise ZeroPivot(0)
        found = factors.solve(right[held:])
    except ZeroPivot:
        found = exact().accelerations_beyond(held, q, right)
    return list(base_acceleration) + list(found)
