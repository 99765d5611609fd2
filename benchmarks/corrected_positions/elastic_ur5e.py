# SPDX-License-Identifier: Apache-2.0
"""
A UR5e with six elastic joints and 5 kg at the tool, and a plant that shares no code with it.

Universal Robots publishes no stiffness. Shoulder lift and elbow have that of
urdf/ur5e_extension.flexdyn.xml, of the order measured on strain-wave drives of this size. The pan
joint has the lift's, the smaller wrists a third of it. Damping is in proportion.

The plant has motors that stand exactly where they are commanded. Links are Pinocchio's, springs
and dampers are between, and scipy integrates.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flexdyn_ros as fd
from flexdyn_ros.position_correction import CorrectedMotion
from flexdyn_ros.position_correction.reference_motion import TrajectoryPoints
import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import BPoly, make_interp_spline
from scipy.optimize import root

JOINTS = ('shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint',
          'wrist_2_joint', 'wrist_3_joint')
STIFFNESS = np.array([1.2e4, 1.2e4, 1.0e4, 4e3, 4e3, 4e3])  # [N m/rad]
DAMPING = np.array([10.0, 10.0, 8.0, 3.0, 3.0, 3.0])  # [N m s/rad]
START = np.array([0.2, -1.4, 1.3, -1.2, -1.5, 0.1])
END = np.array([0.8, -1.0, 1.0, -1.4, -1.3, 0.4])
PAYLOAD, CENTRE, INERTIA = 5.0, 0.05, 0.01  # [kg], [m] along z of the tool, [kg m^2]
WATCHED = 0.5  # after the motion [s]


def vendor_text() -> str:
    """Return the vendor's description."""
    import airo_models

    text = Path(airo_models.get_urdf_path('ur5e')).read_text(encoding='utf-8')
    return text.replace('drake:', '')


def extension(stiffness: float = 1.0, damping: float = 1.0) -> str:
    """Return the elastic joints and the payload, with factors on their numbers."""
    joints = ''.join(
        f'<joint_dynamics joint="{name}" stiffness="{k * stiffness!r}" damping="{d * damping!r}" '
        'rotor_inertia="1e-4" gear_ratio="101"/>'
        for name, k, d in zip(JOINTS, STIFFNESS.tolist(), DAMPING.tolist()))
    inertia = ' '.join(f'i{a}{a}="{INERTIA}"' for a in 'xyz')
    return (f'<flexdyn version="1.0">{joints}<payload link="tool0" mass="{PAYLOAD}" '
            f'com="0 0 {CENTRE}" {inertia} ixy="0" ixz="0" iyz="0"/></flexdyn>')


def model(stiffness: float = 1.0, damping: float = 1.0) -> fd.Dynamics:
    """Return the dynamics of a model whose stiffnesses and dampings are off by factors."""
    return fd.Dynamics(fd.load_robot(vendor_text(), extension=extension(stiffness, damping)))


def smooth_path(duration: float = 1.0, period: float = 0.01) -> TrajectoryPoints:
    """Return points of the path from START to END with four continuous derivatives."""
    t = np.linspace(0.0, duration, round(duration / period) + 1)
    step = np.poly1d([70.0, -315.0, 540.0, -420.0, 126.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    rows = [np.outer(step.deriv(k)(t / duration) / duration**k, END - START) for k in range(3)]
    rows[0] += START
    return TrajectoryPoints(t, *rows)


@dataclass(frozen=True)
class TipErrors:
    """
    Distance of the tip from that of the rigid arm.

    Attributes:
        static: Distance at rest after the motion [m].
        vibration: Largest distance from the place of rest after the motion [m].
        moving: Largest distance at the same time, from the start to WATCHED after the end [m].
    """

    static: float
    vibration: float
    moving: float


class Plant:
    """The arm, with its true stiffness."""

    def __init__(self) -> None:
        import pinocchio as pin

        self._pin: Any = pin
        self._model: Any = pin.buildModelFromXML(vendor_text())
        self._frame = self._model.getFrameId('tool0')
        frame = self._model.frames[self._frame]
        body = pin.Inertia(PAYLOAD, np.array([0.0, 0.0, CENTRE]), INERTIA * np.eye(3))
        self._model.inertias[frame.parentJoint] += frame.placement.act(body)
        self._data: Any = self._model.createData()

    def tip(self, q: np.ndarray) -> np.ndarray:
        """Return the position of the tool with links at q, (3,) [m]."""
        self._pin.framesForwardKinematics(self._model, self._data, q)
        return np.array(self._data.oMf[self._frame].translation)

    def at_rest(self, motors: np.ndarray) -> np.ndarray:
        """Return the rest positions of the links, (6,) [rad]."""
        def moments(q: np.ndarray) -> np.ndarray:
            return STIFFNESS * (motors - q) - self._pin.computeGeneralizedGravity(
                self._model, self._data, q)

        return np.asarray(root(moments, motors, tol=1e-13).x)

    def follow(self, points: TrajectoryPoints, wanted: TrajectoryPoints) -> TipErrors:
        """
        Return the motion of the tip while the motors follow points, as a controller joins them.

        Args:
            points: Of the motors, with velocities and accelerations.
            wanted: The rigid arm's motion, of the same duration.
        """
        motors, rigid, end = polynomial(points), polynomial(wanted), points.t[-1]
        rates = motors.derivative()

        def rate(t: float, x: np.ndarray) -> np.ndarray:
            theta = motors(min(t, end))
            theta_rate = rates(t) if t < end else np.zeros(6)
            torque = STIFFNESS * (theta - x[:6]) + DAMPING * (theta_rate - x[6:])
            return np.append(x[6:], self._pin.aba(self._model, self._data, x[:6], x[6:], torque))

        first = np.append(self.at_rest(points.positions[0]), np.zeros(6))
        t = np.linspace(0.0, end + WATCHED, 601)
        run = solve_ivp(
            rate, (0.0, t[-1]), first, 'DOP853', t, rtol=1e-8, atol=1e-11, max_step=0.01)
        tips = np.array([self.tip(q) for q in run.y[:6].T])
        there = np.array([self.tip(rigid(min(at, end))) for at in t])
        rest = self.tip(self.at_rest(points.positions[-1]))
        return TipErrors(
            float(np.linalg.norm(rest - there[-1])),
            float(np.linalg.norm(tips[t >= end] - rest, axis=1).max()),
            float(np.linalg.norm(tips - there, axis=1).max()))


def polynomial(points: TrajectoryPoints) -> BPoly:
    """Return the quintics through points."""
    return BPoly.from_derivatives(
        points.t, np.stack([points.positions, points.velocities, points.accelerations], 1))


def motor_points(motion: CorrectedMotion) -> TrajectoryPoints:
    """Return the points that the motors are commanded."""
    return TrajectoryPoints(motion.t, motion.positions, motion.velocities, motion.accelerations)


def rigid_points(motion: CorrectedMotion) -> TrajectoryPoints:
    """Return the motion of the rigid arm beside it."""
    through = make_interp_spline(motion.t, motion.reference, k=5)
    return TrajectoryPoints(motion.t, *(through(motion.t, order) for order in range(3)))


def static_sag_alone(dyn: fd.Dynamics, points: TrajectoryPoints) -> TrajectoryPoints:
    """Return points whose positions lead by the deflection under gravity alone."""
    bent = np.array([
        dyn.gravity_vector(np.append(q, np.zeros(6)))[6:] / STIFFNESS for q in points.positions])
    sag, given = make_interp_spline(points.t, bent, k=5), polynomial(points)
    return TrajectoryPoints(
        points.t, *(given(points.t, k) + sag(points.t, k) for k in range(3)))
