# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn identify`: parameters of an arm from recorded motions.

Read motions from CSV files or bags (MCAP, rosbag2), and identify inertias, friction and rotors.
Write a URDF with the identified values, a report with pictures, and JSON.

CSV: a column t [s], and for each joint columns <joint> or q1, q2, ... [rad | m], <joint>/torque or
tau1, ... [N m | N]; <joint>/velocity or qd1, ... where measured. Currents have columns
<joint>/current or i1, ... with --gains. Elastic joints, with --elastic: columns or joint states
<joint> of the link side and <joint>_motor of the motor side, with the torque, or <joint>/elastic.

Examples:
  flexdyn identify arm.urdf excitation.csv -o identified
  flexdyn identify ur10e.urdf a.csv b.csv --gains 14.87 13.26 11.13 10.62 11.03 11.47
  flexdyn identify arm.urdf bag_folder --friction all --cutoff 8 --json
  flexdyn identify arm.urdf run.csv --payload tool0 --friction none
  flexdyn identify arm.urdf run.csv --loaded run5kg.csv --load tool0 5 0 0 0.06 --unknown-gains
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any, Optional, Sequence

from flexdyn_ros.cli.options import add_out, load, positive, print_json
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.progress import ProgressBar
from flexdyn_ros.terminal import heading, paint, table

SUMMARY = 'parameters of an arm from recorded motions'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument('logs', metavar='LOG', nargs='+', help='CSV file, MCAP file or bag folder')
    add_out(parser, 'identified')
    parser.add_argument(
        '--gains', metavar='K', nargs='+', action='extend', default=[],
        help='gain from current to torque [N m/A | N/A], one a joint or joint=K')
    parser.add_argument(
        '--loaded', metavar='LOG', nargs='+', action='extend', default=[],
        help='further logs, recorded with the load of --load')
    parser.add_argument(
        '--load', metavar='WORD', nargs='+',
        help='known load: link, mass [kg], centre of mass in the link frame x y z [m]')
    parser.add_argument(
        '--unknown-gains', action='store_true',
        help='gains are factors to identify; needs --loaded')
    parser.add_argument('--topic', metavar='TOPIC', help='topic of sensor_msgs/JointState in bags')
    parser.add_argument(
        '--friction', metavar='TERM', nargs='+', default=['auto'],
        help='auto (by cross validation), default (viscous coulomb offset), all, none, or terms. '
        'Terms: viscous coulomb stribeck load presliding offset quadratic viscous_asymmetry '
        'coulomb_asymmetry')
    parser.add_argument(
        '--cutoff', metavar='HZ', type=positive, help='of the filters [Hz] (default: 10)')
    parser.add_argument(
        '--fix', metavar='NAME[=VALUE]', nargs='+', action='extend', default=[],
        help='parameters that keep a value [SI], by default that of the description; wildcards')
    parser.add_argument(
        '--bound', metavar='NAME=LOW:HIGH', nargs='+', action='extend', default=[],
        help='least and greatest value of parameters [SI]')
    parser.add_argument(
        '--weight', metavar='[NAME=]W', nargs='+', default=['1'],
        help='of the description beside the data [1], by parameter with wildcards (default: 1)')
    parser.add_argument('--payload', metavar='LINK', help='identify the payload of a link alone')
    parser.add_argument(
        '--gravity', action='store_true', help='identify the direction of gravity alone')
    parser.add_argument(
        '--elastic', action='store_true', help='motions have both sides of elastic joints; '
        'without any in the description, all joints are')


def run(call: argparse.Namespace) -> int:
    """Identify, write the results and print them."""
    from flexdyn_ros.identification import identify
    from flexdyn_ros.identification.joint_sides import with_springs
    from flexdyn_ros.identification.recordings import read_motion

    robot = load(call)
    names = robot.joint_names
    if call.elastic:
        if not any(joint.dynamics.elastic for joint in robot.joints):
            robot = with_springs(robot, names)
        names += tuple(name for name in robot.mode_names if name.endswith('/elastic'))
    angular = [j.name for j in robot.joints if j.type in ('revolute', 'continuous')]
    gains = _gains(call.gains, robot.joint_names)
    carried = _load(call)
    motions = [read_motion(log, names, gains, call.topic, angular) for log in call.logs]
    motions += [read_motion(log, names, gains, call.topic, angular, load=carried)
                for log in call.loaded]
    friction = call.friction
    with ProgressBar(label='identifying') as bar:
        found = identify(
            robot, motions, friction=friction[0] if len(friction) == 1 else friction,
            cutoff=call.cutoff, fixed=_named(call.fix, '--fix'), bounds=_bounds(call.bound),
            weight=_weights(call.weight), payload=call.payload, gravity=call.gravity,
            gains=call.unknown_gains, progress=bar.update)
    files = found.write(call.out)
    if call.json:
        print_json({**found.record(), 'files': [str(file) for file in files]})
    else:
        _print(found, Path(call.out))
    return 0


def _gains(words: Sequence[str], joints: Sequence[str]) -> dict[str, float]:
    """Return gains by joint, from one number a joint or joint=number."""
    if words and not any('=' in word for word in words) and len(words) != len(joints):
        raise ArgumentError(
            '--gains', f'has {len(words)} values, expected {len(joints)}, one a joint')
    found = {}
    for word, joint in zip(words, joints):
        name, _, text = word.rpartition('=')
        if name and name not in joints:
            raise ArgumentError(
                '--gains', f'names "{name}", which is no joint. Known: {", ".join(joints)}')
        value = _number(text, '--gains')
        if value is not None:
            found[name or joint] = value
    return found


def _named(words: Sequence[str], option: str) -> dict[str, Optional[float]]:
    """Return numbers by name, None where there is none."""
    return {name: _number(text, option)
            for name, _, text in (word.partition('=') for word in words)}


def _bounds(words: Sequence[str]) -> dict[str, tuple[float, float]]:
    found = {}
    for word in words:
        name, _, pair = word.partition('=')
        low, high = (_number(text, '--bound') for text in (*pair.split(':'), '')[:2])
        found[name] = (-math.inf if low is None else low, math.inf if high is None else high)
    return found


def _weights(words: Sequence[str]) -> dict[str, float]:
    """Return weights by name."""
    named = _named([word if '=' in word else f'*={word}' for word in words], '--weight')
    return {name: 1.0 if value is None else value for name, value in named.items()}


def _load(call: argparse.Namespace) -> Optional[Sequence[Any]]:
    """Return the load of the loaded logs: link, mass, centre."""
    if bool(call.load) != bool(call.loaded):
        raise ArgumentError('--load', 'and --loaded belong together: give both')
    if not call.load:
        return None
    link, *numbers = call.load
    if len(numbers) not in (1, 4):
        raise ArgumentError('--load', 'expects a link, a mass, and if known a centre x y z')
    mass, *centre = (_number(text, '--load') for text in numbers)
    return (link, mass, centre or (0.0, 0.0, 0.0))


def _number(text: str, option: str) -> Optional[float]:
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        raise ArgumentError(option, f'has "{text}", expected a number') from None


def _print(found: Any, folder: Path) -> None:
    statistics = found.statistics
    print(f'{heading(found.robot.name)}: {len(found.base_values)} base parameters, '
          f'{statistics.samples} rows, condition {statistics.condition:.4g}, '
          f'delay {1e3 * found.path.delay:.3g} ms'
          + (f'; physical parameters by {found.solver}\n' if found.solver else '\n'))
    cross: list[Any] = [[None] * len(statistics.torque_rms)]
    if statistics.cross_validation:
        cross = [sum(each**2 for each in statistics.cross_validation)]
        cross = [(cross[0] / len(statistics.cross_validation)) ** 0.5]
    print(table(
        ('coordinate', 'torque rms', 'residual rms', 'cross validation'),
        [(name, float(torque), float(residual), None if other is None else float(other))
         for name, torque, residual, other in zip(
             found.model.coordinates, statistics.torque_rms, statistics.physical_rms, cross[0])]))
    for warning in found.warnings:
        print(f'{paint("warning:", "yellow")} {warning}')
    print(f'\nWritten to {folder}.')
