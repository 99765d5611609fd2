# SPDX-License-Identifier: Apache-2.0
"""Modes along a prescribed motion of the joints, from rest to rest, and the joint torques."""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.quasi_static import QuasiStatic
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np


@dataclass(frozen=True)
class Swing:
    """
    A motion from rest to rest in which all joints follow 10 s^3 - 15 s^4 + 6 s^5.

    Attributes:
        start: Joint positions at the start, (n_joints,).
        way: Amplitudes, (n_joints,).
        duration: [s].
    """

    start: np.ndarray
    way: np.ndarray
    duration: float

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return joint positions, velocities and accelerations at a time [s]."""
        s = t / self.duration
        place = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        rate = 30.0 * s * s * (1.0 - s) ** 2 / self.duration
        acceleration = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / self.duration**2
        return self.start + place * self.way, rate * self.way, acceleration * self.way


@dataclass(frozen=True)
class Course:
    """
    The results of a model for a swing, at equal times.

    Attributes:
        t: [s], (N,).
        tip: Place of the tip in the root frame, (N, 3) [m].
        torque: Joint torques, (N, n_joints).
    """

    t: np.ndarray
    tip: np.ndarray
    torque: np.ndarray


def vibrating(robot: Robot, frame: str, swing: Swing, steps: int, places: Robot) -> Course:
    """
    Return a swing with the modes integrated by rk4, from rest.

    Args:
        robot: Whose equations the modes follow.
        frame: The tip.
        swing: The joints' motion.
        steps: Number of steps.
        places: The robot that gives the tip's place for the same coordinates.
    """
    dyn, exact = Dynamics(robot, backend='python'), Dynamics(places, backend='python')
    m, h = robot.n_modes, swing.duration / steps
    motion = [swing.at(0.5 * k * h) for k in range(2 * steps + 1)]

    def rates(k: int, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q, qd, qdd = motion[k]
        torque, accelerations = dyn.hybrid_dynamics(
            np.concatenate((q, state[:m])), np.concatenate((qd, state[m:])), qdd)
        return np.concatenate((state[m:], accelerations)), torque

    state, tips, torques = np.zeros(2 * m), [], []
    for k in range(steps + 1):
        a, torque = rates(2 * k, state)
        at = np.concatenate((motion[2 * k][0], state[:m]))
        tips.append(exact.frame_pose(at, frame)[:3, 3])
        torques.append(torque)
        if k < steps:
            b, _ = rates(2 * k + 1, state + 0.5 * h * a)
            c, _ = rates(2 * k + 1, state + 0.5 * h * b)
            d, _ = rates(2 * k + 2, state + h * c)
            state = state + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    return Course(h * np.arange(steps + 1), np.array(tips), np.array(torques))


def following(robot: Robot, frame: str, swing: Swing, steps: int, rigid: bool = False) -> Course:
    """Return a swing with the modes at their static deflection, or at none."""
    dyn = Dynamics(robot, backend='python')
    joints = QuasiStatic(dyn)
    rest = np.zeros(robot.n_modes)
    times = np.linspace(0.0, swing.duration, steps + 1)
    tips, torques = [], []
    for t in times:
        q, qd, qdd = swing.at(t)
        if rigid:
            whole = [np.concatenate((values, rest)) for values in (q, qd, qdd)]
            force = dyn.inverse_dynamics(whole[0], whole[1], whole[2])
            torque, deflection = force[: len(q)], rest
        else:
            torque, deflection = joints.inverse_dynamics(q, qd, qdd)
        tips.append(dyn.frame_pose(np.concatenate((q, deflection)), frame)[:3, 3])
        torques.append(torque)
    return Course(times, np.array(tips), np.array(torques))
