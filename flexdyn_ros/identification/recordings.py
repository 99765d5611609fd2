# SPDX-License-Identifier: Apache-2.0
"""Recorded motions from CSV files and bags."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, TYPE_CHECKING

from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.identification.bag import (
    joined,
    JOINT_STATE,
    read_joint_states,
    read_messages,
    time_of,
)
from flexdyn_ros.identification.joint_sides import (
    ELASTIC,
    from_both_sides,
    MOTOR,
    recorded_names,
)
import numpy as np

if TYPE_CHECKING:
    from flexdyn_ros.identification import Motion

TABLES = ('.csv', '.txt')
IMU = 'sensor_msgs/msg/Imu'
TIMES = ('t', 'time', 'time_s', 'time [s]', 't [s]', 'timestamp')
# Column of joint number k, or of a joint by name, for each kind of signal.
NUMBERED = {'q': ('q{k}',), 'qd': ('qd{k}', 'dq{k}'), 'tau': ('tau{k}', 'i{k}')}
NAMED = {
    'q': ('{name}', '{name}/position', '{name}/q', 'position_{name}', 'q_{name}'),
    'qd': ('{name}/velocity', '{name}/qd', 'velocity_{name}', 'qd_{name}'),
    'tau': ('{name}/effort', '{name}/torque', '{name}/current', '{name}/tau', 'effort_{name}',
            'torque_{name}', 'current_{name}', 'tau_{name}'),
}
CURRENTS = ('{name}/current', 'current_{name}', 'i{k}')
LONGEST_STEP = 0.5  # [s], beyond which times are likely milliseconds
# Velocities and slopes of positions, over windows, differ by less than this ratio. Joints that
# move less are not compared [rad | m].
UNIT_RATIO, LEAST_WAY, WINDOWS = 4.0, 0.5, 201
LARGEST_ANGLE = 30.0  # [rad], beyond which positions are likely degrees


def read_motion(
    file: str, joints: Sequence[str], gains: Mapping[str, float], topic: Optional[str] = None,
    angular: Sequence[str] = (), load: Any = None,
) -> Motion:
    """
    Return the motion that a CSV file or a bag holds.

    Args:
        file: A CSV file, an MCAP file or the folder of a bag.
        joints: Names of the joints; with coordinates <joint>/elastic the log has these, or link
            sides as <joint> and motor sides as <joint>_motor.
        gains: By joint, the factor on a measured current or effort [N m/A | N/A | -].
        topic: Topic of a bag.
        angular: Joints whose positions are angles [rad].
        load: Load of the motion, as of `Motion`.

    Raises:
        ArgumentError: There is no such file, or a column is missing.
        FlexdynError: A value is not a number, or units are implausible.
    """
    from flexdyn_ros.identification import Motion

    path = Path(file)
    if not path.exists():
        raise ArgumentError('LOG', f'is "{file}", which does not exist. Correct the path')
    table = path.suffix.lower() in TABLES
    names = recorded_names(joints)
    if table:
        heads = _heads(path)
        names = list(joints) if set(joints) <= set(heads) else names
        driven = [name for name in joints if not name.endswith(ELASTIC)]
        t, q, qd, tau = _from_csv(path, names, driven, gains)
    else:
        recording = read_joint_states(file, names, {}, topic)
        t, q = recording.t, recording.q
        qd = recording.qd if np.isfinite(recording.qd).all() else None
        tau = recording.effort
        if not np.isfinite(tau).all():
            raise FlexdynError(
                f'{file}: {recording.topic} holds no efforts of all joints. Record them.')
    if names != list(joints):
        from_both_sides(joints, q, qd, None if table else tau)
    _refuse_other_units(file, t, q, qd, joints)
    scale = np.array([gains.get(name, 1.0) for name in joints])
    for name, column in zip(joints, q.T):
        if name in angular and np.abs(column).max() > LARGEST_ANGLE:
            raise FlexdynError(
                f'{file}: "{name}" reaches {np.abs(column).max():.4g}, too much for radians. '
                'Write positions in radians and times in seconds.')
    return Motion(t, q, qd, tau * scale, joints, load)


def _refuse_other_units(
    file: str, t: np.ndarray, q: np.ndarray, qd: Optional[np.ndarray], joints: Sequence[str]
) -> None:
    """Raise FlexdynError where times are no seconds, or velocities no slopes of positions."""
    step = float(np.median(np.diff(t)))
    if step > LONGEST_STEP:
        raise FlexdynError(f'{file}: samples are {step:.4g} s apart. Write times in seconds.')
    marks = np.linspace(0, len(t) - 1, WINDOWS).astype(int)
    for name, places, rates in zip(joints, q.T, () if qd is None else qd.T):
        ways = np.diff(places[marks])
        steps = 0.5 * (rates[1:] + rates[:-1]) * np.diff(t)
        integrals = np.diff(np.concatenate([[0.0], np.cumsum(steps)])[marks])
        ratio = float(integrals @ ways / max(ways @ ways, 1e-300))
        if np.sum(np.abs(ways)) > LEAST_WAY and not 1.0 / UNIT_RATIO < ratio < UNIT_RATIO:
            raise FlexdynError(
                f'{file}: velocities of "{name}" are {ratio:.3g} times the slopes of its '
                'positions. Check the units of times, positions and velocities.')


def read_signals(file: str, topic: Optional[str] = None) -> tuple[np.ndarray, dict[str, Any]]:
    """
    Return times, (T,) [s], and all signals of a recording by name, (T,) each.

    Columns of a CSV file keep their names. Bags give <joint>, <joint>/velocity and
    <joint>/effort of joint states, or linear_acceleration/x and so on of an IMU.

    Args:
        file: A CSV file, an MCAP file or the folder of a bag.
        topic: Topic of a bag.

    Raises:
        ArgumentError: There is no such file or topic, or no column of times.
        FlexdynError: A value is not a number.
    """
    path = Path(file)
    if path.is_file() and path.suffix.lower() in TABLES:
        heads = _heads(path)
        time = _time_column(path, heads)
        others = [k for k in range(len(heads)) if k != time]
        table = _numbers(path, [time, *others])
        return table[:, 0], dict(zip([heads[k] for k in others], table[:, 1:].T))
    found, messages = read_messages(file, (JOINT_STATE, IMU), topic)
    if hasattr(messages[0][1], 'linear_acceleration'):
        t = np.array([time_of(*each) for each in messages])
        return t, {
            f'{kind}/{axis}': np.array([getattr(getattr(m, kind), axis) for _, m in messages])
            for kind in ('linear_acceleration', 'angular_velocity') for axis in 'xyz'}
    names = sorted({name for _, message in messages for name in message.name})
    states = joined(found, messages, names, {})
    kinds = (('', states.q), ('/velocity', states.qd), ('/effort', states.effort))
    return states.t, {
        f'{name}{kind}': column for kind, values in kinds
        for name, column in zip(names, values.T) if np.isfinite(column).all()}


def find_signal(signals: Mapping[str, np.ndarray], kind: str, name: str) -> Optional[np.ndarray]:
    """
    Return a signal of a joint among those of `read_signals`, or None.

    Args:
        signals: All signals by name; headings of `flexdyn simulate` count too.
        kind: A key of NAMED.
        name: The joint.
    """
    forms = [form.format(name=name) for form in NAMED[kind]]
    found = next((signals[form] for form in forms if form in signals), None)
    if found is None:
        head = f'{kind} {name} ['
        found = next((each for key, each in signals.items() if key.startswith(head)), None)
    return found


Signals = tuple[np.ndarray, np.ndarray, Optional[np.ndarray], np.ndarray]


def _heads(path: Path) -> list[str]:
    """Return the names of the columns of a CSV file."""
    with open(path, newline='', encoding='utf-8-sig') as stream:
        return [head.strip() for head in next(csv.reader(stream), [])]


def _from_csv(
    path: Path, joints: Sequence[str], driven: Sequence[str], gains: Mapping[str, float]
) -> Signals:
    """
    Return times, positions, velocities or None, and torques; rows with gaps are left out.

    Only the driven ones, which come first, have a torque that is not zero.
    """
    heads = _heads(path)
    wanted = [_time_column(path, heads)]
    found: dict[str, Optional[list[int]]] = {}
    for kind in ('q', 'qd', 'tau'):
        owners = driven if kind == 'tau' else joints
        places = [_place(heads, kind, k + 1, name) for k, name in enumerate(owners)]
        missing = [name for name, place in zip(owners, places) if place is None]
        if missing and kind != 'qd':
            shown = NAMED[kind][0 if kind == 'q' else 1].format(name=missing[0])
            raise ArgumentError(
                'LOG', f'is {path}, which lacks a column "{shown}". Add it to {", ".join(heads)}')
        found[kind] = None if missing else [place for place in places if place is not None]
        for k, (name, place) in enumerate(zip(owners, places), 1):
            forms = [form.format(name=name, k=k) for form in CURRENTS]
            if kind == 'tau' and name not in gains and heads[place or 0] in forms:
                raise ArgumentError(
                    '--gains', f'has no gain of "{name}". Add it, since {path} holds its current')
        wanted += found[kind] or []
    table = _numbers(path, wanted)
    parts: dict[str, Any] = {}
    start = 1
    for kind, places in found.items():
        count = len(places or ())
        own = table[:, start : start + count]
        parts[kind] = None if places is None else np.pad(
            own, ((0, 0), (0, len(joints) - count)))
        start += count
    return table[:, 0] - table[0, 0], parts['q'], parts['qd'], parts['tau']


def _time_column(path: Path, heads: Sequence[str]) -> int:
    """Return the column of times."""
    found = [k for k, head in enumerate(heads) if head.lower() in TIMES]
    if not found:
        raise ArgumentError('LOG', f'is {path}, whose first row has no column {TIMES[0]}. Add it')
    return found[0]


def _numbers(path: Path, wanted: Sequence[int]) -> np.ndarray:
    """Return some columns of a CSV file, (T, len(wanted)); rows with gaps are left out."""
    with open(path, newline='', encoding='utf-8-sig') as stream:
        rows = list(csv.reader(stream))
    values = []
    for number, row in enumerate(rows[1:], 2):
        cells = [row[k].strip() if k < len(row) else '' for k in wanted]
        if not all(cells):
            continue  # a missing sample
        try:
            values.append([float(cell) for cell in cells])
        except ValueError:
            raise FlexdynError(
                f'{path}, line {number}: a value is not a number. Correct the line.') from None
    if not values:
        raise FlexdynError(f'{path} has no complete row. Each needs a number in every column.')
    return np.array(values)


def _place(heads: Sequence[str], kind: str, number: int, name: str) -> Optional[int]:
    """Return the column of a joint's signal, by its name, or else by its number."""
    names = (name, f'{name}{MOTOR}') if kind == 'tau' else (name,)
    candidates = [form.format(name=each) for each in names for form in NAMED[kind]]
    candidates += [form.format(k=number) for form in NUMBERED[kind]]
    for each in candidates:
        if each in heads:
            return heads.index(each)
    return None
