# SPDX-License-Identifier: Apache-2.0
"""The demonstration itself: checks its needs, runs the robots under each control, reports."""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
import datetime
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import time
from typing import Any, Sequence

from flexdyn_ros.demo.environment import UNCLAIMED, variables
from flexdyn_ros.demo.needs import missing_needs
from flexdyn_ros.demo.plan import COMPARISON, CONTROLS, DemoRun, ROBOTS
from flexdyn_ros.demo.report import demo_report, summary_lines
from flexdyn_ros.demo.supervisor import Interrupted, RunFailed, RunSupervisor
from flexdyn_ros.model.urdf.values import number, whole_number
from flexdyn_ros.progress import ProgressBar

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as a shell reports it
SHORTEST = 0.1  # [s]
REPEAT = 10.0  # real time between two lines of progress where no bar is drawn [s]


def run(words: Sequence[str]) -> int:
    """
    Run the demonstration.

    Args:
        words: Its options, as words of a command line.

    Returns:
        The exit code: 0, 1 where something is missing or failed, 130 where it was interrupted.
    """
    options = build_parser().parse_args(list(words))
    folder = options.out or Path(f'flexdyn_demo-{datetime.datetime.now():%Y%m%d-%H%M%S}')
    folder = folder.resolve()
    missing = missing_needs(options.robots, folder)
    if missing:
        needs = '\n'.join(f'  - {need}' for need in missing)
        print(f'The demonstration cannot run yet. Missing:\n{needs}', file=sys.stderr)
        return EXIT_FAILED
    stop = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM)
    previous = {each: signal.signal(each, lambda *_: stop.set()) for each in numbers}
    try:
        return _run(options, folder, stop)
    except Interrupted:
        print('Interrupted; all processes have been stopped.', file=sys.stderr)
        return EXIT_INTERRUPTED
    except RunFailed as error:
        print(f'error: {error}', file=sys.stderr)
        return EXIT_FAILED
    finally:
        for each, handler in previous.items():
            signal.signal(each, handler)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the demonstration's options."""
    parser = argparse.ArgumentParser(
        prog='flexdyn demo',
        description=(
            'Simulate flexible arms, control them with and without feed-forward torque of this '
            'package, and record the motion. Simulator, inverse dynamics, markers and driver are '
            'separate processes. They communicate over DDS on this machine alone.'
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
    for name, known in (('--robots', ROBOTS), ('--controls', CONTROLS)):
        parser.add_argument(
            name, type=_keys(known), default=list(known), metavar='NAMES',
            help=f'robots, some of {",".join(known)} (default: all)',
        )
    parser.add_argument(
        '--json', action='store_true', help='print the report as JSON on stdout')
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
        raise argparse.ArgumentTypeError(f'{text}, expected a time from {SHORTEST} to 3600 s')
    return value


def _keys(known: Any) -> Any:
    def read(text: str) -> list[str]:
        keys = [key.strip() for key in text.split(',') if key.strip()]
        if not keys or not set(keys) <= set(known):
            raise argparse.ArgumentTypeError(
                f'"{text}" must name some of {", ".join(known)}, with commas')
        return list(dict.fromkeys(keys))

    return read


def _run(options: argparse.Namespace, folder: Path, stop: threading.Event) -> int:
    """Run all, and print the report."""
    with redirect_stdout(sys.stderr if options.json else sys.stdout):
        report = _run_all(options, folder, stop)
    if options.json:
        print(json.dumps({**report, 'folder': str(folder)}, indent=1))
    else:
        print(*summary_lines(report), f'Report, data and pictures: {folder}', sep='\n', flush=True)
    return EXIT_FAILED if report['errors'] else 0


def _run_all(
    options: argparse.Namespace, folder: Path, stop: threading.Event
) -> dict[str, Any]:
    """Run all, draw, and return the report."""
    began = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    runs = make_runs(options, folder)
    print(
        f'{len(runs)} runs: {runs[0].duration:g} simulated seconds under the best control, '
        f'{runs[-1].duration:g} under others.\nResults go to {folder}', flush=True,
    )
    workers = options.parallel or max(1, len(os.sched_getaffinity(0)))
    _execute([RunSupervisor(run, stop) for run in runs], min(workers, len(runs)))
    if stop.is_set():
        raise Interrupted
    print('Comparing the tips and drawing the pictures ...', flush=True)
    parts = [(part, key) for part in ('tip_comparison', 'pictures') for key in options.robots]
    with ProgressBar(label='drawing'), ThreadPoolExecutor(workers) as pool:
        printed = list(pool.map(lambda part: _part(folder, *part), parts))
    tips = [row for text in printed[:len(options.robots)] for row in json.loads(text)]
    pictures = [name for text in printed[len(options.robots):] for name in text.splitlines()]
    reports = [
        json.loads((run.path / 'report.json').read_text(encoding='utf-8'))
        for run in sorted(runs, key=_order)
    ]
    report = demo_report(reports, pictures, time.monotonic() - began, tips)
    (folder / 'report.json').write_text(json.dumps(report, indent=1) + '\n', encoding='utf-8')
    return report


def make_runs(options: argparse.Namespace, folder: Path) -> list[DemoRun]:
    """Return the runs, the longest in real time first."""
    controls = [key for key in reversed(CONTROLS) if key in options.controls]
    compared = options.duration * (COMPARISON if len(controls) > 1 else 1.0)
    return [
        DemoRun.make(
            ROBOTS[key], control, options.duration if control == controls[0] else compared,
            compared, folder / key / control)
        for control in controls for key in options.robots
    ]


def _order(run: DemoRun) -> tuple[int, int]:
    return list(ROBOTS).index(run.robot), list(CONTROLS).index(run.control)


def _execute(supervisors: Sequence[RunSupervisor], workers: int) -> None:
    """Run all; the first that fails stops the others, and its error is raised."""
    shown = began = time.monotonic()
    total = sum(item.run.duration for item in supervisors)
    with ProgressBar(label='simulating') as bar, ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(supervisor.execute) for supervisor in supervisors]
        while not all(future.done() for future in futures):
            time.sleep(0.1)
            part = sum(item.simulated for item in supervisors) / total
            bar.update(part)
            if not bar.shown and time.monotonic() - shown > REPEAT:
                shown = time.monotonic()
                print(f'{shown - began:4.0f} s  {100.0 * part:3.0f} % simulated', flush=True)
    problems = [future.exception() for future in futures if future.exception()]
    failed = [problem for problem in problems if not isinstance(problem, Interrupted)]
    for problem in failed or problems:
        raise problem


def _part(folder: Path, part: str, robot: str) -> str:
    """Run a module of the demonstration for a robot in a process; return its output."""
    done = subprocess.run(
        [sys.executable, '-m', f'flexdyn_ros.demo.{part}', robot, str(folder)],
        env=variables(UNCLAIMED, folder), stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )
    if done.returncode:
        last = ([line for line in done.stderr.splitlines() if line.strip()] or ['no reason'])[-1]
        raise RunFailed(
            f'The {part.replace("_", " ")} of {robot} failed: {last}. Read its files in {folder}')
    return done.stdout
