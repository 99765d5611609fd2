# SPDX-License-Identifier: Apache-2.0
"""The equations of motion of a simulated arm, as the integrators of the library step them."""

from __future__ import annotations

import math
from typing import Any, Callable, Optional, Sequence

from flexdyn_ros.closed_chains.solve import spaces
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.model.extension.joint_reader import BASE_COORDINATES
from flexdyn_ros.nodes.arm.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.arm.closed_motion import what_follows
from flexdyn_ros.nodes.arm.deflection import ModalEquations
from flexdyn_ros.nodes.arm.joint_motion import JointSample
from flexdyn_ros.simulation.configuration import ConfigurationMap
from flexdyn_ros.simulation.frequencies import damping_matrix, stiffness_matrix
from flexdyn_ros.simulation.runge_kutta import RungeKutta
from flexdyn_ros.simulation.tableaus import RK4
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


# The classical Runge-Kutta method is stable up to |lambda| h = 2.78; half of that leaves room for
# configurations that are stiffer than the initial one.
LARGEST_STEP_TIMES_RATE = 1.4


class SimulationStopped(FlexdynError):
    """The simulated motion grew without bound."""


class JointController:
    """
    The robot's own joint controller: proportional and derivative, on the motor side.

    Attributes:
        kp: Proportional gains, shape (n,) [N m/rad | N/m].
        kd: Derivative gains, shape (n,) [N m s/rad | N s/m].
        position: Desired positions, shape (n,) [rad | m].
        velocity: Desired velocities, shape (n,) [rad/s | m/s].
    """

    def __init__(self, kp: Sequence[float], kd: Sequence[float], count: int):
        """
        Set the gains.

        Args:
            kp: One for each joint, one for all, or none.
            kd: The same.
            count: Number of joints.

        Raises:
            FlexdynError: The number of gains does not fit.
        """
        for name, gains in (('pd.kp', kp), ('pd.kd', kd)):
            if len(gains) not in (0, 1, count):
                raise FlexdynError(f'{name} has {len(gains)} gains for {count} joints.')
        self.kp = np.resize(np.array(kp or (0.0,), dtype=float), count)
        self.kd = np.resize(np.array(kd or (0.0,), dtype=float), count)
        self.position = np.zeros(count)
        self.velocity = np.zeros(count)

    def torque(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return kp (desired - q) + kd (desired rate - qd), shape (n,) [N m | N]."""
        return self.kp * (self.position - q) + self.kd * (self.velocity - qd)


class ArmSimulator:
    """
    Integrates the forward dynamics with the classical Runge-Kutta method.

    Attributes:
        coordinates: How joint and modal values make up the robot's coordinates.
        joints: The commanded joints, in the order of the command.
        columns: Their indices among the velocities.
        controller: The joint controller of these joints.
        effort: Commanded torques, shape (n,) [N m | N].
        time: Simulated time [s]; a reset does not turn it back.
        q: Configuration, shape (nq,).
        qd: Velocities, shape (nv,).
        step: Step in use [s].
        fastest_rate: Largest eigenvalue of the linearised motion at the start [1/s].
    """

    def __init__(
        self,
        dyn,
        joints: Sequence[str],
        step: float,
        controller: JointController,
        initial_positions: Sequence[float] = (),
        static_deflection: bool = False,
    ):
        """
        Put the arm at its initial state.

        Args:
            dyn: The dynamics.
            joints: Commanded joints.
            step: Longest step [s].
            controller: Joint controller of the commanded joints.
            initial_positions: One for each commanded joint [rad | m], or none.
            static_deflection: Whether the arm starts with the deflection under gravity.

        Raises:
            FlexdynError: A joint is unknown, the number of positions does not fit, or a
                coordinate shall be controlled that has no position of its own.
        """
        self.coordinates = ArmCoordinates(dyn.robot)
        self._dyn = dyn
        self.joints = tuple(joints)
        self.columns = self.coordinates.columns(joints)
        self.controller = controller
        self._motion = ArmMotion(dyn, self.torque)
        self._map = self._motion.map
        self._integrator = RungeKutta(self._motion, RK4)
        self._positions_at = self._controlled_positions(controller, initial_positions)
        if len(initial_positions) not in (0, len(self.joints)):
            raise FlexdynError(
                f'initial_positions has {len(initial_positions)} elements '
                f'for {len(self.joints)} joints.'
            )
        self._initial = self._initial_state(initial_positions, static_deflection)
        self.time = 0.0
        self.reset()
        self._motion.acceleration(
            0.0, self.q, self.qd, self.torque(self.q, self.qd))  # refuses massless motions by name
        self.fastest_rate = self._fastest_rate()
        self.step = min(step, LARGEST_STEP_TIMES_RATE / max(self.fastest_rate, 1e-9))

    def _controlled_positions(
        self, controller: JointController, initial: Sequence[float]
    ) -> list[int]:
        """Return the place of each commanded joint's position, -1 where it has none."""
        places = self.coordinates.position_columns(self.joints)
        for name, place, gain in zip(self.joints, places, controller.kp):
            if place is None and (gain or len(initial)):
                raise FlexdynError(
                    f'"{name}" is a velocity without a position of its own, so that it can be '
                    'neither in initial_positions nor under pd.kp. Leave it out of joints.'
                )
        return [-1 if place is None else place for place in places]

    def _initial_state(self, positions: Sequence[float], static: bool) -> np.ndarray:
        joint_positions = self.coordinates.neutral_positions.copy()
        if len(positions):
            joint_positions[self._positions_at] = positions
        q = self.coordinates.configuration(joint_positions, np.zeros(self.coordinates.n_modes))
        if self._dyn.robot.loops:
            q = self._closed_start(q, self.joints if len(positions) else ())
        if not static or not self.coordinates.n_modes:
            return q
        rest = np.zeros(self.coordinates.n_joints)
        sample = JointSample(0.0, q[: self.coordinates.n_positions], rest, rest)
        base = what_follows(self._dyn, self.coordinates, self.coordinates.undriven(self.joints))
        bent = ModalEquations(self._dyn, self.coordinates, base).at(sample)
        return self.coordinates.configuration(base.completed(sample, bent).q, bent.delta)

    def _closed_start(self, q: np.ndarray, held: Sequence[str]) -> np.ndarray:
        """Return the nearest closed configuration, commanded joints held if that can be."""
        rest = np.zeros(self._map.nv)
        try:
            return self._dyn.project(q, rest, hold=held)[0]
        except FlexdynError:
            return self._dyn.project(q, rest)[0]

    def reset(self) -> None:
        """Return to the initial state, at rest, without command and wrenches."""
        self.q = self._initial.copy()
        self.qd = np.zeros(self._map.nv)
        self.effort = np.zeros(len(self.joints))
        self._motion.wrenches = {}
        self.controller.position = self._positions(self.q)
        self.controller.velocity = np.zeros(len(self.joints))

    @property
    def wrenches(self) -> dict[str, np.ndarray]:
        """Wrench of the environment by frame, six numbers in root axes [N, N m]."""
        return self._motion.wrenches

    def _positions(self, q: np.ndarray) -> np.ndarray:
        """Return the positions of the commanded joints, zero where there is none."""
        return np.where(np.array(self._positions_at) < 0, 0.0, q[self._positions_at])

    def _fastest_rate(self) -> float:
        if self._map.nv == 0:
            return 0.0
        stiffness = stiffness_matrix(self._dyn, self.q)
        damping = damping_matrix(self._dyn, self.q)
        stiffness[self.columns, self.columns] += self.controller.kp
        damping[self.columns, self.columns] += self.controller.kd
        mass = self._dyn.mass_matrix(self.q)
        if self._dyn.robot.loops:
            # Loops leave only some motions, whose inertia is larger than that of the open tree.
            free = spaces(self._dyn.loop_jacobian(self.q)).free
            mass, stiffness, damping = (free.T @ x @ free for x in (mass, stiffness, damping))
        nv = len(mass)
        if nv == 0:
            return 0.0
        system = np.zeros((2 * nv, 2 * nv))
        system[:nv, nv:] = np.eye(nv)
        system[nv:] = -np.linalg.solve(mass, np.hstack((stiffness, damping)))
        return float(np.abs(np.linalg.eigvals(system)).max())

    def torque(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """
        Return the generalised forces of command and controller, shape (nv,).

        Args:
            q: Configuration, shape (nq,).
            qd: Velocities, shape (nv,).
        """
        total = np.zeros(self._map.nv)
        own = self.controller.torque(self._positions(q), qd[self.columns])
        total[self.columns] = self.effort + own
        return total

    def advance(self, duration: float) -> None:
        """
        Move on by a time, in equal steps no longer than `step`.

        Args:
            duration: [s].

        Raises:
            SimulationStopped: The motion is no longer finite.
        """
        count = max(1, math.ceil(duration / self.step - 1e-9))
        for _ in range(count):
            self._take_step(duration / count)
        self.time += duration

    def _take_step(self, h: float) -> None:
        q, qd = self.q, self.qd
        try:
            self.q, self.qd = self._integrator.step(self.time, h, q, qd, self.torque(q, qd))
        except MotionUnbounded as error:
            sentence = f'The simulation diverged at {self.time:.6g} s. {error}'
            raise SimulationStopped(sentence) from error
        except (FlexdynError, ArithmeticError) as error:
            sentence = f'The simulation stopped at {self.time:.6g} s: {error}'
            raise SimulationStopped(sentence) from error

    def joint_effort(self) -> np.ndarray:
        """
        Return what each joint of `coordinates.places` transmits [N m | N].

        That is the motor's torque, or the spring's where the joint is elastic.
        """
        effort = self.torque(self.q, self.qd)[: self.coordinates.n_joints]
        if self.coordinates.elastic:
            elastic = self._dyn.elastic_vector(self.q, self.qd)[self.coordinates.n_joints :]
            for joint, mode in self.coordinates.elastic:
                effort[joint] = -elastic[mode]
        return self.coordinates.of_places(effort)
