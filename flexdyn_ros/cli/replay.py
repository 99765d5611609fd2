# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn replay`: computed against measured torques of a recorded motion.

Read joint states from a bag, compute the torques of that motion as inverse_dynamics_node does, and
compare them with the measured efforts of each joint. Run it before an arm is first driven by
computed torques. It writes torques.csv and a plot for each joint, and needs the library rosbags.

Examples:
  flexdyn replay arm.urdf recorded_bag
  flexdyn replay arm.urdf recorded_bag --torque-model flexible_quasi_static --out check
  flexdyn replay arm.urdf recorded_bag --leave-out gravity   (the robot compensates gravity)
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, TYPE_CHECKING

from flexdyn_ros.cli.options import (
    add_out,
    add_torque_model,
    feed_forward,
    load,
    positive,
    print_json,
)
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.output_files import new_folder, write_table
from flexdyn_ros.terminal import table, warn

if TYPE_CHECKING:
    from flexdyn_ros.cli.replayed import ReplayedTorques

SLOPES = (0.5, 2.0)  # of measured over computed torque, beyond which a model is doubtful
SUMMARY = 'computed against measured torques of a bag'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument('bag', metavar='BAG', help='folder of a ROS 2 bag')
    parser.add_argument(
        '--topic', metavar='TOPIC',
        help='topic of sensor_msgs/JointState (default: the only one in the bag)',
    )
    add_torque_model(parser, 'measured torque')
    parser.add_argument(
        '--measured-side', choices=('motor', 'link'), default='motor',
        help='side of elastic joints that joint states carry (default: motor)',
    )
    parser.add_argument(
        '--cutoff', metavar='HZ', type=positive, default=10.0,
        help='cut-off frequency of the filter on derivatives [Hz] (default: 10)',
    )
    add_out(parser, 'replay')
    parser.add_argument('--no-plots', action='store_true', help='write no PNG files')


def run(call: argparse.Namespace) -> int:
    """Compute, compare, write the results and print their paths."""
    from flexdyn_ros.cli.replayed import compare
    from flexdyn_ros.identification.bag import read_joint_states

    torques = feed_forward(call, load(call), call.measured_side)
    coordinates = torques.coordinates
    if coordinates.multi_dof or torques.base.follows:
        raise FlexdynError(
            'flexdyn replay reads joint_states alone. It does not support floating and planar '
            'joints, quaternions and loops yet. Play the bag into inverse_dynamics_node.')
    recording = read_joint_states(
        call.bag, tuple(coordinates.places), coordinates.preferred_names, call.topic)
    comparison = compare(recording, torques, call.cutoff)
    folder = new_folder(call.out)
    files = [_write_table(folder, comparison)]
    if not call.no_plots:
        files += _draw(folder, comparison)
    if call.json:
        print_json({
            'topic': recording.topic, 'samples': len(recording.t),
            'duration': float(recording.t[-1]), 'torque_model': call.torque_model,
            'joints': comparison.summary(), 'files': [str(file) for file in files],
        })
    else:
        _print(recording, comparison, folder)
    return 0


def _print(recording: Any, comparison: ReplayedTorques, folder: Path) -> None:
    print(f'{recording.topic}: {len(recording.t)} samples over {recording.t[-1]:.3g} s\n')
    summary = comparison.summary()
    print(table(
        ('joint', 'measured rms', 'difference rms', 'measured / computed'),
        [(name, *joint.values()) for name, joint in summary.items()]))
    for name, joint in summary.items():
        doubt = '' if joint['slope'] is None else _doubt(joint['slope'])
        if doubt:
            warn(f'{name}: {doubt}')
    print(f'\nWritten to {folder}.')


def _doubt(slope: float) -> str:
    """Return the likely cause of a ratio of measured and computed torque, empty if plausible."""
    if slope < 0.0:
        return 'Measured and computed torque have opposite signs. Check the joint axis.'
    if not SLOPES[0] <= slope <= SLOPES[1]:
        return ('The measured torque differs strongly from the computed one. Check units, '
                'payload, and terms that the robot compensates itself.')
    return ''


def _write_table(folder: Path, comparison: ReplayedTorques) -> Path:
    """Write times, computed and measured torques."""
    import numpy as np

    recording = comparison.recording
    names = [f'{name}/{kind}' for kind in ('computed', 'measured') for name in recording.names]
    return write_table(
        folder / 'torques.csv', ['t', *names],
        np.column_stack((recording.t, comparison.computed, recording.effort)))


def _draw(folder: Path, comparison: ReplayedTorques) -> list[Path]:
    """Draw computed over measured torque, a picture for each joint."""
    from flexdyn_ros.figures import column, legend, line, MEASURED, save

    files, recording = [], comparison.recording
    for k, name in enumerate(recording.names):
        figure, (axes,) = column(1)
        axes.plot(recording.t, recording.effort[:, k], label='measured', color=MEASURED)
        axes.plot(recording.t, comparison.computed[:, k], label='computed', **line(0))
        axes.set(title=name, xlabel='time [s]', ylabel='torque [N m | N]')
        legend(axes)
        files.append(save(figure, folder / f'{name.replace("/", "_")}.png'))
    return files
