# SPDX-License-Identifier: Apache-2.0
"""The largest time step for which an integration method is stable, and its cause."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, Optional, Union
from weakref import WeakKeyDictionary

from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.model.extension.joint_reader import BASE_COORDINATES
from flexdyn_ros.simulation.frequencies import linearised
from flexdyn_ros.simulation.tableaus import find_tableau, Tableau
import numpy as np

# The last limit of each dynamics, with its inputs.
_found: WeakKeyDictionary[Any, tuple[tuple[str, bytes, bytes], Optional[StepLimit]]] = (
    WeakKeyDictionary()
)


@dataclass(frozen=True)
class StepLimit:
    """
    The largest stable step of an explicit method.

    Attributes:
        step: The step [s], infinite without stiffness and damping.
        cause: Its cause, such as 'friction of joint "elbow"'.
    """

    step: float
    cause: str

    @property
    def in_joints(self) -> bool:
        """Whether friction, damping or a spring bounds it, and not a mode's vibration."""
        return not self.cause.startswith('mode')


class StepTooLarge(ArgumentError):
    """
    A time step is beyond an explicit method's stability limit.

    Attributes:
        limit: The limit and its cause.
    """

    def __init__(self, dt: float, method: str, limit: StepLimit):
        self.limit = limit
        super().__init__(
            'dt', f'is {dt:.6g} s, and {method} is stable up to {limit.step:.3g} s, for the '
            f'{limit.cause}. Use a smaller dt, or dt=None for one that fits; force=True runs it '
            'all the same'
        )


def step_limit(dyn: Any, q: Any, method: Union[str, Tableau] = 'rk4') -> Optional[float]:
    """
    Return the largest time step [s] for which small vibrations about q, (nq,), stay bounded.

    It is the method's stability limit over the largest eigenvalue of the linearised robot, modes,
    springs, dampers and friction counted, gravity not. Where damping is light that is 2.8 / (2 pi
    times the highest natural frequency) for rk4, and 1.16 in place of 2.8 for rk10. A method that
    lets any undamped vibration grow (rk2) gets its limit for decaying motions.

    Returns:
        The limit, infinite for a robot without stiffness and damping; None where it cannot be
        computed, as for a massless moving link.
    """
    found = find_limit(dyn, q, method)
    return None if found is None else found.step


def find_limit(dyn: Any, q: Any, method: Union[str, Tableau] = 'rk4') -> Optional[StepLimit]:
    """Return the limit of `step_limit` with its cause, or None."""
    tableau = method if isinstance(method, Tableau) else find_tableau(method)
    q = np.asarray(q, dtype=float)
    try:  # a payload changes the mass matrix alone
        key = (tableau.name, q.tobytes(), dyn.mass_matrix(q).tobytes())
    except (ArithmeticError, FlexdynError):
        return None
    before = _found.get(dyn)
    if before is None or before[0] != key:
        before = _found[dyn] = key, _find(dyn, q, tableau)
    return before[1]


def _find(dyn: Any, q: np.ndarray, tableau: Tableau) -> Optional[StepLimit]:
    first = BASE_COORDINATES if dyn.robot.base_motion == 'prescribed' else 0
    try:
        stiffness, damping, values, vectors = linearised(dyn, q, first)
    except (ArithmeticError, FlexdynError, np.linalg.LinAlgError):
        return None
    oscillating = np.abs(values.imag) > np.abs(values.real)
    bounds = np.where(
        oscillating, tableau.imaginary_limit or tableau.real_limit, tableau.real_limit
    )
    sizes = np.abs(values)
    if not sizes.any():
        return StepLimit(math.inf, 'motion of rigid bodies')
    with np.errstate(divide='ignore'):
        steps = bounds / sizes
    k = int(np.argmin(steps))
    shape = vectors[: dyn.robot.nv - first, k]
    matrix = stiffness if oscillating[k] else damping
    share = np.abs(np.conj(shape) * (matrix @ shape))
    coordinate = dyn.robot.coordinate_names[first + int(np.argmax(share))]
    rate = float(sizes[k]) / (2.0 * math.pi) if oscillating[k] else None
    return StepLimit(float(steps[k]), _cause(dyn, coordinate, rate))


def _cause(dyn: Any, coordinate: str, frequency: Optional[float]) -> str:
    """Return the spring, damping or friction that acts on a coordinate, from the robot's data."""
    robot = dyn.robot
    joint, elastic = coordinate.removesuffix('/elastic'), coordinate.endswith('/elastic')
    if frequency is not None:
        at = f' at {frequency:.4g} Hz'
        spring = elastic or joint in robot.joint_names
        return f'spring of joint "{joint}"{at}' if spring else f'mode "{coordinate}"{at}'
    if elastic:
        return f'damping of joint "{joint}"'
    k = robot.coordinate_names.index(coordinate)
    if k >= robot.n_joints:
        return f'damping of mode "{coordinate}"'
    rest, fast = np.zeros(robot.nv), np.zeros(robot.nv)
    rest[k], fast[k] = 1e-6, 1e3
    # Dry friction is steep at rest only.
    steep, viscous = dyn.friction_vector(rest)[k] / 1e-6, dyn.friction_vector(fast)[k] / 1e3
    return f'{"friction" if steep > 2.0 * viscous else "damping"} of joint "{coordinate}"'
