# SPDX-License-Identifier: Apache-2.0
"""The equations of motion of a simulated arm, as the integrators of the library step them."""

from __future__ import annotations

import math
from typing import Sequence

from flexdyn_ros.closed_chains.stepping import LoopMotion
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.arm.closed_motion import following_motion
from flexdyn_ros.nodes.arm.deflection import ModalEquations
from flexdyn_ros.nodes.arm.joint_motion import JointSample
from flexdyn_ros.nodes.simulator.joint_controller import JointController
from flexdyn_ros.simulation.configuration import ConfigurationMap
from flexdyn_ros.simulation.divergence import Diverged
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
from flexdyn_ros.simulation.frequencies import linearised
from flexdyn_ros.simulation.integrate import EVALUATED, RECORDED
from flexdyn_ros.simulation.method_choice import AUTO, choose
from flexdyn_ros.simulation.recorder import Recorder
from flexdyn_ros.simulation.run import Run
from flexdyn_ros.simulation.tableaus import IMPLICIT
import numpy as np

# The classical Runge-Kutta method is stable up to |lambda| h = 2.78; half of that leaves room for
# configurations that are stiffer than the initial one.
LARGEST_STEP_TIMES_RATE = 1.4
# A coordinate or its rate beyond it is a fault [m | rad | 1/s].
LARGEST_VALUE = 1e6
_NO_SAMPLES = 2**31  # steps a sample


class SimulationStopped(FlexdynError):
    """The simulated motion is not plausible any more; the state before it is kept."""


class ArmSimulator:
    """
    Integrates the motion by the methods of `fd.simulate`, without Python where these are.

    Loops are closed after every step. A base whose motion is prescribed keeps its velocity.

    Attributes:
        coordinates: The robot's coordinates by joint and modal values.
        joints: The commanded joints, in the order of the command.
        columns: Their indices among the velocities.
        controller: The joint controller of these joints.
        effort: Commanded torques, shape (n,) [N m | N].
        wrenches: Wrench of the environment by frame, six numbers in root axes [N, N m].
        time: Simulated time [s]; a reset does not turn it back.
        q: Configuration, shape (nq,).
        qd: Velocities, shape (nv,).
        method: Name of the method in use.
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
        method: str = AUTO,
        stops: bool = False,
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
            method: Of integration, as in `fd.simulate`.
            stops: Whether joints stop at their limits, as there.

        Raises:
            FlexdynError: A joint is unknown, the method does not run the robot, or the number of
                positions does not fit. It is also raised for the control of a coordinate without
                a position of its own.
        """
        self.coordinates = ArmCoordinates(dyn.robot)
        self._dyn = dyn
        self.joints = tuple(joints)
        self.columns = self.coordinates.columns(joints)
        self.controller = controller
        self.wrenches: dict[str, np.ndarray] = {}
        self._map = ConfigurationMap.of(dyn)
        self._positions_at = self._controlled_positions(controller, initial_positions)
        if len(initial_positions) not in (0, len(self.joints)):
            raise FlexdynError(
                f'initial_positions has {len(initial_positions)} elements '
                f'for {len(self.joints)} joints. Give one for each.'
            )
        self._initial = self._initial_state(initial_positions, static_deflection)
        self.time = 0.0
        self.reset()
        places = np.maximum(self._positions_at, 0)
        self._equations = EquationsOfMotion(
            dyn, controller.law(self._map.nv, places, np.array(self.columns)), None)
        self._equations.stops = stops
        self._equations.slides = method == AUTO and not (
            dyn.robot.loops or self._equations.on_base)
        if dyn.robot.loops:
            self._equations.loops = LoopMotion(dyn, 'projection', None, None, None)
        self._equations.acceleration(  # refuses massless motions by name
            0.0, self.q, self.qd, self.torque(self.q, self.qd), 0)
        dyn.compile(*EVALUATED, *RECORDED)
        self.fastest_rate = self._fastest_rate()
        tableau = choose(dyn, self.q, step, method, force=True, stops=stops).tableau
        explicit = min(step, LARGEST_STEP_TIMES_RATE / max(self.fastest_rate, 1e-9))
        self.step = step if tableau is IMPLICIT else explicit
        self.method = tableau.name
        recorder = Recorder(dyn, self._map, self.method, 1, _NO_SAMPLES)
        times = (_NO_SAMPLES, self.step, math.inf)
        self._loaded: dict[str, list[float]] = {}
        self._run = Run(self._equations, tableau, recorder, times, _NO_SAMPLES)
        self._run.check(self.q)

    def _controlled_positions(
        self, controller: JointController, initial: Sequence[float]
    ) -> list[int]:
        """Return the place of each commanded joint's position, -1 where it has none."""
        places = self.coordinates.position_columns(self.joints)
        for name, place, gain in zip(self.joints, places, controller.kp):
            if place is None and (gain or len(initial)):
                raise FlexdynError(
                    f'"{name}" is a velocity without a position of its own. It can be neither in '
                    'initial_positions nor under pd.kp. Leave it out of joints.'
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
        free = self.coordinates.undriven(self.joints)
        base = following_motion(self._dyn, self.coordinates, free)
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
        self.wrenches = {}
        self.controller.position = self._positions(self.q)
        self.controller.velocity = np.zeros(len(self.joints))
        self.controller.trajectory = None

    @property
    def compiled(self) -> bool:
        """Whether the steps run without Python."""
        return self._run.compiled

    def _positions(self, q: np.ndarray) -> np.ndarray:
        """Return the positions of the commanded joints, zero where there is none."""
        return np.where(np.array(self._positions_at) < 0, 0.0, q[self._positions_at])

    def _fastest_rate(self) -> float:
        gains = np.zeros((2, self._map.nv))
        gains[:, self.columns] = self.controller.kp, self.controller.kd
        rates = linearised(self._dyn, self.q, self._equations.held_coordinates, gains)[2]
        return float(np.abs(rates).max(initial=0.0))

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
            SimulationStopped: The motion is no longer plausible; the state is left as it was.
        """
        count = self.steps_of(duration)
        loads = {frame: six.tolist() for frame, six in self.wrenches.items()}
        if loads != self._loaded:
            self._loaded = loads
            self._equations.load(loads)
            self._run.update_wrenches()
        step, q, qd = duration / count, self.q, self.qd
        # A trajectory moves the desired state in every step.
        parts = [count] if self.controller.trajectory is None else [1] * count
        try:
            for k, steps in enumerate(parts):
                self.controller.move(self.time + (k + 0.5) * step)
                push = np.zeros(self._map.nv)
                push[self.columns] = self.effort + self.controller.push
                self._equations.constant = push
                q, qd = self._run.advance(steps, step, q, qd)
        except Diverged as error:
            raise self._stopped(f'"{error.coordinate}" {error.problem}') from error
        except (FlexdynError, ArithmeticError) as error:
            sentence = f'The simulation stopped at {self.time:.6g} s: {error}'
            raise SimulationStopped(sentence) from error
        for names, values in ((self._map.names, q), (self._map.velocity_names, qd)):
            if not np.abs(values).max(initial=0.0) <= LARGEST_VALUE:
                name = names[int(np.argmax(np.abs(values)))]
                raise self._stopped(f'"{name}" is beyond {LARGEST_VALUE:g}')
        self.q, self.qd = q, qd
        self.time += duration
        self.controller.move(self.time)  # for the torque at the new state

    def steps_of(self, duration: float) -> int:
        """Return the number of steps that a time [s] takes."""
        return max(1, math.ceil(duration / self.step - 1e-9))

    def _stopped(self, what: str) -> SimulationStopped:
        return SimulationStopped(
            f'The simulation diverged at {self.time:.6g} s: coordinate {what}. '
            'Use a smaller step, or check the torques and gains.'
        )

    def joint_effort(self) -> np.ndarray:
        """
        Return the effort that each joint of `coordinates.places` transmits [N m | N].

        That is the motor's torque, or the spring's where the joint is elastic.
        """
        effort = self.torque(self.q, self.qd)[: self.coordinates.n_joints]
        if self.coordinates.elastic:
            elastic = self._dyn.elastic_vector(self.q, self.qd)[self.coordinates.n_joints :]
            for joint, mode in self.coordinates.elastic:
                effort[joint] = -elastic[mode]
        return self.coordinates.of_places(effort)
