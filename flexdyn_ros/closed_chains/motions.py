# SPDX-License-Identifier: Apache-2.0
"""Motion and forces of one robot's loops: equations from a backend, solved by rank."""

from __future__ import annotations

import math
from typing import Any, Iterable, Mapping, NamedTuple, Optional, Sequence

from flexdyn_ros.closed_chains.constraint_errors import constraint_errors
from flexdyn_ros.closed_chains.loop_inputs import LoopInputs
from flexdyn_ros.closed_chains.solve import (
    attainable_forces,
    constrained_motion,
    coupled_motion,
    NoInertiaLeft,
    Spaces,
    spaces,
    tolerance_of,
)
from flexdyn_ros.closed_chains.states import ClosedStates
from flexdyn_ros.dynamics.loop_tolerances import CONTRADICTION, UNATTAINABLE
from flexdyn_ros.errors import SingularMassMatrix, UnattainableMotion
from flexdyn_ros.model.records.robot import Robot
import numpy as np


class ConstrainedMotion(NamedTuple):
    """
    A motion under loops.

    Attributes:
        qdd: Accelerations, (nv,) [rad/s^2 | m/s^2].
        forces: Constraint forces, (n,) [N m | N].
        rank: Rank of the constraints.
        reaction: Generalised forces on the base where its acceleration is given.
    """

    qdd: np.ndarray
    forces: np.ndarray
    rank: int
    reaction: np.ndarray


class ClosedMotions(ClosedStates):
    """Motions of one robot under its loops; equations come from the backend of each call."""

    def __init__(self, robot: Robot):
        super().__init__(robot)
        self._n_free = 6 * len(robot.loops) - self._n
        self._nothing = LoopInputs(robot, None, None)
        self._seen_rank: Optional[int] = None

    def inputs(
        self, accelerations: Optional[Mapping], forces: Optional[Mapping]
    ) -> LoopInputs:
        """Return given accelerations and forces of the loops; see `LoopInputs`."""
        if accelerations is None and forces is None:
            return self._nothing
        return LoopInputs(self.robot, accelerations, forces)

    def _equations(self, backend: Any, q: list, qd: list, wrenches: Iterable = ()) -> tuple:
        """Return mass matrix, bias, A, gamma and constraint errors."""
        mass, bias, a, gamma, poses = backend.loop_equations(q, qd, wrenches)
        return (
            np.reshape(mass, (self._nv, self._nv)), np.array(bias),
            np.reshape(a, (self._n, self._nv)), np.array(gamma),
            constraint_errors(self.robot.loops, poses),
        )

    def _free_forces(
        self, backend: Any, q: list, inputs: LoopInputs, a: np.ndarray
    ) -> tuple[Any, np.ndarray]:
        """Return the forces in free directions, and A with those that follow A's forces."""
        if inputs.forces is None and inputs.coupling is None:
            return 0.0, a
        free = np.reshape(backend.loop_free_jacobian(q), (self._n_free, self._nv))
        force = 0.0 if inputs.forces is None else free.T @ inputs.forces
        return force, a if inputs.coupling is None else a + inputs.coupling.T @ free

    def motion(
        self,
        backend: Any,
        q: list,
        qd: list,
        tau: Any,
        wrenches: Iterable = (),
        inputs: Optional[LoopInputs] = None,
        rank: Optional[int] = None,
        correction: Optional[np.ndarray] = None,
        base: Optional[Sequence[float]] = None,
        tolerance: float = math.inf,
    ) -> ConstrainedMotion:
        """
        Return the motion under generalised forces.

        Args:
            backend: Evaluates the equations.
            q: Configuration, (nq,).
            qd: Velocity, (nv,).
            tau: Generalised forces, (nv,).
            wrenches: Of the environment.
            inputs: Given accelerations and forces of the loops.
            rank: Rank of the constraints where it is known.
            correction: Forces on frame1 in the constrained directions, (n,) [N m | N], whose
                effect the constraint forces do not cancel.
            base: Given acceleration of the base, (6,), whose entries of tau are not read.
            tolerance: Infinite where open loops are accepted.

        Raises:
            ArgumentError: If the configuration leaves a loop open.
            SingularMassMatrix: If a motion that the loops allow meets no inertia.
        """
        mass, bias, a, gamma, errors = self._equations(backend, q, qd, wrenches)
        if tolerance < math.inf:
            self.require_closed(errors)
        inputs = inputs or self._nothing
        free_force, jacobian = self._free_forces(backend, q, inputs, a)
        force = np.asarray(tau) - bias + free_force
        qdd, start = np.zeros(self._nv), 0
        if base is not None:
            start = len(base)
            qdd[:start] = base
        moving = slice(start, None)
        given, c = mass @ qdd, inputs.accelerations - gamma - a @ qdd
        known = spaces(a, rank, tolerance_of(errors), columns=moving)
        qdd[moving], f = self._solve(
            moving, mass[moving, moving], (force - given)[moving], a, jacobian, known, c,
            correction,
        )
        if rank is None:
            self._notice(known, c)
        left = mass[:start] @ qdd - (force - tau)[:start] - jacobian.T[:start] @ f
        return ConstrainedMotion(qdd, f, known.rank, left)

    def hybrid(
        self, backend: Any, q: list, qd: list, joint_qdd: list, wrenches: Iterable,
        inputs: LoopInputs, tolerance: float = math.inf,
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return joint torques (n_joints,) and modal accelerations (n_modes,).

        The actuated joints, and a prescribed base, follow `joint_qdd`. Passive joints, modes and a
        free base follow the loops and their own equations. Open loops are accepted where
        `tolerance` is infinite.
        """
        mass, bias, a, gamma, errors = self._equations(backend, q, qd, wrenches)
        if tolerance < math.inf:
            self.require_closed(errors)
        free_force, jacobian = self._free_forces(backend, q, inputs, a)
        qdd = np.zeros(self._nv)
        given = self.layout.actuated + self.layout.prescribed
        qdd[given] = np.asarray(joint_qdd)[given]
        moving = [k for k in range(self._nv) if k not in given]
        c = inputs.accelerations - gamma
        if moving:
            c_left = c - a @ qdd
            force = (free_force - bias - mass @ qdd)[moving]
            known = spaces(a, None, tolerance_of(errors), columns=moving)
            qdd[moving], _ = self._solve(
                moving, mass[np.ix_(moving, moving)], force, a, jacobian, known, c_left
            )
        off = np.abs(c - a @ qdd).max(initial=0.0)
        if off > CONTRADICTION * max(1.0, np.abs(c).max(initial=0.0), np.abs(qdd).max()):
            self._warn(
                'hybrid', 'the prescribed accelerations of the actuated joints contradict the '
                'loops; they are met in the least-squares sense',
                'Prescribe accelerations that the loops allow'
            )
        tau = self._torques(mass @ qdd + bias - free_force, jacobian)
        return tau[: self.robot.n_joints], qdd[self.robot.n_joints :]

    def _solve(
        self, moving: Any, mass: np.ndarray, force: np.ndarray, a: np.ndarray,
        jacobian: np.ndarray, known: Spaces, c: np.ndarray,
        correction: Optional[np.ndarray] = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the accelerations of the moving coordinates, and the constraint forces.

        Args:
            moving: Places of these coordinates in velocities.
            mass: Their mass matrix.
            force: Generalised forces on them.
            a: Constraint Jacobian, (n, nv).
            jacobian: Of the forces that come with unit constraint forces; a for these alone.
            known: Spaces of a over the moving coordinates.
            c: Accelerations that the constraints prescribe, (n,).
            correction: See `motion`.

        Raises:
            SingularMassMatrix: A motion that the loops allow meets no inertia.
        """
        seen = a[:, moving]
        try:
            if correction is not None:
                c = c + seen @ np.linalg.solve(mass, seen.T @ correction)
            if jacobian is a:
                return constrained_motion(mass, force, known, c)
            return coupled_motion(mass, force, seen, jacobian[:, moving], c)
        except (NoInertiaLeft, np.linalg.LinAlgError) as found:
            motion = np.zeros(self._nv)
            motion[moving] = (
                found.motion if isinstance(found, NoInertiaLeft) else np.linalg.eigh(mass)[1][:, 0]
            )
            raise self._singular(motion) from found

    def torques(
        self, backend: Any, q: list, rest: Any, inputs: LoopInputs
    ) -> np.ndarray:
        """
        Return the generalised forces of a motion, (nv,), of which the loops take their part.

        Forces on passive joints are zero. Forces on a free base, then on modes, and then on the
        actuated joints are minimised, in the norm over N m and N. A prescribed base takes the
        rest.

        Args:
            backend: Evaluates the Jacobian.
            q: Configuration, (nq,).
            rest: Generalised forces of the motion as if the loops were open, (nv,).
            inputs: Given accelerations and forces of the loops.

        Raises:
            ArgumentError: If the configuration leaves a loop open.
            UnattainableMotion: If the actuated joints cannot make the motion.
        """
        self.require_closed(self.constraint_errors(backend, q))
        rest, a = np.asarray(rest, dtype=float), self.jacobian(backend, q)
        free_force, jacobian = self._free_forces(backend, q, inputs, a)
        return self._torques(rest - free_force, jacobian)

    def _torques(self, rest: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
        passive = self.layout.passive
        tau = rest - jacobian.T @ attainable_forces(rest, jacobian, self.layout.groups)
        if passive:
            left = np.abs(tau[passive])
            worst = int(np.argmax(left))
            if left[worst] > UNATTAINABLE * max(1e-3, np.abs(rest).max()):
                place = passive[worst]
                raise UnattainableMotion(self.robot.joint_names[place], float(tau[place]))
            tau[passive] = 0.0
        return tau

    def _notice(self, known: Spaces, c: np.ndarray) -> None:
        """Warn once of dependent constraints."""
        if known.rank < self._n and (self._seen_rank is None or known.rank < self._seen_rank):
            first = self._seen_rank is None
            self._warn(
                f'rank {known.rank}',
                f'{self._n} constraints of the loops have rank {known.rank}'
                + (': some repeat others, or the configuration is singular' if first else
                   ' here: the configuration is singular')
                + '. They are met in the least-squares sense, by the smallest constraint forces',
                'See Dynamics.loop_report',
            )
        self._seen_rank = max(self._seen_rank or 0, known.rank)
        off = np.abs(known.contradiction(c)).max(initial=0.0)
        if off > CONTRADICTION * max(1.0, np.abs(c).max(initial=0.0)):
            self._warn(
                'contradiction',
                f'the loops need accelerations that contradict each other by {off:.3g} '
                '[m/s^2 | rad/s^2]. They are met in the least-squares sense',
                'Take Dynamics.project for a velocity that meets them',
            )

    def _singular(self, motion: np.ndarray) -> SingularMassMatrix:
        place = int(np.argmax(np.abs(motion)))
        name = self.robot.coordinate_names[place]
        moved = [self.robot.coordinate_names[k] for k in np.flatnonzero(np.abs(motion) > 1e-6)]
        links = [j.child for j in self.robot.joints if set(j.coordinate_names) & set(moved)]
        return SingularMassMatrix(
            name, links, 'Give the links of that motion a mass and an inertia'
        )
