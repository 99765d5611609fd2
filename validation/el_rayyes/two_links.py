# SPDX-License-Identifier: Apache-2.0
"""Case 4: free vibrations of two flexible links, which the thesis describes by its curves."""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation import simulate, Trajectory
import numpy as np
from validation.case import Picture, Progress, Row, Verdict
from validation.case_file import inputs, make_rows
from validation.registry import Code
from validation.robots import example_robot
from validation.studies import COLOURS, frequencies_hz, new_figure, reference, save_figure

_ARM = {
    'ei_factor': '1', 'link_mass': '1', 'modes_z': '1', 'tip_mass': '0', 'joint_mass': '2',
    'gravity': '0 0 0',
}
# Names of the variables in the thesis; the first number is the link's.
NAMES = {
    'q1': 'joint1', 'q2': 'joint2', 'y1': 'link1/bending_y1', 'y2': 'link2/bending_y1',
    'z1': 'link1/bending_z1', 'z2': 'link2/bending_z1', 'x1': 'link1/torsion1',
}
_PLANE = ('q1', 'q2', 'y1', 'y2')
_SPLIT = 15.0  # [Hz], between the slow and the fast vibrations of cases 4.3 and 4.4


def arm(**changes: str) -> Robot:
    """Return the two links of case 4, by default with its one hub."""
    hub = {'joint_inertia': str(inputs('er_case4_1')['hub'])}
    return example_robot('two_link_arm', **{**_ARM, **hub, **changes})


@lru_cache(maxsize=None)
def _run(name: str, **changes: str) -> dict[str, np.ndarray]:
    """Return the free vibration of a case by the thesis's names, and its times."""
    data = inputs(name)
    robot = arm(**{key: str(value) for key, value in data['arm'].items()}, **changes)
    dyn, start = Dynamics(robot, backend='python'), np.zeros(robot.nv)
    for key, value in data['start'].items():
        start[robot.coordinate_names.index(NAMES[key])] = value
    rest = np.zeros(robot.nv)
    run: Trajectory = simulate(
        dyn, start, rest, None, data['duration'], data['dt'], progress=False
    )
    found = {
        key: run.coordinate(full) for key, full in NAMES.items()
        if full in robot.coordinate_names
    }
    return {'t': run.t, **found}


def _loudest(samples: np.ndarray, dt: float) -> float:
    """Return the frequency [Hz] of the largest peak of the spectrum."""
    return _peaks(samples, dt, 1.0)[0]


def _peaks(samples: np.ndarray, dt: float, level: float = 0.5) -> list[float]:
    """Return the frequencies [Hz] of peaks at this part of the largest, by parabolas, or above."""
    size = 8 * len(samples)
    spectrum = np.abs(np.fft.rfft(np.hanning(len(samples)) * (samples - samples.mean()), size))
    middle = spectrum[1:-1]
    tops = (middle > spectrum[:-2]) & (middle > spectrum[2:]) & (middle >= level * spectrum.max())
    found = []
    for best in np.flatnonzero(tops) + 1:
        a, b, c = np.log(spectrum[best - 1: best + 2])
        found.append(float((best + 0.5 * (a - c) / (a - 2 * b + c)) / (size * dt)))
    return found


def _hertz(values: list[float]) -> str:
    return ', '.join(f'{value:.2f}' for value in values) + ' Hz'


def _size(run: dict[str, np.ndarray], keys: tuple[str, ...]) -> float:
    return max(float(np.max(np.abs(run[key]))) for key in keys)


def _phase(a: np.ndarray, b: np.ndarray) -> float:
    """Return the correlation of two vibrations: -1 in opposite phase."""
    return float(np.corrcoef(a, b)[0, 1])


def in_plane(progress: Progress) -> list[Row]:
    """Return the rows of case 4.1: link 2 bent in the plane of motion."""
    data, run = inputs('er_case4_1'), _run('er_case4_1')
    robots = {
        key: arm(**{name: str(value) for name, value in changes.items()})
        for key, changes in data['placements'].items()
    }

    def plane(name: str) -> bool:
        return 'bending_z' not in name

    found: dict[str, Any] = {
        f'{key}_plane': frequencies_hz(robot, plane) for key, robot in robots.items()
    }
    found |= {
        f'{key}_across': frequencies_hz(robot, lambda name: 'bending_z' in name)
        for key, robot in robots.items()
    }
    frequency = _loudest(run['y2'], data['dt'])
    phases = _phase(run['y2'], run['q2']), _phase(run['y1'], run['q1'])
    across = _size(run, ('z1', 'z2'))
    free = example_robot('flexible_beam', hinged='true', torsion_modes='0', modes='10')
    clamped = example_robot('flexible_beam', torsion_modes='0', modes='1')
    found |= {
        'frequency': frequency, 'regression': frequency,
        'phase': Verdict(
            max(phases) < -0.9, f'correlation {phases[0]:.3f} and {phases[1]:.3f}',
        ),
        'same': Verdict(
            abs(_loudest(run['q2'], data['dt']) / frequency - 1.0) < 0.01,
            f'{frequency:.2f} Hz of bending, {_loudest(run["q2"], data["dt"]):.2f} Hz of joint 2',
        ),
        'decoupled': Verdict(across < 1e-12, f'largest deflection along z {across:.1e} m'),
        # Frequencies of the link of 0.5 kg, for one of 1 kg.
        'scale': np.sqrt(clamped.total_mass / _modal_mass(clamped)),
        'pinned': frequencies_hz(free)[0] / np.sqrt(2.0),
        'clamped': frequencies_hz(clamped)[0] / np.sqrt(2.0),
    }
    return make_rows('er_case4_1', found)


def across_the_plane(progress: Progress) -> list[Row]:
    """Return the rows of case 4.2: link 2 bent along the joint axes."""
    data, run = inputs('er_case4_2'), _run('er_case4_2')
    frequency, plane = _loudest(run['z2'], data['dt']), _size(run, _PLANE)
    # The part of link 1 at link 2's frequency, above the slow one.
    first = run['z1'] - _slow(run['z1'], data['dt'], 0.5 * frequency)
    other = _loudest(first, data['dt'])
    return make_rows('er_case4_2', {
        'frequency': frequency, 'regression': frequency,
        'same': Verdict(abs(other / frequency - 1.0) < 0.02,
                        f'{other:.2f} Hz in link 1, {frequency:.2f} Hz in link 2'),
        'decoupled': Verdict(plane < 1e-12, f'largest motion in the plane {plane:.1e}'),
        'between': Verdict(7.98 < frequency < 35.01 and frequency - 7.98 < 35.01 - frequency,
                           f'{frequency:.2f} Hz between 7.98 and 35.01 Hz'),
    })


def _slow(samples: np.ndarray, dt: float, limit: float) -> np.ndarray:
    """Return the part of the samples below a frequency [Hz]."""
    spectrum = np.fft.rfft(samples)
    spectrum[np.fft.rfftfreq(len(samples), dt) > limit] = 0.0
    return np.fft.irfft(spectrum, len(samples))


def twisted(name: str, progress: Progress) -> list[Row]:
    """Return the rows of cases 4.3 and 4.4: link 2 at a right angle, link 1 twists."""
    data, run = inputs(name), _run(name)
    slow = _slow(run['z1'], data['dt'], _SPLIT)
    low, high = _loudest(slow, data['dt']), _loudest(run['z1'] - slow, data['dt'])
    plane, across = _size(run, ('y1', 'y2')), _size(run, ('z1', 'z2'))
    found: dict[str, Any] = {
        'low_regression': low, 'high_regression': high,
        'plane': Verdict(plane < 0.02 * across, f'{plane:.1e} m against {across:.1e} m'),
    }
    if name == 'er_case4_3':
        coordinates = [
            _twist_coordinate(name, **{key: str(value) for key, value in changes.items()})
            for changes in data['placements'].values()
        ]
        twist = _size(run, ('x1',))
        found |= {
            'low': low, 'high': high, 'placements': coordinates,
            'coordinate': Verdict(
                abs(coordinates[-1] / data['twist'] - 1.0) < 0.1,
                f'{coordinates[-1]:.4f} with shapes of unit mean square, as in bending; '
                f'the tip turns by {twist:.4f} rad',
            ),
        }
    else:
        other = _run('er_case4_3')
        before, after = ([
            peak for key in ('z1', 'z2') for peak in _both_bands(motion[key], data['dt'])
        ] for motion in (other, run))
        found |= {
            'same': Verdict(
                np.shape(after) == np.shape(before) and np.allclose(after, before, rtol=0.02),
                f'{_hertz(after)}; {_hertz(before)} in case 4.3',
            ),
            'smaller': Verdict(
                _size(run, ('z1',)) < _size(other, ('z1',)),
                f'{1e3 * _size(run, ("z1",)):.2f} mm against '
                f'{1e3 * _size(other, ("z1",)):.2f} mm in case 4.3',
            ),
        }
    return make_rows(name, found)


def _both_bands(samples: np.ndarray, dt: float) -> list[float]:
    """Return the peaks of the slow part [Hz], and the loudest of the fast one."""
    slow = _slow(samples, dt, _SPLIT)
    return [*_peaks(slow, dt), _loudest(samples - slow, dt)]


def _twist_coordinate(name: str, **changes: str) -> float:
    """Return the largest coordinate of torsion by a shape of unit mean square, as of bending."""
    run = _run(name, **changes)
    robot = example_robot('flexible_beam', modes='0', torsion_modes='1')
    # The modal mass of a unit twist of the tip, of the polar inertia of the rod.
    beam = robot.link('beam').beam
    assert beam is not None
    polar = beam.mass * beam.polar / beam.area
    return _size(run, ('x1',)) * float(np.sqrt(_modal_mass(robot) / polar))


def _modal_mass(robot: Robot) -> float:
    return float(reference(robot).mass_matrix(np.zeros(robot.nv))[0, 0])


def draw(folder: Path) -> list[Picture]:
    """Draw the coordinates that move in the four cases."""
    figure = new_figure(11.0, 6.5)
    panels = figure.subplots(2, 2)
    shown = (
        ('er_case4_1', ('y1', 'y2', 'q2'), 'in the plane'),
        ('er_case4_2', ('z1', 'z2'), 'along the joint axes'),
        ('er_case4_3', ('z1', 'z2', 'x1'), 'link 2 bent, at a right angle'),
        ('er_case4_4', ('z1', 'z2', 'x1'), 'link 1 twisted, at a right angle'),
    )
    words = {'y1': 'y, link 1', 'y2': 'y, link 2', 'z1': 'z, link 1', 'z2': 'z, link 2',
             'x1': 'twist, link 1', 'q2': 'joint 2'}
    for axes, (name, keys, title) in zip(panels.flat, shown):
        run = _run(name)
        span = run['t'] < (0.2 if name == 'er_case4_1' else 0.6)
        for k, key in enumerate(keys):
            axes.plot(run['t'][span], 1e3 * run[key][span], color=COLOURS[k], linewidth=1,
                      label=words[key])
        axes.set(xlabel='time [s]', ylabel='[mm] and [mrad]',
                 title=f'Case {name[-3:].replace("_", ".")}: {title}')
        axes.legend(framealpha=0.9, loc='upper right')
    save_figure(figure, folder, 'er_case4.png')
    return [Picture(
        'er_case4.png', 'Case 4 of El-Rayyes: free vibrations of two flexible links, joints free, '
        'with the joint masses as a hub of link 2.',
    )]


CODE = {
    'er_case4_1': Code(in_plane, draw),
    'er_case4_2': Code(across_the_plane),
    'er_case4_3': Code(partial(twisted, 'er_case4_3')),
    'er_case4_4': Code(partial(twisted, 'er_case4_4')),
}
