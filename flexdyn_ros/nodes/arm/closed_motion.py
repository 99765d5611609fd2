# SPDX-License-Identifier: Apache-2.0
"""
The motion of a mechanism whose actuated joints are known: its loops move the passive ones.

Let u be the passive joints and all else without forces. The constraints A qdd + gamma = 0 and the
rows u of M qdd + bias = A^T f give their accelerations. Where the loops determine them, the
constraints do so alone. Positions and velocities are those of the nearest closed state with the
actuated joints and the modes held. The rows of the modes have their part of A^T f too, so that
loops bend links. (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 8.)
"""

from __future__ import annotations

import math
from typing import Sequence, Union

from flexdyn_ros.closed_chains.solve import (
    constrained_motion,
    NoInertiaLeft,
    Spaces,
    spaces,
    tolerance_of,
)
from flexdyn_ros.errors import FlexdynError, LoopsCannotClose
from flexdyn_ros.model.configuration import ConfigurationSpace
from flexdyn_ros.model.extension.joint_reader import BASE_COORDINATES
from flexdyn_ros.nodes.arm.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.arm.free_base import FreeBase
from flexdyn_ros.nodes.arm.joint_motion import JointSample, ModalState
import numpy as np

# Largest single step of actuated joints where passive joints are not measured [rad | m]. Passive
# joints then stay on their side of a dead point.
LONGEST_STEP = 0.2
MOST_INTERPOLATED = 200
# Of passive joints towards contradicting actuated ones [rad | m].
SMALLEST_STEP, MOST_STEPS = 1e-10, 20
# Offsets of actuated joints from closed loops that draw a warning [rad | m].
LARGEST_CONTRADICTION = 0.01
# Entries of constraint Jacobians below this fraction of the largest count as zero.
INDEPENDENT = 1e-8


class ClosedMotion:
    """
    The passive joints and the free base of a robot with loops; replaces a FreeBase.

    Values of actuated joints stay as they are, unless there are more actuated joints than degrees
    of freedom: then the nearest closed state is taken. Values of passive joints start the
    iteration. Those that are NaN begin where the last state left them.

    Attributes:
        names: Further coordinates that no force acts on, such as those of a floating base.
        follows: The joints whose motion the loops determine, by their name in states.
        bound: Names of the modes that the loops leave no motion of their own.
        problem: The fault of the last positions, or empty.
    """

    def __init__(self, dyn, coordinates: ArmCoordinates, names: Sequence[str] = ()):
        """
        Find the nearest closed state to all coordinates at zero.

        Args:
            dyn: The dynamics.
            coordinates: Its coordinates.
            names: The free coordinates; none for an arm that stands on ground.

        Raises:
            LoopsCannotClose: No such state closes the loops.
        """
        self.names = tuple(names)
        self.problem = ''
        self._dyn, self._coordinates = dyn, coordinates
        robot = dyn.robot
        base = 0 if robot.base_motion == 'fixed' else BASE_COORDINATES
        motors = set(robot.actuated_coordinates)
        joints = list(enumerate(robot.joint_names))
        self._passive = [k for k, name in joints[base:] if name not in motors]
        free = coordinates.columns(names)
        self._dependent = sorted({*self._passive, *free})
        self._independent = [k for k, _ in joints[base:] if k not in self._dependent]
        self._independent_places = [
            q for q, v in coordinates.places.values() if v in self._independent
        ]
        self._modes = slice(coordinates.n_joints, None)
        self._space = ConfigurationSpace(robot)
        self._last = dyn.project(robot.neutral_configuration(), np.zeros(robot.nv))[0]
        self._study()

    def _study(self) -> None:
        """Find the dependent coordinates, from Jacobians at several closed states."""
        robot, rng = self._dyn.robot, np.random.default_rng(0)
        at = self._last
        least = None
        for size in (0.0, 0.03, 0.03, 0.1):
            if size:
                start, places = self._last.copy(), self._independent_places
                start[places] += size * rng.normal(size=len(places))
                try:
                    at = self._dyn.project(start, np.zeros(robot.nv))[0]
                except LoopsCannotClose:
                    continue
            a = self._dyn.loop_jacobian(at)
            known = spaces(a, columns=self._passive)
            if least is None or known.rank > least[0].rank:
                least = known, a
        known, a = least
        limit = INDEPENDENT * max(1.0, np.abs(a).max())
        loose = np.abs(known.free).max(axis=1, initial=0.0) > INDEPENDENT
        determined = {k for k, free in zip(self._passive, loose) if not free}
        single = tuple(
            name for name, (_, v) in self._coordinates.places.items() if v in determined
        )
        multi = tuple(
            joint.name for joint in self._coordinates.multi_dof
            if set(range(robot.nv)[joint.velocities]) <= determined
        )
        self.follows = single + multi
        bound = np.abs(known.contradiction(a[:, self._modes])).max(axis=0, initial=0.0) > limit
        self.bound = tuple(name for name, is_bound in zip(robot.mode_names, bound) if is_bound)
        off = np.abs(known.contradiction(a[:, self._independent])).max(initial=0.0)
        self._overdetermined = bool(off > limit)
        moving = {*self._passive, *(self._independent if self._overdetermined else ())}
        self._hold = [
            name for k, name in enumerate(robot.coordinate_names) if k not in moving
        ]

    @property
    def rest_positions(self) -> np.ndarray:
        """Joint positions of the last closed state, shape (n_positions,)."""
        return self._last[: self._coordinates.n_positions].copy()

    def completed(self, sample: JointSample, state: ModalState) -> JointSample:
        """
        Return the sample with the motion that passive joints and free coordinates take.

        Args:
            sample: Joint motion.
            state: Modal state.

        Raises:
            LoopsCannotClose: The loops cannot close at the actuated joints.
        """
        q, qd, qdd = self._motion(sample, state)
        n, count = self._coordinates.n_joints, self._coordinates.n_positions
        shift = self._coordinates.configuration(np.zeros(count), state.delta)[:count]
        still = np.zeros(n)
        join = self._coordinates.join
        return JointSample(
            sample.time, q[:count] - shift, qd[:n] - join(still, state.rate)[:n],
            qdd[:n] - join(still, state.acceleration)[:n],
        )

    def _motion(
        self, sample: JointSample, state: ModalState
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return configuration, velocity and acceleration of the robot that meet the loops."""
        join = self._coordinates.join
        q = self._coordinates.configuration(sample.q, state.delta)
        qd = np.nan_to_num(join(sample.qd, state.rate))
        qdd = np.nan_to_num(join(sample.qdd, state.acceleration))
        unknown = np.isnan(q)
        if unknown.any():
            self._approach(q, unknown)
            q[unknown] = self._last[unknown]
        q, qd = self._closed(q, qd)
        return q, qd, self._accelerations(q, qd, qdd)

    def _closed(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest closed state and remember it."""
        if self._overdetermined:
            # Passive joints come as near as they can, then all joints move.
            for _ in range(MOST_STEPS):
                errors = self._dyn.loop_gaps(q)
                step = self._of_passive(q, -errors)
                q = self._space.moved(q, step)
                if np.abs(step).max(initial=0.0) < SMALLEST_STEP:
                    break
            qd = qd + self._of_passive(q, -self._dyn.loop_jacobian(q) @ qd)
        closed, qd = self._dyn.project(q, qd, hold=self._hold)
        places = self._independent_places
        off = float(np.abs(closed[places] - q[places]).max(initial=0.0))
        self.problem = ''
        if off > LARGEST_CONTRADICTION:
            self.problem = f'actuated joints differ by {off:.3g} from the nearest closed state'
        self._last = closed
        return closed, qd

    def _of_passive(self, q: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Return the motion of passive joints for wanted rates of constraint errors, (nv,)."""
        step = np.zeros(self._dyn.robot.nv)
        step[self._passive] = spaces(
            self._dyn.loop_jacobian(q), columns=self._passive).particular(wanted)
        return step

    def _approach(self, q: np.ndarray, unknown: np.ndarray) -> None:
        """Take the last state near to the actuated joints of q, in short steps."""
        rest, places = np.zeros(self._dyn.robot.nv), self._independent_places
        start = self._last[places]
        step = np.where(unknown[places], 0.0, q[places] - start)
        count = min(MOST_INTERPOLATED, math.ceil(np.abs(step).max(initial=0.0) / LONGEST_STEP))
        for k in range(1, count):
            between = self._last.copy()
            between[places] = start + k / count * step
            self._closed(between, rest)

    def _spaces(self, q: np.ndarray, a: np.ndarray) -> Spaces:
        tolerance = tolerance_of(self._dyn.loop_gaps(q))
        return spaces(a, None, tolerance, columns=self._dependent)

    def _accelerations(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Return qdd with those of dependent joints; of others, the nearest that loops allow."""
        dependent, independent = self._dependent, self._independent
        a = self._dyn.loop_jacobian(q)
        known = self._spaces(q, a)
        qdd = qdd.copy()
        qdd[dependent] = 0.0
        c = -self._dyn.loop_bias(q, qd) - a @ qdd
        left = known.contradiction(c)
        if np.abs(left).max(initial=0.0) > INDEPENDENT * max(1.0, np.abs(c).max(initial=0.0)):
            qdd[independent] += np.linalg.lstsq(
                known.contradiction(a[:, independent]), left, rcond=INDEPENDENT)[0]
            c = -self._dyn.loop_bias(q, qd) - a @ qdd
        if not known.free.shape[1]:
            qdd[dependent] = known.particular(c)
            return qdd
        mass = self._dyn.mass_matrix(q)
        force = -self._dyn.bias_vector(q, qd) - mass @ qdd
        qdd[dependent] = self._response(mass, force[dependent], known, c)[0]
        return qdd

    def _response(
        self, mass: np.ndarray, force: np.ndarray, known: Spaces, c: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return accelerations of dependent joints, and constraint forces."""
        own = mass[np.ix_(self._dependent, self._dependent)]
        try:
            return constrained_motion(own, force, known, c)
        except NoInertiaLeft as found:
            names = [self._dyn.robot.coordinate_names[k] for k in self._dependent]
            moved = [name for name, x in zip(names, found.motion) if abs(x) > 1e-6]
            raise FlexdynError(
                f'Neither loops nor inertia determine the motion of {", ".join(moved)}. Give '
                'these links a mass and an inertia.'
            ) from found

    def forces(self, sample: JointSample, state: ModalState) -> np.ndarray:
        """Return the generalised forces of a motion beside those of the loops, shape (nv,)."""
        q, qd, qdd = self._motion(sample, state)
        rest = self._dyn.bias_vector(q, qd) + self._dyn.inertia_vector(q, qdd)
        a = self._dyn.loop_jacobian(q)
        return rest - a.T @ self._spaces(q, a).reaction(rest[self._dependent])

    def condensed(self, mass: np.ndarray, rows: slice, q: np.ndarray) -> np.ndarray:
        """
        Return the mass matrix that some coordinates have while the others follow.

        Args:
            mass: Mass matrix of the robot, shape (nv, nv).
            rows: The coordinates, m in number.
            q: Configuration, shape (nq,), closed.

        Returns:
            Forces without those of the loops for unit accelerations, shape (m, m).
        """
        a = self._dyn.loop_jacobian(q)
        known = self._spaces(q, a)
        columns = []
        for unit in np.eye(len(mass))[rows]:
            own, f = self._response(
                mass, -(mass @ unit)[self._dependent], known, -a @ unit)
            unit[self._dependent] = own
            columns.append((mass @ unit - a.T @ f)[rows])
        return np.array(columns).T


def following_motion(
    dyn, coordinates: ArmCoordinates, names: Sequence[str] = ()
) -> Union[FreeBase, ClosedMotion]:
    """
    Return the motion that follows the driven joints: passive joints of loops, and a free base.

    Args:
        dyn: The dynamics.
        coordinates: Its coordinates.
        names: The free coordinates.
    """
    return (ClosedMotion if dyn.robot.loops else FreeBase)(dyn, coordinates, names)
