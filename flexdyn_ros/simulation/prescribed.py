# SPDX-License-Identifier: Apache-2.0
"""A base that moves with a given acceleration while the robot on it is simulated."""

from __future__ import annotations

from typing import Any, Callable, Optional, Union

from flexdyn_ros.arguments import refuse_signature, STATE
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.extension.joint_reader import BASE_COORDINATES
from flexdyn_ros.prescribed_base import checked_base_acceleration
import numpy as np
from numpy.typing import ArrayLike

BaseFunction = Callable[[float, np.ndarray, np.ndarray], ArrayLike]
BaseAcceleration = Union[None, ArrayLike, BaseFunction]


class PrescribedBase:
    """
    The given acceleration of a base, and its effect on the robot.

    Attributes:
        constant: The acceleration where it is no function, or None.
    """

    def __init__(self, dyn: Any, given: BaseAcceleration):
        self._dyn = dyn
        self._function: Optional[BaseFunction] = given if callable(given) else None
        self.constant: Optional[list[float]] = None
        if self._function is not None:
            refuse_signature('base_acceleration', self._function, STATE)
        else:
            still = [0.0] * BASE_COORDINATES
            self.constant = still if given is None else checked_base_acceleration(dyn.robot, given)

    @classmethod
    def of(cls, dyn: Any, given: BaseAcceleration) -> Optional[PrescribedBase]:
        """
        Return the base of a robot, or None where it is not prescribed.

        Raises:
            ArgumentError: An acceleration is given for another base, or is not six numbers.
        """
        if dyn.robot.base_motion == 'prescribed':
            return cls(dyn, given)
        if given is not None:
            checked_base_acceleration(dyn.robot, given)
        return None

    def refuse_torque(self, tau: np.ndarray) -> None:
        """Raise an ArgumentError for forces on the base in tau, (nv,)."""
        if np.any(tau[:BASE_COORDINATES]):
            raise ArgumentError(
                'torque',
                'is not zero on the base, whose motion is prescribed; its wrench is a result. '
                'Write zeros there, or <base motion="free"/>',
            )

    def acceleration(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
    ) -> np.ndarray:
        """Return the accelerations of all coordinates, (nv,), the base's as given."""
        given = self.given(t, q, qd)
        return np.asarray(
            self._dyn.forward_dynamics(q, qd, tau, base_acceleration=given)
        )

    def given(self, t: float, q: np.ndarray, qd: np.ndarray) -> list[float]:
        """Return the acceleration of the base, (6,), at one instant."""
        if self.constant is not None:
            return self.constant
        assert self._function is not None
        q.setflags(write=False)
        qd.setflags(write=False)
        return checked_base_acceleration(self._dyn.robot, self._function(t, q, qd))
