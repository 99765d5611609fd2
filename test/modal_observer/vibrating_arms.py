# SPDX-License-Identifier: Apache-2.0
"""Arms that vibrate in one mode under stiff joint control, and the estimates of an observer."""

import flexdyn_ros as fd
from flexdyn_ros.linearisation import linearise
from flexdyn_ros.modal_observer.held_modes import held_modes, ModelUncertainty
from flexdyn_ros.modal_observer.sensor_equations import SensorEquations
from flexdyn_ros.model.records.sensor import MountedSensor
from flexdyn_ros.simulation import TrackingTorque
import numpy as np

PERIOD = 1e-3
LIGHT = 0.05  # damping ratio below which modes count
AXES = np.eye(3)


def encoders(robot):
    """Return encoders of 2e-5 rad on all motors."""
    return [MountedSensor(f'{j}_motor', 'motor_position', j, 2e-5) for j in robot.joint_names]


def link_encoders(robot):
    """Return encoders of 2e-5 rad on the link side of elastic joints."""
    return [MountedSensor(f'{j.name}_link', 'link_position', j.name, 2e-5)
            for j in robot.joints if j.dynamics.elastic]


def inertial_sensors(link):
    """Return a gyroscope and an accelerometer on a link."""
    kinds = ('angular_velocity', 1e-3), ('acceleration', 2e-2)
    return [MountedSensor(f'{kind}{k}', kind, link, noise, tuple(axis))
            for kind, noise in kinds for k, axis in enumerate(AXES)]


def strain_gauges(robot):
    """Return two gauges of 1e-6 at the root of each beam, 20 mm from its axis."""
    return [MountedSensor(f'{link.name}_{k}', 'strain', link.name, 1e-6, tuple(AXES[k]), 0.0, 0.02)
            for link in robot.links if link.beam is not None and link.mode_names for k in (1, 2)]


class HeldArm:
    """
    An arm whose joints a controller holds.

    Attributes:
        dyn: The true dynamics.
        modes: Those of the closed loop with a damping ratio below LIGHT. Each has its angular
            frequency [rad/s], damping ratio and number of the held mode. Real and imaginary part
            of the state for 2 mm at the tip follow.
    """

    def __init__(self, robot, joint_q, stiffness):
        """Hold joints with `stiffness` times the value for the first mode's frequency."""
        self.dyn, n, nv = fd.Dynamics(robot), robot.n_joints, robot.nv
        rest = np.zeros(n)
        torque, deflection, _ = self.dyn.quasi_static_torque(joint_q, rest, rest)
        self.q = np.concatenate((joint_q, deflection))
        self._torque = np.concatenate((torque, np.zeros_like(deflection)))
        self.held = held_modes(self.dyn, self.q, ModelUncertainty())
        inertia = np.diag(self.dyn.mass_matrix(self.q))[:n]
        self._kp = stiffness * inertia * self.held.rates[0] ** 2
        self._kd = 1.4 * np.sqrt(self._kp * inertia)
        a, b = linearise(self.dyn, self.q, np.zeros(nv), self._torque)
        a[:, :n] -= b * self._kp
        a[:, nv:nv + n] -= b * self._kd
        values, vectors = np.linalg.eig(a)
        self.modes = []
        for value, vector in zip(values, vectors.T):
            ratio = -value.real / abs(value)
            if value.imag > 0.0 and ratio < LIGHT:
                parts = self.held.filters @ vector[n:nv] / self.held.amplitudes
                k = int(np.argmax(np.abs(parts)))
                self.modes.append((abs(value), ratio, k, vector / parts[k]))
        self.modes.sort(key=lambda mode: mode[0])

    def error(self, observer, mode, method='implicit'):
        """
        Return the error in the third period, relative to the amplitude at its start.

        The method "implicit" lets joints stick on dry friction; "rk4" keeps the smooth law.

        The error of the vibration is sqrt(2) times the standard deviation: the amplitude of a
        sinusoidal one. Its mean over the period is an error of the deflection at rest.

        Returns:
            The error of the vibration, and the mean.
        """
        robot, n, nv = self.dyn.robot, self.dyn.robot.n_joints, self.dyn.robot.nv
        rate, _, k, vector = mode
        steps = int(np.ceil(3.0 * 2.0 * np.pi / rate / PERIOD))
        end = steps * PERIOD
        law = TrackingTorque(
            robot, [0.0, end], np.tile(self.q[:n], (2, 1)), np.zeros((2, n)),
            np.tile(self._torque, (2, 1)), kp=self._kp, kd=self._kd)
        start = vector.real
        motion = fd.simulate(
            self.dyn, self.q + start[:nv], start[nv:], law, end, PERIOD, method,
            energy_tolerance=None)
        sensors = SensorEquations(self.dyn, observer.sensors)
        noise = np.random.default_rng(1)
        deviations = np.array([each.noise for each in observer.sensors])
        observer.reset()
        estimated = []
        for row in range(steps + 1):
            q, qd, tau = motion.q[row], motion.qd[row], motion.tau[row]
            read = sensors(q, qd, self.dyn.forward_dynamics(q, qd, tau))
            mean = 0.5 * (tau + motion.tau[max(row - 1, 0)])[:n]
            found, _ = observer.update(mean, read + deviations * noise.standard_normal(len(read)))
            estimated.append(found[n:])
        error = (np.array(estimated) - motion.q[:, n:])[2 * steps // 3:] @ self.held.filters[k]
        true = (motion.q[:, n:] - self.q[n:]) @ self.held.filters[k]
        amplitude = np.abs(true[2 * steps // 3:]).max()
        return float(np.sqrt(2.0) * error.std() / amplitude), float(error.mean() / amplitude)
