# SPDX-License-Identifier: Apache-2.0
"""The states of one robot that meet its loops: constraint errors, projection and messages."""

from __future__ import annotations

from dataclasses import dataclass
import logging
from typing import Any, Iterable, Optional

from flexdyn_ros.closed_chains.constraint_errors import constraint_errors
from flexdyn_ros.closed_chains.projection import Projection, quick_correction
from flexdyn_ros.closed_chains.solve import Spaces, spaces, tolerance_of
from flexdyn_ros.dynamics.loop_tolerances import NEARLY_CLOSED, RANK_TOLERANCE
from flexdyn_ros.errors import ArgumentError, LoopsCannotClose
from flexdyn_ros.model.configuration import ConfigurationSpace
from flexdyn_ros.model.loop_layout import LoopLayout
from flexdyn_ros.model.records.robot import Robot
import numpy as np

_LOGGER = logging.getLogger('flexdyn_ros')
# Constraint errors that are refused, of the loop's length [- | rad]; and the part of these that
# draws a warning.
LOOP_TOLERANCE, DOUBTFUL = 1e-3, 1e-3


@dataclass(frozen=True)
class LoopReport:
    """
    The loops of a robot at one configuration.

    Attributes:
        constraints: Names of the constraints, `<loop>/tx` and so on.
        rank: Number of independent ones here.
        usual_rank: The same at closed configurations near by.
        degrees_of_freedom: Independent motions that the loops leave, modes counted.
        actuated: Number of actuated joint coordinates.
        dependent: Names of the constraints that take part in a dependence.
        largest_gap: Largest constraint error [m | rad].
    """

    constraints: tuple[str, ...]
    rank: int
    usual_rank: int
    degrees_of_freedom: int
    actuated: int
    dependent: tuple[str, ...]
    largest_gap: float

    @property
    def redundant(self) -> int:
        """Number of constraints that repeat others, near by too."""
        return len(self.constraints) - self.usual_rank

    @property
    def singular(self) -> bool:
        """Whether constraints are dependent here that are independent near by."""
        return self.rank < self.usual_rank

    def __str__(self) -> str:
        """Return a sentence or two."""
        text = (
            f'{len(self.constraints)} constraints of rank {self.rank}, '
            f'{self.degrees_of_freedom} degrees of freedom, {self.actuated} of the joint '
            'coordinates actuated'
        )
        if self.redundant:
            text += (
                f'; {self.redundant} of them are redundant, and constraint forces are the '
                'smallest possible'
            )
        if self.singular:
            text += f'; singular here: the rank is {self.usual_rank} at nearby configurations'
        return text


class ClosedStates:
    """
    The closed states of one robot; poses and Jacobians come from the backend of each call.

    Attributes:
        robot: The robot.
        space: Its configuration space.
        layout: Its coordinates by their part in the motion.
        tolerance: Constraint error that is refused, of the loop's length [- | rad].
    """

    def __init__(self, robot: Robot):
        self.robot = robot
        self.space = ConfigurationSpace(robot)
        self.layout = LoopLayout(robot)
        self.tolerance = LOOP_TOLERANCE
        self._warned: set[str] = set()
        self._moving = np.arange(len(self.layout.prescribed), robot.nv)
        self._nv, self._n = robot.nv, len(robot.constraint_names)

    @property
    def settings(self) -> tuple[float, float]:
        """Tolerances of compiled code: errors that draw no warning, and a rank that it finds."""
        return DOUBTFUL * self.tolerance, 0.0

    def constraint_errors(self, backend: Any, q: Any) -> np.ndarray:
        """Return the constraint errors, (n,) [m | rad]."""
        return constraint_errors(self.robot.loops, backend.loop_poses(np.asarray(q).tolist()))

    def require_closed(self, errors: np.ndarray, argument: str = 'q') -> None:
        """
        Warn of loops that are a little open, and refuse others.

        Args:
            errors: The constraint errors, (n,) [m | rad].
            argument: Name of the configuration.

        Raises:
            ArgumentError: Names the loop, its error and the remedy.
        """
        relative = np.abs(errors) / self.layout.lengths
        worst = int(np.argmax(relative))
        if not relative[worst] > DOUBTFUL * self.tolerance:
            return
        name = self.robot.constraint_names[worst]
        problem = f'leaves loop constraint "{name}" open by {abs(errors[worst]):.3g} '
        problem += 'rad' if name.rpartition('/')[2][0] == 'r' else 'm'
        if relative[worst] > self.tolerance:
            raise ArgumentError(
                argument, f'{problem}, beyond the loop_tolerance of {self.tolerance:g}; take '
                'dyn.project(q, qd), the nearest closed state',
            )
        self._warn(
            f'open {name}', f'"{argument}" {problem}',
            'Take dyn.project(q, qd), the nearest closed state')

    def _warn(self, what: str, sentence: str, advice: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            _LOGGER.warning('Robot "%s": %s. %s.', self.robot.name, sentence, advice)

    def jacobian(self, backend: Any, q: Any) -> np.ndarray:
        """Return the constraint Jacobian A, (n, nv)."""
        return np.reshape(backend.loop_jacobian(np.asarray(q).tolist()), (self._n, self._nv))

    def project(
        self, backend: Any, q: np.ndarray, qd: np.ndarray, hold: Iterable[str] = (),
        targets: Optional[np.ndarray] = None, rates: Optional[np.ndarray] = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the nearest configuration and velocity that meet all loops.

        Args:
            backend: Evaluates the loops.
            q: Configuration, (nq,).
            qd: Velocity, (nv,).
            hold: Coordinates that stay as they are.
            targets: Constraint errors to reach, (n,); zero when None.
            rates: Their rates.

        Raises:
            LoopsCannotClose: If there is no such state.
        """
        held, names = set(hold), self.robot.coordinate_names
        moving = np.array([k for k in self._moving if names[k] not in held], dtype=int)
        goal = np.zeros(self._n) if targets is None else targets

        def errors(at: np.ndarray) -> np.ndarray:
            return self.constraint_errors(backend, at) - goal

        if not held and targets is None and rates is None:
            compiled = backend.closed('project', (q.tolist(), qd.tolist()), self.settings)
            if compiled is not None:
                return compiled
        if not held and np.abs(errors(q)).max(initial=0.0) < NEARLY_CLOSED:
            near = self._corrected(backend, q, qd, None, targets, rates)
            if near is not None:
                return near
        projection = Projection(
            self.space, errors, lambda at: self.jacobian(backend, at), moving
        )
        closed = projection.nearest(q)
        if closed is None:
            raise self._open(projection.best(q), bool(held))
        a = self.jacobian(backend, closed)
        wanted = (0.0 if rates is None else rates) - a @ qd
        known = spaces(a, columns=moving)
        velocity = qd.copy()
        velocity[moving] += known.particular(wanted)
        left = known.contradiction(wanted)
        if held and np.abs(left).max(initial=0.0) > 1e-8 * max(1.0, np.abs(qd).max()):
            raise ArgumentError(
                'hold', 'holds coordinates whose velocities contradict the loops; hold fewer'
            )
        return closed, velocity

    def corrected(
        self, backend: Any, q: np.ndarray, qd: np.ndarray, rank: int,
        targets: Optional[np.ndarray] = None, rates: Optional[np.ndarray] = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a state brought back after one time step; the rank stays the same."""
        if targets is None and rates is None:
            settings = np.inf, rank + 1.0
            compiled = backend.closed('project', (q.tolist(), qd.tolist()), settings)
            if compiled is not None:
                return compiled
        near = self._corrected(backend, q, qd, rank, targets, rates)
        return self.project(backend, q, qd, (), targets, rates) if near is None else near

    def _corrected(
        self, backend: Any, q: np.ndarray, qd: np.ndarray, rank: Optional[int],
        targets: Optional[np.ndarray], rates: Optional[np.ndarray],
    ) -> Optional[tuple[np.ndarray, np.ndarray]]:
        """Return the nearest closed state by a few steps from close by, or None."""
        goal = 0.0 if targets is None else targets

        def errors(at: np.ndarray) -> np.ndarray:
            return self.constraint_errors(backend, at) - goal

        a = self.jacobian(backend, q)
        known = self._spaces(a, rank, errors(q) if rank is None else None)
        closed = quick_correction(self.space, errors, known, q, max(1.0, np.abs(a).max()))
        if closed is None:
            return None
        if closed is not q:
            a = self.jacobian(backend, closed)
            known = self._spaces(a, rank)
        wanted = (0.0 if rates is None else rates) - a @ qd
        return closed, qd + known.particular(wanted)

    def _spaces(
        self, a: np.ndarray, rank: Optional[int] = None, errors: Optional[np.ndarray] = None
    ) -> Spaces:
        """Return the spaces of A over the unknown motions, a prescribed base left out."""
        held = len(self.layout.prescribed)
        tolerance = RANK_TOLERANCE if errors is None else tolerance_of(errors)
        known = spaces(a, rank, tolerance, columns=slice(held, None))
        if not held:
            return known
        still = np.zeros((held, self._nv))
        return Spaces(
            known.forces, known.inverse, np.vstack((still[:, : known.rank], known.seen)),
            np.vstack((still[:, : known.free.shape[1]], known.free)),
        )

    def report(self, backend: Any, q: np.ndarray) -> LoopReport:
        """Return the report on the loops at a configuration, (nq,)."""
        known = self._spaces(self.jacobian(backend, q))
        usual = known.rank
        rng = np.random.default_rng(0)
        for _ in range(3):
            step = known.free @ rng.normal(size=known.free.shape[1])
            norm = np.linalg.norm(step)
            near = self.space.moved(q, 0.03 * step / norm if norm else step)
            try:
                near, _ = self.project(backend, near, np.zeros(self._nv))
            except LoopsCannotClose:
                continue
            usual = max(usual, self._spaces(self.jacobian(backend, near)).rank)
        names = self.robot.constraint_names
        lost = np.eye(self._n) - known.forces @ known.forces.T
        dependent = tuple(n for n, share in zip(names, np.diag(lost)) if share > 1e-6)
        return LoopReport(
            names, known.rank, usual, len(self._moving) - known.rank, len(self.layout.actuated),
            dependent,
            float(np.abs(self.constraint_errors(backend, q)).max(initial=0.0)),
        )

    def _open(self, errors: np.ndarray, held: bool) -> LoopsCannotClose:
        by_name = dict(zip(self.robot.constraint_names, (float(x) for x in errors)))
        worst = max(by_name, key=lambda name: abs(by_name[name]))
        advice = (
            'Hold fewer coordinates, or start nearer to a closed loop' if held else
            'Start nearer to a closed loop, or check lengths and frames of its links'
        )
        return LoopsCannotClose(worst.rpartition('/')[0], by_name, advice)
