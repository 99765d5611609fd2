# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn plot`: plots of a simulated motion.

Draw a motion that `flexdyn simulate` wrote, as PNG or SVG:

  joints     Positions, rates and torques of the joints.

  modes      Modal coordinates.

  tips       Deflections of the tips of flexible links.

  energy     Kinetic, potential and total energy, and the change of the total.

  torques    The torque of each joint as a stack of its terms. These are inertia, Coriolis and
             centrifugal, gravity, friction and elastic; with loops also their forces.

  spectrum   Amplitude spectrum of the tip deflections or of --signal. It marks the natural
             frequencies midway through the motion, with joints locked and free.

--from and --to choose a part of the motion, such as the vibration after a stop. Mode shapes are
drawn by `flexdyn modes --plot`.

Examples:
  flexdyn simulate arm.urdf --t-end 2 --q0 shoulder=0.5 --out run1
  flexdyn plot arm.urdf run1/trajectory.npz --out run1
  flexdyn plot arm.urdf run1/trajectory.npz --what torques energy --format svg
  flexdyn plot arm.urdf run1/trajectory.npz --what spectrum --from 1 --signal forearm/tip_y
"""

from __future__ import annotations

import argparse
from typing import Any

from flexdyn_ros.cli.options import add_format, load, show
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.urdf.values import number
from flexdyn_ros.output_files import new_folder
from flexdyn_ros.progress import ProgressBar
from flexdyn_ros.terminal import warn

SUMMARY = 'plots of a simulated motion: torques by terms, energy, spectrum and others'
PLOTS = ('joints', 'modes', 'tips', 'energy', 'torques', 'spectrum')


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument('trajectory', metavar='FILE', help='trajectory.npz of flexdyn simulate')
    parser.add_argument(
        '--what', choices=PLOTS, nargs='+', action='extend', metavar='PLOT',
        help=f'{", ".join(PLOTS)} (default: all)',
    )
    parser.add_argument(
        '--signal', nargs='+', action='extend', default=[], metavar='NAME',
        help='coordinates or tip deflections in the spectrum (default: tip deflections)',
    )
    for option, what in (('--from', 'start'), ('--to', 'end')):
        parser.add_argument(
            option, dest=what, type=number, metavar='T',
            help=f'{what} of the part that is drawn [s] (default: that of the motion)',
        )
    add_format(parser)
    parser.add_argument(
        '--out', metavar='DIR', default='.',
        help='folder of the files; created if missing (default: the current one)',
    )


def run(call: argparse.Namespace) -> int:
    """Draw the plots and print their paths."""
    from flexdyn_ros.figures import save
    from flexdyn_ros.robot_dynamics import Dynamics
    from flexdyn_ros.simulation.motion_plots import require_same_robot
    from flexdyn_ros.simulation.record import load_npz

    dyn = Dynamics(load(call))
    try:
        motion = load_npz(call.trajectory)
        require_same_robot(motion, dyn)
        motion = motion.between(call.start, call.end)
    except ArgumentError as error:
        raise ArgumentError('FILE', error.problem) from error
    folder = new_folder(call.out)
    files = []
    with ProgressBar(label='drawing') as bar:
        for what in bar.over(call.what or PLOTS):
            figure = _figure(what, motion, dyn, call.signal)
            if figure is None:
                warn(f'There is nothing to draw for {what}. Choose another.')
            else:
                files.append(str(save(figure, folder / f'{what}.{call.format}')))
    show(call, {'files': files}, '\n'.join(files))
    return 0


def _figure(what: str, motion: Any, dyn: Any, signals: list[str]) -> Any:
    from flexdyn_ros.simulation import motion_plots, plot

    if what == 'torques':
        return motion_plots.plot_torque_terms(motion, dyn) if dyn.robot.n_joints else None
    if what == 'spectrum':
        return motion_plots.plot_spectrum(motion, dyn, signals)
    return {'joints': plot.plot_joints, 'modes': plot.plot_modes, 'tips': plot.plot_tips,
            'energy': plot.plot_energy}[what](motion)
