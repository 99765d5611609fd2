# SPDX-License-Identifier: Apache-2.0
"""The printed example: two links in five segments each swing from rest under gravity."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation import simulate, Trajectory
from flexdyn_ros.simulation.frequencies import natural_modes
import numpy as np
from validation.case import Picture, Progress, Row
from validation.case_file import inputs, make_rows
from validation.registry import Code
from validation.robots import example_robot
from validation.studies import COLOURS, new_figure, reference, save_figure

SHOULDER = np.array([1.25, 0.0, 0.0])  # in the root frame, at the end of the fixed first link [m]


def paper_arm(flexible: str = 'true') -> tuple[Dynamics, np.ndarray]:
    """Return the example's dynamics and its configuration at the start, (nv,)."""
    robot = example_robot('segmented_arm', flexible=flexible)
    start = np.zeros(robot.nv)
    start[:2] = np.radians(inputs('mm_segments')['start'])
    return Dynamics(robot), start


@lru_cache(maxsize=None)
def _swing(flexible: str, method: str, dt: float) -> Trajectory:
    dyn, start = paper_arm(flexible)
    duration, rest = inputs('mm_segments')['duration'], np.zeros(dyn.robot.nv)
    return simulate(dyn, start, rest, None, duration, dt, method, progress=False)


def _sampled(motion: Trajectory) -> np.ndarray:
    """Return the configurations at the times that are compared."""
    every = round(inputs('mm_segments')['every'] / motion.t[1])
    return motion.q[every::every]


def swing(progress: Progress) -> list[Row]:
    """Return the rows of the example."""
    given = inputs('mm_segments')
    dyn, start = paper_arm()
    bent, rigid = (_swing(flexible, 'rk10', given['dt']) for flexible in ('true', 'false'))
    progress(0.8)
    fourth = [_swing('true', 'rk4', dt) for dt in given['rk4']]
    sampled = _sampled(bent)
    changes = [np.abs(motion.energy - motion.energy[0]).max() for motion in fourth]
    return make_rows('mm_segments', {
        'sizes': _sizes(),
        'energy': dyn.potential_energy(start),
        'frequencies': _hanging_frequencies(),
        'angles': np.degrees(sampled[:, :2]),
        'hand': [_place(dyn, q, 'tip') for q in sampled],
        'elbow': _place(dyn, sampled[-1], 'link3'),
        'passive': np.degrees(np.abs(bent.q[:, 2:]).max()),
        'rk4_angles': [
            np.degrees(np.abs(_sampled(motion) - sampled)[:, :2].max()) for motion in fourth
        ],
        'rk4_energy': changes[0],
        'rk4_energy_fine': changes[-1],
        'rigid': np.degrees(_sampled(rigid)),
        'bending': np.degrees(np.abs(bent.q[:, :2] - rigid.q).max()),
    })


def _sizes() -> list[int]:
    free = [
        example_robot('segmented_arm', first_joint='continuous', directions=directions).nv
        for directions in ('z', 'y z', 'x y z')
    ]
    return [example_robot('segmented_arm').nv, *free]


def _hanging_frequencies() -> np.ndarray:
    """Return the frequencies about the hanging arm, gravity counted [Hz]."""
    dyn = reference(example_robot('segmented_arm'))
    rest = np.zeros(dyn.robot.nv)
    hanging = rest.copy()
    hanging[0] = -0.5 * np.pi
    stiffness, _, mass = dyn.inverse_dynamics_derivatives(hanging, rest, rest)
    return natural_modes(mass, 0.5 * (stiffness + stiffness.T))[0] / (2.0 * np.pi)


def _place(dyn: Dynamics, q: np.ndarray, frame: str) -> np.ndarray:
    return (dyn.frame_pose(q, frame)[:3, 3] - SHOULDER)[:2]


def draw(folder: Path) -> list[Picture]:
    """Draw the curves of the paper's figure 5."""
    motion, (dyn, _) = _swing('true', 'rk10', inputs('mm_segments')['dt']), paper_arm()
    figure = new_figure(11.0, 6.5)
    active, second, third, elbow, hand, energy = figure.subplots(2, 3).flat
    for k, name in enumerate(('joint 2', 'joint 3')):
        active.plot(motion.t, np.degrees(motion.q[:, k]), color=COLOURS[k], label=name)
    active.set(title='Active joints', ylabel='angle [deg]')
    brief = motion.t <= 0.1  # their vibrations are too fast for the whole span
    for axes, first, link in ((second, 2, 'link 2'), (third, 6, 'link 3')):
        for k in range(4):
            axes.plot(1e3 * motion.t[brief], 1e3 * np.degrees(motion.q[brief, first + k]),
                      color=COLOURS[k], label=f'segment {k + 2}')
        axes.set(title=f'Passive joints, {link}', xlabel='time [ms]', ylabel='angle [mdeg]')
        axes.margins(y=0.25)
        axes.legend(frameon=False, fontsize=8, ncol=2, loc='upper center')
    few = slice(None, None, 100)
    for axes, frame, title in ((elbow, 'link3', 'Third joint'), (hand, 'tip', 'Hand')):
        places = np.array([_place(dyn, q, frame) for q in motion.q[few]])
        for k, name in enumerate(('x', 'y')):
            axes.plot(motion.t[few], places[:, k], color=COLOURS[k], label=name)
        axes.set(title=title, ylabel='place [m]')
    for k, dt in enumerate(inputs('mm_segments')['rk4']):
        run = _swing('true', 'rk4', dt)
        energy.plot(run.t, 1e6 * (run.energy - run.energy[0]), color=COLOURS[k],
                    label=f'RK4, {1e3 * dt:g} ms')
    energy.set(title='Energy', ylabel='change [µJ]')
    for axes in (active, elbow, hand, energy):
        axes.set_xlabel('time [s]')
    for axes in (active, elbow, hand):
        axes.legend(frameon=False, fontsize=8)
    energy.legend(frameon=False, fontsize=8, loc='lower left')
    save_figure(figure, folder, 'mm_segments.png')
    return [Picture(
        'mm_segments.png', 'The example of Martins and Machado, panels as in their figure 5 and '
        'the energy of runs by RK4. The arm swings as a double pendulum. Its segments shiver by '
        'a thousandth of a degree about their static angles.',
    )]


CODE = {'mm_segments': Code(swing, draw)}
