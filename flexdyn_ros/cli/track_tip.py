# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn track-tip`: torques that move the tip along a path and leave it at rest.

Invert the dynamics of the arm for a straight path of a frame between two configurations at
equilibrium. Write the motion of the joints and modes with the torques as CSV. With --kp and --kd,
simulate this and other feed-forward methods under joint controllers, and compare them in a table
and a picture. Friction is that of the description; joint limits are not enforced.

Examples:
  flexdyn track-tip arm.urdf --frame tool0 --end shoulder=0.6 elbow=-1.2 --duration 1.5
  flexdyn track-tip planar.urdf --frame tool --outputs x y rz --end shoulder=0.5 --kp 1e5 --kd 1e4
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Optional

from flexdyn_ros.cli.options import (
    add_format,
    add_gains,
    add_out,
    gains,
    load,
    named_values,
    positive,
    print_json,
)
from flexdyn_ros.output_files import new_folder, write_table, write_text
from flexdyn_ros.progress import ProgressBar

SUMMARY = 'torques for a path of the tip, by stable inversion'
# Those of `tip_tracking.comparison`, which is imported only when it runs.
METHODS = ('rigid', 'quasi-static', 'joints', 'ZV', 'ZVD', 'EI', 'inversion')


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument('--frame', metavar='LINK', required=True, help='frame that follows')
    for option, what in (('--start', 'at the start'), ('--end', 'at the end')):
        parser.add_argument(
            option, metavar='NAME=VALUE', nargs='+', action='extend', default=[],
            help=f'joint positions {what} that are not zero [rad | m]')
    parser.add_argument(
        '--outputs', metavar='NAME', nargs='+',
        help='quantities that follow the path, as many as driven joints. Components of the pose '
        'in the root frame are x y z rx ry rz. Redundant arms add joints (default: all '
        'components)')
    parser.add_argument(
        '--duration', metavar='T', type=positive, default=2.0, help='of the path [s] (default: 2)')
    parser.add_argument(
        '--smoothness', metavar='N', type=int, default=4,
        help='derivatives that vanish at both ends (default: 4)')
    parser.add_argument(
        '--dt', metavar='DT', type=positive, default=1e-3,
        help='distance of the samples [s] (default: 0.001)')
    add_gains(parser)
    parser.add_argument(
        '--methods', nargs='+', choices=METHODS, default=METHODS,
        help='feed-forward methods to compare, where --kp and --kd are given (default: all)')
    add_format(parser)
    add_out(parser, 'tip_motion')


def run(call: argparse.Namespace) -> int:
    """Invert, compare, write and print."""
    from flexdyn_ros.robot_dynamics import Dynamics
    from flexdyn_ros.tip_tracking import stable_inversion, TipPath
    from flexdyn_ros.tip_tracking.comparison import compare

    robot = load(call)
    control = gains(call, len(robot.actuated_coordinates))
    rest = robot.neutral_configuration()
    ends = [named_values(words, robot.joint_names, rest[:robot.n_joints], option)
            for words, option in ((call.start, '--start'), (call.end, '--end'))]
    dyn = Dynamics(robot)
    start, end = ([*each, *rest[robot.n_joints:]] for each in ends)
    with ProgressBar(label='inverting') as bar:
        path = TipPath.between(
            dyn, call.frame, start, end, call.duration, call.outputs, call.smoothness)
        folder = new_folder(call.out)
        motion = stable_inversion(dyn, path, call.dt, progress=bar.update)
        files = [_write_motion(folder, robot, motion), write_table(
            folder / 'zeros.csv', ['t', 'real', 'imaginary'],
            [(t, x.real, x.imag) for t, each in zip(motion.zero_times, motion.zeros)
             for x in each])]
    results: tuple[Any, ...] = ()
    if control is not None:
        with ProgressBar(label='comparing') as bar:
            results = compare(
                dyn, path, *control, call.methods, dt=call.dt, progress=bar.update)
        files += [_write_comparison(folder, results), _draw(
            folder / f'tip_error.{call.format}', results, path.duration)]
    summary = {
        'pre_actuation_s': motion.before, 'post_actuation_s': motion.after,
        'largest_torque': [float(x) for x in abs(motion.tau).max(axis=0)],
        'coordinates': list(robot.coordinate_names),
        'residual': motion.residual, 'tip_error': motion.tip_error,
        'methods': [_row(each) for each in results], 'files': [str(file) for file in files]}
    if call.json:
        print_json(summary)
    else:
        _print(robot.name, path, motion, results, folder)
    return 0


def _row(result: Any) -> dict[str, Any]:
    return {
        'method': result.method, 'tip_error_m': result.tip_error,
        'residual_vibration_m': result.residual_vibration,
        'final_offset_m': result.final_offset, 'largest_torque': result.largest_torque,
        'delay_s': result.delay, 'window_s': list(result.window)}


def _write_motion(folder: Path, robot: Any, motion: Any) -> Path:
    import numpy as np

    names = robot.coordinate_names
    heads = ['t', *names, *(f'{name}/velocity' for name in names),
             *(f'{name}/effort' for name in robot.joint_names)]
    rows = np.column_stack(
        [motion.t, motion.q, motion.qd, motion.tau[:, :robot.n_joints]])
    return write_table(folder / 'tip_motion.csv', heads, rows)


def _write_comparison(folder: Path, results: tuple[Any, ...]) -> Path:
    heads = ['method', 'tip_error_m', 'residual_vibration_m', 'final_offset_m', 'largest_torque',
             'delay_s']
    lines = [','.join(heads)]
    lines += [','.join(str(_row(each)[head]) for head in heads) for each in results]
    return write_text(folder / 'comparison.csv', '\n'.join(lines) + '\n')


def _draw(path: Path, results: tuple[Any, ...], duration: float) -> Path:
    """Draw the distance of the tip from its path, and from its mean afterwards."""
    from flexdyn_ros.figures import column, legend, line, save

    figure, (axes,) = column(1, 3.3)
    for k, each in enumerate(results):
        axes.semilogy(each.t, each.error + 1e-12, label=each.method, **line(k))
    axes.axvspan(0.0, duration, color='#eeeeee', label='path')
    axes.set_xlabel('time [s]')
    axes.set_ylabel('distance of the tip from its path [m]')
    axes.set_ylim(bottom=1e-9)
    legend(axes)
    return save(figure, path)


def _print(
    name: str, path: Any, motion: Any, results: tuple[Any, ...], folder: Optional[Path]
) -> None:
    print(f'{name}: {path.frame} follows {", ".join(path.outputs)} for {path.duration:.4g} s')
    print(f'  pre-actuation {motion.before:.4g} s, post-actuation {motion.after:.4g} s')
    print(f'  largest unforced force {motion.residual:.2g} of the largest elastic force\n')
    for place in (0, len(motion.zeros) // 2, -1):
        values = ', '.join(
            f'{x.real:.4g}' + (f' {x.imag:+.4g}j' if x.imag else '')
            for x in sorted(motion.zeros[place], key=abs) if x.imag >= 0.0)
        print(f'  zeros at {motion.zero_times[place]:.4g} s [1/s]: {values or "none"}')
    if results:
        print('\n  method        tip error  vibration     offset      torque   delay')
        print('                      [m]        [m]        [m]   [N m | N]     [s]')
    for each in results:
        print(f'  {each.method:12s} {each.tip_error:10.3g} {each.residual_vibration:10.3g} '
              f'{each.final_offset:10.3g} {each.largest_torque:11.4g} {each.delay:7.3g}')
    if results:
        window = results[0].window
        print(f'\n  Vibration: largest distance of the tip from its mean for '
              f'{window[1] - window[0]:.4g} s after the reference ends.')
    print(f'\nWritten to {folder}.')
