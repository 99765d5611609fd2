# SPDX-License-Identifier: Apache-2.0
"""
Steps of the generalised-alpha method, which damps the vibrations that a step does not resolve.

With accelerations v' by the equations of motion at the end of each step, and a recursion for a,

    (1 - alpha_m) a_1 + alpha_m a_0 = (1 - alpha_f) v'_1 + alpha_f v'_0
    v_1 = v_0 + h [(1 - gamma) a_0 + gamma a_1]
    q_1 = q_0 + N(q_m) (h v_0 + h^2 [(1/2 - beta) a_0 + beta a_1])

(J. Chung and G. M. Hulbert, A time integration algorithm for structural dynamics with improved
numerical dissipation: the generalized-alpha method, Journal of Applied Mechanics 60, 1993; with a
recursion apart from v' M. Arnold and O. Bruls, Convergence of the generalized-alpha scheme for
constrained mechanical systems, Multibody System Dynamics 18, 2007).

q_m is half of the displacement on. N takes velocities to the rates of q; for quaternions that is
the exponential map but for errors of third order. All four numbers follow from rho, the
spectral radius at infinite frequency. The method is then of second order, and damps slow
vibrations least. Work and losses are integrated as v is.
"""

from __future__ import annotations

from flexdyn_ros.dynamics.modal_motion import alpha_weights
from flexdyn_ros.simulation.divided_steps import DividedSteps, NotConverged
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
from flexdyn_ros.simulation.state_jacobian import StateJacobian
from flexdyn_ros.simulation.step_tolerances import MOST_ITERATIONS, settled
import numpy as np

# Iterations after which the Jacobian is taken anew.
_STALE = (5, 10)
# Of torques, by which they jump between two steps, and of lengths of steps.
_SAME = 1e-9


class GeneralisedAlpha(DividedSteps):
    """The method for the motion of one robot without loops and prescribed base."""

    def __init__(self, equations: EquationsOfMotion, rho: float):
        """
        Prepare the method.

        Args:
            equations: The robot's equations of motion.
            rho: Spectral radius at infinite frequency, from 0 to 1, without damping.
        """
        super().__init__(equations)
        self._slopes = StateJacobian(equations)
        self._rho, (self._share, self._beta, self._gamma) = rho, alpha_weights(rho)
        # v' and a at the end of the last step, with the rates of the integrals; torque there.
        self._rate, self._mean, self._tau = np.zeros(0), np.zeros(0), np.zeros(0)
        self._inverse, self._length = np.zeros((0, 0)), 0.0

    def step(
        self, t: float, h: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the state after a step, see `RungeKutta.step`.

        It starts anew where the torque jumps.
        """
        if not self._rate.size or _largest(tau - self._tau) > _SAME * _largest(tau):
            self._rate = self._mean = self._rates(t, q, qd, tau)
        return self._divided(t, h, q, qd)

    def _whole(
        self, t: float, h: float, q: np.ndarray, qd: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        equations, beta, gamma, nv = self._equations, self._beta, self._gamma, len(qd)
        start, rate, before, moved = equations.quadratures.value, self._rate, np.inf, np.inf
        known = self._rho * self._rate - (2.0 * self._rho - 1.0) * self._mean
        for iteration in range(MOST_ITERATIONS):
            mean = self._share * (rate + known)
            change = h * ((1.0 - gamma) * self._mean + gamma * mean)
            bent = h * h * ((0.5 - beta) * self._mean + beta * mean)[:nv]
            end, v = self._moved(q, h * qd + bent), qd + change[:nv]
            equations.quadratures.value = start + change[nv:]
            if settled(moved, before, _largest(qd) + _largest(change[:nv])):
                break
            tau = equations.torque(t + h, end, v)
            found = self._rates(t + h, end, v, tau)
            if abs(h - self._length) > _SAME * h or iteration in _STALE:
                self._linearise(t + h, h, end, v)
            correction = self._inverse @ (found[:nv] - rate[:nv])
            rate = np.concatenate((rate[:nv] + correction, found[nv:]))
            before, moved = moved, h * _largest(correction)
        else:
            raise NotConverged
        self._rate, self._mean, self._tau = rate, mean, tau
        return equations.end_step(end, v)

    def _moved(self, q: np.ndarray, turn: np.ndarray) -> np.ndarray:
        """Return a configuration moved by small displacements of velocity coordinates, (nv,)."""
        to = self._equations.map
        middle = to.normalise(q + 0.5 * to.rate(q, turn))
        return to.normalise(q + to.rate(middle, turn))

    def _rates(self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Return accelerations and the rates of the integrals."""
        equations = self._equations
        qdd = equations.acceleration(t, q, qd, tau, 0)
        return np.concatenate((qdd, equations.quadratures.rate(t, q, qd, tau, qdd)))

    def _linearise(self, t: float, h: float, q: np.ndarray, qd: np.ndarray) -> None:
        """Take the matrix of the iterations at a state; integrals act back by iterations alone."""
        nq, nv = len(q), len(qd)
        slopes = self._slopes(t, q, qd)[: nq + nv, : nq + nv]
        by_q = slopes[nq:, :nq] @ slopes[:nq, nq:]
        by_v = slopes[nq:, nq:]
        matrix = np.eye(nv) - self._share * h * (self._gamma * by_v + h * self._beta * by_q)
        self._inverse, self._length = np.linalg.inv(matrix), h


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))
