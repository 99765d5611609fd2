# SPDX-License-Identifier: Apache-2.0
"""
Where impulses of dry friction and of joint stops act, in one box-constrained problem.

A stop at a limit of the URDF is a unilateral constraint with restitution 0. Its impulse P pushes
away from it, and only where the joint ends the step at rest at the stop,

    0 <= P,  0 <= v,  P v = 0

(J. J. Moreau, Unilateral contact and dry friction in finite freedom dynamics, 1988; M. Anitescu
and F. A. Potra, Formulating dynamic multi-rigid-body contact problems with friction as solvable
linear complementarity problems, Nonlinear Dynamics 14, 1997). Friction and a stop of one joint are
one impulse, whose box is open to one side.

A step that would pass a stop ends there, at the time of the impact. The impact changes
velocities alone, by M (v+ - v-) = G^T P under the same law. Another step completes it. So the
method keeps its order through impacts.
"""

from __future__ import annotations

import math
from typing import Sequence

from flexdyn_ros.dynamics.joint_terms import CoordinatePlaces
from flexdyn_ros.dynamics.multibody import FrictionTerm
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.simulation.dry_friction import FrictionLevels
from flexdyn_ros.simulation.step_tolerances import CLOSED, STILL
import numpy as np

_BEYOND = 1e-6  # of a start beyond a stop [rad | m]


class ImpulseRows:
    """
    The velocities on which impulses act: v[at] + share v[beside], one a row.

    Attributes:
        levels: Levels of dry friction, of the first rows.
        at: Velocity coordinate of each row, (n,).
        beside: The other coordinate, the deflection of an elastic joint with a stop, (n,).
        share: Its share, 0 where there is none, (n,).
        q_at: Place of the first coordinate in q, (n,).
        q_beside: Place of the other one, (n,).
        limits: Lower and upper stop of q[q_at] + share q[q_beside], infinite without, (2, n).
    """

    def __init__(self, robot: Robot, friction: Sequence[FrictionTerm], stops: bool):
        """
        Take the losses and limits of a robot's joints.

        Args:
            robot: The robot.
            friction: The losses of its joints.
            stops: Whether its joints have stops; equal limits count as none.
        """
        self.levels = FrictionLevels(friction, robot.nv)
        # By coordinates: their places in q, the share, and the limits.
        found = {(k, k): (0, 0, 0.0, -math.inf, math.inf) for k in self.levels.at.tolist()}
        places = CoordinatePlaces(robot)
        for joint in robot.joints if stops else ():
            limits = joint.limit.lower, joint.limit.upper
            if joint.type not in ('revolute', 'prismatic') or limits[0] == limits[1]:
                continue
            term, offset = places.motor_term(joint), joint.mimic.offset if joint.mimic else 0.0
            if not term.multiplier:
                continue
            lower, upper = sorted(
                ((end if given is None else given) - offset) / term.multiplier
                for given, end in zip(limits, (-math.inf, math.inf))
            )
            other = places.term(joint.elastic_name) if joint.elastic_name else term
            pair = term.velocity_index, other.velocity_index
            before = found.get(pair, (0, 0, 0.0, -math.inf, math.inf))
            found[pair] = (
                term.position_index, other.position_index,
                1.0 / term.multiplier if joint.elastic_name else 0.0,
                max(before[3], lower), min(before[4], upper),
            )
        self.at, self.beside = np.array(list(found), dtype=int).reshape(-1, 2).T.copy()
        data = np.array(list(found.values())).reshape(-1, 5).T.copy()
        self.q_at, self.q_beside = data[:2].astype(int)
        self.share, self.limits = data[2], data[3:]
        self._names = robot.coordinate_names

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.at)

    def velocity(self, v: np.ndarray) -> np.ndarray:
        """Return the velocities of the rows, (n,) or (n, m), of v, (nv,) or (nv, m)."""
        share = self.share if v.ndim == 1 else self.share[:, np.newaxis]
        return np.asarray(v[self.at] + share * v[self.beside])

    def gaps(self, q: np.ndarray) -> np.ndarray:
        """Return the distances of q from the lower and upper stops, (2, n) [rad | m]."""
        at = q[self.q_at] + self.share * q[self.q_beside]
        return np.stack((at - self.limits[0], self.limits[1] - at))

    def boxes(
        self, h: float, v: np.ndarray, closed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the least and the largest impulses of friction and stops, (n,) each.

        Args:
            h: Length of the step [s].
            v: Velocities that the levels of friction follow, (nv,).
            closed: Whether each lower and upper stop takes part, (2, n).
        """
        friction = np.zeros(len(self))
        friction[: len(self.levels.at)] = h * self.levels(v)
        lower = np.where(closed[1], -math.inf, -friction)
        return lower, np.where(closed[0], math.inf, friction)

    def approach(self, v: np.ndarray, closed: np.ndarray) -> bool:
        """Return whether velocities, (nv,), lead beyond lower and upper stops, (2, n)."""
        speed = self.velocity(v)
        return bool((closed & (np.stack((-speed, speed)) > STILL)).any())

    def put_at_stops(self, q: np.ndarray) -> None:
        """Put coordinates of q, (nq,), that are closer than CLOSED to a stop exactly there."""
        for gap, limit in zip(self.gaps(q), self.limits):
            near = (np.abs(gap) <= CLOSED) & (self.share == 0.0)
            q[self.q_at[near]] = limit[near]

    def refuse_beyond(self, q: np.ndarray) -> None:
        """Raise an ArgumentError for a configuration beyond a stop."""
        gaps = self.gaps(q).min(axis=0, initial=math.inf)
        if len(gaps) and gaps.min() < -_BEYOND:
            k = int(np.argmin(gaps))
            raise ArgumentError(
                'q0', f'puts joint "{self._names[self.at[k]]}" {-gaps[k]:.3g} beyond its stop. '
                'Start within the limits')
