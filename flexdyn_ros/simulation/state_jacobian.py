# SPDX-License-Identifier: Apache-2.0
"""
Jacobian of the first-order equations of motion, for stiff methods.

The state is y = (q, qd, integrals), see `Quadratures`. Derivatives of forward dynamics belong to
displacements of velocity coordinates (`Dynamics.forward_dynamics_derivatives`). A quaternion p is
displaced by a rotation vector r in body axes as dp = N(p) r, where dp/dt = N(p) omega. The columns
of N are orthogonal and of length 1/2, so that r = 4 N^T dp.
"""

from __future__ import annotations

from flexdyn_ros.simulation.computed_torque import ComputedTorque
from flexdyn_ros.simulation.configuration import quaternion_matrix
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
import numpy as np

# Of a coordinate or velocity, for differences of functions, torques by a model and losses.
_STEP = 1.5e-8


class StateJacobian:
    """The Jacobian of a robot without loops and prescribed base, from generated derivatives."""

    def __init__(self, equations: EquationsOfMotion):
        """Prepare; `equations` are the robot's equations of motion."""
        self._equations = equations

    def __call__(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """
        Return the derivatives of (dq/dt, qdd, rates of the integrals), (n, n).

        The quadratures of the equations have the values of the state. The derivative of the
        power of wrenches by the configuration is left out: it acts back on nothing.

        Args:
            t: Time [s].
            q: Configuration with unit quaternions, (nq,).
            qd: Velocity, (nv,).
        """
        equations = self._equations
        nq, nv, more = len(q), len(qd), equations.quadratures.value
        tau = equations.torque(t, q, qd)
        by_q, by_qd, by_tau = equations.dyn.forward_dynamics_derivatives(
            q, qd, tau, equations.wrenches
        )
        mapping = self._rate_matrix(q)
        displacement = self._displacement(mapping)
        # The law's torque by (q, qd, integrals), then the power and the position errors.
        torque = self._torque_slopes(t, q, qd, tau)
        jacobian = np.zeros((nq + nv + len(more), nq + nv + len(more)))
        velocity, rest = slice(nq, nq + nv), slice(nq + nv, None)
        jacobian[:nq, :nq] = self._rate_slope(q, qd, mapping, displacement)
        jacobian[:nq, velocity] = mapping
        jacobian[velocity] = by_tau @ torque
        jacobian[velocity, :nq] += by_q @ displacement
        jacobian[velocity, velocity] += by_qd
        law = equations.law
        if law is not None and law.integrals:
            jacobian[rest, :nq][range(law.integrals), law.of_q] = -1.0
        jacobian[-2] = qd @ torque
        jacobian[-2, velocity] += tau
        jacobian[-1, velocity] = self._losses_slope(qd)
        return jacobian

    def _torque_slopes(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
    ) -> np.ndarray:
        """Return the derivatives of the generalised forces, (nv, n)."""
        equations, law = self._equations, self._equations.law
        nq, nv, more = len(q), len(qd), equations.quadratures.value
        slopes = np.zeros((nv, nq + nv + len(more)))
        evaluated = equations.function is not None and not equations.held
        if evaluated or isinstance(law, ComputedTorque):
            state = np.concatenate((q, qd, more))
            for k in range(len(state) - 2):
                moved = state.copy()
                moved[k] += _STEP * max(1.0, abs(state[k]))
                equations.quadratures.value = moved[nq + nv:]
                changed = equations.torque(t, moved[:nq], moved[nq:nq + nv]) - tau
                slopes[:, k] = changed / (moved[k] - state[k])
            equations.quadratures.value = more
        elif law is not None and law.reference is not None:
            slopes[law.of_v, law.of_q] = -law.kp
            slopes[law.of_v, nq + law.of_v] = -law.kd
            if law.integrals:
                slopes[law.of_v, nq + nv + np.arange(law.integrals)] = law.ki
        return slopes

    def _losses_slope(self, qd: np.ndarray) -> np.ndarray:
        """Return the derivative of the dissipated power, (nv,), by central differences."""
        power, slope = self._equations.dyn.dissipated_power, np.zeros(len(qd))
        for k, value in enumerate(qd):
            step = np.zeros(len(qd))
            step[k] = _STEP**(2.0 / 3.0) * max(1.0, abs(value))
            slope[k] = (power(qd + step) - power(qd - step)) / (2.0 * step[k])
        return slope

    def _rate_matrix(self, q: np.ndarray) -> np.ndarray:
        """Return N(q), (nq, nv), where dq/dt = N(q) qd."""
        rate, nv = self._equations.map.rate, self._equations.map.nv
        return np.array([rate(q, unit) for unit in np.eye(nv)]).T

    def _displacement(self, mapping: np.ndarray) -> np.ndarray:
        """Return the displacements of velocity coordinates that changes of q are, (nv, nq)."""
        scale = np.ones((mapping.shape[1], 1))
        for _, j in self._equations.map.quaternions:
            scale[j:j + 3] = 4.0
        return np.asarray(scale * mapping.T)

    def _rate_slope(
        self, q: np.ndarray, v: np.ndarray, mapping: np.ndarray, displacement: np.ndarray
    ) -> np.ndarray:
        """Return the derivative of N(q) v by q, (nq, nq), with q brought to unit quaternions."""
        slope = np.zeros((len(q), len(q)))
        for i, j in self._equations.map.floating:
            turned = quaternion_matrix(q[i + 3:i + 7]) @ np.cross(np.eye(3), v[j:j + 3]).T
            slope[i:i + 3, i + 3:i + 7] = turned @ displacement[j + 3:j + 6, i + 3:i + 7]
        for i, j in self._equations.map.quaternions:
            x, y, z = 0.5 * v[j:j + 3]
            spin = np.array([[0.0, z, -y, x], [-z, 0.0, x, y], [y, -x, 0.0, z], [-x, -y, -z, 0.0]])
            own = slice(i, i + 4)
            slope[own, own] = spin @ mapping[own, j:j + 3] @ displacement[j:j + 3, own]
        return slope
