# SPDX-License-Identifier: Apache-2.0
"""The trajectories of a scenario: motions of joints by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence

from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.identification.recordings import find_signal, read_signals
from flexdyn_ros.scenario.document import CheckedSection
from flexdyn_ros.simulation.joint_motions import cycloidal, quintic, shifted, trapezoidal
from flexdyn_ros.simulation.torque_laws import PiecewisePolynomial
import numpy as np

JOINT_TRAJECTORY = 'trajectory_msgs/msg/JointTrajectory'
Start = Mapping[str, float]
# More breaks than these are those of samples, whose jumps are small.
MOST_JUMPS = 64


@dataclass(frozen=True)
class ScenarioTrajectory:
    """
    A motion of some joints.

    Attributes:
        names: The joints.
        motion: Their positions over time, width len(names) [rad | m].
        smooth: Whether accelerations are continuous.
    """

    names: tuple[str, ...]
    motion: PiecewisePolynomial
    smooth: bool = True

    @property
    def jumps(self) -> list[float]:
        """Times at which accelerations jump [s]."""
        at = self.motion.at
        return [] if self.smooth or len(at) > MOST_JUMPS else at.tolist()

    def of(self, names: Sequence[str], start: Start) -> PiecewisePolynomial:
        """Return the motion of these joints in their order; others keep their start."""
        coefficients = self.motion.coefficients
        found = np.zeros((*coefficients.shape[:2], len(names)))
        for k, name in enumerate(names):
            if name in self.names:
                found[:, :, k] = coefficients[:, :, self.names.index(name)]
            else:
                found[:, -1, k] = start[name]
        return PiecewisePolynomial(self.motion.at, found)


def make_trajectory(section: CheckedSection, start: Start) -> ScenarioTrajectory:
    """
    Return the trajectory of a section.

    Args:
        section: The checked section.
        start: Initial positions of the joints that are driven [rad | m].

    Raises:
        ScenarioError: A joint is unknown, times do not ascend, or a file cannot be read.
    """
    with section.place.errors():
        return _MAKERS[section['type']](section, start)


def _ends(section: CheckedSection, start: Start) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    names = tuple(start)
    initial = np.array([start[name] for name in names])
    first = section.vector('start', names, 'driven joint', initial)
    return names, first, section.vector('end', names, 'driven joint', first)


def _of_moving(
    section: CheckedSection, key: str, names: Sequence[str], way: np.ndarray, other: float
) -> np.ndarray:
    """Return a value of each joint, which must be written for those that move, (n,)."""
    if isinstance(section[key], dict):
        section.complete(key, [name for name, x in zip(names, way) if x], 'driven joint')
    return section.vector(key, names, 'driven joint', other)


def _cycloidal(section: CheckedSection, start: Start) -> ScenarioTrajectory:
    names, first, last = _ends(section, start)
    durations = _of_moving(section, 'duration', names, last - first, 1.0)
    return ScenarioTrajectory(names, shifted(cycloidal(first, last, durations), section['delay']))


def _trapezoidal(section: CheckedSection, start: Start) -> ScenarioTrajectory:
    names, first, last = _ends(section, start)
    bounds = [_of_moving(section, key, names, last - first, np.inf)
              for key in ('velocity', 'acceleration')]
    motion = trapezoidal(first, last, *bounds)
    return ScenarioTrajectory(names, shifted(motion, section['delay']), smooth=False)


def rows_over_time(
    section: CheckedSection, key: str, names: Sequence[str], kind: str, start: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return times, (T,), and values, (T, n), of points; omitted values stay as they were.

    Args:
        section: CheckedSection whose "points" have a time and values.
        key: The key of the values.
        names: Names of the values.
        kind: Their kind, for errors.
        start: Values before the first point, (n,).
    """
    times: list[float] = []
    rows: list[np.ndarray] = []
    last = start
    for point in section['points']:
        if times and point['time'] <= times[-1]:
            raise point.error(
                'time', f'is {point["time"]:g} s after {times[-1]:g} s',
                'Write points in the order of time.')
        last = point.vector(key, names, kind, last)
        times.append(point['time'])
        rows.append(last)
    return np.array(times), np.array(rows)


def _points(
    section: CheckedSection, start: Start
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    names = tuple(start)
    initial = np.array([start[name] for name in names])
    t, q = rows_over_time(section, 'positions', names, 'driven joint', initial)
    if len(t) < 2:
        raise section.error('points', f'has {len(t)} points', 'Write at least two.')
    return names, t, q


def _quintic(section: CheckedSection, start: Start) -> ScenarioTrajectory:
    names, t, q = _points(section, start)
    return ScenarioTrajectory(names, quintic(t, q))


def _spline(section: CheckedSection, start: Start) -> ScenarioTrajectory:
    names, t, q = _points(section, start)
    return ScenarioTrajectory(names, PiecewisePolynomial.spline(t, q, section['ends'] == 'rest'))


def _csv(section: CheckedSection, start: Start) -> ScenarioTrajectory:
    names = section.chosen('joints', tuple(start), 'driven joint')
    t, heads, (columns, rates) = read_columns(section, names, ('q', 'qd'))
    for name, column in zip(names, columns):
        if column is None:
            raise section.error(
                'file', f'is {section["file"]}, which has no column of "{name}"',
                did_you_mean(name, heads))
    if len(t) < 2:
        raise section.error('file', f'is {section["file"]}, which has one row', 'Write more.')
    slopes = None if any(rate is None for rate in rates) else np.column_stack(rates)
    motion = PiecewisePolynomial.through(t - t[0], np.column_stack(columns), slopes, 'cubic')
    return ScenarioTrajectory(names, motion, smooth=slopes is None)


def read_columns(
    section: CheckedSection, names: Sequence[str], kinds: Sequence[str]
) -> tuple[np.ndarray, Sequence[str], list[list[Any]]]:
    """
    Read the file of a section.

    Args:
        section: Its "file" is a CSV file.
        names: Joints or coordinates.
        kinds: Kinds of the signals that are read, see `find_signal`.

    Returns:
        Ascending times, (T,) [s]; the names of all columns; by kind a column of each name, (T,),
        or None where there is none.
    """
    file = section['file']
    with (section.place / 'file').errors():
        t, signals = read_signals(file)
    if not (np.diff(t) > 0.0).all():
        raise section.error(
            'file', f'is {file}, whose times do not ascend', 'Correct the times of its rows.')
    found = [[find_signal(signals, kind, name) for name in names] for kind in kinds]
    for columns in found:
        for name, column in zip(names, columns):
            if column is not None and not np.isfinite(column).all():
                raise section.error(
                    'file', f'is {file}, which holds a number of "{name}" that is not finite',
                    'Correct it or remove its row.')
    return t, tuple(signals), found


def _bag(section: CheckedSection, start: Start) -> ScenarioTrajectory:
    from flexdyn_ros.identification.bag import NANOSECONDS, read_messages

    with (section.place / 'file').errors():
        _, messages = read_messages(section['file'], (JOINT_TRAJECTORY,), section['topic'])
    message = messages[-1][1]
    names = tuple(message.joint_names)
    for name in names:
        section.known('file', name, tuple(start), 'driven joint')
    points = message.points
    stamps = [point.time_from_start for point in points]
    t = np.array([each.sec + each.nanosec / NANOSECONDS for each in stamps])
    if len(t) < 2 or not (np.diff(t) > 0.0).all():
        raise section.error(
            'file', f'holds a trajectory of {len(t)} points, expected two or more in time order')
    q, qd, qdd = (_field(points, kind, len(names)) for kind in (
        'positions', 'velocities', 'accelerations'))
    if q is None:
        raise section.error('file', 'holds a trajectory, expected positions of all joints in it')
    if not all(np.isfinite(each).all() for each in (q, qd, qdd) if each is not None):
        raise section.error('file', 'holds a trajectory, expected finite numbers in it')
    if qd is not None and qdd is not None:
        return ScenarioTrajectory(names, quintic(t, q, qd, qdd))
    return ScenarioTrajectory(
        names, PiecewisePolynomial.through(t, q, qd, 'cubic'), smooth=qd is None)


def _field(points: Any, kind: str, count: int) -> Any:
    """Return a field of the points, (T, n), or None where a point lacks it."""
    rows = [getattr(point, kind) for point in points]
    return np.array(rows, dtype=float) if all(len(row) == count for row in rows) else None


_MAKERS: dict[str, Callable[[CheckedSection, Start], ScenarioTrajectory]] = {
    'cycloidal': _cycloidal,
    'quintic': _quintic,
    'trapezoidal': _trapezoidal,
    'spline': _spline,
    'csv': _csv,
    'bag': _bag,
}
