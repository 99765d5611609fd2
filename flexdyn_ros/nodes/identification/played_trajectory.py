# SPDX-License-Identifier: Apache-2.0
"""The trajectory that identification_node plays: the way to its start, and its repetitions."""

from __future__ import annotations

from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any, Sequence

from builtin_interfaces.msg import Duration
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.times import NANOSECONDS
from flexdyn_ros.simulation.joint_motions import quintic, sampled
import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
import yaml

APPROACH_POINTS = 50
SHORTEST_APPROACH = 1.0  # [s]
PEAK = 1.875  # of the velocity of a quintic from rest to rest, over the mean one


@dataclass(frozen=True)
class PlayedTrajectory:
    """
    A motion from rest to rest.

    Attributes:
        names: Joints.
        t: Times from zero on, (T,) [s].
        states: Positions, velocities and accelerations, (3, T, n).
    """

    names: tuple[str, ...]
    t: np.ndarray
    states: np.ndarray

    @classmethod
    def read(cls, file: str, joints: Sequence[str]) -> PlayedTrajectory:
        """
        Return the trajectory of a file that `flexdyn excite` writes, in the order of joints.

        Raises:
            FlexdynError: The file is none, or has not all joints, or ends elsewhere.
        """
        try:
            text = Path(file).read_text('utf-8')
            message = json.loads(text) if text.startswith('{') else yaml.safe_load(text)
            names, points = message['joint_names'], message['points']
            order = [names.index(name) for name in joints]
            stamps = [point['time_from_start'] for point in points]
            t = [stamp['sec'] + stamp['nanosec'] / NANOSECONDS for stamp in stamps]
            kinds = ('positions', 'velocities', 'accelerations')
            states = np.array([[point[kind] for point in points] for kind in kinds], dtype=float)
            found = cls(tuple(joints), np.array(t) - t[0], states[:, :, order])
        except (OSError, KeyError, TypeError, ValueError, IndexError, yaml.YAMLError) as error:
            raise FlexdynError(
                f'trajectory_file "{file}" holds no JointTrajectory of {", ".join(joints)} with '
                f'positions, velocities and accelerations: {error}. Write one by '
                '`flexdyn excite`.') from None
        ends = found.states[:, [0, -1]]
        if np.abs(ends[0, 1] - ends[0, 0]).max() > 1e-3 or np.abs(ends[1]).max() > 1e-2:
            raise FlexdynError(
                f'trajectory_file "{file}" does not end at rest where it starts. '
                'Write one by `flexdyn excite`.')
        return found

    def message(self, start: np.ndarray, speed: float, repetitions: int) -> JointTrajectory:
        """
        Return the way to the start and the repetitions as one message.

        Args:
            start: Position of the arm, (n,) [rad | m].
            speed: Of the fastest joint on the way [rad/s | m/s].
            repetitions: Number of them.
        """
        way = self.states[0, 0] - start
        duration = max(SHORTEST_APPROACH, PEAK * float(np.abs(way).max()) / speed)
        times = [np.linspace(0.0, duration, APPROACH_POINTS)[1:]]
        approach = quintic([0.0, duration], [start, self.states[0, 0]])
        states = [np.array(sampled(approach, times[0]))]
        for _ in range(repetitions):
            times.append(times[-1][-1] + self.t[1:])
            states.append(self.states[:, 1:])
        return JointTrajectory(joint_names=list(self.names), points=[
            _point(when, state) for when, state in zip(
                np.concatenate(times).tolist(),
                np.concatenate(states, axis=1).transpose(1, 0, 2).tolist())])


def _point(when: float, state: Sequence[Any]) -> JointTrajectoryPoint:
    """Return a point of positions, velocities and accelerations at a time [s]."""
    sec, nanosec = divmod(round(when * NANOSECONDS), NANOSECONDS)
    return JointTrajectoryPoint(
        positions=state[0], velocities=state[1], accelerations=state[2],
        time_from_start=Duration(sec=sec, nanosec=nanosec))
