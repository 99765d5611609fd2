# SPDX-License-Identifier: Apache-2.0
"""
A Kalman filter of joints and modes with the steady gain of the configuration that the arm is in.

The state x = (q, qd) is predicted by the nonlinear equations x' = f(x, tau), with the torque held
over a period h. With A = df/dx in the configuration,

    x1 = x + h phi1(h A) f(x),    x+ = x1 + h phi2(h A) (f(x1) - f(x) - A (x1 - x))

is exact for small vibrations, however fast (Cox and Matthews, Exponential time differencing for
stiff systems, Journal of Computational Physics 176, 2002, equation 22). `design.py` has the gain.
"""

from __future__ import annotations

from typing import Optional, Sequence

from flexdyn_ros.arguments import limited_number, real_vector
from flexdyn_ros.errors import ArgumentError, FlexdynError, NotYetSupported
from flexdyn_ros.modal_observer.design import design, ModeObservability, ObserverDesign
from flexdyn_ros.modal_observer.held_modes import ModelUncertainty
from flexdyn_ros.modal_observer.sensor_equations import SensorEquations
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.records.sensor import MountedSensor
from flexdyn_ros.robot_dynamics import Dynamics, require_dynamics
import numpy as np
from numpy.typing import ArrayLike

ENCODER_NOISE = 2e-5  # of the joints of a robot without <sensor> elements [rad | m]
CELL = 0.2  # joint motion after which the gain is another one [rad | m]
_KEPT = 500  # designs
_SLIDING = 2.0  # smoothing velocities of friction, beyond which a joint slides


class EstimateDiverged(FlexdynError):
    """An estimate is not the motion that is measured."""


class ModalObserver:
    """
    Estimates deflections and their rates from joint torques and readings of sensors.

    Encoders on the motor side suffice for modes that load the joints. The torque that holds a
    joint shows the force of a bending arm. The gain is that of the nearest configuration of a grid
    with steps of 0.2 rad or m over the joints. It is computed where the arm first comes there.
    Joints that slide have another gain, as friction near standstill damps.

    The model's loads are those of the description. The arm is a tree on a fixed base.

    Attributes:
        sensors: The sensors, in the order of the readings.
        period: Time between two updates [s].
        q: Estimated configuration, (nv,); None before the first update.
        qd: Estimated velocity, (nv,).
        modes: Observability of each mode in the present configuration.
        innovation: Readings less predicted ones at the last update, over the standard deviations
            of their noise, (sensors,).
    """

    def __init__(
        self,
        dyn: Dynamics,
        period: float,
        sensors: Optional[Sequence[MountedSensor]] = None,
        *,
        amplitude: float = 2e-3,
        stiffness_error: float = 0.1,
        torque_error: float = 0.02,
        friction_error: float = 0.2,
    ):
        """
        Prepare.

        Args:
            dyn: The dynamics.
            period: Time between two updates [s].
            sensors: The sensors in use. None takes the <sensor> elements of the robot. Where it
                has none, it takes an encoder of 2e-5 rad or m on the motor side of every joint.
            amplitude: Of the vibrations to be estimated, at the tip that moves most [m].
            stiffness_error: Relative error of stiffnesses to be expected.
            torque_error: Error of joint torques, relative to the largest torque of a vibration.
            friction_error: Relative error of Coulomb friction to be expected.

        Raises:
            ArgumentError: An argument is out of range, or a joint has no encoder.
            NotYetSupported: The robot has loops, a moving base, or joints of several axes.
            FlexdynError: The robot has no modes.
        """
        require_dynamics(dyn)
        for name, value in (
            ('period', period), ('amplitude', amplitude), ('stiffness_error', stiffness_error),
            ('torque_error', torque_error),
        ):
            limited_number(name, value)
        limited_number('friction_error', friction_error, or_zero=True)
        robot = dyn.robot
        refuse_unsuitable(robot, 'The modal observer')
        if not robot.n_modes:
            raise FlexdynError(
                f'Robot "{robot.name}" is rigid. Add a <flexible_link> to observe.')
        self.period = period
        self.sensors = chosen_sensors(robot, sensors)
        self.reset()
        self._dyn = dyn
        self._uncertainty = ModelUncertainty(
            amplitude, stiffness_error, torque_error, friction_error)
        self._equations = SensorEquations(dyn, self.sensors)
        places = {each.frame: k for k, each in enumerate(self.sensors)
                  if each.measures == 'motor_position'}
        missing = [name for name in robot.joint_names if name not in places]
        if missing:
            raise ArgumentError('sensors', f'lacks motor_position of {", ".join(missing)}. Add it')
        self._places = [places[name] for name in robot.joint_names]
        self._deviations = np.array([sensor.noise for sensor in self.sensors])
        self._slides = _SLIDING * np.array([
            robot.joint(name).dynamics.friction.smoothing_velocity for name in robot.joint_names])
        self._designs: dict[bytes, ObserverDesign] = {}
        self._cell = np.full(robot.n_joints, np.inf)

    def reset(self) -> None:
        """Discard the state. The next readings start anew, from the deflection at rest."""
        self.q: Optional[np.ndarray] = None
        self.qd = np.zeros(0)
        self.innovation = np.zeros(len(self.sensors))
        self.modes: tuple[ModeObservability, ...] = ()

    def observability(self, joint_q: ArrayLike) -> tuple[ModeObservability, ...]:
        """
        Return the observability of each mode of the arm with its joints held.

        Args:
            joint_q: Joint positions, (n_joints,) [rad | m].

        Returns:
            One record a mode, by ascending frequency.

        Raises:
            FlexdynError: The estimate without the unobserved modes is unstable.
        """
        at = np.array(real_vector('joint_q', joint_q, self._dyn.robot.n_joints))
        return self._design(at, np.zeros(len(at))).modes

    def update(
        self, torque: ArrayLike, readings: ArrayLike, steps: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the estimated configuration and velocity, (nv,) each, at the time of the readings.

        Args:
            torque: Joint torques since the last update, mean, (n_joints,) [N m | N].
            readings: Of the sensors, in their order, (sensors,).
            steps: Periods since the last update.

        Raises:
            EstimateDiverged: The joints of the estimate are not those of the encoders.
            FlexdynError: The estimate without the unobserved modes is unstable. After each of the
                two the next readings start anew.
        """
        robot = self._dyn.robot
        tau = np.array(real_vector('torque', torque, robot.n_joints) + [0.0] * robot.n_modes)
        read = np.array(real_vector('readings', readings, len(self.sensors)))
        if self.q is None:
            joint_q = read[self._places]
            self.q = np.concatenate((joint_q, self._at_rest(joint_q)[1]))
            self.qd = np.zeros(robot.nv)
            return self.q, self.qd
        try:
            self._correct(tau, read, steps)
        except FlexdynError:
            self.reset()
            raise
        return self.q, self.qd

    def _correct(self, tau: np.ndarray, read: np.ndarray, steps: int) -> None:
        """Predict the state at the time of the readings, and correct it by them."""
        assert self.q is not None
        found, state = self._present_design(), np.concatenate((self.q, self.qd))
        for _ in range(steps):
            rate = self._rate(state, tau)
            first = state + found.phi1 @ rate
            state = first + found.phi2 @ (
                self._rate(first, tau) - rate - found.a @ (first - state))
        self.modes = found.modes
        difference = read - self._readings(state, tau)
        self.innovation = difference / self._deviations
        self.q, self.qd = np.split(state + found.gain @ difference, 2)
        # Not finite numbers are no small ones.
        if not np.abs(self.q[: self._dyn.robot.n_joints] - read[self._places]).max() <= CELL:
            raise EstimateDiverged(
                'The estimate has left the measured joint positions. Check the stiffness and '
                'inertia of the model, and the noise of its sensors.')

    def _present_design(self) -> ObserverDesign:
        """Return the design of the present cell, which the arm leaves at a cell's width."""
        assert self.q is not None
        n = self._dyn.robot.n_joints
        if np.abs(self.q[:n] - self._cell).max() > CELL:
            self._cell = CELL * np.round(self.q[:n] / CELL)
        return self._design(self._cell, self._slides * (np.abs(self.qd[:n]) > self._slides))

    def _design(self, joint_q: np.ndarray, joint_qd: np.ndarray) -> ObserverDesign:
        key = joint_q.tobytes() + joint_qd.tobytes()
        if key not in self._designs:
            torque, deflection = self._at_rest(joint_q)
            rest = np.zeros_like(deflection)
            if len(self._designs) == _KEPT:
                self._designs.clear()
            self._designs[key] = design(
                self._dyn, np.concatenate((joint_q, deflection, joint_qd, rest)),
                np.concatenate((torque, rest)), self._rate, self._readings, self._deviations,
                self.period, self._uncertainty)
        return self._designs[key]

    def _at_rest(self, joint_q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the torques that hold the arm, and its deflection."""
        rest = np.zeros(len(joint_q))
        torque, deflection, _ = self._dyn.quasi_static_torque(joint_q, rest, rest)
        return torque, deflection

    def _rate(self, state: np.ndarray, tau: np.ndarray) -> np.ndarray:
        q, qd = np.split(state, 2)
        return np.concatenate((qd, self._dyn.forward_dynamics(q, qd, tau)))

    def _readings(self, state: np.ndarray, tau: np.ndarray) -> np.ndarray:
        q, qd = np.split(state, 2)
        return self._equations(q, qd, self._dyn.forward_dynamics(q, qd, tau))


def chosen_sensors(
    robot: Robot, sensors: Optional[Sequence[MountedSensor]]
) -> tuple[MountedSensor, ...]:
    """
    Return the sensors in use: those given, or the robot's, or encoders on all its motors.

    Raises:
        ArgumentError: They are no sensors.
    """
    try:
        given = tuple(sensors or ())
        sound = all(isinstance(each, MountedSensor) for each in given)
    except (TypeError, ValueError):
        sound = False
    if not sound:
        raise ArgumentError('sensors', f'is {sensors!r:.60}, expected MountedSensor objects')
    return given or robot.sensors or motor_encoders(robot)


def motor_encoders(robot: Robot) -> tuple[MountedSensor, ...]:
    """Return an encoder on the motor side of every joint."""
    return tuple(MountedSensor(f'{name}_encoder', 'motor_position', name, ENCODER_NOISE)
                 for name in robot.joint_names)


def refuse_unsuitable(robot: Robot, what: str) -> None:
    """Refuse loops, moving bases and joints of several axes for `what`."""
    several = [joint.name for joint in robot.joints if len(joint.coordinate_names) > 1]
    if robot.loops or several or robot.base_motion != 'fixed':
        raise NotYetSupported(
            f'{what} is for trees of joints with one axis each, on a fixed base',
            file=robot.source, element='loop' if robot.loops else 'joint',
            name=robot.loops[0].name if robot.loops else ', '.join(several),
            advice='Use quasi-static deflections')
