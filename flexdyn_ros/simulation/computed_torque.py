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
are free, and the joints of a flexible arm follow as if its links were rigid.
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
            q: Positions of the model's joints there, (n, n_joints) [rad, m], cubic in between.
            qd: Their velocities there, of the same shape; None for those of a spline, whose
                acceleration is continuous.
            kp: Gains on position errors, one for all or (n_joints,): [1/s^2] of computed torque,
                [N m/rad, N/m] of feed-forward.
            kd: Gains on velocity errors [1/s | N m s/rad, N s/m].
            ki: Gains on the integrals of position errors [1/s^3 | N m/(rad s), N/(m s)].
            feed_forward: Whether the model is evaluated along the reference, and gains give
                torques.

        Raises:
            ArgumentError: The shapes do not fit; the model has loops, or a coordinate of a
                quaternion.
            UnknownName: The robot lacks a coordinate of the model.
        """
        if model.robot.loops:
            raise ArgumentError('model', 'has loops, whose joints cannot follow one by one')
        names = model.robot.coordinate_names
        joints = model.robot.n_joints
        every = TrackingTorque(robot, [0.0], [[0.0] * len(names)], joints=names)
        super().__init__(robot, t, q, qd, kp=kp, kd=kd, ki=ki, joints=names[:joints])
        self.model, self.along = model, bool(feed_forward)
        self.of_accelerations = not self.along
        self.takes_modes = self.of_accelerations and model.robot.n_modes > 0
        self.model_q, self.model_v = every.of_q, every.of_v
        self.function = 'hybrid_dynamics' if model.robot.n_modes else 'inverse_dynamics'
        self.rubs = not self.along and bool(model.friction_vector(np.ones(len(names))).any())

    def applied(
        self, force: np.ndarray, wanted: Sequence[np.ndarray], q: np.ndarray, qd: np.ndarray
    ) -> np.ndarray:
        """Return the torques of the joints, (n,); see `TorqueLaw`."""
        position, rate, acceleration = wanted
        joints = len(force)
        at, moving = q[self.model_q], qd[self.model_v]
        asked = moving.copy()
        asked[:joints] = rate
        if self.along:
            at[:joints], moving = position, asked
        else:
            acceleration, force = acceleration + force, np.zeros(joints)
        found = getattr(self.model, self.function)(at, moving, acceleration)
        force = force + (found[0] if self.function == 'hybrid_dynamics' else found)
        if self.rubs:
            force = force - self.model.friction_vector(moving)[:joints]
            force = force + self.model.friction_vector(asked)[:joints]
        return np.asarray(force)
