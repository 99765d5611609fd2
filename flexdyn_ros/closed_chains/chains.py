# SPDX-License-Identifier: Apache-2.0
"""The loops of one robot: arguments by loop, equations from a backend, answers by rank."""

from __future__ import annotations

from copy import copy
import logging
from typing import Any
from typing import Iterable
from typing import Mapping
from typing import NamedTuple
from typing import Optional
from typing import Sequence

from flexdyn_ros.arguments import real_matrix
from flexdyn_ros.arguments import real_vector
from flexdyn_ros.closed_chains.configuration import ConfigurationSpace
from flexdyn_ros.closed_chains.gaps import loop_gaps
from flexdyn_ros.closed_chains.projection import Projection
from flexdyn_ros.closed_chains.projection import quick_correction
from flexdyn_ros.closed_chains.report import LoopReport
from flexdyn_ros.closed_chains.solve import attainable_forces
from flexdyn_ros.closed_chains.solve import constrained_motion
from flexdyn_ros.closed_chains.solve import coupled_motion
from flexdyn_ros.closed_chains.solve import NoInertiaLeft
from flexdyn_ros.closed_chains.solve import RANK_TOLERANCE
from flexdyn_ros.closed_chains.solve import Spaces
from flexdyn_ros.closed_chains.solve import spaces
from flexdyn_ros.closed_chains.solve import tolerance_of
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.errors import LoopsCannotClose
from flexdyn_ros.errors import SingularMassMatrix
from flexdyn_ros.errors import UnattainableMotion
from flexdyn_ros.errors import UnknownName
from flexdyn_ros.model.base_motion import BASE_COORDINATES
from flexdyn_ros.model.robot import Robot
import numpy as np

_LOGGER = logging.getLogger('flexdyn_ros')
# Accelerations that loops cannot give, relative to those asked for, that are worth a warning.
CONTRADICTION = 1e-6
# Below this gap [m | rad] one set of spaces leads to the nearest closed configuration.
NEARLY_CLOSED = 1e-6
# Forces left on passive joints, relative to the largest, that a motion may not need.
UNATTAINABLE = 1e-6


class Loading:
    """
    What is given about loops besides their closing.

    Attributes:
        accelerations: Of frame1 against frame2 in the constrained directions, (n,).
        forces: On frame1 in the free directions, (n_free,), or None for none.
        coupling: Forces in the free directions for unit constraint forces, (n_free, n), or None.
    """

    def __init__(
        self, robot: Robot, accelerations: Optional[Mapping], forces: Optional[Mapping]
    ):
        """
        Read both mappings from names of loops.

        Args:
            robot: The robot.
            accelerations: To accelerations in the loop's constrained directions.
            forces: To forces in its free directions: numbers, or a matrix that gives them from
                the constraint forces.

        Raises:
            ArgumentError: A value has the wrong shape.
            UnknownName: There is no such loop.
        """
        n = len(robot.constraint_names)
        self.accelerations = np.zeros(n)
        self.forces: Optional[np.ndarray] = None
        self.coupling: Optional[np.ndarray] = None
        given = _by_loop(robot, 'loop_accelerations', accelerations)
        pushed = _by_loop(robot, 'loop_forces', forces)
        row = column = 0
        n_free = 6 * len(robot.loops) - n
        for loop in robot.loops:
            size, free = len(loop.constrain), len(loop.free)
            if loop.name in given:
                name = f'loop_accelerations["{loop.name}"]'
                values = real_vector(name, given[loop.name], size)
                self.accelerations[row : row + size] = values
            if loop.name in pushed:
                name, value = f'loop_forces["{loop.name}"]', pushed[loop.name]
                if np.ndim(value) == 2:
                    if self.coupling is None:
                        self.coupling = np.zeros((n_free, n))
                    block = real_matrix(name, value, (free, size))
                    self.coupling[column : column + free, row : row + size] = block
                else:
                    if self.forces is None:
                        self.forces = np.zeros(n_free)
                    self.forces[column : column + free] = real_vector(name, value, free)
            row, column = row + size, column + free

    def faster(self, accelerations: np.ndarray) -> Loading:
        """Return the same with accelerations added, (n,)."""
        changed = copy(self)
        changed.accelerations = self.accelerations + accelerations
        return changed

    @property
    def pushes(self) -> bool:
        """Whether there are forces in free directions."""
        return self.forces is not None or self.coupling is not None


def _by_loop(robot: Robot, argument: str, values: Optional[Mapping]) -> Mapping:
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise ArgumentError(argument, 'must map names of loops to numbers')
    names = [loop.name for loop in robot.loops]
    for name in values:
        if name not in names:
            raise UnknownName('loop', name, names)
    return values


class Motion(NamedTuple):
    """
    A motion under loops.

    Attributes:
        qdd: Accelerations, (nv,).
        forces: Constraint forces, (n,).
        rank: Rank of the constraints.
        reaction: Generalised forces on the base where its acceleration is given.
    """

    qdd: np.ndarray
    forces: np.ndarray
    rank: int
    reaction: np.ndarray


class ClosedChains:
    """
    Everything about the loops of one robot; equations come from the backend of each call.

    Attributes:
        robot: The robot.
        space: Its configuration space.
    """

    def __init__(self, robot: Robot):
        self.robot = robot
        self.space = ConfigurationSpace(robot)
        self._base = list(range(0 if robot.base_motion == 'fixed' else BASE_COORDINATES))
        self._prescribed = self._base if robot.base_motion == 'prescribed' else []
        names = list(enumerate(robot.joint_names))[len(self._base) :]
        motors = set(robot.actuated_coordinates)
        self._actuated = [k for k, name in names if name in motors]
        self._passive = [k for k, name in names if name not in motors]
        self._modes = list(range(robot.n_joints, robot.nv))
        self._moving = np.arange(len(self._prescribed), robot.nv)
        self._nv, self._n = robot.nv, len(robot.constraint_names)
        self._n_free = 6 * len(robot.loops) - self._n
        self._nothing = Loading(robot, None, None)
        self._seen_rank: Optional[int] = None
        self._said: set[str] = set()

    def loading(
        self, accelerations: Optional[Mapping], forces: Optional[Mapping]
    ) -> Loading:
        """Return what is given about the loops; see `Loading`."""
        if accelerations is None and forces is None:
            return self._nothing
        return Loading(self.robot, accelerations, forces)

    # Equations ----------------------------------------------------------------------------

    def gaps(self, backend: Any, q: Any) -> np.ndarray:
        """Return the gaps of the constraints, (n,) [m | rad]."""
        return loop_gaps(self.robot.loops, backend.loop_poses(list(q)))

    def jacobian(self, backend: Any, q: Any) -> np.ndarray:
        """Return the constraint Jacobian A, (n, nv)."""
        return np.reshape(backend.loop_jacobian(list(q)), (self._n, self._nv))

    def _equations(self, backend: Any, q: list, qd: list, wrenches: Iterable) -> tuple:
        mass, bias, a, gamma, poses = backend.loop_equations(q, qd, wrenches)
        return (
            np.reshape(mass, (self._nv, self._nv)), np.array(bias),
            np.reshape(a, (self._n, self._nv)), np.array(gamma), poses,
        )

    def _tolerance(self, poses: Any) -> float:
        gaps = loop_gaps(self.robot.loops, poses)
        return tolerance_of(float(np.abs(gaps).max(initial=0.0)))

    def _pushed(self, backend: Any, q: list, loading: Loading) -> tuple[Any, Any]:
        """Return the generalised forces in free directions, and A with what follows A's."""
        if not loading.pushes:
            return 0.0, None
        free = np.reshape(backend.loop_free_jacobian(q), (self._n_free, self._nv))
        force = 0.0 if loading.forces is None else free.T @ loading.forces
        return force, None if loading.coupling is None else loading.coupling.T @ free

    # Motion -------------------------------------------------------------------------------

    def motion(
        self,
        backend: Any,
        q: list,
        qd: list,
        tau: Any,
        wrenches: Iterable = (),
        loading: Optional[Loading] = None,
        rank: Optional[int] = None,
        correction: Optional[np.ndarray] = None,
        base: Optional[Sequence[float]] = None,
    ) -> Motion:
        """
        Return the motion under generalised forces.

        Args:
            backend: Evaluates the equations.
            q: Configuration, (nq,).
            qd: Velocity, (nv,).
            tau: Generalised forces, (nv,).
            wrenches: Of the environment.
            loading: What is given about the loops.
            rank: Rank of the constraints where it is known.
            correction: Forces on frame1 in the constrained directions that the constraint
                forces leave their effect to, (n,).
            base: Given acceleration of the base, (6,), whose entries of tau are not read.

        Raises:
            SingularMassMatrix: If a motion that the loops allow meets no inertia.
        """
        mass, bias, a, gamma, poses = self._equations(backend, q, qd, wrenches)
        loading = loading or self._nothing
        push, follow = self._pushed(backend, q, loading)
        force = np.asarray(tau) - bias + push
        map_ = a if follow is None else a + follow
        qdd, start = np.zeros(self._nv), 0
        if base is not None:
            start = len(base)
            qdd[:start] = base
        moving = slice(start, None)
        own, seen = mass[moving, moving], a[:, moving]
        given, c = mass @ qdd, loading.accelerations - gamma - a @ qdd
        known = spaces(seen, rank, RANK_TOLERANCE if rank else self._tolerance(poses))
        try:
            if correction is not None:
                c = c + seen @ np.linalg.solve(own, seen.T @ correction)
            if follow is None:
                qdd[moving], f = constrained_motion(own, (force - given)[moving], known, c)
            else:
                qdd[moving], f = coupled_motion(
                    own, (force - given)[moving], seen, map_[:, moving], c
                )
        except NoInertiaLeft as found:
            motion = np.zeros(self._nv)
            motion[moving] = found.motion
            raise self._singular(motion) from found
        except np.linalg.LinAlgError as found:
            motion = np.zeros(self._nv)
            motion[moving] = np.linalg.eigh(own)[1][:, 0]
            raise self._singular(motion) from found
        if rank is None:
            self._notice(known, c)
        left = mass[:start] @ qdd - (force - tau)[:start] - map_.T[:start] @ f
        return Motion(qdd, f, known.rank, left)

    def hybrid(
        self, backend: Any, q: list, qd: list, joint_qdd: list, wrenches: Iterable,
        loading: Loading,
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return joint torques (n_joints,) and modal accelerations (n_modes,).

        The actuated joints, and a prescribed base, follow `joint_qdd`; passive joints, modes
        and a free base move as the loops and their own equations have it.
        """
        mass, bias, a, gamma, poses = self._equations(backend, q, qd, wrenches)
        push, follow = self._pushed(backend, q, loading)
        qdd = np.zeros(self._nv)
        led = self._actuated + self._prescribed
        qdd[led] = np.asarray(joint_qdd)[led]
        moving = [k for k in range(self._nv) if k not in led]
        c = loading.accelerations - gamma
        if moving:
            c_left = c - a @ qdd
            force = (push - bias - mass @ qdd)[moving]
            block = mass[np.ix_(moving, moving)]
            known = spaces(a[:, moving], None, self._tolerance(poses))
            try:
                if follow is None:
                    own, _ = constrained_motion(block, force, known, c_left)
                else:
                    own, _ = coupled_motion(
                        block, force, a[:, moving], (a + follow)[:, moving], c_left
                    )
            except NoInertiaLeft as found:
                motion = np.zeros(self._nv)
                motion[moving] = found.motion
                raise self._singular(motion) from found
            qdd[moving] = own
        off = np.abs(c - a @ qdd).max(initial=0.0)
        if off > CONTRADICTION * max(1.0, np.abs(c).max(initial=0.0), np.abs(qdd).max()):
            self._say(
                'hybrid', 'the accelerations asked of the actuated joints contradict the loops, '
                'and are met in the least-squares sense of the loops'
            )
        tau = self._torques(mass @ qdd + bias - push, a if follow is None else a + follow)
        return tau[: self.robot.n_joints], qdd[self.robot.n_joints :]

    def torques(
        self, backend: Any, q: list, rest: Any, loading: Optional[Loading] = None
    ) -> np.ndarray:
        """
        Return the generalised forces of a motion, (nv,), of which the loops take their part.

        Nothing is left on passive joints; then as little as possible on a free base, on modes,
        and then on the actuated joints, in the norm over N m and N. A prescribed base takes the
        rest.

        Args:
            backend: Evaluates the Jacobian.
            q: Configuration, (nq,).
            rest: Generalised forces of the motion as if the loops were open, (nv,).
            loading: What is given about the loops.

        Raises:
            UnattainableMotion: If the actuated joints cannot make the motion.
        """
        rest, a = np.asarray(rest, dtype=float), self.jacobian(backend, q)
        push, follow = self._pushed(backend, q, loading) if loading else (0.0, None)
        return self._torques(rest - push, a if follow is None else a + follow)

    def _torques(self, rest: np.ndarray, map_: np.ndarray) -> np.ndarray:
        floating = [] if self._prescribed else self._base
        groups = [self._passive, floating, self._modes, self._actuated, self._prescribed]
        f = attainable_forces(rest, map_, groups)
        tau = rest - map_.T @ f
        if self._passive:
            left = np.abs(tau[self._passive])
            worst = int(np.argmax(left))
            if left[worst] > UNATTAINABLE * max(1e-3, np.abs(rest).max()):
                place = self._passive[worst]
                raise UnattainableMotion(self.robot.joint_names[place], float(tau[place]))
            tau[self._passive] = 0.0
        return tau

    # States -------------------------------------------------------------------------------

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
            targets: Gaps to reach, (n,); zero when None.
            rates: Their rates.

        Raises:
            LoopsCannotClose: If there is no such state.
        """
        held = set(hold)
        for name in held:
            if name not in self.robot.coordinate_names:
                raise UnknownName('coordinate', name, self.robot.coordinate_names)
        names = self.robot.coordinate_names
        moving = np.array([k for k in self._moving if names[k] not in held], dtype=int)
        goal = np.zeros(self._n) if targets is None else targets

        def gaps(at: np.ndarray) -> np.ndarray:
            return self.gaps(backend, at) - goal

        if not held and np.abs(gaps(q)).max(initial=0.0) < NEARLY_CLOSED:
            near = self._corrected(backend, q, qd, None, targets, rates)
            if near is not None:
                return near
        projection = Projection(
            self.space, gaps, lambda at: self.jacobian(backend, at), moving
        )
        closed = projection.nearest(q)
        if closed is None:
            raise self._open(projection.best(q), bool(held))
        a = self.jacobian(backend, closed)
        wanted = (0.0 if rates is None else rates) - a @ qd
        known = spaces(a[:, moving])
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
        """Return a state brought back after one time step; the rank stays what it was."""
        near = self._corrected(backend, q, qd, rank, targets, rates)
        return self.project(backend, q, qd, (), targets, rates) if near is None else near

    def _corrected(
        self, backend: Any, q: np.ndarray, qd: np.ndarray, rank: Optional[int],
        targets: Optional[np.ndarray], rates: Optional[np.ndarray],
    ) -> Optional[tuple[np.ndarray, np.ndarray]]:
        """Return the nearest closed state by a few steps from close by, or None."""
        goal = 0.0 if targets is None else targets

        def gaps(at: np.ndarray) -> np.ndarray:
            return self.gaps(backend, at) - goal

        a = self.jacobian(backend, q)
        known = self._spaces(a, rank, gaps(q) if rank is None else None)
        closed = quick_correction(self.space, gaps, known, q, max(1.0, np.abs(a).max()))
        if closed is None:
            return None
        if closed is not q:
            a = self.jacobian(backend, closed)
            known = self._spaces(a, rank)
        wanted = (0.0 if rates is None else rates) - a @ qd
        return closed, qd + known.particular(wanted)

    def _spaces(
        self, a: np.ndarray, rank: Optional[int] = None, gaps: Optional[np.ndarray] = None
    ) -> Spaces:
        """Return the spaces of A over what moves, a prescribed base left out."""
        held = len(self._prescribed)
        gap = 0.0 if gaps is None else float(np.abs(gaps).max(initial=0.0))
        known = spaces(a[:, held:], rank, tolerance_of(gap))
        if not held:
            return known
        still = np.zeros((held, self._nv))
        return Spaces(
            known.forces, known.values, np.vstack((still[:, : known.rank], known.seen)),
            np.vstack((still[:, : known.free.shape[1]], known.free)),
        )

    def report(self, backend: Any, q: np.ndarray) -> LoopReport:
        """Return what the loops do at a configuration, (nq,)."""
        known = self._spaces(self.jacobian(backend, q))
        usual = known.rank
        rng = np.random.default_rng(0)
        for _ in range(3):
            way = known.free @ rng.normal(size=known.free.shape[1])
            norm = np.linalg.norm(way)
            near = self.space.moved(q, 0.03 * way / norm if norm else way)
            try:
                near, _ = self.project(backend, near, np.zeros(self._nv))
            except LoopsCannotClose:
                continue
            usual = max(usual, self._spaces(self.jacobian(backend, near)).rank)
        names = self.robot.constraint_names
        lost = np.eye(self._n) - known.forces @ known.forces.T
        dependent = tuple(n for n, share in zip(names, np.diag(lost)) if share > 1e-6)
        return LoopReport(
            names, known.rank, usual, len(self._moving) - known.rank, len(self._actuated),
            dependent,
            float(np.abs(self.gaps(backend, q)).max(initial=0.0)),
        )

    # Words --------------------------------------------------------------------------------

    def _open(self, gaps: np.ndarray, held: bool) -> LoopsCannotClose:
        by_name = dict(zip(self.robot.constraint_names, (float(x) for x in gaps)))
        worst = max(by_name, key=lambda name: abs(by_name[name]))
        advice = (
            'Hold fewer coordinates, or start nearer to where the loop closes' if held else
            'Start nearer to where the loop closes, or check lengths and frames of its links'
        )
        return LoopsCannotClose(worst.rpartition('/')[0], by_name, advice)

    def _notice(self, known: Spaces, c: np.ndarray) -> None:
        """Say once what of the constraints is dependent."""
        if known.rank < self._n and (self._seen_rank is None or known.rank < self._seen_rank):
            first = self._seen_rank is None
            self._say(
                f'rank {known.rank}',
                f'{self._n} constraints of the loops have rank {known.rank}'
                + (': some repeat others, or the configuration is singular' if first else
                   ' here: the configuration is singular')
                + '. They are met in the least-squares sense, by the smallest constraint forces; '
                'Dynamics.loop_report says more',
            )
        self._seen_rank = max(self._seen_rank or 0, known.rank)
        off = np.abs(known.contradiction(c)).max(initial=0.0)
        if off > CONTRADICTION * max(1.0, np.abs(c).max(initial=0.0)):
            self._say(
                'contradiction',
                f'the loops ask for accelerations that contradict each other by {off:.3g} '
                '[m/s^2 | rad/s^2], and are met in the least-squares sense; the velocity may not '
                'meet them (Dynamics.project)',
            )

    def _say(self, what: str, sentence: str) -> None:
        if what not in self._said:
            self._said.add(what)
            _LOGGER.warning('Robot "%s": %s.', self.robot.name, sentence)

    def _singular(self, motion: np.ndarray) -> SingularMassMatrix:
        place = int(np.argmax(np.abs(motion)))
        name = self.robot.coordinate_names[place]
        moved = [self.robot.coordinate_names[k] for k in np.flatnonzero(np.abs(motion) > 1e-6)]
        links = [j.child for j in self.robot.joints if set(j.coordinate_names) & set(moved)]
        return SingularMassMatrix(
            name, links, 'Give the links of that motion a mass and an inertia'
        )
