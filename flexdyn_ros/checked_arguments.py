# SPDX-License-Identifier: Apache-2.0
"""The arguments of one robot's functions, checked."""

from __future__ import annotations

import logging
import math
from typing import Any, Callable, Mapping, Optional, Sequence

from flexdyn_ros.arguments import real_matrix, real_number, real_vector, refuse_unmapped
from flexdyn_ros.dynamics.newton_euler import FrameWrench
from flexdyn_ros.errors import ArgumentError, FlexdynError, NonFiniteResult, UnknownName
from flexdyn_ros.model.records.base import symmetric_matrix3
from flexdyn_ros.model.records.inertia import Inertia, inertia_problem
from flexdyn_ros.model.records.robot import Robot
import numpy as np

Wrenches = Optional[Mapping[str, Any]]
# Part of the largest entry by which a payload's inertia may miss symmetry.
SYMMETRY = 1e-9

_logger = logging.getLogger('flexdyn_ros')


class CheckedArguments:
    """
    Converts arguments of users for the backends, or raises an error that names the fault.

    Attributes:
        robot: The robot.
    """

    def __init__(self, robot: Robot):
        """Take a robot."""
        self.robot = robot
        self._nq, self._nv, self._n_joints = robot.nq, robot.nv, robot.n_joints
        modes = robot.n_modes
        self._widths = {
            'q': self._nq, 'joint_q': self._nq - modes, 'joint_qd': self._n_joints,
            'joint_qdd': self._n_joints, 'modal_state': 4 * modes, 'step': 2,
        }
        self._quaternions = robot.quaternion_starts
        self._frames = frozenset(robot.frame_names)

    def _need_loops(self, **given: Optional[Mapping[str, Any]]) -> None:
        """Refuse arguments about loops for robots without loops."""
        for argument, values in () if self.robot.loops else given.items():
            refuse_unmapped(argument, values)
            for name in values or ():
                raise UnknownName('loop', name, ())

    def _width(self, argument: str) -> int:
        """Return the length of a vector."""
        return self._widths.get(argument, self._nv)

    def _position(self, q: Any, argument: str = 'q') -> list[float]:
        """Return a checked configuration with its quaternions brought to unit length."""
        values = self._numbers(argument, q)
        if not self._quaternions:
            return values
        for start in self._quaternions:
            x, y, z, w = values[start : start + 4]
            # In the order in which compiled code adds, so that both give the same bits.
            length = math.sqrt(x * x + y * y + z * z + w * w)
            if not 0.5 < length < 2.0:
                raise ArgumentError(
                    argument, f'has a quaternion of length {length:.3g} at {start}, expected 1'
                )
            values[start : start + 4] = [x / length, y / length, z / length, w / length]
        return values

    def _velocity(self, qd: Any) -> list[float]:
        return real_vector('qd', qd, self._nv)

    def _vector(self, argument: str, value: Any) -> list[float]:
        """Return one of the vectors, checked."""
        if argument in ('q', 'joint_q'):
            return self._position(value, argument)
        return self._numbers(argument, value)

    def _numbers(self, argument: str, value: Any) -> list[float]:
        """Return a vector as it is given, checked for its length and for numbers."""
        width, modes = self._width(argument), self._nv - self._n_joints
        return real_vector(argument, value, width, modes if width >= self._nv else 0)

    def _frame(self, frame: object) -> str:
        if not isinstance(frame, str) or frame not in self._frames:
            raise UnknownName('frame', frame, self.robot.frame_names)
        return frame

    def _checked(self, wrenches: Wrenches) -> list[FrameWrench]:
        checked = []
        for frame, wrench in wrenches_by_frame(wrenches).items():
            six = real_vector(f'wrenches["{frame}"]', wrench, 6)
            force, moment = (six[0], six[1], six[2]), (six[3], six[4], six[5])
            checked.append(FrameWrench(self._frame(frame), force, moment))
        return checked

    def _sound(
        self,
        name: str,
        given: Mapping[str, Sequence[float]],
        wrenches: Sequence[FrameWrench],
        compute: Callable[[], Any],
    ) -> Any:
        """
        Return the result of a computation, numbers or a tuple of them.

        Args:
            name: The computation.
            given: Its vectors by name.
            wrenches: Its wrenches.
            compute: Computes it.

        Raises:
            NonFiniteResult: If it is not finite, or numbers on the way are not.
        """
        try:
            # Overflows are found in the results.
            with np.errstate(all='ignore'):
                found = compute()
            sound = all(
                np.isfinite(each).all() for each in (found if type(found) is tuple else (found,))
            )
        except FlexdynError:
            raise
        except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
            raise _not_finite(name, given, wrenches) from error
        if not sound:
            raise _not_finite(name, given, wrenches)
        return found


def wrenches_by_frame(wrenches: Wrenches) -> Mapping[str, Any]:
    """Return wrenches by frame, none for None; raise an ArgumentError for no mapping."""
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise ArgumentError('wrenches', 'must map frame names to six numbers')
    return wrenches or {}


def _not_finite(
    name: str, given: Mapping[str, Sequence[float]], wrenches: Sequence[FrameWrench]
) -> NonFiniteResult:
    """Return the error that names the largest of the arguments."""
    numbers = {**given, **{
        f'wrenches["{each.frame}"]': (*each.force, *each.moment) for each in wrenches
    }}
    places = [(argument, k) for argument, values in numbers.items() for k in range(len(values))]
    if not places:  # a robot without coordinates: its payloads or gravity are too large
        return NonFiniteResult(name, 'q', 0.0)
    argument, k = max(places, key=lambda place: abs(numbers[place[0]][place[1]]))
    return NonFiniteResult(name, f'{argument}[{k}]', float(numbers[argument][k]))


def payload_body(mass: Any, com: Any, inertia: Any) -> Inertia:
    """
    Return a payload's inertia; see `Dynamics.set_payload`.

    Raises:
        ArgumentError: If the mass or a principal moment is negative, or the inertia not
            symmetric.
    """
    mass = real_number('mass', mass)
    if mass < 0.0:
        raise ArgumentError('mass', f'is {mass}, expected zero or more')
    x, y, z = real_vector('com', com, 3)
    moments = real_matrix('inertia', inertia, (3, 3))
    scale = max(np.abs(moments).max(), np.finfo(float).tiny)
    if np.abs(moments - moments.T).max() > SYMMETRY * scale:
        raise ArgumentError(
            'inertia', 'is not symmetric, expected equal entries across the diagonal')
    advice = inertia_problem(mass, moments, ('positive',))
    if advice is not None:
        raise ArgumentError('inertia', f'is impossible: {advice}')
    advice = inertia_problem(mass, moments, ('triangle',))
    if advice is not None:
        _logger.warning('The inertia of a payload is doubtful: %s.', advice)
    return Inertia(mass, (x, y, z), symmetric_matrix3(moments))
