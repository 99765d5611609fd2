# SPDX-License-Identifier: Apache-2.0
"""The equations of motion of a simulated arm, as the integrators of the library step them."""

from __future__ import annotations

from typing import Any, Callable, Optional

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.model.extension.joint_reader import BASE_COORDINATES
from flexdyn_ros.simulation.configuration import ConfigurationMap
import numpy as np


class MotionUnbounded(FlexdynError):
    """The state after a step is not finite."""


class ArmMotion:
    """
    An arm under forces that follow from its state, and wrenches; see `simulation.runge_kutta`.

    Loops are part of the forward dynamics, and every step ends at the nearest state that meets
    them. A base whose motion is prescribed keeps its velocity.

    Attributes:
        map: The configuration beside the velocity.
        wrenches: Wrench of the environment by frame, six numbers in root axes [N, N m].
    """

    def __init__(self, dyn: Any, forces: Callable[[np.ndarray, np.ndarray], np.ndarray]):
        """
        Prepare.

        Args:
            dyn: The dynamics.
            forces: Of a configuration (nq,) and velocities (nv,), the generalised forces (nv,).
        """
        self.map = ConfigurationMap(dyn.robot)
        self.wrenches: dict[str, np.ndarray] = {}
        self._dyn, self._forces = dyn, forces
        prescribed = dyn.robot.base_motion == 'prescribed'
        self._base_acceleration: Optional[list[float]] = (
            [0.0] * BASE_COORDINATES if prescribed else None
        )

    def begin_step(self, t: float, h: float, tableau: Any) -> None:
        """Nothing is to be prepared."""

    def torque(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the generalised forces, (nv,)."""
        return self._forces(q, qd)

    def acceleration(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, stage: int = 0
    ) -> np.ndarray:
        """
        Return the accelerations, (nv,).

        Raises:
            FlexdynError: The state is not finite, or some motion meets no inertia.
        """
        return self._dyn.forward_dynamics(
            q, qd, tau, self.wrenches or None, base_acceleration=self._base_acceleration
        )

    def end_step(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the state, its loops closed.

        Raises:
            MotionUnbounded: It is not finite.
            FlexdynError: The loops cannot be closed.
        """
        if not (np.isfinite(q).all() and np.isfinite(qd).all()):
            raise MotionUnbounded('Use a smaller step, or check the torques and gains.')
        return self._dyn.project(q, qd) if self._dyn.robot.loops else (q, qd)
