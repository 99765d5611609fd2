# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn update-modes`: stiffness and damping adjusted to measured modes.

The joints are held, as in the test, in the configuration of --at. Frequencies, damping ratios,
shapes at sensor points and static stiffnesses come from --measured. That is YAML or JSON, or a
universal file (.uff, .unv; with pyuff) whose nodes lie on --link. Or they are identified from
recorded signals: CSV with a column t [s], or bags of joint states or of an IMU. Without --inputs
signals are free decays. Sensors of a YAML file have the names of signals. docs/modal_files.md
describes all. Least squares with bounds adjust the second moments of beams and segments, springs
of joints and the modes of files. The adjusted description and its files of modes are written.
Tables compare measured, given and adjusted modes, and their shapes by the modal assurance
criterion (MAC).

Examples:
  flexdyn update-modes arm.urdf --measured bench.yaml --at elbow=1.57 -o updated.urdf
  flexdyn update-modes arm.urdf --measured modes.unv --link boom -o updated.urdf
  flexdyn update-modes arm.urdf --measured decay.csv sensors.yaml --count 2 -o updated.urdf
  flexdyn update-modes arm.urdf --measured chirp.csv --inputs slew --band 1 40 -o updated.urdf
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, TYPE_CHECKING

from flexdyn_ros.cli.options import description_folder, load, named_values, positive, show
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.terminal import heading, table

if TYPE_CHECKING:
    from flexdyn_ros.modal_testing.measured_modes import ModalTest
    from flexdyn_ros.modal_testing.modal_update import ModalUpdate

RECORDINGS = ('.csv', '.mcap', '.db3', '.bag')
SUMMARY = 'stiffness and damping adjusted to measured modes'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument('--measured', metavar='FILE', type=Path, nargs='+', required=True,
                        help='measured modes or recorded signals; several files are one test')
    parser.add_argument('--signals', metavar='NAME', nargs='+', action='extend', default=[],
                        help='signals of a recording to use (default: all but --inputs)')
    parser.add_argument('--inputs', metavar='NAME', nargs='+', action='extend', default=[],
                        help='signals that excite the others: a chirp or step of a joint, a force')
    parser.add_argument('--count', metavar='N', type=int,
                        help='modes of a recording (default: while one more explains 5 percent)')
    parser.add_argument('--band', metavar='HZ', type=positive, nargs=2,
                        help='least and greatest frequency of modes of a recording [Hz]')
    parser.add_argument('--topic', metavar='TOPIC',
                        help='topic of sensor_msgs/JointState or Imu in bags')
    parser.add_argument('--link', metavar='NAME',
                        help='link that carries the nodes of a universal file')
    parser.add_argument('--at', metavar='NAME=VALUE', nargs='+', action='extend', default=[],
                        help='joint positions of the test [rad | m] that are not zero')
    parser.add_argument('--bound', metavar='FACTOR', type=positive, default=4.0,
                        help='largest factor of a stiffness [1] (default: 4)')
    parser.add_argument('--fixed', metavar='NAME', nargs='+', action='extend', default=[],
                        help='parameters that stay, such as boom/torsion')
    parser.add_argument('-o', '--output', metavar='FILE', type=Path, required=True,
                        help='description to write')


def run(call: argparse.Namespace) -> int:
    """Adjust, write the description and print the tables."""
    from flexdyn_ros.modal_testing.adjustable_model import AdjustableModel
    from flexdyn_ros.modal_testing.modal_update import update_modes
    from flexdyn_ros.simulation.configuration import ConfigurationMap

    if call.bound <= 1.0:
        raise ArgumentError('--bound', 'must be above 1')
    robot = load(call)
    if robot.loops:
        raise ArgumentError(
            'URDF', 'has loops, whose joints cannot be held one by one. Remove <loop>')
    configuration = ConfigurationMap(robot)
    q = configuration.checked(
        named_values(call.at, configuration.names, robot.neutral_configuration(), '--at'), '--at')
    test = _measured(call)
    model = AdjustableModel(robot, description_folder(call))
    found = update_modes(model, test, q, call.bound, call.fixed)
    files = model.written(found.robot, call.output)
    show(call, _record(test, found, files), _text(test, found, files))
    return 0


def _measured(call: argparse.Namespace) -> 'ModalTest':
    """Return the contents of all files, as one test."""
    from flexdyn_ros.identification.recordings import read_signals
    from flexdyn_ros.modal_testing.measured_modes import ModalTest, read_modal_test
    from flexdyn_ros.modal_testing.recorded_modes import recorded_test

    recordings = [path for path in call.measured
                  if path.is_dir() or path.suffix.lower() in RECORDINGS]
    tests = [read_modal_test(path, call.link) for path in call.measured if path not in recordings]
    with_sensors = [test.sensors for test in tests if test.sensors]
    if len(with_sensors) > 1:
        raise ArgumentError('--measured', 'has sensors in several files; give them in one')
    sensors = with_sensors[0] if with_sensors else ()
    band = None if call.band is None else tuple(call.band)
    tests += [recorded_test(*read_signals(str(path), call.topic), sensors, call.signals,
                            call.inputs, call.count, band) for path in recordings]
    modes = tuple(mode for each in tests for mode in each.modes)
    pushes = tuple(push for each in tests for push in each.stiffness)
    if not modes and not pushes:
        raise ArgumentError(
            '--measured', 'holds neither modes nor stiffness nor a recording. Add one')
    return ModalTest(modes, sensors, pushes)


def _record(test: 'ModalTest', found: 'ModalUpdate', files: list[Path]) -> dict[str, Any]:
    def modes(which: int, held: Any) -> list[dict[str, float]]:
        return [{'frequency_hz': float(held.frequencies[pair[which]]),
                 'damping_ratio': float(held.damping_ratios[pair[which]])} for pair in found.pairs]

    return {
        'files': [str(file) for file in files],
        'stiffness_factors': dict(found.factors), 'relative_deviations': dict(found.deviations),
        'at_bound': list(found.at_bound), 'damping': dict(found.damping),
        'measured': [{'frequency_hz': mode.frequency, 'damping_ratio': mode.damping_ratio}
                     for mode in test.modes],
        'before': modes(0, found.before), 'after': modes(1, found.after),
        'stiffness_n_per_m': {
            'measured': [value for _, value in test.stiffness],
            'before': found.before.stiffness.tolist(), 'after': found.after.stiffness.tolist()},
        'mac': None if found.mac is None else found.mac.tolist(),
    }


def _text(test: 'ModalTest', found: 'ModalUpdate', files: list[Path]) -> str:
    lines = [heading('stiffness'), table(
        ('parameter', 'factor', 'deviation', 'damping', ''),
        [(name, factor, f'{100.0 * found.deviations[name]:.2g} %', found.damping.get(name),
          'at its bound' if name in found.at_bound else '')
         for name, factor in found.factors.items()])]
    if test.modes:
        lines += ['', heading('modes, joints held'), table(
            ('measured [Hz]', 'before', 'after', 'error', 'damping measured', 'before', 'after'),
            [(mode.frequency, found.before.frequencies[old], found.after.frequencies[new],
              f'{100.0 * (found.after.frequencies[new] / mode.frequency - 1.0):+.2f} %',
              mode.damping_ratio, found.before.damping_ratios[old],
              found.after.damping_ratios[new])
             for mode, (old, new) in zip(test.modes, found.pairs)])]
    if test.stiffness:
        lines += ['', heading('force over deflection [N/m]'), table(
            ('link', 'measured', 'before', 'after'),
            [(sensor.link, value, old, new) for (sensor, value), old, new in zip(
                test.stiffness, found.before.stiffness, found.after.stiffness)])]
    if found.mac is not None:
        count = min(found.mac.shape[1], len(test.modes) + 4)
        lines += ['', heading('MAC, measured and adjusted'), table(
            ('measured [Hz]', *(f'{f:.4g} Hz' for f in found.after.frequencies[:count])),
            [(mode.frequency, *(f'{value:.3f}' for value in row[:count]))
             for mode, row in zip(test.modes, found.mac)])]
    if found.at_bound:
        lines += ['', f'At the bound: {", ".join(found.at_bound)}. Check measurements and '
                  'masses; or raise --bound.']
    return '\n'.join([*lines, '', f'Written: {", ".join(map(str, files))}'])
