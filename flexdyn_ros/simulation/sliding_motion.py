# SPDX-License-Identifier: Apache-2.0
"""
Motion between friction events: explicit steps, in which each joint slides one way or sticks.

Between events dry friction is a smooth force, -L_j(v_j) sign(v_j) of the joints that slide, and
those that stick do not move. The rest is resolved by an explicit method of fourth order where
springs, damping and gains are slow against the step. A step in which a joint would change its
direction, break away or meet a stop raises `FrictionEvent`; the implicit method does it.
"""

from __future__ import annotations

from typing import Any

from flexdyn_ros.simulation.joint_stops import ImpulseRows
from flexdyn_ros.simulation.passive_forces import PassiveForces
from flexdyn_ros.simulation.step_tolerances import CLOSED
import numpy as np


class FrictionEvent(Exception):
    """A joint stops, turns, breaks away or is at a stop in a step."""


class SlidingMotion:
    """
    The motion of a robot and its quadratures, as `RungeKutta` steps them.

    `steps/sliding.h` does the same steps.

    Attributes:
        map: The configuration beside the velocity.
    """

    def __init__(self, equations: Any, rows: ImpulseRows, forces: PassiveForces):
        """
        Prepare.

        Args:
            equations: The equations of motion, of a robot without loops and prescribed base.
            rows: Places of dry friction and stops.
            forces: The passive forces.
        """
        self.map = equations.map
        self._equations, self._rows, self._forces = equations, rows, forces
        self._at = rows.at[: len(rows.levels.at)]

    @property
    def value(self) -> np.ndarray:
        """The quadratures; see `Quadratures`."""
        return np.asarray(self._equations.quadratures.value)

    @value.setter
    def value(self, value: np.ndarray) -> None:
        self._equations.quadratures.value = value

    def rate(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, qdd: np.ndarray
    ) -> np.ndarray:
        """Return the rates of the quadratures, losses by the set-valued law."""
        rate = self._equations.quadratures.rate(t, q, qd, tau)
        rate[-1] = (self._forces.damping * qd + self._forces.modal @ qd) @ qd
        rate[-1] += self._rows.levels(qd) @ np.abs(qd[self._at])
        return np.asarray(rate)

    def begin(self, q: np.ndarray, qd: np.ndarray) -> None:
        """Take the directions at the start of a step; raise FrictionEvent at a closed stop."""
        if (self._rows.gaps(q) <= CLOSED).any():
            raise FrictionEvent
        self._signs = np.sign(qd[self._at])
        self._free = np.ones(len(qd), dtype=bool)
        self._free[self._at[self._signs == 0.0]] = False

    def begin_step(self, t: float, h: float, tableau: Any) -> None:
        """Do nothing, as a step needs no preparation."""

    def torque(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the generalised forces, (nv,)."""
        return np.asarray(self._equations.torque(t, q, qd))

    def acceleration(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, stage: int
    ) -> np.ndarray:
        """Return the accelerations, (nv,), or raise FrictionEvent."""
        self._same_directions(q, qd)
        levels, free = self._rows.levels(qd), self._free
        mass = self._equations.dyn.mass_matrix(q)
        force = tau + self._forces(q, qd) - self._forces.damping * qd
        force[self._at] -= self._signs * levels
        found = np.zeros(len(qd))
        found[free] = np.linalg.solve(mass[np.ix_(free, free)], force[free])
        held = self._signs == 0.0
        load = (force - mass @ found)[self._at[held]]
        if (np.abs(load) > levels[held]).any():
            raise FrictionEvent
        return found

    def end_step(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the state at the end of a step, or raise FrictionEvent."""
        self._same_directions(q, qd)
        if (self._rows.gaps(q) <= CLOSED).any():
            raise FrictionEvent
        return q, qd

    def _same_directions(self, q: np.ndarray, qd: np.ndarray) -> None:
        finite = np.isfinite(q).all() and np.isfinite(qd).all()
        if not finite or (np.sign(qd[self._at]) != self._signs).any():
            raise FrictionEvent
