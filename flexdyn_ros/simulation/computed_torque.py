# SPDX-License-Identifier: Apache-2.0
"""
Joint controllers that contain a model of the robot.

Computed torque linearises the joints' motion: with the model's inverse dynamics at the state,

    tau = ID(q, qd, qdd_ref + kp (q_ref - q) + kd (qd_ref - qd) + ki int (q_ref - q) dt),

errors of an exact model obey e'' + kd e' + kp e = 0 (J. Y. S. Luh, M. W. Walker and R. P. Paul,
Resolved-acceleration control of mechanical manipulators, 1980). Feed-forward takes the reference
in place of the state, tau = ID(q_ref, qd_ref, qdd_ref) + PID (W. Khalil and E. Dombre, Modeling,
Identification and Control of Robots, 2002, chapter 14).

A model with modes takes their motion from the state: ID is then hybrid dynamics, in which modes
are free. The joints of a flexible arm then follow as if its links were rigid. With loops the
actuated joints follow, and passive ones are free.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.simulation.torque_laws import TrackingTorque
import numpy as np
from numpy.typing import ArrayLike


class ComputedTorque(TrackingTorque):
    """
    Computed torque along a reference, or feed-forward of a model with PID.

    Friction is compensated at the reference's velocities: a measured velocity about zero would
    let the compensation change its sign again and again.

    Attributes:
        model: The dynamics of the model.
        function: Its function that gives the torques.
        along: Whether the model is evaluated along the reference.
        rubs: Whether friction at the state is replaced by that of the reference.
        model_q: Entries of q that are the model's coordinates, (n,).
        model_v: Their entries in v, (n,).
        follows: Joints of the model that follow, (n_followed,).
    """

    def __init__(
        self, robot: Robot, model: Any, t: ArrayLike, q: ArrayLike,
        qd: Optional[ArrayLike] = None, *, kp: ArrayLike = 0.0, kd: ArrayLike = 0.0,
        ki: ArrayLike = 0.0, feed_forward: bool = False,
    ):
        """
        Take a model and a reference of all its joints.

        Args:
            robot: The robot that is simulated.
            model: The `Dynamics` of the model: of the robot itself, or of a rigid one with joints
                of the same names. On the backend "c" steps run without Python.
            t: Ascending times, (n,) [s].
            q: Positions of the model's joints there, (n, n_joints) [rad | m], cubic in between; of
                a model with loops those of the actuated ones.
            qd: Their velocities there, of the same shape; None for those of a spline, whose
                acceleration is continuous.
            kp: Gains on position errors, one for all or one a joint: [1/s^2] of computed torque,
                [N m/rad | N/m] of feed-forward.
            kd: Gains on velocity errors [1/s | N m s/rad, N s/m].
            ki: Gains on the integrals of position errors [1/s^3 | N m/(rad s), N/(m s)].
            feed_forward: Whether the model is evaluated along the reference, and gains give
                torques; for a model without loops.

        Raises:
            ArgumentError: The shapes do not fit; the model has a coordinate of a quaternion;
                feed-forward is chosen for a model with loops.
            UnknownName: The robot lacks a coordinate of the model.
        """
        own, looped = model.robot, bool(model.robot.loops)
        if looped and feed_forward:
            raise ArgumentError(
                'feed_forward', 'is given, and the model has loops; give its torques along the '
                'reference to TrackingTorque(feed_forward=...)')
        names = own.coordinate_names
        every = TrackingTorque(robot, [0.0], [[0.0] * len(names)], joints=names)
        followed = own.actuated_coordinates if looped else names[: own.n_joints]
        super().__init__(robot, t, q, qd, kp=kp, kd=kd, ki=ki, joints=followed)
        self.model, self.along = model, bool(feed_forward)
        self.of_accelerations = not self.along
        self.takes_rest = self.of_accelerations and len(followed) < len(names)
        self.model_q, self.model_v = every.of_q, every.of_v
        self.follows = np.array([names.index(name) for name in followed], dtype=int)
        free = looped or own.n_modes
        self.function = 'hybrid_dynamics' if free else 'inverse_dynamics'
        self.rubs = not self.along and bool(model.friction_vector(np.ones(len(names))).any())

    def applied(
        self, force: np.ndarray, wanted: Sequence[np.ndarray], q: np.ndarray, qd: np.ndarray
    ) -> np.ndarray:
        """Return the torques of the joints, (n,); see `TorqueLaw`."""
        position, rate, acceleration = wanted
        follows = self.follows
        at, moving = q[self.model_q], qd[self.model_v]
        asked = moving.copy()
        asked[follows] = rate
        if self.along:
            at[follows], moving = position, asked
        else:
            acceleration, force = acceleration + force, np.zeros(len(force))
        wanted_qdd = np.zeros(self.model.robot.n_joints)
        wanted_qdd[follows] = acceleration
        force = force + self._joint_torques(at, moving, wanted_qdd)[follows]
        if self.rubs:
            force = force - self.model.friction_vector(moving)[follows]
            force = force + self.model.friction_vector(asked)[follows]
        return np.asarray(force)

    def _joint_torques(self, q: np.ndarray, qd: np.ndarray, joint_qdd: np.ndarray) -> np.ndarray:
        """Return the torques of the model, (n_joints,); inside a step loops open a little."""
        closed = self.model.closed_chains
        if closed is None:
            found = getattr(self.model, self.function)(q, qd, joint_qdd)
            return np.asarray(found[0] if self.function == 'hybrid_dynamics' else found)
        backend, vectors = self.model.equations, (q.tolist(), qd.tolist(), joint_qdd.tolist())
        found = backend.closed(self.function, vectors, (np.inf, 0.0))
        if found is None:
            found = closed.hybrid(backend, *vectors, (), closed.inputs(None, None))
        return np.asarray(found[0])
