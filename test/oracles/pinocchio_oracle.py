# SPDX-License-Identifier: Apache-2.0
"""
Pinocchio behind the contract's names, with coordinates mapped by joint name.

Mimic joints are projected by hand, q_all = S q + offset, so that any Pinocchio serves. Planar
joints are mapped from rates in the joint frame to Pinocchio's body-frame velocity.
"""

from __future__ import annotations

import numpy as np
import pytest

pin = pytest.importorskip(
    'pinocchio', reason='the oracle Pinocchio is not installed here: `make test` installs it'
)


class PinocchioOracle:
    """
    Rigid-body dynamics by Pinocchio, in our coordinates.

    Args:
        robot: Our Robot, which gives the order of the coordinates.
        model: Pinocchio's model of the same URDF, mimic joints counted as free.
    """

    def __init__(self, robot, model):
        self.robot = robot
        self.model = model
        self.data = model.createData()
        model.gravity = pin.Motion(np.array(robot.gravity_vector), np.zeros(3))
        model.armature = np.zeros(model.nv)
        self.places = {}
        at_q = at_v = 0
        for joint in robot.joints:
            if joint.mimic is None and joint.type != 'fixed':
                self.places[joint.name] = (at_q, at_v)
                at_q += 7 if joint.type == 'floating' else len(joint.coordinate_names)
                at_v += len(joint.coordinate_names)

    def _leader(self, joint):
        """Return (leading joint, ratio, offset)."""
        ratio, offset = 1.0, 0.0
        while joint.mimic is not None:
            offset += ratio * joint.mimic.offset
            ratio *= joint.mimic.multiplier
            joint = self.robot.joint(joint.mimic.leader)
        return joint, ratio, offset

    def map(self, q, qd=None):
        """Return Pinocchio's q, the matrix S of v_pin = S qd, and dS/dt qd."""
        at = pin.neutral(self.model)
        s = np.zeros((self.model.nv, self.robot.nv))
        drift = np.zeros(self.model.nv)
        for joint in self.robot.joints:
            if joint.type == 'fixed':
                continue
            theirs = self.model.joints[self.model.getJointId(joint.name)]
            iq, iv = theirs.idx_q, theirs.idx_v
            leader, ratio, offset = self._leader(joint)
            oq, ov = self.places[leader.name]
            if joint.type == 'floating':
                at[iq: iq + 7] = q[oq: oq + 7]
                s[iv: iv + 6, ov: ov + 6] = np.eye(6)
            elif joint.type == 'planar':
                self._map_planar(at, s, drift, (iq, iv), (oq, ov), q, qd)
            else:
                value = ratio * q[oq] + offset
                wheel = theirs.nq == 2
                at[iq: iq + theirs.nq] = [np.cos(value), np.sin(value)] if wheel else [value]
                s[iv, ov] = ratio
        return at, s, drift

    @staticmethod
    def _map_planar(at, s, drift, theirs, ours, q, qd):
        (iq, iv), (oq, ov) = theirs, ours
        c, n = np.cos(q[oq + 2]), np.sin(q[oq + 2])
        at[iq: iq + 4] = [q[oq], q[oq + 1], c, n]
        s[iv: iv + 2, ov: ov + 2] = [[c, n], [-n, c]]
        s[iv + 2, ov + 2] = 1.0
        if qd is not None:
            drift[iv: iv + 2] = qd[ov + 2] * np.array([[-n, c], [-c, -n]]) @ qd[ov: ov + 2]

    def inverse_dynamics(self, q, qd, qdd):
        """Return joint torques (nv,) without friction."""
        at, s, drift = self.map(q, qd)
        return s.T @ pin.rnea(self.model, self.data, at, s @ qd, s @ qdd + drift)

    def mass_matrix(self, q):
        """Return the mass matrix (nv, nv)."""
        at, s, _ = self.map(q)
        upper = np.triu(pin.crba(self.model, self.data, at))
        return s.T @ (upper + np.triu(upper, 1).T) @ s

    def coriolis_matrix(self, q, qd):
        """Return S^T C S + S^T M dS/dt, (nv, nv)."""
        at, s, _ = self.map(q)
        matrix = s.T @ pin.computeCoriolisMatrix(self.model, self.data, at, s @ qd) @ s
        upper, rate = np.triu(pin.crba(self.model, self.data, at)), np.zeros_like(s)
        for joint in self.robot.joints:
            if joint.type == 'planar':
                iv = self.model.joints[self.model.getJointId(joint.name)].idx_v
                oq, ov = self.places[joint.name]
                c, n = np.cos(q[oq + 2]), np.sin(q[oq + 2])
                rate[iv: iv + 2, ov: ov + 2] = qd[ov + 2] * np.array([[-n, c], [-c, -n]])
        return matrix + s.T @ (upper + np.triu(upper, 1).T) @ rate

    def gravity_vector(self, q):
        """Return the gravity torque (nv,)."""
        at, s, _ = self.map(q)
        return s.T @ pin.computeGeneralizedGravity(self.model, self.data, at)

    def forward_dynamics(self, q, qd, tau):
        """Return accelerations (nv,): by aba where every coordinate is a joint's own."""
        at, s, drift = self.map(q, qd)
        if s.shape[0] == s.shape[1]:
            theirs = pin.aba(self.model, self.data, at, s @ qd, np.linalg.solve(s.T, tau))
            return np.linalg.solve(s, theirs - drift)
        bias = self.inverse_dynamics(q, qd, np.zeros(self.robot.nv))
        return np.linalg.solve(self.mass_matrix(q), tau - bias)

    def inverse_dynamics_derivatives(self, q, qd, qdd):
        """
        Return d tau by displacements, by rates, and the mass matrix, (nv, nv) each.

        Pinocchio displaces a free-flyer in body axes, translation first, as we do. There must be
        no planar joint, since our rates must be its own but for the ratios of mimic joints.
        """
        at, s, _ = self.map(q, qd)
        found = pin.computeRNEADerivatives(self.model, self.data, at, s @ qd, s @ qdd)
        upper = np.triu(found[2])
        whole = (found[0], found[1], upper + np.triu(upper, 1).T)
        return [s.T @ each @ s for each in whole]

    def forward_dynamics_derivatives(self, q, qd, tau):
        """Return the same of accelerations, by forces last; without mimic joints."""
        at, s, _ = self.map(q, qd)
        assert np.array_equal(s @ s.T, np.eye(len(s)))
        pin.computeABADerivatives(self.model, self.data, at, s @ qd, s @ tau)
        upper = np.triu(self.data.Minv)
        whole = (self.data.ddq_dq, self.data.ddq_dv, upper + np.triu(upper, 1).T)
        return [s.T @ each @ s for each in whole]

    def frame_pose(self, q, frame):
        """Return the pose of a link (4, 4)."""
        at, _, _ = self.map(q)
        pin.framesForwardKinematics(self.model, self.data, at)
        return self.data.oMf[self._frame(frame)].homogeneous

    def jacobian(self, q, frame):
        """Return the Jacobian (6, nv), linear then angular in root axes at the frame."""
        at, s, _ = self.map(q)
        theirs = pin.computeFrameJacobian(
            self.model, self.data, at, self._frame(frame), pin.LOCAL_WORLD_ALIGNED
        )
        return theirs @ s

    def jacobian_rate_qd(self, q, qd, frame):
        """Return the frame's acceleration (6,) at qdd = 0."""
        at, s, drift = self.map(q, qd)
        pin.forwardKinematics(self.model, self.data, at, s @ qd, drift)
        return pin.getFrameClassicalAcceleration(
            self.model, self.data, self._frame(frame), pin.LOCAL_WORLD_ALIGNED
        ).vector

    def _frame(self, name):
        return self.model.getFrameId(name, pin.FrameType.BODY)

    def energies(self, q, qd):
        """Return kinetic and potential energy [J]."""
        at, s, _ = self.map(q, qd)
        kinetic = pin.computeKineticEnergy(self.model, self.data, at, s @ qd)
        return kinetic, pin.computePotentialEnergy(self.model, self.data, at)
