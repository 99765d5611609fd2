# SPDX-License-Identifier: Apache-2.0
"""Choice of the method and step of a simulation where they are left open."""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from numbers import Real
from typing import Any, Optional

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.simulation.stability import find_limit, StepLimit, StepTooLarge
from flexdyn_ros.simulation.tableaus import find_tableau, IMPLICIT, RK4, Tableau
import numpy as np

AUTO = 'auto'
# Where the step is left open [s], and of the limit of the method.
_USUAL_STEP, _SAFETY = 1e-3, 0.5
# Of the limit, from which a step is beyond it: the limit is that of the motion linearised at rest.
_BEYOND = 1.01


@dataclass(frozen=True)
class Choice:
    """
    A method with its step.

    Attributes:
        tableau: The method.
        dt: The step [s].
        limit: The method's limit at the start; None where it has none, or it is not known.
    """

    tableau: Tableau
    dt: float
    limit: Optional[StepLimit]


def choose(
    dyn: Any, q: np.ndarray, dt: Optional[float], method: str, force: bool = False,
    stops: bool = False, driven: bool = False, rho_infinity: Optional[float] = None,
) -> Choice:
    """
    Return the method and the step of a run.

    Args:
        dyn: The dynamics.
        q: Configuration at the start, (nq,).
        dt: The step [s], or None.
        method: A method's name, or "auto": "implicit" where the step, or a millisecond, is beyond
            the limit of rk4 for a joint, and otherwise "rk4".
        force: Whether a step beyond the limit is taken all the same.
        stops: Whether joints have stops, which the implicit method alone takes.
        driven: Whether loops are driven, or held by other means than projection.
        rho_infinity: Spectral radius of generalised-alpha, or None.

    Raises:
        ArgumentError: There is no such method, or it does not run this robot.
        StepTooLarge: The step is beyond the limit, and there are no loops.
    """
    robot = dyn.robot
    supported = not (robot.loops and (driven or robot.base_motion == 'prescribed'))
    tableau = RK4 if method == AUTO else find_tableau(method)
    if tableau.rho_infinity is not None and (robot.loops or robot.base_motion == 'prescribed'):
        raise ArgumentError(
            'method', f'is "{tableau.name}", which runs neither loops nor a prescribed base; '
            'use "implicit"')
    if rho_infinity is not None:
        tableau = _with_radius(tableau, rho_infinity)
    if stops and method == AUTO:
        tableau = IMPLICIT
    if (tableau is IMPLICIT or tableau.adaptive) and not supported:
        raise ArgumentError(
            'method', f'is "{tableau.name}", which runs loops under drift="projection" alone, '
            'without loop_accelerations, loop_forces and a prescribed base. Use another'
        )
    if stops and tableau is not IMPLICIT:
        raise ArgumentError('stops', f'need method="implicit", and the method is "{method}"')
    if tableau.adaptive:
        return Choice(tableau, dt or _USUAL_STEP, None)
    limit = None if math.isinf(tableau.real_limit) else find_limit(dyn, q, tableau)
    stiff = limit is not None and limit.in_joints and (dt or _USUAL_STEP) > limit.step
    if method == AUTO and supported and stiff:
        tableau, limit = IMPLICIT, None
    if dt and limit and dt > _BEYOND * limit.step and not force and not robot.loops:
        raise StepTooLarge(dt, tableau.name, limit)
    step = dt or min(_USUAL_STEP, _SAFETY * limit.step if limit else _USUAL_STEP)
    return Choice(tableau, step, limit)


def _with_radius(tableau: Tableau, rho: float) -> Tableau:
    """Return generalised-alpha with another spectral radius."""
    if tableau.rho_infinity is None:
        raise ArgumentError(
            'rho_infinity', f'needs method="generalised_alpha"; it is "{tableau.name}"')
    if isinstance(rho, bool) or not isinstance(rho, Real) or not 0.0 <= rho <= 1.0:
        raise ArgumentError('rho_infinity', f'must be a number from 0 to 1, not {rho!r:.60}')
    return replace(tableau, rho_infinity=float(rho))
