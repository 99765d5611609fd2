# SPDX-License-Identifier: Apache-2.0
"""The arguments of one robot's functions, checked."""

from __future__ import annotations

import math
from typing import Any, Callable, Mapping, Optional, Sequence

from flexdyn_ros.arguments import real_vector
from flexdyn_ros.dynamics.newton_euler import FrameWrench
from flexdyn_ros.errors import ArgumentError, FlexdynError, NonFiniteResult, UnknownName
from flexdyn_ros.model.records.robot import Robot
import numpy as np

Wrenches = Optional[Mapping[str, Any]]


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

    def _width(self, argument: str) -> int:
        """Return the length of a vector."""
        return self._widths.get(argument, self._nv)

    def _position(self, q: Any, argument: str = 'q') -> list[float]:
        """Return a checked configuration with its quaternions brought to unit length."""
        values = real_vector(argument, q, self._width(argument))
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
        return real_vector(argument, value, self._width(argument))

    def _frame(self, frame: str) -> str:
        if not isinstance(frame, str) or frame not in self._frames:
            raise UnknownName('frame', frame, self.robot.frame_names)
        return frame

    def _checked(self, wrenches: Wrenches) -> list[FrameWrench]:
        if wrenches is None:
            return []
        if not isinstance(wrenches, Mapping):
            raise ArgumentError('wrenches', 'must map frame names to six numbers')
        checked = []
        for frame, wrench in wrenches.items():
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
        Return what a computation gives, numbers or a tuple of them.

        Args:
            name: What is computed.
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
