# SPDX-License-Identifier: Apache-2.0
"""
The linearised small-deflection model: the algorithms, expanded in the modal coordinates.

Let e count the modal coordinates delta of the links asked for, their rates and accelerations.
Kinetic energy, the potential of gravity and the places of frames are expanded in e and cut off
beyond e^2; elastic energy, springs and losses stay whole. Lagrange's equations of what is left
are linear in delta, delta' and delta'' in the rows of these modes, and of second order in the
rows of all other coordinates, where the motion of the joints stays as large as it is:

    L = L_0 + L_1 + L_2;    tau_joint = Q_0 + Q_1 + Q_2,    tau_mode = Q_0 + Q_1,

Q_n the part of degree n of the exact generalised force. For d/dt dL/d(delta') - dL/d(delta) takes
one degree off, and what belongs to a joint takes none. So the mass matrix keeps degree 2 between
joints, degree 1 between a joint and a mode, degree 0 between modes; it is symmetric, forces are
the derivatives of an energy, and M qdd + bias = tau to the letter. To second order a bent beam is
drawn in along its axis, and its sections turn by 1 + [theta]x + [theta]x^2 / 2: both are kept, as
they must be for a consistent linearisation (Kane, Ryan and Banerjee, Dynamics of a cantilever
beam attached to a moving base, 1987; Likins, Mathematical modeling of spinning elastic bodies for
modal analysis, 1973; Book, Recursive Lagrangian dynamics of flexible manipulator arms, 1984,
drops the same degrees but for the drawing in and keeps first-order rotations).
"""

from __future__ import annotations

from functools import wraps
from typing import Any
from typing import Callable
from typing import cast
from typing import Sequence
from typing import TypeVar

from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.power_series import DEGREE
from flexdyn_ros.dynamics.power_series import PowerSeries

Algorithm = TypeVar('Algorithm', bound=Callable[..., Any])


def expanded(vectors: int, *over: int) -> Callable[[Algorithm], Algorithm]:
    """
    Let an algorithm expand its result where the tree has links with linearised deflections.

    Args:
        vectors: How many of the arguments after the tree depend on the modes: q; q and qd; or q,
            qd and qdd.
        over: Levels of the nested result that run over the velocity coordinates: 0 for forces, 0
            and 1 for a mass matrix, 1 for the rows of a Jacobian. Each takes a degree off in the
            rows or columns of linearised modes.
    """

    def decorate(algorithm: Algorithm) -> Algorithm:

        @wraps(algorithm)
        def evaluate(tree: Multibody, *arguments: Any, **named: Any) -> Any:
            if not tree.linearised:
                return algorithm(tree, *arguments, **named)
            places = ({q for q, _ in tree.linearised}, {v for _, v in tree.linearised})
            moved = [
                _counted(vector, places[min(number, 1)])
                for number, vector in enumerate(arguments[:vectors])
            ]
            result = algorithm(tree, *moved, *arguments[vectors:], **named)
            return _cut_off(result, DEGREE, frozenset(places[1]), over)

        return cast(Algorithm, evaluate)

    return decorate


def _counted(values: Sequence, places: set[int]) -> list:
    """Return a vector whose entries at these places are of first degree in e."""
    return [PowerSeries(0.0, x) if k in places else x for k, x in enumerate(values)]


def _cut_off(
    value: Any, degree: int, modes: frozenset[int], over: tuple[int, ...], level: int = 0
) -> Any:
    """Return nested results at e = 1, cut off beyond what their rows and columns keep."""
    if isinstance(value, (list, tuple)):
        return type(value)([
            _cut_off(item, degree - (level in over and k in modes), modes, over, level + 1)
            for k, item in enumerate(value)
        ])
    return value.up_to(degree) if isinstance(value, PowerSeries) else value
