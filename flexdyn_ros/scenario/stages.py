# SPDX-License-Identifier: Apache-2.0
"""The stages of a scenario: between changes of payload, disturbances and base, all is constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterable, Sequence

from flexdyn_ros.model.records.base import symmetric_matrix
from flexdyn_ros.scenario.document import CheckedSection
from flexdyn_ros.scenario.schema import AXES
from flexdyn_ros.scenario.trajectories import rows_over_time
from flexdyn_ros.simulation.prescribed import BaseAcceleration
from flexdyn_ros.simulation.torque_laws import PiecewisePolynomial
import numpy as np

_SAME_TIME = 1e-9  # [s]


@dataclass(frozen=True)
class RunStage:
    """
    A part of a run.

    Attributes:
        start: Time of its start [s].
        end: Time of its end [s].
        wrenches: Of the environment by link, (6,) each, in root axes [N, N m].
        torque: Disturbing generalised forces, (nv,) [N m | N].
        payloads: The payload.
        arriving: Those that are picked up from rest at its start.
        base: Acceleration of a prescribed base over the time of the stage, or None.
    """

    start: float
    end: float
    wrenches: dict[str, np.ndarray]
    torque: np.ndarray
    payloads: tuple[CheckedSection, ...]
    arriving: tuple[CheckedSection, ...]
    base: BaseAcceleration

    def load(self, dyn: Any) -> None:
        """Put the payloads of this stage on a robot."""
        dyn.clear_payload()
        for payload in self.payloads:
            put_payload(dyn, payload)


def payload_windows(
    stages: Sequence[RunStage]
) -> list[tuple[float, float, Callable[[Any], None]]]:
    """Return start, end and load function of each time span with the same payloads."""
    found: list[tuple[float, float, Callable[[Any], None]]] = []
    before: Any = None
    for stage in stages:
        if found and stage.payloads == before:
            found[-1] = (found[-1][0], stage.end, found[-1][2])
        else:
            found.append((stage.start, stage.end, stage.load))
        before = stage.payloads
    return found


def put_payload(dyn: Any, payload: CheckedSection) -> None:
    """Put a payload on its link."""
    inertia = symmetric_matrix(payload['inertia'])
    with payload.place.errors():
        dyn.set_payload(payload['link'], payload['mass'], payload['com'], inertia)


def make_stages(data: CheckedSection, robot: Any, jumps: Iterable[float]) -> list[RunStage]:
    """
    Return the stages of a scenario.

    Args:
        data: The checked scenario.
        robot: Its robot.
        jumps: Further times at which a stage ends [s].

    Raises:
        ScenarioError: A name is unknown, times contradict each other, or the base is fixed.
    """
    end = data['simulation']['duration']
    if end <= _SAME_TIME:
        raise data['simulation'].error(
            'duration', f'is {end:g} s', f'Write more than {_SAME_TIME:g} s.')
    spans = [_span(each, 'start', 'duration', end) for each in data['disturbances'].values()]
    carried = [_span(each, 'picked_up', 'dropped', end) for each in data['payload']]
    _refuse_names(data, robot)
    _refuse_overlap(data['payload'], carried)
    base = _base(data, robot)
    times = {0.0, end, *jumps}
    times |= {t for span in (*spans, *carried) for t in span}
    if base is not None and data['base']['interpolation'] == 'hold':
        times |= set(base.at.tolist())
    ordered = [t for t in sorted(times) if 0.0 <= t <= end]
    kept = [t for k, t in enumerate(ordered) if not k or t - ordered[k - 1] > _SAME_TIME]
    stages = []
    for start, stop in zip(kept, kept[1:]):
        middle = 0.5 * (start + stop)
        acting = [each for each, span in zip(data['disturbances'].values(), spans)
                  if span[0] < middle < span[1]]
        held = tuple(each for each, span in zip(data['payload'], carried)
                     if span[0] < middle < span[1])
        arriving = tuple(
            each for each in held
            if each['velocity'] == 'at_rest' and abs(each['picked_up'] - start) <= _SAME_TIME
            and start > 0.0)
        stages.append(RunStage(
            start, stop, _wrenches(acting), _torque(acting, robot), held, arriving,
            _of_stage(base, start, middle, data)))
    return stages


def _span(section: CheckedSection, first: str, last: str, end: float) -> tuple[float, float]:
    """Return when something acts."""
    start, stop = section[first], section[last]
    if stop is None:
        return start, end
    if last == 'duration':
        return start, min(start + stop, end)
    if stop <= start:
        raise section.error(
            last, f'is {stop:g} s, and {first} is {start:g} s', 'Write a later time.')
    return start, min(stop, end)


def _refuse_names(data: CheckedSection, robot: Any) -> None:
    for name in data['outputs']['frames']:
        data['outputs'].known('frames', name, robot.frame_names, 'link')
    for section in (*data['disturbances'].values(), *data['payload']):
        if 'link' in section:
            section.known('link', section['link'], robot.frame_names, 'link')


def _refuse_overlap(
    payloads: Sequence[CheckedSection], spans: Sequence[tuple[float, float]]
) -> None:
    for k, (each, span) in enumerate(zip(payloads, spans)):
        for other, before in zip(payloads[:k], spans[:k]):
            if each['link'] == other['link'] and max(span[0], before[0]) < min(span[1], before[1]):
                raise each.error(
                    'picked_up', f'is {span[0]:g} s, while link "{each["link"]}" carries another '
                    f'payload until {before[1]:g} s', 'Write a later time, or another link.')


def _wrenches(acting: Sequence[CheckedSection]) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for each in acting:
        if each['type'] == 'wrench':
            wrench = np.array([*each['force'], *each['torque']])
            found[each['link']] = found.get(each['link'], 0.0) + wrench
    return found


def _torque(acting: Sequence[CheckedSection], robot: Any) -> np.ndarray:
    found = np.zeros(robot.nv)
    for each in acting:
        if each['type'] == 'torque':
            found += each.vector('torques', robot.coordinate_names, 'coordinate')
    return found


def _base(data: CheckedSection, robot: Any) -> Any:
    """Return the acceleration of the base over time, or None."""
    if 'base' not in data or not data['base']:
        return None
    section = data['base']
    if robot.base_motion != 'prescribed':
        raise section.place.error(
            f'is given, and the base is {robot.base_motion}',
            'Write <base motion="prescribed"/> into the description.')
    t, values = rows_over_time(section, 'acceleration', AXES, 'axis', np.zeros(len(AXES)))
    if t[0] > 0.0:
        t, values = np.append(0.0, t), np.vstack([np.zeros(len(AXES)), values])
    return PiecewisePolynomial.through(t, values, None, section['interpolation'])


def _of_stage(base: Any, start: float, middle: float, data: CheckedSection) -> BaseAcceleration:
    if base is None:
        return None
    if data['base']['interpolation'] == 'hold':
        return np.asarray(base(middle)[0])

    def acceleration(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return np.asarray(base(start + t)[0])

    return acceleration
