# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn generate`: source code of a dynamics function.

Write the source of a dynamics function, or of several that share their work. For C it also writes
a header, an example main and a CMake snippet. With --ros2-control it writes an ament_cmake package
with a controller, a simulated arm and a solver instead. With --damping the controller can damp
the first modes, and the margins are printed. Existing files are replaced.

Examples:
  flexdyn generate arm.urdf --function inverse_dynamics --language c -o generated
  flexdyn generate arm.urdf --function mass_matrix+bias_vector --language fortran
  flexdyn generate arm.urdf --function jacobian:tool --language python
  flexdyn generate arm.urdf --argument gravity --argument payload:tool --argument forearm/mass
  flexdyn generate arm.urdf --ros2-control -o my_arm_dynamics
  flexdyn generate arm.urdf --ros2-control --damping damping.yaml -o my_arm_dynamics
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Mapping

from flexdyn_ros.cli.options import load, show
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.output_files import new_folder, write_text
from flexdyn_ros.progress import ProgressBar

# Names of the library's arguments as options.
_OPTIONS = {'function': '--function', 'arguments': '--argument', 'name': '--name'}
SUMMARY = 'source code of a dynamics function'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument(
        '--function', metavar='NAME', default='inverse_dynamics',
        help='method of Dynamics, or several joined by +; jacobian:FRAME selects a frame '
        '(default: inverse_dynamics)',
    )
    parser.add_argument(
        '--language', choices=('c', 'python', 'fortran'), default='c',
        help='language of the source (default: c)',
    )
    parser.add_argument(
        '-o', '--output', metavar='DIR', default='.', help='folder for the source (default: .)'
    )
    parser.add_argument(
        '--argument', metavar='NAME', action='append', default=[], dest='arguments',
        help='argument of the generated function: gravity, payload[:LINK], wrench:FRAME, or a '
        'parameter such as LINK/mass; may be repeated',
    )
    parser.add_argument(
        '--name', help="name of the generated function (default: the function's), or of the "
        'package (default: its folder)',
    )
    parser.add_argument(
        '--ros2-control', action='store_true',
        help='write a package for ros2_control. Gravity and a payload are given at run time. The '
        'payload is on the last link, or on that of --argument payload:LINK',
    )
    parser.add_argument(
        '--damping', metavar='FILE',
        help='with --ros2-control: YAML with the arguments of damping_controller, for active '
        'damping; prints the margins with its delay (docs/active_damping.md)',
    )
    parser.add_argument(
        '--no-optimise', action='store_false', dest='optimise',
        help='write the traced program without simplification',
    )


def run(call: argparse.Namespace) -> int:
    """Write the files and print their paths."""
    from flexdyn_ros.codegen import generate

    robot = load(call)
    if call.ros2_control:
        return _write_package(call, robot)
    try:
        with ProgressBar(label='generating'):
            code = generate(
                robot, call.function, call.language, call.optimise, call.arguments,
                name=call.name)
    except ArgumentError as error:
        option = _OPTIONS.get(error.argument, error.argument)
        raise ArgumentError(option, error.problem) from error
    paths = _write(Path(call.output), code.files)
    counts = code.counts
    show(call, {
        'robot': robot.name, 'function': code.function, 'language': code.language,
        'name': code.name, 'counts': counts, 'files': paths,
        'arguments': {each.name: list(each.entries) for each in code.inputs},
    }, '\n  '.join([
        f'{code.function} of "{robot.name}": {counts["mul"]} multiplications, {counts["add"]} '
        f'additions, {counts["trig"]} calls of functions. Written:', *paths]))
    return 0


def _write_package(call: argparse.Namespace, robot: Any) -> int:
    """Write the package for ros2_control and print the paths."""
    from flexdyn_ros.ros2_control import control_package

    other = [
        each for each in call.arguments if each not in ('gravity', 'payload')
        and not each.startswith('payload:')
    ]
    links = [each.partition(':')[2] for each in call.arguments if each.startswith('payload:')]
    if other or len(links) > 1:
        raise ArgumentError(
            '--argument', 'with --ros2-control takes gravity, and the payload of one link')
    damping = _damping(call.damping, robot) if call.damping else None
    folder = Path(call.output)
    name = call.name or folder.resolve().name
    try:
        with ProgressBar(label='generating') as bar:
            files = control_package(
                robot, name, links[0] if links else None, call.optimise, bar.update,
                damping)
    except ArgumentError as error:
        raise ArgumentError('--name' if call.name else '-o', error.problem) from error
    paths = _write(folder, files)
    margins = {} if damping is None else {
        'actuators': damping.actuators, 'peak_sensitivity': damping.peak_sensitivity,
        'delay': damping.delay, 'delay_margin': damping.delay_margin, 'reach': damping.reach,
        'modes': [vars(mode) for mode in damping.modes]}
    show(call, {'robot': robot.name, 'package': name, 'files': paths, 'damping': margins}, (
        '' if damping is None else f'{damping}\n') + (
        f'Package {name} for "{robot.name}", {len(paths)} files in {folder}. Begin with:\n'
        f'  {folder / "README.md"}'))
    return 0


def _damping(path: str, robot: Any) -> Any:
    """Return the design with the arguments of a file."""
    from flexdyn_ros.active_damping import damping_controller
    from flexdyn_ros.robot_dynamics import Dynamics
    import yaml

    try:
        choices = yaml.safe_load(Path(path).read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ArgumentError(
            '--damping', f'cannot be read: {error}. Write YAML as in docs/active_damping.md'
        ) from error
    needed = {'joint_q', 'kp', 'kd', 'period', 'delay'}
    known = needed | {'modes', 'actuators', 'in_drives', 'stiffness_error'}
    if not isinstance(choices, dict) or not needed <= set(choices) <= known:
        raise ArgumentError(
            '--damping', f'names another file: expected the entries {", ".join(sorted(needed))}, '
            'and '
            f'optionally {", ".join(sorted(known - needed))}')
    return damping_controller(Dynamics(robot), **choices)


def _write(folder: Path, files: Mapping[str, str]) -> list[str]:
    paths = []
    for name, text in files.items():
        new_folder((folder / name).parent)
        paths.append(str(write_text(folder / name, text)))
    return paths
