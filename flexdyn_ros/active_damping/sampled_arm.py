# SPDX-License-Identifier: Apache-2.0
"""
The arm at rest under its joint loop, sampled, with torques that act after a delay.

The state is x = (displacement, velocity), then the joint torques on their way. The joint loop is
u = -kp dq - kd dqd on the motor side. In the drives it acts without delay. In the controller it is
sampled, and its torque acts with the delay of the damping torque.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from flexdyn_ros.linearisation import linearise
from flexdyn_ros.modal_observer.sensor_equations import differences, SensorEquations
from flexdyn_ros.model.records.sensor import MountedSensor
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np
from scipy.linalg import expm


@dataclass(frozen=True)
class ArmAtRest:
    """
    x' = a x + b u, y = c x + d u for small departures from rest, and its joint loop u = -k x.

    Attributes:
        a: (2 nv, 2 nv).
        b: (2 nv, n_joints).
        c: (sensors, 2 nv).
        d: (sensors, n_joints).
        k: (n_joints, 2 nv).
    """

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    d: np.ndarray
    k: np.ndarray


def arm_at_rest(
    dyn: Dynamics, joint_q: np.ndarray, gains: Sequence[np.ndarray],
    sensors: Sequence[MountedSensor], stiffness: float = 1.0,
) -> ArmAtRest:
    """
    Return the arm about its rest at joint positions.

    Args:
        dyn: The dynamics.
        joint_q: Joint positions, (n_joints,) [rad | m].
        gains: kp [N m/rad | N/m] and kd [N m s/rad | N s/m], (n_joints,) each.
        sensors: The sensors.
        stiffness: Factor on the elastic forces of modes and springs.
    """
    n, nv = dyn.robot.n_joints, dyn.robot.nv
    rest, still = np.zeros(n), np.zeros(nv)
    torque, deflection, _ = dyn.quasi_static_torque(joint_q, rest, rest)
    q, tau = np.concatenate((joint_q, deflection)), np.concatenate((torque, 0.0 * deflection))
    a, b = linearise(dyn, q, still, tau)
    elastic = differences(lambda at: dyn.elastic_vector(at, still), q)
    a[nv:, :nv] -= (stiffness - 1.0) * np.linalg.solve(dyn.mass_matrix(q), elastic)
    equations = SensorEquations(dyn, sensors)
    by = differences(
        lambda all_: equations(*np.split(all_, 3)),
        np.concatenate((q, still, dyn.forward_dynamics(q, still, tau))))
    k = np.zeros((n, 2 * nv))
    k[:, :n], k[:, nv:nv + n] = np.diag(gains[0]), np.diag(gains[1])
    return ArmAtRest(
        a, b, by[:, :2 * nv] + by[:, 2 * nv:] @ a[nv:], by[:, 2 * nv:] @ b[nv:], k)


@dataclass(frozen=True)
class SampledArm:
    """
    x+ = f x + g u, y = h x, with a torque u of each actuator that acts after the delay.

    Attributes:
        f: (n, n).
        g: (n, actuators).
        h: (sensors, n).
        period: [s].
    """

    f: np.ndarray
    g: np.ndarray
    h: np.ndarray
    period: float

    def poles(self, f: np.ndarray) -> np.ndarray:
        """Return the poles of a transition matrix in continuous time [1/s]."""
        values = np.linalg.eigvals(f).astype(complex)
        return np.asarray(np.log(values[np.abs(values) > 1e-9]) / self.period)


def sampled_arm(
    arm: ArmAtRest, actuators: Sequence[int], period: float, delay: int, in_drives: bool
) -> SampledArm:
    """
    Return the arm under its joint loop.

    Args:
        arm: The arm.
        actuators: Joints of u.
        period: Of sampling [s].
        delay: From a sample to its torque [periods], at least one.
        in_drives: Whether the joint loop acts without delay.
    """
    n, m = arm.b.shape
    a, c = (arm.a - arm.b @ arm.k, arm.c - arm.d @ arm.k) if in_drives else (arm.a, arm.c)
    block = np.zeros((n + m, n + m))
    block[:n, :n], block[:n, n:] = a, arm.b
    size = n + m * delay
    f, g, h = np.zeros((size, size)), np.zeros((size, m)), np.zeros((len(c), size))
    # The torque that acts next stands first among those on their way.
    f[:n, :n + m] = expm(period * block)[:n]
    f[n:size - m, n + m:] = np.eye(size - n - m)
    g[size - m:] = np.eye(m)
    h[:, :n], h[:, n:n + m] = c, arm.d
    if not in_drives:
        f[size - m:, :n] -= arm.k
    return SampledArm(f, g[:, actuators], h, period)
