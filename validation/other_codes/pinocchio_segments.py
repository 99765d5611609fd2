# SPDX-License-Identifier: Apache-2.0
"""
The arms in Pinocchio: rigid pieces behind hinges, springs as joint torques, its `aba`.

Pinocchio does not integrate in time; SciPy's DOP853 does, on coordinates and velocities, with the
quaternion of a satellite as four plain coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from validation.other_codes.arm import Arm
from validation.other_codes.motion import sample_times, TipMotion
from validation.other_codes.pieces import hinge_stiffness, pieces

_TOLERANCE = 1e-6  # relative and absolute; stability needs far shorter steps than this does


@dataclass(frozen=True)
class SegmentChain:
    """
    An arm as Pinocchio's model.

    Attributes:
        model: Pinocchio's model.
        stiffness: Of each velocity's spring (nv,) [N m/rad].
        last: Index of the joint that carries the tip.
        tip: Place of the tip in that joint's frame (3,) [m].
    """

    model: Any
    stiffness: np.ndarray
    last: int
    tip: np.ndarray


def chain(arm: Arm, count: int) -> SegmentChain:
    """Return the arm in `count` pieces a bar."""
    import pinocchio as pin
    kinds = {'x': pin.JointModelRX, 'y': pin.JointModelRY, 'z': pin.JointModelRZ}
    model, parent, stiffness = pin.Model(), 0, []
    if arm.satellite is not None:
        parent = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), 'base_motion')
        _append(pin, model, parent, arm.satellite.mass, np.zeros(3), arm.satellite.moments)
        stiffness += [0.0] * 6
    place = arm.root
    for bar in arm.bars:
        for k, piece in enumerate(pieces(bar, count)):
            if k == 0:
                hinges = [(bar.name, bar.axis, 0.0)]
            else:
                place = np.array([piece.at, 0.0, 0.0])
                hinges = [
                    (f'{bar.name}/segment{k + 1}_{axis}', axis, hinge_stiffness(bar, axis, count))
                    for axis in arm.directions.split()
                ]
            for name, axis, spring in hinges:
                parent = model.addJoint(parent, kinds[axis](), pin.SE3(np.eye(3), place), name)
                stiffness.append(spring)
                place = np.zeros(3)
            middle = np.array([piece.length / 2.0, 0.0, 0.0])
            _append(pin, model, parent, piece.mass, middle, piece.moments)
            place = 2.0 * middle
    if arm.tool is not None:
        _append(pin, model, parent, arm.tool.mass, place, arm.tool.moments)
    model.gravity = pin.Motion.Zero()
    return SegmentChain(model, np.array(stiffness), parent, place)


def tip_motion(arm: Arm, count: int) -> TipMotion:
    """Return the motion of the tip by Pinocchio."""
    import pinocchio as pin
    body = chain(arm, count)
    model, data = body.model, body.model.createData()
    nq, free = model.nq, 6 if arm.satellite is not None else 0
    start, torque = pin.neutral(model), np.zeros(model.nv)
    for bar, angle, given in zip(arm.bars, arm.angles, arm.torques):
        joint = model.joints[model.getJointId(bar.name)]
        start[joint.idx_q], torque[joint.idx_v] = angle, given
    wrenches = pin.StdVec_Force()
    wrenches.extend([pin.Force.Zero() for _ in range(model.njoints)])
    pushed = bool(np.any(arm.tip_force))

    def rate(t, state):
        q, v = state[:nq].copy(), state[nq:]
        rates = np.empty(nq)
        if free:
            q[3:7] /= np.linalg.norm(q[3:7])
            rates[:7] = _base_rate(q, v, pin)
            rates[7:] = v[6:]
        else:
            rates[:] = v
        tau = torque.copy()
        tau[free:] -= body.stiffness[free:] * q[free + bool(free):]
        if pushed:
            pin.forwardKinematics(model, data, q)
            force = data.oMi[body.last].rotation.T @ arm.tip_force
            wrenches[body.last] = pin.Force(force, np.cross(body.tip, force))
            return np.concatenate([rates, pin.aba(model, data, q, v, tau, wrenches)])
        return np.concatenate([rates, pin.aba(model, data, q, v, tau)])

    found = solve_ivp(
        rate, (0.0, arm.t_end), np.concatenate([start, np.zeros(model.nv)]), 'DOP853',
        sample_times(arm.t_end), rtol=_TOLERANCE, atol=_TOLERANCE,
    )
    places = []
    for state in found.y.T:
        pin.forwardKinematics(model, data, pin.normalize(model, state[:nq].copy()))
        places.append(data.oMi[body.last].act(body.tip))
    return TipMotion(np.array(places), data.oMi[1].rotation.copy() if free else None)


def _base_rate(q: np.ndarray, v: np.ndarray, pin) -> np.ndarray:
    """Return the rates of place and quaternion (7,) of a free body whose velocity is its own."""
    quaternion = pin.Quaternion(q[3:7])
    spin = (quaternion * pin.Quaternion(0.0, *v[3:6])).coeffs()
    return np.concatenate([quaternion.matrix() @ v[:3], 0.5 * spin])


def _append(pin, model, joint: int, mass: float, place: np.ndarray, moments) -> None:
    inertia = pin.Inertia(mass, place, np.diag(moments))
    model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
