# SPDX-License-Identifier: Apache-2.0
"""
The kinetic energy of the undeformed arm: a mass matrix that does not depend on deflections.

T = v^T M(q, 0) v / 2, the modal coordinates of the links asked for set to zero, their rates not;
the potential energy of gravity and elasticity, places of frames, and with them wrenches stay exact
(De Luca and Siciliano, Closed-form dynamic model of planar multilink lightweight robots, 1991; De
Luca and Book, Robots with flexible elements, in Springer Handbook of Robotics, 2nd edition, 2016,
section 11.2.2). Lagrange's equations of that energy are, with p = M(q, 0) v,

    mode:    tau = dp/dt + dV/d(delta),               dp/dt along q' alone,
    others:  tau = F(q, 0, v, v') - (dM/d(delta) delta') v + dV/dq,

F the exact forces of inertia: Lagrange's equations of the exact T hold the rate of M by the
deflections, which M(q, 0) does not have, and the gradient of T by the deflections in the rows of
the modes, which is left out with it. So no force of Coriolis or of rotation depends on a
deflection, the mass matrix is positive definite at any, and energy is conserved. Both rates are
coefficients of power series (power_series.py), so that no formula of a derivative is needed.
"""

from __future__ import annotations

from functools import wraps
from typing import Any
from typing import Callable
from typing import cast
from typing import Sequence
from typing import TypeVar

from flexdyn_ros.dynamics.displacement import displacements
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.power_series import PowerSeries
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.dynamics.spatial import ZERO

Algorithm = TypeVar('Algorithm', bound=Callable[..., Any])


def of_undeformed_inertia(algorithm: Algorithm) -> Algorithm:
    """Let an algorithm about inertia alone, f(tree, q, ...), see no deflection of such links."""

    @wraps(algorithm)
    def evaluate(tree: Multibody, q: list, *arguments: Any, **named: Any) -> Any:
        return algorithm(tree, _straightened(tree, q), *arguments, **named)

    return cast(Algorithm, evaluate)


def forces_of_undeformed_inertia(algorithm: Algorithm) -> Algorithm:
    """Let inverse dynamics, f(tree, q, qd, qdd, gravity, wrenches), follow that energy."""

    @wraps(algorithm)
    def evaluate(
        tree: Multibody, q: list, qd: list, qdd: list, gravity: Vector, wrenches: Any = ()
    ) -> Any:
        if not tree.undeformed:
            return algorithm(tree, q, qd, qdd, gravity, wrenches)
        modes = {v for _, v in tree.undeformed}
        rest = [0.0] * tree.nv
        straight = _straightened(tree, q)
        held = algorithm(tree, q, rest, rest, gravity, wrenches)
        exact = algorithm(tree, straight, qd, qdd, ZERO)
        bending = [rate if k in modes else 0.0 for k, rate in enumerate(qd)]
        joints = [0.0 if k in modes else rate for k, rate in enumerate(qd)]
        carried = _slopes(algorithm(tree, _moved(tree, straight, bending), rest, qd, ZERO))
        momentum = [PowerSeries(rate, more) for rate, more in zip(qd, qdd)]
        grown = _slopes(algorithm(tree, _moved(tree, straight, joints), rest, momentum, ZERO))
        return [
            force + (own if k in modes else whole - rate)
            for k, (force, own, whole, rate) in enumerate(zip(held, grown, exact, carried))
        ]

    return cast(Algorithm, evaluate)


def _straightened(tree: Multibody, q: list) -> list:
    """Return the configuration without the deflections of these links."""
    modes = {place for place, _ in tree.undeformed}
    return [0.0 if k in modes else x for k, x in enumerate(q)] if modes else q


def _moved(tree: Multibody, q: list, qd: Sequence) -> list:
    """Return the configuration after a time e of moving with velocities qd, to first order."""
    slopes: list[Scalar] = [0.0] * len(q)
    for moved, rate in zip(displacements(tree, q), qd):
        for place, change in moved:
            slopes[place] = slopes[place] + change * rate
    return [PowerSeries(x, slope) for x, slope in zip(q, slopes)]


def _slopes(values: Sequence) -> list[Scalar]:
    """Return the coefficients of e."""
    return [x.terms[1] if isinstance(x, PowerSeries) else 0.0 for x in values]
