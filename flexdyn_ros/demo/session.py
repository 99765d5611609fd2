# SPDX-License-Identifier: Apache-2.0
"""The demonstration itself: checks its needs, runs both robots under three controls, reports."""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
import datetime
import json
import os
from pathlib import Path
import signal
import sys
import threading
import time
from typing import Any
from typing import Sequence

from flexdyn_ros.demo import plan
from flexdyn_ros.demo.drawing import draw
from flexdyn_ros.demo.environment import DemoEnvironment
from flexdyn_ros.demo.needs import missing_needs
from flexdyn_ros.demo.progress import ProgressLine
from flexdyn_ros.demo.robots import describe
from flexdyn_ros.demo.robots import ROBOTS
from flexdyn_ros.demo.summary import demo_report
from flexdyn_ros.demo.summary import summary_lines
from flexdyn_ros.demo.supervisor import Interrupted
from flexdyn_ros.demo.supervisor import RunFailed
from flexdyn_ros.demo.supervisor import RunSupervisor
from flexdyn_ros.model.urdf.values import number
from flexdyn_ros.model.urdf.values import whole_number

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as a shell reports it
SHORTEST = 0.1  # [s]


def run(words: Sequence[str], environment: DemoEnvironment) -> int:
    """
    Run the demonstration.

    Args:
        words: Its options, as words of a command line.
        environment: What its processes inherit.

    Returns:
        The exit code: 0, 1 where something is missing or failed, 130 where it was interrupted.
    """
    options = build_parser().parse_args(list(words))
    folder = options.out or Path(
        datetime.datetime.now().strftime('flexdyn_demo-%Y%m%d-%H%M%S'))
    folder = folder.resolve()
    missing = missing_needs(environment, options.robots, folder)
    if missing:
        print('The demonstration cannot run yet. Missing:', file=sys.stderr)
        for need in missing:
            print(f'  - {need}', file=sys.stderr)
        return EXIT_FAILED
    stop = threading.Event()
    previous = {
        number: signal.signal(number, lambda *_: stop.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        return _run(options, folder, environment, stop)
    except Interrupted:
        print('Interrupted; all processes have been stopped.', file=sys.stderr)
        return EXIT_INTERRUPTED
    except RunFailed as error:
        print(f'error: {error}', file=sys.stderr)
        return EXIT_FAILED
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the demonstration's options."""
    parser = argparse.ArgumentParser(
        prog='flexdyn demo',
        description=(
            'Simulate flexible arms, control them with and without feed-forward torque of this '
            'package, and record what happens: simulator, inverse dynamics, markers, reference '
            'and recorder are processes of their own that talk over DDS, on this machine alone.'
        ),
    )
    parser.add_argument(
        '--duration', type=_duration, default=10.0, metavar='SECONDS',
        help='simulated time of the main runs (default: %(default)s)',
    )
    parser.add_argument(
        '--out', type=Path, metavar='DIR',
        help='folder of the results (default: flexdyn_demo-<date and time> here)',
    )
    parser.add_argument(
        '--robots', type=_keys(ROBOTS), default=list(ROBOTS), metavar='NAMES',
        help=f'which of {",".join(ROBOTS)} (default: all)',
    )
    parser.add_argument(
        '--controls', type=_keys(plan.CONTROLS), default=list(plan.CONTROLS), metavar='NAMES',
        help=f'which of {",".join(plan.CONTROLS)} (default: all)',
    )
    parser.add_argument(
        '--parallel', type=whole_number, metavar='N',
        help='runs at the same time (default: one a core)',
    )
    return parser


def _duration(text: str) -> float:
    try:
        value = number(text)
    except ValueError:
        value = -1.0
    if not SHORTEST <= value <= 3600.0:
        raise argparse.ArgumentTypeError(f'{text} is no time from {SHORTEST} to 3600 s')
    return value


def _keys(known: Any) -> Any:
    def read(text: str) -> list[str]:
        keys = [key.strip() for key in text.split(',') if key.strip()]
        wrong = [key for key in keys if key not in known]
        if wrong or not keys:
            raise argparse.ArgumentTypeError(
                f'"{text}" must name some of {", ".join(known)}, with commas')
        return list(dict.fromkeys(keys))

    return read


def _run(
    options: argparse.Namespace, folder: Path, environment: DemoEnvironment,
    stop: threading.Event,
) -> int:
    """Run all, draw, report."""
    began = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    runs = make_runs(options, folder, environment)
    print(
        f'{len(runs)} runs: {options.duration:g} simulated seconds with '
        f'{plan.CONTROLS[runs[0].control]}, half of it for comparison with others.\n'
        f'Results go to {folder}', flush=True,
    )
    supervisors = [RunSupervisor(run, environment, stop) for run in runs]
    workers = options.parallel or max(1, len(os.sched_getaffinity(0)))
    _execute(supervisors, min(workers, len(runs)), stop)
    reports = [_load(run) for run in sorted(runs, key=_order)]
    print('Drawing the pictures ...', flush=True)
    pictures = draw(folder, options.robots, environment, stop)
    report = demo_report(reports, pictures, time.monotonic() - began)
    (folder / 'report.json').write_text(json.dumps(report, indent=1) + '\n', encoding='utf-8')
    for line in summary_lines(report):
        print(line)
    print(f'Report, data and pictures: {folder}', flush=True)
    return EXIT_FAILED if report['errors'] else 0


def make_runs(
    options: argparse.Namespace, folder: Path, environment: DemoEnvironment
) -> list[plan.Run]:
    """Return the runs, the longest in real time first."""
    controls = [key for key in reversed(plan.CONTROLS) if key in options.controls]
    compared = options.duration * (plan.COMPARISON if len(controls) > 1 else 1.0)
    runs = []
    for control in controls:
        duration = options.duration if control == controls[0] else compared
        for key in options.robots:
            found = describe(ROBOTS[key], environment.prefix / 'share/flexdyn_ros')
            runs.append(plan.Run.make(
                ROBOTS[key], control, duration, compared, folder / key / control, found))
    return runs


def _order(run: plan.Run) -> tuple[int, int]:
    return list(ROBOTS).index(run.robot), list(plan.CONTROLS).index(run.control)


def _load(run: plan.Run) -> dict[str, Any]:
    return json.loads((run.path / 'report.json').read_text(encoding='utf-8'))


def _execute(
    supervisors: Sequence[RunSupervisor], workers: int, stop: threading.Event
) -> None:
    """Run all; the first that fails stops the others, and its error is raised."""
    progress = ProgressLine(supervisors)
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(_execute_one, supervisor, stop) for supervisor in supervisors]
        while not all(future.done() for future in futures):
            progress.show()
            time.sleep(0.1)
        progress.close()
    problems = [future.exception() for future in futures if future.exception()]
    failed = [problem for problem in problems if not isinstance(problem, Interrupted)]
    for problem in failed or problems:
        raise problem


def _execute_one(supervisor: RunSupervisor, stop: threading.Event) -> None:
    if stop.is_set():
        raise Interrupted('The demonstration was interrupted.')
    try:
        supervisor.execute()
    except BaseException:
        stop.set()
        raise
