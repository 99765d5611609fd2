# SPDX-License-Identifier: Apache-2.0
"""Joint states as a motion, and its excitation of the parameters of an arm."""

from __future__ import annotations

import threading
from typing import Any, Optional, Sequence

from flexdyn_ros.identification import Motion
from flexdyn_ros.identification.base_parameters import base_parameters
from flexdyn_ros.identification.excitation import scaled_condition
from flexdyn_ros.identification.friction import DEFAULT
from flexdyn_ros.identification.joint_sides import (
    ELASTIC,
    from_both_sides,
    MOTOR,
    recorded_names,
    with_springs,
)
from flexdyn_ros.identification.signals import signal_path, stretches
from flexdyn_ros.identification.torque_model import TorqueModel
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.nodes.arm.times import nanoseconds
import numpy as np

SLOWEST = 0.05  # velocity that a joint reaches in both directions, or it has not moved [rad/s]
MOST_STATES = 1_000_000  # that are kept, some 300 MB for seven joints
ROWS = 400  # of samples from which the condition number is computed


class StateRecorder:
    """
    Keeps the joint states of an arm.

    Attributes:
        robot: The robot, with springs where joint states have both sides of a joint.
        positions: The newest positions of the joints, (n,), or None.
    """

    def __init__(self, robot: Robot, gains: Sequence[float] = ()):
        """Start empty; gains turn efforts into torques, one for each joint, or none."""
        self.robot, self._described = robot, robot
        self.positions: Optional[np.ndarray] = None
        self._gains = np.array(gains or np.ones(robot.n_joints))
        self._names: list[str] = []
        self._coordinates: tuple[str, ...] = ()
        self._stamps: list[int] = []
        self._rows: list[np.ndarray] = []
        self._lock = threading.Lock()
        self.recording = False

    def take(self, message: Any) -> None:
        """Keep a message that has positions of all joints, each once; others are ignored."""
        places = {name: k for k, name in enumerate(message.name)}
        joints = self._described.joint_names
        if len(places) < len(message.name) or not set(joints) <= set(places):
            return
        if not self._names:
            both = [name for name in joints if f'{name}{MOTOR}' in places]
            self.robot = with_springs(self._described, both)
            self._coordinates = joints + tuple(
                name for name in self.robot.mode_names
                if name.endswith(ELASTIC) and name[: -len(ELASTIC)] in both)
            self._names = recorded_names(self._coordinates)
        at = [places.get(name, -1) for name in self._names]
        row = [np.array(values, dtype=float) if len(values) == len(message.name)
               else np.full(len(message.name), np.nan)
               for values in (message.position, message.velocity, message.effort)]
        if min(at) < 0 or not np.isfinite(row[0][at]).all():
            return
        motors = [places.get(f'{name}{MOTOR}', places[name]) for name in joints]
        self.positions = row[0][motors]
        stamp = nanoseconds(message.header.stamp)
        with self._lock:
            newer = not self._stamps or stamp > self._stamps[-1]
            if self.recording and newer and not self.full:
                self._stamps.append(stamp)
                self._rows.append(np.array([each[at] for each in row]))

    @property
    def full(self) -> bool:
        """Whether no more states are kept."""
        return len(self._stamps) >= MOST_STATES

    @property
    def duration(self) -> float:
        """Time from the first recorded state to the last [s]."""
        return 1e-9 * (self._stamps[-1] - self._stamps[0]) if self._stamps else 0.0

    def motion(self) -> Motion:
        """
        Return the recorded motion.

        Raises:
            ArgumentError: There are fewer than 50 states, or they have no efforts.
        """
        with self._lock:
            stamps, rows = np.array(self._stamps, dtype=np.int64), np.array(self._rows)
        q, qd, tau = rows.reshape(len(stamps), 3, len(self._names)).transpose(1, 0, 2)
        from_both_sides(self._coordinates, q, qd, tau)
        tau[:, : len(self._gains)] *= self._gains
        rates = qd if np.isfinite(qd).all() else None
        return Motion(1e-9 * (stamps - stamps[:1]), q, rates, tau, self._coordinates)


def excitation(robot: Robot, motion: Motion) -> tuple[float, list[str]]:
    """
    Return the condition number of the scaled base regressor, and joints that have hardly moved.

    Args:
        robot: The robot.
        motion: A motion of it.
    """
    ordered = motion.ordered(robot.joint_names, robot.coordinate_names)
    model = TorqueModel(robot, ordered.names or (), DEFAULT)
    shapes = model.shapes(None)
    base = base_parameters(model, shapes, model.values, np.ones(len(model.names), dtype=bool))
    parts, speeds = [], []
    for stretch in stretches(ordered, signal_path([ordered], None, None, None)):
        columns = model.sampled(stretch)
        full = model.joined(
            columns.linear, model.friction(columns, shapes, model.values))[:, :, base.columns]
        parts.append(full[:: max(1, len(full) // ROWS)])
        speeds.append(stretch.qd)
    rates = np.concatenate(speeds)
    at = [model.coordinates.index(joint.name) for joint in model.joints]
    reached = np.minimum(rates.max(axis=0), -rates.min(axis=0))[at]
    still = [joint.name for joint, speed in zip(model.joints, reached) if speed < SLOWEST]
    matrix = np.concatenate(parts)
    return scaled_condition(matrix.reshape(-1, matrix.shape[2])), still
