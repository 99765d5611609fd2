# SPDX-License-Identifier: Apache-2.0
"""Options that subcommands share, and readers of their values."""

from __future__ import annotations

import argparse
from pathlib import Path
import re
import sys
from types import ModuleType
from typing import Any, Mapping, Optional, Sequence, TYPE_CHECKING

from flexdyn_ros.errors import ArgumentError, UnknownName
from flexdyn_ros.figures import FORMATS
from flexdyn_ros.model.urdf.values import number
from flexdyn_ros.output_files import json_text
from flexdyn_ros.progress import next_stage

if TYPE_CHECKING:
    from flexdyn_ros.model.records.robot import Robot
    import numpy as np

# Names of the library's arguments as options.
_OPTIONS = {
    'path_or_xml': 'URDF',
    'extension': '--extension',
    'base_dir': '--base-dir',
    'xacro_arguments': 'NAME:=VALUE',
    'robot': 'URDF',
}
# Those of `reduced`, which is imported only when a robot is read.
REDUCED_FORMS = ('linearised', 'undeformed_kinetic_energy', 'first_order_rotations')
# Those of `nodes.torque`: `feed_forward.MODES`, and the fields of `TorqueTerms`.
_TORQUE_MODELS = ('gravity', 'rigid', 'flexible_quasi_static', 'flexible_hybrid')
_TERMS = ('gravity', 'coriolis', 'inertia', 'friction')
_XACRO_ARGUMENT = re.compile(r'\w[\w.-]*:=.*', re.DOTALL)

_EXIT_CODES = """
exit codes: 0 fine, 1 the model is wrong, 2 the call is wrong
"""
_XACRO = """
xacro:      words NAME:=VALUE, anywhere, are arguments of a xacro file, as in modes:=2"""


def add_subcommand(subparsers: Any, module: ModuleType) -> None:
    """
    Add a subcommand.

    Args:
        subparsers: The parser's subcommands.
        module: Its module: SUMMARY, a function `run` of the call, and a function `add_options` of
            the parser where it has options. Its docstring has a headline, the description, and
            examples at the end. READS_ROBOT is False where it reads no robot description.
    """
    reads_robot = getattr(module, 'READS_ROBOT', True)
    text = (module.__doc__ or '').partition('\n\n')[2]
    description, _, examples = text.partition('Examples:\n')
    parser: argparse.ArgumentParser = subparsers.add_parser(
        module.__name__.rpartition('.')[2].replace('_', '-'),
        help=module.SUMMARY,
        description=description,
        epilog=f'examples:\n{examples}{_XACRO * reads_robot}{_EXIT_CODES}',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if reads_robot:
        _add_robot(parser)
    parser.add_argument('--debug', action='store_true', help='print the traceback of an error')
    if hasattr(module, 'add_options'):
        module.add_options(parser)
    add_json(parser)
    parser.set_defaults(run=module.run)


def _add_robot(parser: argparse.ArgumentParser) -> None:
    """Add the options of a robot description."""
    parser.add_argument(
        'urdf', metavar='URDF',
        help='URDF or xacro file, package:// address, or - for URDF text on stdin',
    )
    parser.add_argument(
        '--extension', metavar='FILE', action='append', default=[],
        help='file with <flexdyn> data beside the description; may be repeated',
    )
    parser.add_argument(
        '--base-dir', metavar='DIR',
        help='base folder of relative file names in the description (default: its own folder)',
    )
    parser.add_argument(
        '--form', choices=REDUCED_FORMS,
        help='reduced equations for all links with mode shapes, see docs/reduced_forms.md',
    )
    parser.set_defaults(xacro_arguments=[])


def is_xacro_argument(word: str) -> bool:
    """Return whether a word of the call is name:=value."""
    return _XACRO_ARGUMENT.fullmatch(word) is not None


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument(
        '--json', action='store_true', help='print JSON on stdout for programs; SI units')


def add_package(parser: argparse.ArgumentParser) -> None:
    """Add --package."""
    parser.add_argument(
        '--package', metavar='NAME=PATH', action='append', default=[],
        help='folder of the ROS package NAME, where package:// addresses of meshes look first; '
        'may be repeated',
    )


def add_out(parser: argparse.ArgumentParser, default: str) -> None:
    """Add --out with its default."""
    parser.add_argument(
        '-o', '--out', metavar='DIR', default=default,
        help=f'folder of the results; created if missing (default: {default})')


def add_gains(parser: argparse.ArgumentParser) -> None:
    """Add --kp and --kd of joint controllers."""
    for option, what in (('--kp', 'position errors [SI]: N m/rad, N/m'),
                         ('--kd', 'velocity errors [SI]: N m s/rad, N s/m')):
        parser.add_argument(
            option, metavar='GAIN', type=positive, nargs='+',
            help=f'gains of joint controllers on {what}, one or one a driven joint')


def gains(call: argparse.Namespace, driven: int) -> Optional[tuple[list[float], list[float]]]:
    """Return kp and kd of each driven joint, or None where a call has none."""
    if (call.kp is None) != (call.kd is None):
        raise ArgumentError('--kp', 'and --kd come together: give both')
    if call.kp is None:
        return None
    for option, values in (('--kp', call.kp), ('--kd', call.kd)):
        if len(values) not in (1, driven):
            raise ArgumentError(option, f'has {len(values)} numbers, expected 1 or {driven}')
    kp, kd = (each * driven if len(each) == 1 else each for each in (call.kp, call.kd))
    return kp, kd


def add_torque_model(parser: argparse.ArgumentParser, which: str) -> None:
    """Add --torque-model and --leave-out; `which` torque omits the terms."""
    parser.add_argument(
        '--torque-model', choices=_TORQUE_MODELS, default='rigid',
        help='as the parameter torque_model of inverse_dynamics_node (default: rigid)',
    )
    parser.add_argument(
        '--leave-out', metavar='TERM', nargs='+', choices=_TERMS, action='extend', default=[],
        help=f'terms that the {which} omits: {", ".join(_TERMS)}',
    )


def feed_forward(call: argparse.Namespace, robot: 'Robot', side: str = 'motor') -> Any:
    """Return the torques of a call as inverse_dynamics_node computes them, see `FeedForward`."""
    from flexdyn_ros.nodes.torque.feed_forward import FeedForward
    from flexdyn_ros.nodes.torque.torque_terms import TorqueTerms
    from flexdyn_ros.robot_dynamics import Dynamics

    terms = TorqueTerms(**{name: name not in call.leave_out for name in _TERMS})
    return FeedForward(Dynamics(robot), call.torque_model, terms, side)


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add --format."""
    parser.add_argument(
        '--format', choices=FORMATS, default='png', help='format of pictures (default: png)')


def load(call: argparse.Namespace) -> 'Robot':
    """Return the robot that a call names."""
    from flexdyn_ros.model.load import load_robot
    from flexdyn_ros.model.records.reduced import reduced

    source = sys.stdin.read() if call.urdf == '-' else call.urdf
    if call.urdf == '-' and not source.lstrip('\ufeff \t\r\n').startswith('<'):
        raise ArgumentError(
            'URDF', 'is -, and stdin holds no XML text. Pipe a description, or name a file')
    try:
        robot = load_robot(
            source,
            base_dir=call.base_dir,
            extension=call.extension or None,
            xacro_arguments=_xacro_arguments(call.xacro_arguments),
        )
        next_stage('computing')
        return robot if call.form is None else reduced(robot, call.form)
    except ArgumentError as error:
        raise ArgumentError(_OPTIONS.get(error.argument, error.argument), error.problem) from error


def description_folder(call: argparse.Namespace) -> Optional[Path]:
    """Return the folder that relative file names of a call's description start from, or None."""
    if call.base_dir:
        return Path(call.base_dir)
    return Path(call.urdf).parent if Path(call.urdf).is_file() else None


def _xacro_arguments(words: Sequence[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for word in words:
        name, _, value = word.partition(':=')
        if name in values:
            raise ArgumentError('xacro_arguments', f'gives "{name}" twice. Keep one')
        values[name] = value
    return values


def print_json(value: Any) -> None:
    """Print JSON, see `json_text`."""
    print(json_text(value))


def show(call: argparse.Namespace, record: Any, text: str) -> None:
    """Print a record as JSON where a call has --json, otherwise its text."""
    print(json_text(record) if call.json else text)


def with_units(value: Any, units: Mapping[str, str]) -> Any:
    """
    Return a value for JSON with its quantities also under names that end in their units.

    Args:
        value: Dictionaries, lists and numbers.
        units: The further name of each quantity.
    """
    if isinstance(value, dict):
        named = {name: with_units(entry, units) for name, entry in value.items()}
        return {**named, **{units[name]: named[name] for name in units if name in named}}
    if isinstance(value, (list, tuple)):
        return [with_units(entry, units) for entry in value]
    return value


def positive(text: str) -> float:
    """Read a positive number, as descriptions are read; argparse reports a failure."""
    value = number(text)
    if value <= 0.0:
        raise argparse.ArgumentTypeError(f'{text} is not positive, expected more than 0')
    return value


positive.__name__ = 'positive number'


def count(text: str) -> int:
    """Read a whole number of at least one; argparse reports a failure."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f'{text} is not positive, expected 1 or more')
    return value


count.__name__ = 'positive whole number'


def named_values(
    words: Sequence[str], names: Sequence[str], start: 'np.ndarray', option: str
) -> 'np.ndarray':
    """
    Read `name=value` words into a vector.

    Args:
        words: The words of the option.
        names: Names of the vector's entries.
        start: Values of entries that no word names, (len(names),).
        option: The option, for errors.

    Returns:
        A new vector, (len(names),).

    Raises:
        ArgumentError: A word is not name=value with a finite number, or a name comes twice.
        UnknownName: No entry has the name.
    """
    values = start.copy()
    seen = set()
    for word in words:
        name, separator, text = word.rpartition('=')
        if not separator or not name:
            raise ArgumentError(option, f'needs name=value, not "{word}"')
        if name not in names:
            raise UnknownName('coordinate', name, names)
        if name in seen:
            raise ArgumentError(option, f'gives "{name}" twice. Keep one')
        seen.add(name)
        try:
            values[list(names).index(name)] = number(text)
        except ValueError:
            raise ArgumentError(
                option, f'gives "{name}" the value "{text}", expected a finite number'
            ) from None
    return values
