# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn inverse-dynamics`: the torques of a trajectory.

Read a CSV file with columns t, <joint> and, where they are known, <joint>/velocity and
<joint>/acceleration; others are those of a cubic spline. Joints without a column rest at zero,
passive joints of loops follow. Compute the torques at its times as inverse_dynamics_node does, and
write them as CSV with columns t and <joint>/effort, which scenarios read (type: torque).

Examples:
  flexdyn inverse-dynamics arm.urdf trajectory.csv
  flexdyn inverse-dynamics arm.urdf trajectory.csv --torque-model flexible_hybrid -o torques.csv
"""

from __future__ import annotations

import argparse
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from flexdyn_ros.cli.options import add_torque_model, feed_forward, load, show
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.output_files import write_table
from flexdyn_ros.progress import ProgressBar

SUMMARY = 'torques of a trajectory in a CSV file'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument('trajectory', metavar='TRAJECTORY', help='CSV file [s, rad | m]')
    add_torque_model(parser, 'written torque')
    parser.add_argument(
        '-o', '--out', metavar='FILE', default='torques.csv',
        help='file of the torques (default: torques.csv)',
    )


def run(call: argparse.Namespace) -> int:
    """Compute the torques, write them and print the largest."""
    from flexdyn_ros.nodes.torque.driven_joints import EffortLimits
    from flexdyn_ros.nodes.torque.trajectory_filler import TrajectoryFiller
    import numpy as np

    robot = load(call)
    law = feed_forward(call, robot)
    trajectory = _read(call.trajectory, tuple(law.coordinates.places))
    rest = law.coordinates.neutral_positions.copy()
    filler = TrajectoryFiller(trajectory, law, EffortLimits.none, rest)
    points = trajectory.points
    with ProgressBar(label='computing') as bar:
        for done in filler.steps():
            bar.update(done / len(points))
    torques = np.array([point.effort for point in points])
    heads = ['t', *(f'{name}/effort' for name in trajectory.joint_names)]
    file = write_table(call.out, heads, np.column_stack([trajectory.t, torques]))
    largest = dict(zip(trajectory.joint_names, np.abs(torques).max(axis=0).tolist()))
    show(call, {
        'robot': robot.name, 'torque_model': call.torque_model, 'samples': len(points),
        'duration': float(trajectory.t[-1]), 'largest_torques': largest, 'file': str(file),
    }, '\n'.join([
        f'{robot.name}: {len(points)} samples over {trajectory.t[-1]:.4g} s',
        *(f'largest torque of {name}: {value:.5g}' for name, value in largest.items()),
        str(file)]))
    return 0


def _duration(time: float) -> SimpleNamespace:
    """Return a time [s] with the fields of builtin_interfaces/Duration."""
    sec, nanosec = divmod(round(1e9 * time), 10**9)
    return SimpleNamespace(sec=sec, nanosec=nanosec)


def _read(file: str, joints: tuple[str, ...]) -> Any:
    """Return the trajectory of a file with the fields of trajectory_msgs/JointTrajectory."""
    from flexdyn_ros.identification.recordings import find_signal, read_signals
    from flexdyn_ros.simulation.joint_motions import sampled
    from flexdyn_ros.simulation.torque_laws import PiecewisePolynomial
    import numpy as np

    if not Path(file).is_file():
        raise ArgumentError('TRAJECTORY', f'is "{file}", which is no file. Correct the path')
    t, signals = read_signals(file)
    t = t - t[0]
    if len(t) < 2 or not (np.diff(t) > 0.0).all():
        raise ArgumentError('TRAJECTORY', f'is {file}, expected ascending times [s]')
    columns = {name: find_signal(signals, 'q', name) for name in joints}
    names = [name for name, column in columns.items() if column is not None]
    if not names:
        raise ArgumentError(
            'TRAJECTORY', f'is {file}, which has no column of a joint. Name some '
            f'{", ".join(joints)}; it has {", ".join(signals)}')

    def differentiated(values: np.ndarray) -> np.ndarray:
        motion = PiecewisePolynomial.spline(t, values[:, np.newaxis], at_rest=False)
        return np.asarray(sampled(motion, t)[1][:, 0])

    states = []
    for name in names:
        q = columns[name]
        qd = find_signal(signals, 'qd', name)
        qd = differentiated(q) if qd is None else qd
        qdd = signals.get(f'{name}/acceleration')
        states.append((q, qd, differentiated(qd) if qdd is None else qdd))
    points = [
        SimpleNamespace(
            positions=row[:, 0], velocities=row[:, 1], accelerations=row[:, 2], effort=None,
            time_from_start=_duration(time))
        for time, row in zip(t.tolist(), np.array(states).transpose(2, 0, 1))]
    return SimpleNamespace(joint_names=names, points=points, t=t)
