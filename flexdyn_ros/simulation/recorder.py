# SPDX-License-Identifier: Apache-2.0
"""The store of the samples of a run."""

from __future__ import annotations

from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.configuration import ConfigurationMap
from flexdyn_ros.simulation.record import Trajectory
from flexdyn_ros.simulation.tip_deflections import tip_deflections
import numpy as np


class Recorder:
    """
    Collects the samples of a run; a compiled loop fills the same rows.

    Attributes:
        count: Number of samples so far.
        every: Steps a sample.
        t, q, qd, tau, kinetic, potential, work, dissipated: Rows of the samples, see `Trajectory`.
        events: Rows of the events.
    """

    def __init__(
        self, dyn: Dynamics, configuration: ConfigurationMap, method: str, steps: int, every: int
    ):
        self.count, self.every = 0, every
        self._dyn = dyn
        self._map = configuration
        self._method = method
        samples = self.rows(steps) + 1
        self.t = np.zeros(samples)
        self.q = np.zeros((samples, configuration.nq))
        self.qd = np.zeros((samples, configuration.nv))
        self.tau = np.zeros((samples, configuration.nv))
        self.kinetic, self.potential = np.zeros(samples), np.zeros(samples)
        self.work, self.dissipated = np.zeros(samples), np.zeros(samples)
        self.events: list[np.ndarray] = []

    def rows(self, step: int) -> int:
        """Return the number of samples before a step."""
        return -(-step // self.every)

    def add(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, work: float,
        dissipated: float,
    ) -> None:
        """
        Keep one sample and its energies.

        Raises:
            ArithmeticError: The energy of the state is beyond floating-point numbers.
        """
        kinetic = self._dyn.kinetic_energy(q, qd)
        potential = self._dyn.potential_energy(q)
        if not np.isfinite(kinetic + potential):
            raise OverflowError('energy is not finite')
        k = self.count
        self.t[k], self.q[k], self.qd[k], self.tau[k] = t, q, qd, tau
        self.kinetic[k], self.potential[k] = kinetic, potential
        self.work[k], self.dissipated[k] = work, dissipated
        self.count += 1

    def trajectory(self) -> Trajectory:
        """Return the samples so far."""
        n, robot = self.count, self._dyn.robot
        whole = n == len(self.t)
        rows = {
            name: value if whole else value[:n].copy()
            for name, value in vars(self).items() if isinstance(value, np.ndarray)
        }
        tip_names, tip_units, tips = tip_deflections(self._dyn, rows['q'])
        return Trajectory(
            **rows,
            energy=rows['kinetic'] + rows['potential'],
            tips=tips,
            names=self._map.names,
            units=self._map.units,
            velocity_names=self._map.velocity_names,
            velocity_units=self._map.velocity_units,
            effort_units=self._map.effort_units,
            tip_names=tip_names,
            tip_units=tip_units,
            mode_names=robot.mode_names,
            robot_name=robot.name,
            method=self._method,
            events=np.array(self.events).reshape(-1, 2 + self._map.nq + self._map.nv),
        )
