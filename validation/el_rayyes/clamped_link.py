# SPDX-License-Identifier: Apache-2.0
"""Cases 1 and 2: a clamped link, four modes in bending or torsion, a step load at the tip."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation import simulate, Trajectory
import numpy as np
from validation.case import Picture, Progress, Row
from validation.case_file import expected, inputs, make_rows
from validation.registry import Code
from validation.robots import example_robot
from validation.studies import (
    COLOURS,
    frequencies_hz,
    frequency_of_samples,
    new_figure,
    save_figure,
    static_coordinates,
)

_FAMILY = {
    'er_case1': {'modes': '4', 'torsion_modes': '0'},
    'er_case2': {'modes': '0', 'torsion_modes': '4'},
}


def bending(progress: Progress) -> list[Row]:
    """Return the rows of case 1."""
    found = _results('er_case1')
    many = _link('er_case1', modes='12')
    found['static'] = np.sum(static_coordinates(many, 'tip', inputs('er_case1')['load']))
    found['frequencies_z'] = frequencies_hz(_link('er_case1', modes='0', modes_z='4'))
    found['low_frequencies'], found['high_frequencies'] = np.split(found['frequencies'], [2])
    return make_rows('er_case1', found)


def torsion(progress: Progress) -> list[Row]:
    """Return the rows of case 2."""
    found = _results('er_case2')
    many = _link('er_case2', torsion_modes='40')
    share = np.sum(8.0 / (np.pi * (2.0 * np.arange(1, many.n_modes + 1) - 1.0)) ** 2)
    twist = np.sum(static_coordinates(many, 'tip', inputs('er_case2')['load']))
    found['static'] = twist / share
    found['low_frequencies'], found['high_frequencies'] = np.split(found['frequencies'], [3])
    return make_rows('er_case2', found)


def _link(name: str, **arguments: str) -> Robot:
    return example_robot('flexible_beam', **{**_FAMILY[name], **arguments})


def _results(name: str) -> dict[str, Any]:
    """Return the compared results: frequencies, shares of the modes, the step response."""
    robot, start = _link(name), inputs(name)
    frequencies = frequencies_hz(robot)
    held = static_coordinates(robot, 'tip', start['load'])
    motion = _motion(name)
    # Undamped, each coordinate swings about its static value, between zero and twice that.
    exact = held[0] * (1.0 - np.cos(2.0 * np.pi * motion.t * frequencies[0]))
    growth = _growth(2.0 * np.pi * frequencies * start['dt'])
    stepped = held * (1.0 - np.real(growth ** np.arange(len(motion.t))[:, None]))
    simulated = [frequency_of_samples(samples, start['dt']) for samples in motion.q.T]
    means = _means(motion, simulated) / start['static']
    return {
        'frequencies': frequencies,
        'frequencies_simulated': simulated[0], 'frequencies_simulated_high': simulated[1:],
        'shares': held / start['static'],
        'shares_closed_form': held / start['static'],
        'share_simulated': means[0], 'shares_simulated': means[1:],
        'coordinates': held,
        'response': float(np.max(np.abs(motion.q[:, 0] - exact)) / abs(held[0])),
        'response_by_steps': float(np.max(np.abs(motion.q - stepped) / np.abs(held))),
    }


def _growth(angle: np.ndarray) -> np.ndarray:
    """Return the factor of exp(i w t) in an RK4 step of this angle w dt [rad]."""
    z = 1j * angle
    return 1.0 + z + z**2 / 2.0 + z**3 / 6.0 + z**4 / 24.0


@lru_cache(maxsize=None)
def _motion(name: str) -> Trajectory:
    """Return the answer to the step load, from rest."""
    robot, start = _link(name), inputs(name)
    dyn, rest = Dynamics(robot, backend='python'), np.zeros(robot.nv)
    # A wrench on the tip of an undeformed link is a constant modal force.
    force = -dyn.external_force_vector(rest, {'tip': start['load']})
    return simulate(dyn, rest, rest, force, start['duration'], start['dt'], progress=False)


def _means(motion: Trajectory, frequencies: list[float]) -> np.ndarray:
    """Return the mean of each coordinate over whole periods, by least squares."""
    found = []
    for samples, frequency in zip(motion.q.T, frequencies):
        angle = 2.0 * np.pi * frequency * motion.t
        system = np.stack((np.ones_like(angle), np.cos(angle), np.sin(angle)), axis=1)
        found.append(np.linalg.lstsq(system, samples, rcond=None)[0][0])
    return np.array(found)


def draw_bending(folder: Path) -> list[Picture]:
    """Draw the tip's motion and the spectrum of each mode."""
    motion, start = _motion('er_case1'), inputs('er_case1')
    figure = new_figure()
    left, right = figure.subplots(1, 2)
    span = motion.t < 0.2
    left.plot(motion.t[span], 1e3 * np.sum(motion.q, axis=1)[span], color=COLOURS[0])
    left.axhline(1e3 * start['static'], color=COLOURS[6], linestyle='--', linewidth=1,
                 label='static, $F L^3 / 3 E I$')
    left.set(xlabel='time [s]', ylabel='deflection of the tip [mm]', title='Step of 10 N')
    left.set_ylim(-2.0, 40.0)
    left.legend(frameon=False, loc='upper right')
    window = np.hanning(len(motion.t))
    frequencies = np.fft.rfftfreq(len(motion.t), start['dt'])
    for k, printed in enumerate(expected('er_case1', 'frequencies')):
        samples = motion.q[:, k] - np.mean(motion.q[:, k])
        spectrum = np.abs(np.fft.rfft(window * samples))
        right.semilogy(frequencies, spectrum / spectrum.max(), color=COLOURS[k],
                       label=f'mode {k + 1}')
        right.axvline(printed, color=COLOURS[k], linestyle=':', linewidth=1)
    right.set(xlim=(0.0, 450.0), ylim=(1e-6, 2.0), xlabel='frequency [Hz]',
              ylabel='spectrum, largest 1', title='Modes; dotted: beam theory')
    right.legend(frameon=False, loc='upper center', bbox_to_anchor=(0.66, 1.02))
    save_figure(figure, folder, 'er_case1.png')
    return [Picture(
        'er_case1.png', 'Case 1 of El-Rayyes: a clamped link under a step load at its tip. Each '
        'modal coordinate swings with one frequency, that of beam theory, about its share of the '
        'static deflection.',
    )]


def draw_torsion(folder: Path) -> list[Picture]:
    """Draw the four coordinates of torsion, as figures 4.11 and 4.12 do."""
    motion, start = _motion('er_case2'), inputs('er_case2')
    held = static_coordinates(_link('er_case2'), 'tip', start['load'])
    figure = new_figure(11.0, 6.0)
    for k, axes in enumerate(figure.subplots(2, 2).flat):
        span = motion.t < 4.0 / expected('er_case2', 'frequencies')[k]
        axes.plot(1e3 * motion.t[span], 1e3 * motion.q[span, k], color=COLOURS[k])
        axes.axhline(1e3 * held[k], color=COLOURS[6], linestyle='--', linewidth=1,
                     label='at rest under the load')
        axes.set(xlabel='time [ms]', ylabel='[mrad]', title=f'Mode {k + 1}',
                 ylim=(-0.1e3 * held[k], 2.6e3 * held[k]))
        axes.legend(frameon=False, loc='upper right')
    save_figure(figure, folder, 'er_case2.png')
    return [Picture(
        'er_case2.png', 'Figures 4.11 and 4.12 of El-Rayyes: the coordinates of torsion of a '
        'clamped link under a step of 12 N m at its tip.',
    )]


CODE = {
    'er_case1': Code(bending, draw_bending),
    'er_case2': Code(torsion, draw_torsion),
}
