# SPDX-License-Identifier: Apache-2.0
"""
Reduced forms of the equations: linearised deflections, and the kinetic energy of the straight arm.

**Linearised small deflections.** Let e count the modal coordinates delta of the chosen links,
their rates and accelerations. Kinetic energy, the potential of gravity and the places of frames
are expanded in e and cut off beyond e^2. Elastic energy, springs and losses stay whole. Lagrange's
equations of this expansion are linear in delta, delta' and delta'' in the rows of these modes. In
the rows of all other coordinates they are of second order, and the motion of the joints stays as
large as it is:

    L = L_0 + L_1 + L_2;    tau_joint = Q_0 + Q_1 + Q_2,    tau_mode = Q_0 + Q_1,

Q_n the part of degree n of the exact generalised force. For d/dt dL/d(delta') - dL/d(delta) takes
one degree off, and the same by a joint coordinate takes none. So the mass matrix keeps degree 2
between joints, 1 between a joint and a mode, 0 between modes. It is symmetric, forces are the
derivatives of an energy, and M qdd + bias = tau holds exactly. To second order a bent beam is
drawn in along its axis, and its sections turn by 1 + [theta]x + [theta]x^2 / 2. Both are kept, as
they must be for a consistent linearisation (Kane, Ryan and Banerjee, Dynamics of a cantilever beam
attached to a moving base, 1987; Likins, Mathematical modeling of spinning elastic bodies for modal
analysis, 1973; Book, Recursive Lagrangian dynamics of flexible manipulator arms, 1984, drops the
same degrees but for the drawing in and keeps first-order rotations).

**Undeformed kinetic energy.** The mass matrix does not depend on deflections: T = v^T M(q, 0) v /
2. The modal coordinates of the chosen links are set to zero, their rates are not. The potential
energy of gravity and elasticity, places of frames, and with them wrenches stay exact (De Luca and
Siciliano, Closed-form dynamic model of planar multilink lightweight robots, 1991; De Luca and
Book, Robots with flexible elements, in Springer Handbook of Robotics, 2nd edition, 2016, section
11.2.2). Lagrange's equations of that energy are, with p = M(q, 0) v,

    mode:    tau = dp/dt + dV/d(delta),               dp/dt along q' alone,
    others:  tau = F(q, 0, v, v') - (dM/d(delta) delta') v + dV/dq,

F are the exact forces of inertia. Lagrange's equations of the exact T hold the rate of M by the
deflections, which M(q, 0) does not have. In the rows of the modes they hold the gradient of T by
the deflections, which is left out with it. So no force of Coriolis or of rotation depends on a
deflection, the mass matrix is positive definite at any, and energy is conserved. Both rates are
coefficients of power series (power_series.py), so that no formula of a derivative is needed.
"""

from __future__ import annotations

from functools import wraps
from typing import Any, Callable, cast, Sequence, TypeVar

from flexdyn_ros.dynamics.displacement import displacements
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.power_series import DEGREE, PowerSeries
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import Vector, ZERO

Algorithm = TypeVar('Algorithm', bound=Callable[..., Any])


def expanded(vectors: int, *over: int) -> Callable[[Algorithm], Algorithm]:
    """
    Let an algorithm expand its result where the tree has links with linearised deflections.

    Args:
        vectors: Number of arguments after the tree that depend on the modes: q; q and qd; or q,
            qd and qdd.
        over: Levels of the nested result that run over the velocity coordinates. 0 for forces, 0
            and 1 for a mass matrix, 1 for rows of a Jacobian. Each takes a degree off in the rows
            or columns of linearised modes.
    """

    def decorate(algorithm: Algorithm) -> Algorithm:

        @wraps(algorithm)
        def evaluate(tree: Multibody, *arguments: Any, **named: Any) -> Any:
            if not tree.linearised:
                return algorithm(tree, *arguments, **named)
            places = ({q for q, _ in tree.linearised}, {v for _, v in tree.linearised})
            counted = [
                _counted(vector, places[min(number, 1)])
                for number, vector in enumerate(arguments[:vectors])
            ]
            result = algorithm(tree, *counted, *arguments[vectors:], **named)
            return _cut_off(result, DEGREE, frozenset(places[1]), over)

        return cast(Algorithm, evaluate)

    return decorate


def _counted(values: Sequence, places: set[int]) -> list:
    """Return a vector whose entries at these places are of first degree in e."""
    return [PowerSeries(0.0, x) if k in places else x for k, x in enumerate(values)]


def _cut_off(
    value: Any, degree: int, modes: frozenset[int], over: tuple[int, ...], level: int = 0
) -> Any:
    """Return nested results at e = 1, cut off beyond the degree their rows and columns keep."""
    if isinstance(value, (list, tuple)):
        return type(value)([
            _cut_off(item, degree - (level in over and k in modes), modes, over, level + 1)
            for k, item in enumerate(value)
        ])
    return value.up_to(degree) if isinstance(value, PowerSeries) else value


def of_undeformed_inertia(algorithm: Algorithm) -> Algorithm:
    """Let an algorithm about inertia alone, f(tree, q, ...), see no deflection of such links."""

    @wraps(algorithm)
    def evaluate(tree: Multibody, q: list, *arguments: Any, **named: Any) -> Any:
        return algorithm(tree, straightened(tree, q), *arguments, **named)

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
        straight = straightened(tree, q)
        held = algorithm(tree, q, rest, rest, gravity, wrenches)
        exact = algorithm(tree, straight, qd, qdd, ZERO)
        bending = [rate if k in modes else 0.0 for k, rate in enumerate(qd)]
        joints = [0.0 if k in modes else rate for k, rate in enumerate(qd)]
        convected = slopes(algorithm(tree, moved(tree, straight, bending), rest, qd, ZERO))
        momentum = [PowerSeries(rate, more) for rate, more in zip(qd, qdd)]
        grown = slopes(algorithm(tree, moved(tree, straight, joints), rest, momentum, ZERO))
        return [
            force + (rise if k in modes else whole - rate)
            for k, (force, rise, whole, rate) in enumerate(zip(held, grown, exact, convected))
        ]

    return cast(Algorithm, evaluate)


def straightened(tree: Multibody, q: list) -> list:
    """Return the configuration without the deflections of these links."""
    modes = {place for place, _ in tree.undeformed}
    return [0.0 if k in modes else x for k, x in enumerate(q)] if modes else q


def moved(tree: Multibody, q: list, qd: Sequence) -> list:
    """Return the configuration after a time e of moving with velocities qd, to first order."""
    slopes: list[Scalar] = [0.0] * len(q)
    for moved, rate in zip(displacements(tree, q), qd):
        for place, change in moved:
            slopes[place] = slopes[place] + change * rate
    return [PowerSeries(x, slope) for x, slope in zip(q, slopes)]


def slopes(values: Sequence) -> list[Scalar]:
    """Return the coefficients of e."""
    return [x.terms[1] if isinstance(x, PowerSeries) else 0.0 for x in values]
