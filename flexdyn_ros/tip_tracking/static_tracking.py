# SPDX-License-Identifier: Apache-2.0
"""Configurations at rest: at equilibrium, and with the tip on its path at equilibrium."""

from __future__ import annotations

from typing import Any, Callable

from flexdyn_ros.arguments import real_vector
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.tip_tracking.tip_outputs import Outputs
import numpy as np
from numpy.typing import ArrayLike

MOST_STEPS = 50
# Largest step of a coordinate [rad | m]: farther ones leave the branch of the start.
LONGEST_STEP = 0.3
TOLERANCE = 1e-12


class NotReached(FlexdynError):
    """No configuration at rest has the tip on the path."""


def unforced_coordinates(robot: Any) -> np.ndarray:
    """Return the entries of v whose generalised forces are zero: passive joints and modes."""
    driven = set(robot.actuated_coordinates)
    return np.array(
        [k for k, name in enumerate(robot.coordinate_names) if name not in driven], dtype=int)


def equilibrium(dyn: Any, q: ArrayLike, argument: str) -> np.ndarray:
    """
    Return q with passive joints and modes at static equilibrium, (nq,).

    Args:
        dyn: The dynamics.
        q: Configuration, (nq,).
        argument: Name of q in errors.
    """
    start = np.array(real_vector(argument, q, dyn.robot.nq))
    free = unforced_coordinates(dyn.robot)
    rest = np.zeros(dyn.robot.nv)

    def equations(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        by_q = dyn.inverse_dynamics_derivatives(at, rest, rest)[0]
        jacobian = np.eye(dyn.robot.nv)
        jacobian[free] = by_q[free]
        value = np.zeros(dyn.robot.nv)
        value[free] = dyn.inverse_dynamics(at, rest, rest)[free]
        return value, jacobian

    return _root(equations, start, f'No static equilibrium is near "{argument}"')


def static_configurations(
    dyn: Any, outputs: Outputs, start: np.ndarray, first: np.ndarray, wanted: np.ndarray,
    times: np.ndarray, rigid: bool = False,
    progress: Callable[[float], None] = lambda fraction: None,
) -> np.ndarray:
    """
    Return the configurations at rest whose outputs are the wanted ones, (T, nq).

    Args:
        dyn: The dynamics.
        outputs: The prescribed quantities.
        start: Pose of the frame at the start of the path, (4, 4).
        first: Configuration near the first one, (nq,).
        wanted: Outputs, (T, n); each is near the one before.
        times: When they are wanted, for errors, (T,) [s].
        rigid: Whether passive joints and modes stay at zero, not at equilibrium.
        progress: Receives the fraction done, after each configuration.

    Raises:
        NotReached: There is none, naming the time.
    """
    free = unforced_coordinates(dyn.robot)
    rest = np.zeros(dyn.robot.nv)
    q, found = first, []
    for time, value in zip(times, wanted):
        def equations(
            at: np.ndarray, value: np.ndarray = value
        ) -> tuple[np.ndarray, np.ndarray]:
            row = at[np.newaxis]
            error = outputs.errors(dyn, row, start, value[np.newaxis])[0]
            by_output = outputs.jacobian(dyn, row)[0]
            if rigid:
                return (np.append(error, at[free]),
                        np.vstack([by_output, np.eye(len(at))[free]]))
            by_q = dyn.inverse_dynamics_derivatives(at, rest, rest)[0]
            forces = dyn.inverse_dynamics(at, rest, rest)
            return np.append(error, forces[free]), np.vstack([by_output, by_q[free]])

        q = _root(equations, q, f'No configuration near the one before has the outputs of the '
                                f'path at {time:.4g} s')
        found.append(q)
        progress(len(found) / len(wanted))
    return np.array(found)


def _root(
    equations: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], start: np.ndarray,
    problem: str,
) -> np.ndarray:
    """Return a root near `start` by Newton's method with bounded steps."""
    q = start.copy()
    size = np.inf
    for _ in range(MOST_STEPS):
        value, jacobian = equations(q)
        try:
            step = np.linalg.solve(jacobian, -value)
        except np.linalg.LinAlgError:
            break
        previous, size = size, float(np.abs(step).max())
        q = q + step * min(1.0, LONGEST_STEP / max(size, TOLERANCE))
        if size < TOLERANCE or (size < 1e4 * TOLERANCE and size > 0.5 * previous):
            return q
        if not np.isfinite(size):
            break
    raise NotReached(
        f'{problem}. The path leaves the workspace, or passes a singular pose: move it.')
