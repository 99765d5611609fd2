# SPDX-License-Identifier: Apache-2.0
"""The entry point of `flexdyn`: parses the call, runs it, turns errors into exit codes."""

from __future__ import annotations

import argparse
from contextlib import contextmanager
import logging
import os
import sys
import traceback
from typing import Any, Iterator, NoReturn, Optional, Sequence

from flexdyn_ros import __version__
from flexdyn_ros.cli import (
    analyse,
    check,
    convert,
    count,
    demo,
    excite,
    flex,
    generate,
    identify,
    info,
    inverse_dynamics,
    modes,
    plot,
    reduce,
    replay,
    simulate,
    sweep,
    track_tip,
    update_modes,
    view,
)
from flexdyn_ros.cli.options import add_subcommand, is_xacro_argument
from flexdyn_ros.errors import ArgumentError, FlexdynError, UnknownName
from flexdyn_ros.progress import drawn_stages, ProgressBar
from flexdyn_ros.terminal import paint, warn

EXIT_MODEL = 1
EXIT_CALL = 2
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as a shell reports it
EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE

_SUBCOMMANDS = (
    check, info, modes, analyse, flex, simulate, plot, view, inverse_dynamics, generate,
    count, identify, excite, replay, track_tip, update_modes, convert, reduce, sweep,
)

_EPILOG = """\
exit codes: 0 fine; 1 the model is wrong or not supported;
            2 the call is wrong (unknown option or name, missing file)
colours:    on a terminal only, and never where NO_COLOR is set

examples:
  flexdyn check arm.urdf
  flexdyn info arm.urdf --json
  flexdyn modes arm.urdf.xacro modes:=2 --at elbow=1.57
  flexdyn simulate arm.urdf --t-end 2 --q0 shoulder=0.5 --out run1
"""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """
    Run the command line.

    Args:
        arguments: The words after the program's name; those of the process when None.

    Returns:
        The exit code: 0, 1 (the model is wrong) or 2 (the call is wrong).
    """
    with drawn_stages('reading'):
        return run_command(build_parser(), arguments)


def run_command(parser: argparse.ArgumentParser, arguments: Optional[Sequence[str]]) -> int:
    """
    Run the function `run` that a parser sets, and turn its errors into sentences and exit codes.

    Args:
        parser: A `CommandParser`.
        arguments: The words after the program's name; those of the process when None.

    Returns:
        The exit code.
    """
    with _shown_warnings():
        return _run(parser, arguments)


def _run(parser: argparse.ArgumentParser, arguments: Optional[Sequence[str]]) -> int:
    try:
        call = parser.parse_args(arguments)
        code = int(call.run(call))
        sys.stdout.flush()
        return code
    except FlexdynError as error:
        if getattr(call, 'debug', False):
            traceback.print_exc()
        return _report(str(error), _exit_code(error))
    except KeyboardInterrupt:
        return _report('Interrupted.', EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader has closed the pipe. With stdout redirected, the last flush raises no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except OSError as error:
        where = error.filename or 'Standard output'  # all other writers name their file
        return _report(f'{where}: {error.strerror or error}.', EXIT_CALL)
    except Exception as error:
        missing = getattr(error, 'name', None) if isinstance(error, ModuleNotFoundError) else None
        if missing and missing.partition('.')[0] != __name__.partition('.')[0]:
            return _report(
                f'{sys.executable} has no Python package "{missing}". Activate the environment '
                'of flexdyn_ros, or install it there.', EXIT_CALL)
        if call.debug:
            traceback.print_exc()
            return EXIT_MODEL
        kind = type(error).__name__
        return _report(
            f'This is a bug in flexdyn: {kind}: {error}. Please report it with the output that '
            '--debug adds.', EXIT_MODEL,
        )


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `flexdyn` and all its subcommands."""
    parser = CommandParser(
        prog='flexdyn',
        description='Dynamics of robot arms with flexible links and joints.',
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        '--version', action='version', version=f'flexdyn {__version__}',
        help='print the version and stop')
    subparsers = parser.add_subparsers(dest='command', metavar='COMMAND', required=True)
    for module in _SUBCOMMANDS:
        add_subcommand(subparsers, module)
    demo.add_parser(subparsers)
    return parser


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are one sentence that points to the help; inherited by subcommands."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str], namespace: Optional[argparse.Namespace] = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse; words name:=value could be mistaken for an option's and are taken out first."""
        if self.get_default('xacro_arguments') is None:  # the command reads no description
            return super().parse_known_args(args, namespace)
        others = [word for word in args if not is_xacro_argument(word)]
        call, unknown = super().parse_known_args(others, namespace)
        call.xacro_arguments = [word for word in args if is_xacro_argument(word)]
        return call, unknown

    def error(self, message: str) -> NoReturn:
        """Print the error and stop with exit code 2."""
        if message.endswith('required: URDF'):  # an option with several values consumed it
            message += ' (place it before the options)'
        _report(f'{message[:1].upper()}{message[1:].rstrip(".")}. See {self.prog} --help.', 0)
        sys.exit(EXIT_CALL)


class _Warnings(logging.Handler):
    """Shows log records of the library as the command line's own warnings."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one line on stderr."""
        warn(record.getMessage())


class _CompilingBars(logging.Handler):
    """Draws the progress of compilations on a terminal."""

    def __init__(self) -> None:
        super().__init__()
        self._bars: list[Any] = []  # tracing a program may compile another

    def emit(self, record: logging.LogRecord) -> None:
        """Draw the progress that a record of `CompiledProgram` reports."""
        fraction = getattr(record, 'fraction', None)
        if fraction == 0.0:
            bar = ProgressBar(label=f'compiling {vars(record)["compiled"]}')
            self._bars.append(bar.__enter__())
        elif fraction == 1.0:
            self._bars.pop().__exit__(None)
        elif fraction is not None:
            self._bars[-1].update(fraction)


@contextmanager
def _shown_warnings() -> Iterator[None]:
    """Show the reports of the library, and restore its loggers for a caller."""
    shown = {
        'flexdyn_ros': (_Warnings(logging.WARNING), False, logging.NOTSET),
        'flexdyn_ros.codegen': (_CompilingBars(), True, logging.DEBUG),
    }
    before = []
    for name, (handler, propagate, level) in shown.items():
        logger = logging.getLogger(name)
        before.append((logger, logger.handlers, logger.propagate, logger.level))
        logger.handlers, logger.propagate = [handler], propagate
        logger.setLevel(level)
    try:
        yield
    finally:
        for logger, handlers, logger.propagate, level in before:
            logger.handlers = handlers
            logger.setLevel(level)


def _exit_code(error: FlexdynError) -> int:
    if isinstance(error, (ArgumentError, UnknownName)):
        return EXIT_CALL
    return int(getattr(error, 'exit_code', EXIT_MODEL))


def _report(sentence: str, code: int) -> int:
    print(f'{paint("error:", "red", sys.stderr)} {sentence}', file=sys.stderr)
    return code
