# SPDX-License-Identifier: Apache-2.0
"""Case 3: the flexible double pendulum approaches the rigid one as its links stiffen."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation import simulate, Trajectory
import numpy as np
from validation.beam_arms import beam_arm_urdf
from validation.case import no_progress, Picture, Progress, Row, Verdict
from validation.case_file import inputs, make_rows
from validation.registry import Code
from validation.studies import COLOURS, frequencies_hz, new_figure, save_figure

NAME = 'er_case3'
_RIGID = 0.0
_EVERY = 10  # samples of the deviation are 5 ms apart


def swing_rows(progress: Progress = no_progress) -> list[Row]:
    """Return the rows of the swing."""
    data = inputs(NAME)
    found: dict[str, Any] = {}
    for k, tip_mass in enumerate(data['tip_masses'], 1):
        rigid = _swing(tip_mass, _RIGID, 0)
        at = [round(t / data['dt']) for t in data['times']]
        found[f'rigid_{k}'] = rigid.q[at, :2]
        for word, rigidity in (('soft', data['soft']), ('stiff', data['stiff'])):
            found[f'{word}_{k}'] = _deviation(tip_mass, rigidity, 1)
        progress(0.3 * k)
    for word, rigidity in (('soft', data['soft']), ('stiff', data['stiff'])):
        robot = load_robot(_text(data['tip_masses'][0], rigidity, 1))
        found[f'frequencies_{word}'] = frequencies_hz(robot)
    study = _study()
    falls = bool(np.all(np.diff(study, axis=0) < 0.0))
    detail = '; '.join(
        f'EI {rigidity:g}: {a:.4f}, {b:.4f} rad' for rigidity, (a, b) in zip(data['study'], study)
    )
    found['approach'] = Verdict(falls, detail)
    fast = [_ripple(rigidity) for rigidity in (data['soft'], data['stiff'])]
    found['ripple'] = Verdict(
        fast[1][0] > fast[0][0] and fast[1][1] < fast[0][1],
        '; '.join(f'{frequency:.0f} Hz with {1e3 * size:.2f} mm' for frequency, size in fast),
    )
    return make_rows(NAME, found)


def _text(tip_mass: float, rigidity: float, modes: int) -> str:
    data = inputs(NAME)
    return beam_arm_urdf(
        [data['length']] * 2, [data['mass']] * 2, [rigidity or 1.0] * 2, modes,
        gravity=data['gravity'], tip_mass=tip_mass,
    )


@lru_cache(maxsize=None)
def _swing(tip_mass: float, rigidity: float, modes: int) -> Trajectory:
    """Return two seconds from rest with the thesis's time step."""
    data = inputs(NAME)
    dyn = Dynamics(load_robot(_text(tip_mass, rigidity, modes)), backend='python')
    start = np.zeros(dyn.robot.nv)
    start[:2] = data['angles']
    return simulate(
        dyn, start, np.zeros(dyn.robot.nv), None, data['duration'], data['dt'], progress=False
    )


def _deviation(tip_mass: float, rigidity: float, modes: int) -> np.ndarray:
    """Return the largest deviation of both angles from the rigid motion [rad]."""
    flexible, rigid = _swing(tip_mass, rigidity, modes), _swing(tip_mass, _RIGID, 0)
    deviation = np.abs(flexible.q[:, :2] - rigid.q[:, :2])
    return np.max(deviation[::_EVERY], axis=0)


@lru_cache(maxsize=None)
def _study() -> np.ndarray:
    data = inputs(NAME)
    return np.array([_deviation(data['tip_masses'][0], EI, 1) for EI in data['study']])


def _ripple(rigidity: float) -> tuple[float, float]:
    """Return the frequency [Hz] of the loudest vibration of link 2, and its size [m]."""
    data = inputs(NAME)
    run = _swing(data['tip_masses'][0], rigidity, 1)
    samples = run.q[:, 3]
    spectrum = np.abs(np.fft.rfft(np.hanning(len(samples)) * (samples - samples.mean())))
    frequencies = np.fft.rfftfreq(len(samples), data['dt'])
    spectrum[frequencies < 5.0] = 0.0  # frequencies of the swing itself
    best = int(np.argmax(spectrum))
    return float(frequencies[best]), float(4.0 * spectrum[best] / len(samples))


def draw(folder: Path) -> list[Picture]:
    """Draw the swings of the thesis and the deviation against stiffness."""
    data = inputs(NAME)
    tip_mass = data['tip_masses'][0]
    figure = new_figure(11.0)
    left, right = figure.subplots(1, 2)
    for k, (rigidity, word) in enumerate((
        (data['soft'], f'EI {data["soft"]:g} N m$^2$'), (data['stiff'], f'EI {data["stiff"]:g}'),
        (_RIGID, 'rigid'),
    )):
        run = _swing(tip_mass, rigidity, 1 if rigidity else 0)
        for joint in (0, 1):
            left.plot(run.t, run.q[:, joint], color=COLOURS[k], linestyle=('-', '--')[joint],
                      label=word if joint == 0 else None, linewidth=1.2)
    left.set(xlabel='time [s]', ylabel='angle [rad]', title='Joint 1 (line) and joint 2 (dashed)')
    left.legend(frameon=False)
    study = _study()
    for joint in (0, 1):
        right.loglog(data['study'], study[:, joint], 'o-', color=COLOURS[joint],
                     label=f'joint {joint + 1}')
    line = np.array(data['study'])
    right.loglog(line, study[-1, 0] * line[-1] / line, ':', color=COLOURS[6], label='1 / EI')
    right.set(xlabel='bending stiffness EI [N m$^2$]', ylabel='largest deviation from rigid [rad]',
              title='Two seconds, one mode a link')
    right.legend(frameon=False)
    save_figure(figure, folder, f'{NAME}.png')
    return [Picture(
        f'{NAME}.png', 'Case 3 of El-Rayyes: the flexible double pendulum approaches the rigid '
        'one as its links stiffen.',
    )]


CODE = {NAME: Code(swing_rows, draw)}
