# SPDX-License-Identifier: Apache-2.0
"""The run of a scenario, stage by stage."""

from __future__ import annotations

from contextlib import suppress
import copy
from dataclasses import replace
import time
from typing import Any, Optional
import warnings

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.progress import Progress, ProgressBar
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.scenario.controllers import ControlSetting, JUMP, ScenarioController
from flexdyn_ros.scenario.document import CheckedSection
from flexdyn_ros.scenario.load import Scenario
from flexdyn_ros.scenario.result import joined_motion, ScenarioRun
from flexdyn_ros.scenario.sampled_torque import ContinuousTorque, SampledTorque, start_integral
from flexdyn_ros.scenario.stages import make_stages, payload_windows, RunStage
from flexdyn_ros.scenario.start import driven_positions, initial_state
from flexdyn_ros.scenario.trajectories import make_trajectory, MOST_JUMPS
from flexdyn_ros.simulation.adaptive import RTOL
from flexdyn_ros.simulation.energy_balance import EnergyNotKept, find_imbalance
from flexdyn_ros.simulation.integrate import ENERGY_TOLERANCE, simulate
from flexdyn_ros.simulation.joint_motions import sampled, shifted
from flexdyn_ros.simulation.method_choice import choose
from flexdyn_ros.simulation.record import Trajectory
from flexdyn_ros.simulation.torque_laws import PiecewisePolynomial, TorqueLaw
import numpy as np

# Keys that are arguments of `simulate`.
_KEYS = {
    'dt': 'step', 't_end': 'duration', 'sample_every': 'outputs.every',
    **{name: name for name in ('method', 'rtol', 'atol', 'stops', 'drift', 'force')},
}


def run(scenario: Scenario, progress: Progress = None) -> ScenarioRun:
    """
    Simulate a scenario.

    Args:
        scenario: The scenario.
        progress: As of `simulate`.

    Returns:
        The motion with its desired motion.

    Raises:
        ScenarioError: A name is unknown, or values contradict each other.
        ModelError: The description is wrong.
        SimulationDiverged: See `simulate`; every error, and KeyboardInterrupt, keeps the motion
            so far as `trajectory`.
    """
    return _ScenarioRunner(scenario, ProgressBar(progress)).run()


class _ScenarioRunner:
    """A run with its state."""

    def __init__(self, scenario: Scenario, bar: ProgressBar):
        self._scenario, self._bar = scenario, bar
        data, robot = scenario.data, scenario.robot
        self._simulation: CheckedSection = data['simulation']
        self._dyn = Dynamics(robot)
        start = driven_positions(data, self._dyn)
        trajectories = {name: make_trajectory(each, start)
                        for name, each in data['trajectories'].items()}
        jumps = [t for each in trajectories.values() for t in each.jumps]
        jumps += [point['time'] for each in data['controllers'].values()
                  for point in each.get('points', ())[:MOST_JUMPS]]
        self._stages = make_stages(data, robot, jumps)
        self._stages[0].load(self._dyn)
        self._q, self._qd, start = initial_state(data, self._dyn, trajectories, start)
        self._step, self._limit = self._chosen()
        first = slice(robot.nq - robot.n_modes, None), slice(robot.nv - robot.n_modes, None)
        setting = ControlSetting(
            robot, lambda: Dynamics(robot), start,
            np.append(self._q[first[0]], self._qd[first[1]]), trajectories,
            payload_windows(self._stages), self._step)
        self._controllers = [
            ScenarioController(each, setting) for each in data['controllers'].values()]
        self._torque = self._make_torque()
        self._parts: list[Trajectory] = []

    def run(self) -> ScenarioRun:
        """Simulate all stages."""
        begin = time.perf_counter()
        try:
            for stage in self._stages:
                self._run_stage(stage)
        except BaseException as error:
            part = getattr(error, 'trajectory', None)
            if part is not None and len(part):
                self._keep(part)
            if self._parts:
                with suppress(AttributeError, TypeError):
                    error.trajectory = joined_motion(self._parts)  # type: ignore[attr-defined]
            raise
        finally:
            self._bar.close(self._reached / self._stages[-1].end)
        motion = joined_motion(self._parts)
        accuracy = self._simulation['rtol'] or RTOL if self._tableau.adaptive else self._step
        found = find_imbalance(self._dyn, motion, self._tableau, accuracy, ENERGY_TOLERANCE)
        if found is not None:
            warnings.warn(str(found), EnergyNotKept, stacklevel=3)
        references: dict[str, np.ndarray] = {}
        for each in self._controllers:
            if each.trajectory is not None:
                wanted = sampled(each.trajectory, motion.t)[0]
                references.update(zip(each.names, wanted.T))
        frames = {name: self._dyn.batch.frame_pose(motion.q, name)[:, :3, 3]
                  for name in self._scenario.data['outputs']['frames']}
        return ScenarioRun(
            self._scenario, motion, self._step, self._limit, time.perf_counter() - begin,
            references, frames)

    @property
    def _reached(self) -> float:
        return float(self._parts[-1].t[-1]) if self._parts else 0.0

    def _chosen(self) -> tuple[float, Optional[float]]:
        """Return the step that suits all payloads, and the limit at the start [s]."""
        given = self._simulation
        found, limit = np.inf, None
        for k, (_, _, load) in enumerate(payload_windows(self._stages)):
            load(self._dyn)
            with given.place.errors(keys=_KEYS):
                choice = choose(
                    self._dyn, self._q, given['step'], given['method'], given['force'],
                    given['stops'], given['drift'] != 'projection')
            found, self._tableau = min(found, choice.dt), choice.tableau
            if not k and choice.limit is not None:
                limit = choice.limit.step
        return found, limit

    def _make_torque(self) -> Any:
        """Return a torque law where one needs no Python, or a function of the state, or None."""
        own, width = self._controllers, self._scenario.robot.nv
        if not own:
            return None
        rated = [each for each in own if each.section['rate'] is not None]
        if rated and len(rated) < len(own):
            other = next(each for each in own if each not in rated)
            raise other.section.error(
                'rate', 'is missing, and other controllers sample', 'Write one for each.')
        if rated:
            return SampledTorque(own, width)
        if len(own) == 1 and own[0].continuous:
            return own[0].law
        for each in own:
            if each.law.integrals:
                raise each.section.error(
                    'rate', 'is missing, and the controller has integrals beside others',
                    'Write the rate [Hz] at which each samples.')
        return ContinuousTorque(own, width)

    def _run_stage(self, stage: RunStage) -> None:
        """Simulate a stage, in two parts where it begins within a period of the controllers."""
        before = self._energy()
        stage.load(self._dyn)
        for each in self._controllers:
            if each.model is not None and each.section['payload_known']:
                stage.load(each.model)
        if stage.arriving:
            self._collide(stage)
        self._brought = self._energy() - before if self._parts else 0.0
        begin = stage.start
        if isinstance(self._torque, SampledTorque):
            aligned = min(self._torque.next_sample(begin), stage.end)
            if aligned - begin > 1e-9:
                self._simulate(stage, begin, aligned, held=True)
                begin, self._brought = aligned, 0.0
        if stage.end - begin > 1e-9:
            self._simulate(stage, begin, stage.end)

    def _energy(self) -> float:
        return self._dyn.kinetic_energy(self._q, self._qd) + self._dyn.potential_energy(self._q)

    def _collide(self, stage: RunStage) -> None:
        """
        Pick up bodies at rest: momentum of all free coordinates is kept.

        M qd+ = M_before qd- + A^T impulse, with the loops' A qd+ = 0. A base of given motion keeps
        its velocity. The bodies bring no momentum (Featherstone 2008, Rigid Body Dynamics
        Algorithms, section 11.7).
        """
        dyn, nv = self._dyn, len(self._qd)
        after = dyn.mass_matrix(self._q)
        now = tuple(each for each in stage.payloads if each not in stage.arriving)
        replace(stage, payloads=now).load(dyn)
        before = dyn.mass_matrix(self._q)
        stage.load(dyn)
        rows = dyn.loop_jacobian(self._q)
        if dyn.robot.base_motion == 'prescribed':
            rows = np.vstack([rows, np.eye(6, nv)])
        system = np.block([[after, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
        right = np.append((before - after) @ self._qd, np.zeros(len(rows)))
        change = np.linalg.lstsq(system, right, rcond=None)[0][:nv]
        self._qd = self._qd + change

    def _simulate(self, stage: RunStage, begin: float, end: float, held: bool = False) -> None:
        given, torque, period = self._simulation, self._torque, None
        if isinstance(torque, TorqueLaw):
            torque = self._law_from(torque, begin, end, stage.torque)
        elif torque is None:
            torque = stage.torque
        else:
            torque.offset, torque.constant = begin, stage.torque
            if held:
                torque = torque.held
            elif isinstance(torque, SampledTorque):
                period = torque.period
        step = self._step
        if period is not None:
            step = period / np.ceil(period / step - 1e-9)
        whole = self._stages[-1].end

        def progress(fraction: float) -> None:
            self._bar.update((begin + fraction * (end - begin)) / whole)

        self._begin = begin
        with given.place.errors((ArgumentError,), _KEYS):
            part = simulate(
                self._dyn, self._q, self._qd, torque, end - begin, step, given['method'],
                progress=progress, base_acceleration=stage.base, drift=given['drift'],
                torque_period=period, sample_every=self._scenario.data['outputs']['every'],
                wrenches=stage.wrenches or None, energy_tolerance=None, force=True,
                rtol=given['rtol'], atol=given['atol'], stops=given['stops'])
        self._end_law(part, begin)
        self._q, self._qd = part.q[-1].copy(), part.qd[-1].copy()
        self._keep(part)

    def _law_from(
        self, law: TorqueLaw, begin: float, end: float, torque: np.ndarray
    ) -> TorqueLaw:
        """Return a law whose time starts later, with the torque that acts beside it."""
        found = copy.copy(law)
        beside = torque.copy()
        if law.integrals:
            if not self._parts:
                self._integral = start_integral(self._controllers[0])
            beside[law.of_v] += law.ki * self._integral
        table = law.table or PiecewisePolynomial(
            np.array([0.0, 1.0]), np.zeros((1, 1, law.width)))
        found.table = shifted(_within(table, begin, end), -begin)
        found.table.coefficients[:, -1] += beside
        if law.reference is not None:
            found.reference = shifted(_within(law.reference, begin, end), -begin)
        self._acting = found
        return found

    def _end_law(self, part: Trajectory, begin: float) -> None:
        """Read the integrals at the end of a part from its last torque."""
        if not isinstance(self._torque, TorqueLaw) or not self._torque.integrals:
            return
        law, t = self._acting, float(part.t[-1])
        rest = law.torque(t, part.q[-1], part.qd[-1], np.zeros(law.integrals))
        gained = (part.tau[-1] - rest)[law.of_v]
        self._integral = self._integral + np.divide(
            gained, law.ki, out=np.zeros_like(gained), where=law.ki > 0.0)

    def _keep(self, part: Trajectory) -> None:
        """Append a part, whose times start at zero."""
        work, dissipated = self._brought, 0.0
        if self._parts:
            work += float(self._parts[-1].work[-1])
            dissipated = float(self._parts[-1].dissipated[-1])
        self._parts.append(replace(
            part, t=part.t + self._begin, work=part.work + work,
            dissipated=part.dissipated + dissipated))


def _within(values: PiecewisePolynomial, begin: float, end: float) -> PiecewisePolynomial:
    """Return a copy of the part from begin to end [s], whose ends are on this side of jumps."""
    at = values.at
    first = int(np.clip(np.searchsorted(at, begin + 2.0 * JUMP, 'right') - 1, 0, len(at) - 2))
    last = int(np.clip(np.searchsorted(at, end - 2.0 * JUMP, 'left'), first + 1, len(at) - 1))
    return PiecewisePolynomial(at[first: last + 1], values.coefficients[first:last].copy())
