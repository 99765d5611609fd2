# SPDX-License-Identifier: Apache-2.0
"""Writes what was recorded: report.json, data.csv, data.npz and markers.npz."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
import platform
import sys
from typing import Any
from typing import Sequence

import flexdyn_ros
from flexdyn_ros.demo import plan
from flexdyn_ros.demo.recording import Recording
import numpy as np

PROCESSES = 'processes.json'
COMPANIONS = 'companions.json'

# Variables that say where messages may go.
NETWORK = (
    'ROS_AUTOMATIC_DISCOVERY_RANGE', 'ROS_DOMAIN_ID', 'ROS_DISCOVERY_SERVER', 'ROS_STATIC_PEERS',
    'FASTDDS_DEFAULT_PROFILES_FILE',
)
# Part of the messages that a recorder may miss when the machine stalls; it disturbs nothing [1].
COUNT_TOLERANCE = 0.01


def write_report(recording: Recording, markers: Sequence[Any]) -> None:
    """
    Write all files of a run into its folder.

    Args:
        recording: What was heard.
        markers: The MarkerArray messages.
    """
    folder = recording.run.path
    columns = data_columns(recording)
    _write_npz(folder / 'data.npz', columns)
    _write_csv(folder / 'data.csv', columns)
    _write_npz(folder / 'markers.npz', marker_arrays(markers))
    report = make_report(recording)
    (folder / 'report.json').write_text(json.dumps(report, indent=1) + '\n', encoding='utf-8')


def make_report(recording: Recording) -> dict[str, Any]:
    """Return what report.json says about a run."""
    run = recording.run
    simulated = recording.simulated_time
    is_compared = recording.states.times <= run.compared + 1e-9
    error = recording.tracking_error()[is_compared]
    joints = run.demo_robot.joints
    expected = expected_counts(run)
    rms = np.sqrt(np.mean(error**2, axis=0))
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
        'real_time_s': round(recording.real_time, 3),
        'real_time_factor': round(recording.real_time_factor, 4),
        'states': {'expected': run.expected_states, 'recorded': len(recording.states)},
        'topics': {
            topic: {'expected': expected.get(topic), **log.summary(simulated)}
            for topic, log in sorted(recording.logs.items())
        },
        'tracking_error_rad': {
            'over_the_first_s': run.compared,
            'rms': float(np.sqrt(np.mean(error**2))),
            'largest': float(np.abs(error).max()),
            'rms_by_joint': dict(zip(joints, rms.tolist())),
        },
        'largest_modal_coordinate': largest_modal_coordinates(recording),
        'processes': processes(run.path),
        'errors': errors(recording),
        'network': {name: os.environ.get(name) for name in NETWORK},
        'versions': versions(),
    }


def errors(recording: Recording) -> list[str]:
    """Return a sentence for each thing that was not as it should be."""
    found = sorted(set(recording.errors))
    for topic, wanted in expected_counts(recording.run).items():
        count = recording.logs[topic].distinct
        if abs(count - wanted) > COUNT_TOLERANCE * wanted:
            found.append(f'{topic}: {count} messages instead of {wanted}.')
    if not recording.logs[f'/{plan.MARKERS}'].count:
        found.append(f'/{plan.MARKERS}: no message.')
    return found


def expected_counts(run: plan.Run) -> dict[str, int]:
    """Return how many messages each topic of the control loop carries, without repetitions."""
    states = run.expected_states
    answers = states - 1  # the last state is not answered
    return {
        **{f'/{topic}': states for topic in (plan.STATES, plan.MODES, plan.TIPS, 'clock')},
        **{
            f'/{topic}': answers
            for topic in (plan.TORQUES, plan.REFERENCE, plan.PD_REFERENCE)
        },
    }


def largest_modal_coordinates(recording: Recording) -> dict[str, float]:
    """Return the largest size of each modal coordinate, [m] or [rad]."""
    names = recording.modes.names
    if not names:
        return {}
    largest = np.abs(recording.modes.values[:, : len(names)]).max(axis=0)
    return dict(zip(names, largest.tolist()))


def processes(folder: Path) -> list[dict[str, Any]]:
    """Return the processes of a run: those launched, the companions, and this one."""
    found = []
    for name in (PROCESSES, COMPANIONS):
        file = folder / name
        if file.exists():
            found += json.loads(file.read_text(encoding='utf-8'))
    found.append(
        {
            'pid': os.getpid(),
            'name': 'recorder',
            'executable': f'{sys.executable} -m flexdyn_ros.demo.recorder_node',
            'launched_by': 'flexdyn demo',
        }
    )
    return found


def versions() -> dict[str, str]:
    """Return the versions of what was used."""
    from rclpy.utilities import get_rmw_implementation_identifier

    return {
        'flexdyn_ros': flexdyn_ros.__version__,
        'python': platform.python_version(),
        'numpy': np.__version__,
        'rmw': get_rmw_implementation_identifier(),
        'system': platform.platform(),
    }


def data_columns(recording: Recording) -> dict[str, np.ndarray]:
    """Return the columns of the data files by name, each of shape (n,)."""
    joints = recording.run.demo_robot.joints
    arrivals = np.array(recording.arrivals)
    columns: dict[str, np.ndarray] = {
        'time': recording.states.times,
        'real_time': arrivals - arrivals[0],
    }
    for label, values in (
        ('position', recording.positions()),
        ('reference', recording.reference()),
        ('velocity', recording.velocities()),
        ('effort', recording.efforts()),
        ('tracking_error', recording.tracking_error()),
    ):
        columns.update({f'{label}/{name}': values[:, k] for k, name in enumerate(joints)})
    for label, series in (
        ('feed_forward', recording.torques), ('mode', recording.modes), ('tip', recording.tips)
    ):
        values = at_times(series, recording.states.times)
        columns.update({f'{label}/{name}': values[:, k] for k, name in enumerate(series.names)})
    return columns


def at_times(series: Any, times: np.ndarray) -> np.ndarray:
    """Return the rows of a series at these times, not-a-number where it has none."""
    values = series.values
    found = np.full((len(times), values.shape[1] if values.size else 0), np.nan)
    rows = {round(time * 1e9): k for k, time in enumerate(series.times)}
    for k, time in enumerate(times):
        row = rows.get(round(time * 1e9))
        if row is not None:
            found[k] = values[row]
    return found


def _write_npz(file: Path, arrays: dict[str, Any]) -> None:
    np.savez_compressed(file, **arrays)


def _write_csv(file: Path, columns: dict[str, np.ndarray]) -> None:
    with open(file, 'w', encoding='utf-8', newline='') as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        for row in zip(*columns.values()):
            writer.writerow([f'{value:.9g}' for value in row])


def marker_arrays(markers: Sequence[Any]) -> dict[str, np.ndarray]:
    """
    Return the lines of the markers as arrays.

    Args:
        markers: The MarkerArray messages.

    Returns:
        For message k: "k/time" [s] and, for each marker of points, "k/<namespace>/<id>/points",
        shape (n, 3) [m], and ".../colours", shape (n, 4).
    """
    arrays: dict[str, np.ndarray] = {}
    for k, message in enumerate(markers):
        for marker in message.markers:
            stamp = marker.header.stamp
            arrays[f'{k}/time'] = np.array(stamp.sec + 1e-9 * stamp.nanosec)
            if marker.ns == 'tube':
                continue
            key = f'{k}/{marker.ns}/{marker.id}'
            arrays[f'{key}/points'] = np.array([[p.x, p.y, p.z] for p in marker.points])
            colours = marker.colors or [marker.color]
            arrays[f'{key}/colours'] = np.array([[c.r, c.g, c.b, c.a] for c in colours])
    return arrays
