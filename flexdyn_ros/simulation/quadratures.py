# SPDX-License-Identifier: Apache-2.0
"""
Quadratures beside a robot's state: integrals of a controller, work and losses.

They are rows of the same state as q and qd, so that the method's own stages integrate them.
"""

from __future__ import annotations

from typing import Any, Optional

from flexdyn_ros.checked_arguments import Wrenches
from flexdyn_ros.simulation.torque_laws import TorqueLaw
import numpy as np


class Quadratures:
    """
    Integrals along a motion from zero.

    Attributes:
        value: The integrals of a controller's position errors, then work [J] and dissipated
            energy [J]; at the stage, or after the step, that came last.
        wrenches: Constant wrenches on frames, which work too, or None.
    """

    def __init__(
        self, dyn: Any, law: Optional[TorqueLaw], balanced: bool = True,
        wrenches: Wrenches = None, driven: bool = False,
    ):
        """
        Prepare.

        Args:
            dyn: The dynamics.
            law: The torque, where it has integrals.
            balanced: Whether work and losses are known; they are not a number otherwise.
            wrenches: Constant wrenches on frames, which work too.
            driven: Whether the forces that move a base or loops work too.
        """
        self._dyn, self._law, self.wrenches = dyn, law, wrenches
        self._balanced, self._driven = balanced, driven
        self._integrals = 0 if law is None else law.integrals
        self.reset()

    def reset(self) -> None:
        """Start from zero."""
        self.value = np.zeros(self._integrals + 2)
        if not self._balanced:
            self.value[-2:] = np.nan

    @property
    def integral(self) -> np.ndarray:
        """The integrals of position errors, (n,)."""
        return self.value[: self._integrals]

    @property
    def work(self) -> float:
        """Work of generalised forces, of wrenches and of forces that move a base or loops [J]."""
        return float(self.value[-2])

    @property
    def dissipated(self) -> float:
        """Energy that friction and damping took [J]."""
        return float(self.value[-1])

    def rate(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray,
        qdd: Optional[np.ndarray] = None,
    ) -> np.ndarray:
        """
        Return the rate of `value`.

        Args:
            t: Time [s].
            q: Configuration, (nq,).
            qd: Velocity, (nv,).
            tau: Generalised forces, (nv,).
            qdd: Accelerations, (nv,), from which follow the forces that move a base or loops; None
                to leave those out.

        Raises:
            ArithmeticError: The power is beyond floating-point numbers.
        """
        rate = np.zeros(len(self.value))
        if self._law is not None and self._integrals:
            rate[: self._integrals] = self._law.errors(t, q)
        if self._balanced:
            with np.errstate(over='ignore', invalid='ignore'):
                rate[-2], rate[-1] = tau @ qd, self._dyn.dissipated_power(qd)
                if self.wrenches:
                    rate[-2] -= self._dyn.external_force_vector(q, self.wrenches) @ qd
                if self._driven and qdd is not None:  # all forces together
                    dyn = self._dyn
                    rate[-2] = qd @ (dyn.mass_matrix(q) @ qdd + dyn.bias_vector(q, qd))
        return rate
