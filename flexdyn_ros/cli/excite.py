# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn excite`: a motion that excites the parameters of an arm.

Find a Fourier series for each joint, from rest to rest, within the limits of position, velocity
and effort of the description. It minimises the condition number of the regressor in base
parameters. Write the motion as CSV, as trajectory_msgs/JointTrajectory in YAML, and as a picture.
Collisions of the arm with itself are not checked: simulate the motion, and run it slowly first.

Examples:
  flexdyn excite arm.urdf -o excitation
  flexdyn excite arm.urdf --period 30 --harmonics 6 --floor 0.1
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, TYPE_CHECKING

from flexdyn_ros.cli.options import load, positive, print_json
from flexdyn_ros.output_files import new_folder, write_text

if TYPE_CHECKING:
    import numpy as np

SUMMARY = 'a motion that excites the parameters of an arm'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument(
        '-o', '--out', metavar='DIR', default='excitation',
        help='folder of the results; created if missing (default: excitation)')
    parser.add_argument(
        '--period', metavar='S', type=positive, default=20.0,
        help='shortest duration [s]; longer where limits ask for it (default: 20)')
    parser.add_argument(
        '--harmonics', metavar='N', type=int, default=5, help='number of frequencies (default: 5)')
    parser.add_argument(
        '--rate', metavar='HZ', type=positive, default=100.0,
        help='of the samples written [Hz] (default: 100)')
    parser.add_argument(
        '--floor', metavar='Z', type=float,
        help='least height of the origins of moving links in the root frame [m]')
    parser.add_argument(
        '--steps', metavar='N', type=int, default=100, help='steps of the search (default: 100)')
    parser.add_argument('--seed', metavar='N', type=int, default=0, help='of random numbers')


def run(call: argparse.Namespace) -> int:
    """Search, write the motion and print what it identifies."""
    from flexdyn_ros.identification.excitation import excite
    from flexdyn_ros.simulation.progress import ProgressBar
    import numpy as np

    robot = load(call)
    bar = ProgressBar(None, label='searching')
    found = excite(
        robot, call.period, call.harmonics, steps=call.steps, floor=call.floor, seed=call.seed,
        progress=bar.update)
    bar.close()
    t = np.arange(0.0, found.period + 0.5 / call.rate, 1.0 / call.rate)
    folder = new_folder(call.out)
    files = [_write_table(folder, found, t), _write_trajectory(folder, found, t),
             _draw(folder, found, t)]
    if call.json:
        print_json({
            'period': found.period, 'condition': found.condition,
            'random_condition_median': float(np.median(found.random_conditions)),
            'joints': list(found.names), 'identified': list(found.identified),
            'files': [str(file) for file in files]})
        return 0
    print(f'{robot.name}: {found.period:.4g} s, condition number {found.condition:.3g} (random '
          f'motions: median {np.median(found.random_conditions):.3g})\n')
    print(f'It identifies {len(found.identified)} base parameters:')
    print('\n'.join(f'  {name}' for name in found.identified))
    print(f'\nWritten to {folder}. Collisions of the arm with itself are not checked.')
    return 0


def _write_table(folder: Path, found: Any, t: np.ndarray) -> Path:
    import numpy as np

    kinds = ('', '/velocity', '/acceleration')
    heads = ['t', *(f'{name}{kind}' for kind in kinds for name in found.names)]
    rows = np.column_stack([t, *found.at(t)])
    lines = [','.join(heads), *(','.join(f'{x:.9g}' for x in row) for row in rows)]
    return write_text(folder / 'excitation.csv', '\n'.join(lines) + '\n')


def _write_trajectory(folder: Path, found: Any, t: np.ndarray) -> Path:
    """Write a message as `ros2 topic pub` reads it; JSON is YAML."""
    points = []
    for when, *state in zip(t.tolist(), *(each.tolist() for each in found.at(t))):
        seconds, nanoseconds = divmod(round(1e9 * when), 10**9)
        points.append({
            **dict(zip(('positions', 'velocities', 'accelerations'), state)),
            'time_from_start': {'sec': seconds, 'nanosec': nanoseconds}})
    message = {'joint_names': list(found.names), 'points': points}
    return write_text(folder / 'joint_trajectory.yaml', json.dumps(message) + '\n')


def _draw(folder: Path, found: Any, t: np.ndarray) -> Path:
    from flexdyn_ros.figures import column, legend, line, save

    figure, panels = column(3)
    for axes, values, label in zip(
        panels, found.at(t),
        ('position [rad | m]', 'velocity [rad/s | m/s]', 'acceleration [rad/s^2 | m/s^2]'),
    ):
        for k, name in enumerate(found.names):
            axes.plot(t, values[:, k], label=name, **line(k))
        axes.set_ylabel(label)
    panels[-1].set_xlabel('time [s]')
    legend(panels[0])
    return save(figure, folder / 'excitation.png')
