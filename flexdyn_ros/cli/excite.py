# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn excite`: a motion that excites the parameters of an arm.

Find a Fourier series for each joint, from rest to rest, within the limits of position, velocity
and effort of the description. It minimises the condition number of the regressor in base
parameters. Write the motion as CSV, as trajectory_msgs/JointTrajectory in YAML, and as a picture.
Links are capsules between joints, within a floor, walls and a box, and a clearance apart. Simulate
the motion, and run it slowly first.

Examples:
  flexdyn excite arm.urdf -o excitation
  flexdyn excite arm.urdf --period 30 --harmonics 6 --floor 0.1
  flexdyn excite arm.urdf --box -0.8 0.8 -0.5 0.9 0.1 1.2 --radius 0.06 --clearance 0.02
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, TYPE_CHECKING

from flexdyn_ros.cli.options import add_format, add_out, load, positive, show
from flexdyn_ros.output_files import new_folder, write_table, write_text
from flexdyn_ros.progress import ProgressBar

if TYPE_CHECKING:
    import numpy as np

SUMMARY = 'a motion that excites the parameters of an arm'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    add_format(parser)
    add_out(parser, 'excitation')
    parser.add_argument(
        '--period', metavar='S', type=positive, default=20.0,
        help='shortest duration [s]; longer where limits need it (default: 20)')
    parser.add_argument(
        '--harmonics', metavar='N', type=int, default=5, help='number of frequencies (default: 5)')
    parser.add_argument(
        '--rate', metavar='HZ', type=positive, default=100.0,
        help='of the samples written [Hz] (default: 100)')
    parser.add_argument(
        '--floor', metavar='Z', type=float,
        help='least height of moving links in the root frame [m]')
    parser.add_argument(
        '--wall', metavar=('NX', 'NY', 'NZ', 'D'), type=float, nargs=4, action='append',
        default=[], help='links stay where n . p >= D in the root frame [m]; may be repeated')
    parser.add_argument(
        '--box', metavar=('X0', 'X1', 'Y0', 'Y1', 'Z0', 'Z1'), type=float, nargs=6,
        help='links stay in it, in the root frame [m]')
    parser.add_argument(
        '--radius', metavar='R', type=float, default=0.0,
        help='of the capsules between joints that stand for links [m] (default: 0)')
    parser.add_argument(
        '--clearance', metavar='D', type=float,
        help='least distance of capsules that no joint connects [m] (default: not checked)')
    parser.add_argument(
        '--steps', metavar='N', type=int, default=100, help='steps of the search (default: 100)')
    parser.add_argument('--seed', metavar='N', type=int, default=0, help='of random numbers')


def run(call: argparse.Namespace) -> int:
    """Search, write the motion and print the parameters that it identifies."""
    from flexdyn_ros.identification.excitation import excite
    from flexdyn_ros.identification.workspace import Workspace
    import numpy as np

    robot = load(call)
    space = Workspace(
        call.wall, None if call.box is None else (call.box[::2], call.box[1::2]), call.radius,
        call.clearance)
    with ProgressBar(label='searching') as bar:
        found = excite(
            robot, call.period, call.harmonics, steps=call.steps, floor=call.floor,
            seed=call.seed, progress=bar.update,
            workspace=None if space == Workspace() else space)
    t = np.arange(0.0, found.period + 0.5 / call.rate, 1.0 / call.rate)
    folder = new_folder(call.out)
    files = [_write_table(folder, found, t), _write_trajectory(folder, found, t),
             _draw(folder / f'excitation.{call.format}', found, t)]
    median = float(np.median(found.random_conditions))
    unchecked = ' Collisions of the arm with itself are not checked.'
    show(call, {
        'period': found.period, 'condition': found.condition, 'random_condition_median': median,
        'joints': list(found.names), 'identified': list(found.identified),
        'files': [str(file) for file in files],
    }, '\n'.join([
        f'{robot.name}: {found.period:.4g} s, condition number {found.condition:.3g} (random '
        f'motions: median {median:.3g})\n',
        f'It identifies {len(found.identified)} base parameters:',
        *(f'  {name}' for name in found.identified),
        f'\nWritten to {folder}.{unchecked if call.clearance is None else ""}']))
    return 0


def _write_table(folder: Path, found: Any, t: np.ndarray) -> Path:
    import numpy as np

    kinds = ('', '/velocity', '/acceleration')
    heads = ['t', *(f'{name}{kind}' for kind in kinds for name in found.names)]
    return write_table(folder / 'excitation.csv', heads, np.column_stack([t, *found.at(t)]))


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


def _draw(path: Path, found: Any, t: np.ndarray) -> Path:
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
    return save(figure, path)
