# SPDX-License-Identifier: Apache-2.0
"""The recorded messages of one run, and the report: report.json, data.csv, data.npz."""

from __future__ import annotations

import json
import os
from typing import Any, Optional, Sequence

from flexdyn_ros.demo import plan
import numpy as np

MOTOR = '_motor'  # suffix of the motor side of an elastic joint in joint_states
SIMULATOR = (plan.STATES, plan.MODES, plan.TIPS, 'clock')

# Variables that decide the reach of messages.
NETWORK = (
    'ROS_AUTOMATIC_DISCOVERY_RANGE', 'ROS_DOMAIN_ID', 'ROS_DISCOVERY_SERVER', 'ROS_STATIC_PEERS',
    'FASTDDS_DEFAULT_PROFILES_FILE',
)
# Part of the messages that a recorder may miss when the machine stalls; it disturbs nothing [1].
COUNT_TOLERANCE = 0.01


class Recording:
    """
    The received messages.

    Attributes:
        run: The run.
        errors: Errors that diagnostics reported.
        counts: Number of messages by topic.
        stamps: Their distinct stamps [ns] by topic.
        arrivals: Times of arrival by topic, first and last [s].
        names: Names of the columns of the rows by topic.
    """

    def __init__(self, run: plan.DemoRun):
        self.run = run
        self.errors: list[str] = []
        self.counts: dict[str, int] = {}
        self.stamps: dict[str, set[int]] = {}
        self.arrivals: dict[str, list[float]] = {}
        self.names: dict[str, tuple[str, ...]] = {}
        self._rows: dict[str, dict[int, np.ndarray]] = {}

    def hear(self, topic: str, when: float, stamp: Optional[int] = None) -> bool:
        """
        Count a message.

        Args:
            topic: Its topic.
            when: Time of arrival [s].
            stamp: Its stamp [ns], where it has one.

        Returns:
            Whether its stamp is new.
        """
        self.counts[topic] = self.counts.get(topic, 0) + 1
        self.arrivals[topic] = [self.arrivals.get(topic, [when])[0], when]
        stamps = self.stamps.setdefault(topic, set())
        before = len(stamps)
        stamps.add(self.counts[topic] if stamp is None else stamp)
        return len(stamps) > before

    def add(
        self, topic: str, stamp: int, names: Sequence[str], *columns: Sequence[float]
    ) -> None:
        """Keep a row of vectors, one after the other, at a stamp [ns]."""
        self.names.setdefault(topic, tuple(names))
        row = np.concatenate([np.asarray(column, dtype=float) for column in columns])
        self._rows.setdefault(topic, {})[stamp] = row

    def hears_simulator(self) -> bool:
        """Return whether each topic of the simulator has delivered a message."""
        return all(self.counts.get(topic) for topic in SIMULATOR)

    @property
    def started(self) -> bool:
        """Whether the simulation has moved."""
        return len(self._rows.get(plan.STATES, ())) > 1

    def times(self) -> np.ndarray:
        """Return the times of the states, (n,) [s]."""
        return 1e-9 * np.array(sorted(self._rows[plan.STATES]))

    def values(self, topic: str) -> np.ndarray:
        """Return a topic's rows at the times of the states, nan where it has none."""
        rows = self._rows.get(topic, {})
        nothing = np.full(len(next(iter(rows.values()), ())), np.nan)
        return np.array([rows.get(stamp, nothing) for stamp in sorted(self._rows[plan.STATES])])

    def columns(self) -> dict[str, np.ndarray]:
        """Return the columns of the data files by name, each of shape (n,)."""
        joints = self.run.demo_robot.joints
        names = self.names[plan.STATES]
        # Controlled is the motor side of elastic joints.
        side = [names.index(j + MOTOR if j + MOTOR in names else j) for j in joints]
        states = self.values(plan.STATES)
        position, velocity, effort = (
            states[:, [k * len(names) + column for column in side]] for k in range(3))
        motion = plan.rest_to_rest(self.run.demo_robot.waypoints)
        reference = np.array([motion(time)[0] for time in self.times()])
        found = {'time': self.times()}
        for label, values, keys in (
            ('position', position, joints), ('reference', reference, joints),
            ('velocity', velocity, joints), ('effort', effort, joints),
            ('tracking_error', position - reference, joints),
            ('feed_forward', self.values(plan.TORQUES), self.names.get(plan.TORQUES, ())),
            ('mode', self.values(plan.MODES), self.names[plan.MODES]),
            ('tip', self.values(plan.TIPS), self.names[plan.TIPS]),
        ):
            # Torques come as efforts alone: their row has no positions and velocities.
            found.update({f'{label}/{name}': values[:, k] for k, name in enumerate(keys)})
        return found


def write_report(recording: Recording) -> None:
    """Write all files of a run into its folder."""
    folder = recording.run.path
    columns = recording.columns()
    np.savez_compressed(folder / 'data.npz', **columns)  # type: ignore[arg-type]
    np.savetxt(
        folder / 'data.csv', np.column_stack(list(columns.values())), fmt='%.9g', delimiter=',',
        header=','.join(columns), comments='',
    )
    report = json.dumps(make_report(recording, columns), indent=1)
    (folder / 'report.json').write_text(report + '\n', encoding='utf-8')


def make_report(recording: Recording, columns: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return the content of report.json."""
    run = recording.run
    compared = columns['time'] <= run.compared + 1e-9
    error = {
        joint: columns[f'tracking_error/{joint}'][compared] for joint in run.demo_robot.joints}
    simulated = float(columns['time'][-1])
    first, last = recording.arrivals[plan.TORQUES]
    expected = expected_counts(run)
    return {
        'robot': run.robot,
        'control': run.control,
        'title': plan.CONTROLS[run.control],
        'description': {
            'file': run.description_file,
            'extension': run.extension_file or None,
            'as_topic': run.as_topic,
        },
        'duration_s': run.duration,
        'rate_hz': run.rate,
        'simulated_time_s': round(simulated, 6),
        'real_time_factor': round(simulated / max(last - first, 1e-9), 4),
        'states': {'expected': run.expected_states, 'recorded': len(columns['time'])},
        'topics': {
            f'/{topic}': {
                'messages': count, 'repeated': count - len(recording.stamps[topic]),
                'expected': expected.get(topic),
            }
            for topic, count in sorted(recording.counts.items())
        },
        'tracking_error_rad': {
            'over_the_first_s': run.compared,
            'rms': float(np.sqrt(np.mean(np.square(list(error.values()))))),
            'largest': float(np.abs(list(error.values())).max()),
            'rms_by_joint': {
                joint: float(np.sqrt(np.mean(values**2))) for joint, values in error.items()},
        },
        'largest_modal_coordinate': {
            name: float(np.nanmax(np.abs(columns[f'mode/{name}'])))
            for name in recording.names[plan.MODES]
        },
        'errors': errors(recording),
        'network': {name: os.environ.get(name) for name in NETWORK},
    }


def errors(recording: Recording) -> list[str]:
    """Return a sentence for each thing that was not as it should be."""
    found = sorted(set(recording.errors))
    for topic, wanted in expected_counts(recording.run).items():
        count = len(recording.stamps.get(topic, ()))
        if abs(count - wanted) > COUNT_TOLERANCE * wanted:
            found.append(f'/{topic}: {count} messages instead of {wanted}.')
    if not recording.counts.get(plan.MARKERS):
        found.append(f'/{plan.MARKERS}: no message.')
    return found


def expected_counts(run: plan.DemoRun) -> dict[str, int]:
    """Return the numbers of messages by topic of the control loop, without repetitions."""
    states = run.expected_states
    return {**dict.fromkeys(SIMULATOR, states), plan.TORQUES: states - 1}  # the last: no answer
