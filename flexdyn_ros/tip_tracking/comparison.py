# SPDX-License-Identifier: Apache-2.0
"""
Feed-forward methods for a path of the tip, simulated side by side under joint controllers.

All have PD controllers at the motors, tau = feed_forward(t) + kp (q_ref - q) + kd (qd_ref - qd):

- rigid: the undeformed arm on the path, and its inverse dynamics;
- quasi-static: the arm at static equilibrium on the path, and torques of static modes;
- joints: the same motion of the joints, and the torques that it needs with vibrating modes;
- ZV, ZVD, EI: the rigid reference through an input shaper for the lowest pole of the closed loop;
- inversion: `stable_inversion`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.linearisation import linearise
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation import simulate, TrackingTorque, Trajectory
from flexdyn_ros.simulation.joint_feed_forward import (
    quasi_static_torques,
    rigid_torques,
    vibrating_torques,
)
from flexdyn_ros.tip_tracking.boundary_value_problem import TipTrajectory
from flexdyn_ros.tip_tracking.input_shaping import KINDS, Shaper
from flexdyn_ros.tip_tracking.inversion import stable_inversion
from flexdyn_ros.tip_tracking.static_tracking import (
    equilibrium,
    static_configurations,
    unforced_coordinates,
)
from flexdyn_ros.tip_tracking.tip_outputs import Outputs
from flexdyn_ros.tip_tracking.tip_path import TipPath
import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline

METHODS = ('rigid', 'quasi-static', 'joints', *KINDS, 'inversion')
# Damping ratio above which a pole of the closed loop needs no shaper.
DAMPED = 0.7
# Step of the simulation times the largest pole; the limit of rk4 is 2.8.
STEP = 1.0
SAMPLES = 201  # of configurations along the path


@dataclass(frozen=True)
class JointReference:
    """
    Motion of the driven joints that a controller follows.

    Attributes:
        t: Times; the path starts at zero, (T,) [s].
        q: Positions of the driven joints, (T, n) [rad | m].
        qd: Their velocities, (T, n).
        tau: Feed-forward, (T, n) [N m | N].
        delay: Time by which the reference ends later than the path, or starts earlier [s].
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    delay: float


@dataclass(frozen=True)
class Result:
    """
    Motion of the tip by one method.

    Attributes:
        method: One of METHODS.
        joint_error: Root mean square of the position errors of driven joints [rad | m].
        tip_error: Largest distance of the tip from the path at the same time [m].
        residual_vibration: Largest distance of the tip from its mean in the window [m].
        final_offset: Distance of that mean from the end of the path [m].
        largest_torque: Of any driven joint [N m | N].
        delay: See `JointReference` [s].
        window: Start and end of the window, after the reference [s].
        t: Times of the samples of the tip, (T,) [s].
        tip: Positions of the tip, (T, 3) [m].
        error: Distances of the tip from the path at the same time, (T,) [m].
        motion: The simulated motion; its time starts with the reference.
    """

    method: str
    joint_error: float
    tip_error: float
    residual_vibration: float
    final_offset: float
    largest_torque: float
    delay: float
    window: tuple[float, float]
    t: np.ndarray
    tip: np.ndarray
    error: np.ndarray
    motion: Trajectory


class MethodComparison:
    """
    References of a model for one path, and their simulation on a plant.

    Attributes:
        inversion: The motion by stable inversion, where it was computed.
    """

    def __init__(self, model: Dynamics, path: TipPath, kp: ArrayLike, kd: ArrayLike):
        """
        Set the model, the path and the gains.

        Args:
            model: `Dynamics` of the model.
            path: The path.
            kp: Gains on position errors of the driven joints, one or (n,) [N m/rad | N/m].
            kd: Gains on velocity errors [N m s/rad | N s/m].
        """
        robot = model.robot
        self._model, self._path = model, path
        self._free = unforced_coordinates(robot)
        self._driven = np.setdiff1d(np.arange(robot.nv), self._free)
        self._kp, self._kd = (
            np.broadcast_to(np.asarray(each, dtype=float), self._driven.shape)
            for each in (kp, kd))
        self.inversion: Optional[TipTrajectory] = None
        self._static: Optional[np.ndarray] = None

    def reference(self, method: str, dt: float) -> JointReference:
        """
        Return the reference of a method for the joints.

        Args:
            method: One of METHODS.
            dt: Distance of samples [s].

        Raises:
            ArgumentError: The method is unknown.
        """
        if method not in METHODS:
            raise ArgumentError('method', f'is "{method}", expected one of {METHODS}')
        if method == 'inversion':
            found = self.inversion = stable_inversion(self._model, self._path, dt)
            chosen = self._driven
            return JointReference(
                found.t, found.q[:, chosen], found.qd[:, chosen], found.tau[:, chosen],
                found.before)
        t = np.linspace(0.0, self._path.duration, int(np.ceil(self._path.duration / dt)) + 1)
        if method in KINDS:
            return self._shaped(method, t)
        q, qd, qdd = self._joint_motion(t, rigid=method == 'rigid')
        if method == 'joints':
            return self._vibrating(t, q, qd, qdd)
        first = self._model.robot.n_joints
        tau = (rigid_torques if method == 'rigid' else quasi_static_torques)(
            self._model, *(each[:, :first] for each in (q, qd, qdd)))
        return self._of(t, q, qd, tau)

    def _of(
        self, t: np.ndarray, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, delay: float = 0.0
    ) -> JointReference:
        chosen = self._driven
        return JointReference(t, q[:, chosen], qd[:, chosen], tau[:, chosen], delay)

    def _joint_motion(
        self, t: np.ndarray, rigid: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return q, qd, qdd of the arm on the path, undeformed or at static equilibrium."""
        model, path = self._model, self._path
        outputs = Outputs.of(model.robot, path.frame, path.outputs)
        nodes = np.linspace(0.0, path.duration, SAMPLES)
        q = static_configurations(
            model, outputs, model.frame_pose(path.start, path.frame), path.start, path(nodes),
            nodes, rigid)
        motion = make_interp_spline(nodes, q, k=5)
        return motion(t), motion(t, 1), motion(t, 2)

    def _vibrating(
        self, t: np.ndarray, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
    ) -> JointReference:
        """Return the reference whose torques contain the vibration of the modes."""
        first = self._model.robot.n_joints
        joints = make_interp_spline(t, q[:, :first], k=5)
        start = np.append(q[0, first:], np.zeros(self._model.robot.n_modes))
        tau, _ = vibrating_torques(
            self._model, lambda time: (joints(time), joints(time, 1), joints(time, 2)), t, start)
        return self._of(t, q, qd, tau)

    def _shaped(self, kind: str, t: np.ndarray) -> JointReference:
        """Return the rigid reference through a shaper, and its inverse dynamics."""
        q, _, _ = self._joint_motion(t, rigid=True)
        shaper = Shaper.of(kind, self.lowest_pole(q[len(q) // 2]))
        at = np.linspace(0.0, t[-1] + shaper.times[-1], len(t) + int(
            np.ceil(shaper.times[-1] / (t[1] - t[0]))))
        motion = make_interp_spline(at, shaper.shaped(t, q, at), k=5)
        q, qd, qdd = (motion(at, order) for order in range(3))
        return self._of(
            at, q, qd, self._model.batch.inverse_dynamics(q, qd, qdd), float(shaper.times[-1]))

    def poles(self, dyn: Any, q: np.ndarray) -> np.ndarray:
        """Return the poles of the arm at rest under its controllers, (2 nv,) [1/s]."""
        nv = dyn.robot.nv
        rest = np.zeros(nv)
        a, _ = linearise(dyn, q, rest, dyn.inverse_dynamics(q, rest, rest))
        inverse = np.linalg.inv(dyn.mass_matrix(q))[:, self._driven]
        for gains, start in ((self._kp, 0), (self._kd, nv)):
            a[nv:, start + self._driven] -= inverse * gains
        return np.asarray(np.linalg.eigvals(a))

    def lowest_pole(self, q: np.ndarray) -> complex:
        """
        Return the pole of the closed loop with the lowest frequency that vibrates [1/s].

        Raises:
            ArgumentError: None vibrates.
        """
        poles = self.poles(self._model, q)
        vibrating = poles[(poles.imag > 0.0) & (-poles.real < DAMPED * np.abs(poles))]
        if not len(vibrating):
            raise ArgumentError('kp', 'and kd leave no pole that vibrates: no shaper is needed')
        return complex(vibrating[np.argmin(np.abs(vibrating))])

    def run(
        self, reference: JointReference, plant: Dynamics, method: str = '',
        window: Optional[float] = None, dt: Optional[float] = None,
    ) -> Result:
        """
        Simulate a reference.

        Args:
            reference: See `reference`.
            plant: `Dynamics` of the simulated arm; the model itself, or one that differs.
            method: Name for the result.
            window: Duration in which the residual vibration is looked at; None for that of the
                path [s].
            dt: Step of the simulation [s]; None for 1 ms, or less where poles need it.
        """
        robot, path = plant.robot, self._path
        window = path.duration if window is None else window
        start, end = reference.t[0], reference.t[-1]
        names = [robot.coordinate_names[k] for k in self._driven]
        tau = np.zeros((len(reference.t), robot.nv))
        tau[:, self._driven] = reference.tau
        law = TrackingTorque(
            robot, reference.t - start, reference.q, reference.qd, tau, kp=self._kp, kd=self._kd,
            joints=names)
        first = path.start.copy()
        first[self._driven] = reference.q[0]
        first = equilibrium(plant, first, 'start')
        if dt is None:
            dt = min(1e-3, STEP / float(np.abs(self.poles(plant, first)).max()))
        motion = simulate(
            plant, first, np.zeros(robot.nv), law, float(end - start + window), dt, 'rk4',
            progress=False, energy_tolerance=None, force=True)
        t = motion.t + start
        tip = plant.batch.frame_pose(motion.q, path.frame)[:, :3, 3]
        return self._judge(method, reference, motion, t, tip, (float(end), float(end + window)))

    def _judge(
        self, method: str, reference: JointReference, motion: Trajectory, t: np.ndarray,
        tip: np.ndarray, window: tuple[float, float],
    ) -> Result:
        path = self._path
        outputs = Outputs.of(self._model.robot, path.frame, path.outputs)
        start = self._model.frame_pose(path.start, path.frame)
        wanted = np.zeros((len(t), 6))
        wanted[:] = np.append(start[:3, 3], np.zeros(3))
        wanted[:, outputs.rows] = path(t)[:, :len(outputs.rows)]
        kept = np.array([k for k in outputs.rows if k < 3], dtype=int)
        error = np.linalg.norm((tip - wanted[:, :3])[:, kept], axis=1)
        after = t >= window[0]
        joints = motion.q[:, self._driven] - np.stack(
            [np.interp(t, reference.t, column) for column in reference.q.T], axis=1)
        mean = tip[after].mean(axis=0)
        return Result(
            method, float(np.sqrt(np.mean(joints**2))), float(error.max()),
            float(np.linalg.norm(tip[after] - mean, axis=1).max()),
            float(np.linalg.norm((mean - wanted[-1, :3])[kept])),
            float(np.abs(motion.tau[:, self._driven]).max()), reference.delay, window, t, tip,
            error, motion)


def compare(
    model: Dynamics, path: TipPath, kp: ArrayLike, kd: ArrayLike,
    methods: Sequence[str] = METHODS, plant: Optional[Dynamics] = None,
    window: Optional[float] = None, dt: float = 1e-3,
    progress: Optional[Callable[[float], None]] = None,
) -> tuple[Result, ...]:
    """
    Return the motion of the tip by feed-forward methods along a path; see `MethodComparison`.

    Args:
        model: `Dynamics` that references are computed with.
        path: The path.
        kp: Gains on position errors of the driven joints, one or (n,) [N m/rad | N/m].
        kd: Gains on velocity errors [N m s/rad | N s/m].
        methods: Some of METHODS.
        plant: `Dynamics` of the simulated arm; the model for None.
        window: Duration in which the residual vibration is looked at [s].
        dt: Distance of the samples of references [s].
        progress: Receives the fraction done.
    """
    comparison = MethodComparison(model, path, kp, kd)
    results = []
    for k, method in enumerate(methods):
        if progress is not None:
            progress(k / len(methods))
        results.append(comparison.run(
            comparison.reference(method, dt), plant or model, method, window))
    return tuple(results)
