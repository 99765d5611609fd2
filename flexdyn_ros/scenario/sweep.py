# SPDX-License-Identifier: Apache-2.0
"""
Many runs of a scenario: a grid, or random samples, of its values, on several processes.

Each finished run is a line of rows.jsonl in the sweep's folder, so that a sweep goes on where it
stopped. A run in a process that ends is repeated. Rows depend on the point alone, not on the
process, and the table is in the order of the points.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
import hashlib
import itertools
import json
import multiprocessing
import os
from pathlib import Path
import signal
import threading
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence
import warnings

from flexdyn_ros import __version__
from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.scenario.load import load
from flexdyn_ros.scenario.result import ScenarioRun
from flexdyn_ros.scenario.run import run
import numpy as np

# Processes that a run may take with it before it counts as failed.
LOST_PROCESSES = 3
Row = dict[str, Any]
Finished = Callable[[int, Row], None]


@dataclass(frozen=True)
class SweepAxis:
    """
    A key of a scenario and its values.

    Attributes:
        key: The key, dots between sections.
        values: Values of a grid; the ends of a range, or what samples choose from.
        is_range: Whether samples are uniform between the first and the last value.
    """

    key: str
    values: tuple[Any, ...]
    is_range: bool = False

    def sample(self, random: np.random.Generator) -> Any:
        """Return a random value."""
        if self.is_range:
            return float(random.uniform(self.values[0], self.values[-1]))
        return self.values[int(random.integers(len(self.values)))]


@dataclass(frozen=True)
class Sweep:
    """
    Points of a scenario.

    Attributes:
        source: The scenario's file.
        changes: Values that all points have in common, by key.
        points: Changed values of each point, by key.
    """

    source: str
    changes: Mapping[str, Any]
    points: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(
        cls, source: str, axes: Sequence[SweepAxis], changes: Optional[Mapping[str, Any]] = None,
        samples: int = 0, seed: int = 0,
    ) -> Sweep:
        """
        Return the grid of all values, or random samples.

        Args:
            source: The scenario's file.
            axes: The varied keys.
            changes: Other values of the scenario.
            samples: Number of samples; 0 for the grid.
            seed: Of the samples.

        Raises:
            ArgumentError: No key varies, or one comes twice.
            ScenarioError: The scenario does not take a value.
        """
        keys = [axis.key for axis in axes]
        if not keys or len(set(keys)) < len(keys):
            raise ArgumentError('over', f'names {keys}, expected different keys, at least one')
        common = dict(changes or {})
        for axis in axes:
            for value in axis.values:
                first = {each.key: each.values[0] for each in axes}
                load(source, {**common, **first, axis.key: value})
        if samples:
            random = np.random.default_rng(seed)
            points = [{axis.key: axis.sample(random) for axis in axes} for _ in range(samples)]
        else:
            grid = itertools.product(*(axis.values for axis in axes))
            points = [dict(zip(keys, values)) for values in grid]
        return cls(str(source), common, tuple(points))

    def digest(self) -> str:
        """Return a digest of all that the rows depend on, with the contents of named files."""
        first = {**self.changes, **self.points[0]}
        scenario = load(self.source, first)
        names = {self.source, *scenario.files}
        for key, value in {each for point in self.points for each in point.items()
                           if isinstance(each[1], str)}:
            names.update(load(self.source, {**first, key: value}).files)
        parts = (__version__, dict(self.changes), list(self.points), scenario.robot.descriptions,
                 {name: _contents(Path(name)) for name in names})
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _contents(path: Path) -> list[str]:
    """Return digests of a file or of the files in a folder; none for addresses and XML."""
    try:
        files = sorted(path.rglob('*')) if path.is_dir() else [path] * path.is_file()
        return [hashlib.sha256(each.read_bytes()).hexdigest() for each in files if each.is_file()]
    except OSError:  # XML is longer than a name may be
        return []


def sweep_rows(
    sweep: Sweep, folder: Path, workers: int = 1, dask: Optional[str] = None,
    progress: Optional[Callable[[float], None]] = None,
) -> list[Row]:
    """
    Run all points that the folder does not hold yet, and return all rows in their order.

    A row holds the values of the point, and results by names that end in units. These are tracking
    errors, largest torques, largest tip deflections and final positions. A failed row has "error".

    Args:
        sweep: The points.
        folder: An existing folder, for rows.jsonl.
        workers: Number of processes.
        dask: Address of a Dask scheduler that runs the points instead, or "local" for a new one
            with these workers. Its workers need this package and the scenario's files.
        progress: Receives the fraction done.

    Raises:
        ArgumentError: The folder holds another sweep.
        FlexdynError: Dask is not installed.
    """
    path, digest = folder / 'rows.jsonl', sweep.digest()
    rows = _kept_rows(path, digest)
    missing = [k for k in range(len(sweep.points)) if k not in rows]
    with path.open('a', encoding='utf-8') as file:
        if not path.stat().st_size:
            _append(file, {'sweep': digest})

        def finished(index: int, row: Row) -> None:
            _append(file, {'index': index, 'row': row})
            rows[index] = row
            if progress is not None:
                progress(1.0 - (len(sweep.points) - len(rows)) / max(1, len(missing)))

        if missing and dask is not None:
            _run_by_dask(sweep, missing, dask, workers, finished)
        elif missing:
            _run_here(sweep, missing, workers, finished)
    return [rows[k] for k in range(len(sweep.points))]


def _append(file: Any, value: Mapping[str, Any]) -> None:
    """Write a line that stays when the machine stops."""
    file.write(json.dumps(value) + '\n')
    file.flush()
    os.fsync(file.fileno())


def _kept_rows(path: Path, digest: str) -> dict[int, Row]:
    """Return the rows of an earlier run; drop a last line that it could not end."""
    if not path.exists():
        return {}
    text = path.read_text(encoding='utf-8')
    whole = text[:text.rfind('\n') + 1]
    if len(whole) < len(text):
        path.write_text(whole, encoding='utf-8')
    lines = [json.loads(line) for line in whole.splitlines()]
    if lines and lines[0].get('sweep') != digest:
        raise ArgumentError('out', f'is {path.parent}, which holds another sweep; name a new one')
    return {line['index']: line['row'] for line in lines[1:]}


def _run_here(sweep: Sweep, missing: list[int], workers: int, finished: Finished) -> None:
    """
    Run points in processes of this machine.

    The first runs alone: it compiles what the others share. When a process ends, those of its pool
    do. What they ran is repeated alone, and fails where it has ended several processes.
    """
    suspects, waiting = deque(missing[:1]), deque(missing[1:])
    lost: dict[int, int] = {}
    while suspects or waiting:
        alone = deque([suspects.popleft()]) if suspects else None
        for k in _run_in_pool(sweep, alone or waiting, 1 if alone else workers, finished):
            lost[k] = lost.get(k, 0) + 1
            if lost[k] < LOST_PROCESSES:
                suspects.append(k)
            else:
                finished(k, {**sweep.points[k], 'error': 'Its process ended.'})


def _run_in_pool(
    sweep: Sweep, waiting: deque[int], workers: int, finished: Finished
) -> list[int]:
    """Take points and run them; return those that ran when a process ended."""
    # Forked from a server without threads that has imported all.
    context = multiprocessing.get_context('forkserver')
    context.set_forkserver_preload([__name__])
    running: dict[Future[Row], int] = {}
    with ProcessPoolExecutor(min(workers, len(waiting)), context, _begin_worker) as pool:
        try:
            while waiting or running:
                while waiting and len(running) < workers:
                    point = sweep.points[waiting[0]]
                    future = pool.submit(sweep_row, sweep.source, sweep.changes, point)
                    running[future] = waiting.popleft()
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    row = future.result()
                    finished(running.pop(future), row)
        except BrokenProcessPool:
            return sorted(running.values())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return []


def _begin_worker() -> None:
    """Let a process end quietly at an interrupt, and with its parent."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _run_by_dask(
    sweep: Sweep, missing: list[int], address: str, workers: int, finished: Finished
) -> None:
    try:
        from distributed import as_completed, Client
    except ImportError as missed:
        raise FlexdynError(
            'A sweep on a cluster needs Dask: pip install flexdyn_ros[cluster]') from missed
    options: dict[str, Any] = {'address': address}
    if address == 'local':
        options = {'n_workers': workers, 'threads_per_worker': 1, 'dashboard_address': None}
    with Client(**options) as client:
        futures = {
            client.submit(sweep_row, sweep.source, sweep.changes, sweep.points[k], pure=False): k
            for k in missing}
        for future in as_completed(list(futures)):
            k = futures[future]
            error = future.exception()
            finished(k, future.result() if error is None else {
                **sweep.points[k], 'error': f'{type(error).__name__}: {error}'})


def sweep_row(source: str, changes: Mapping[str, Any], point: Mapping[str, Any]) -> Row:
    """Run one point; return its row."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            found = run(load(source, {**changes, **point}), progress=False)
    except FlexdynError as error:
        return {**point, 'error': str(error)}
    return {**point, **dict(_results(found))}


def _results(found: ScenarioRun) -> Iterator[tuple[str, float]]:
    motion, summary = found.motion, found.summary()
    units = dict(zip(motion.names, motion.units))
    for name, errors in summary['tracking_errors'].items():
        for kind, value in errors.items():
            yield f'{name}/error_{kind}_{units[name]}', value
    efforts = dict(zip(motion.velocity_names, motion.effort_units))
    for name, value in summary['largest_torques'].items():
        yield f'{name}/largest_effort_{efforts[name].lower().replace(" ", "_")}', value
    for name, unit, values in zip(motion.tip_names, motion.tip_units, motion.tips.T):
        yield f'{name}_largest_{unit}', float(np.abs(values).max())
    for name, value in zip(motion.names, motion.q[-1]):
        yield f'{name}/final_{units[name]}', float(value)


def parsed_axis(text: str) -> SweepAxis:
    """
    Read KEY=FROM:TO:COUNT, KEY=FROM:TO for samples, or KEY=VALUE,VALUE...

    Raises:
        ArgumentError: It is none of these.
    """
    import yaml

    key, _, value = text.partition('=')
    parts = value.split(':')
    try:
        if key and len(parts) in (2, 3):
            low, high = map(float, parts[:2])
            count = int(parts[2]) if len(parts) == 3 else 2
            if count >= 1 and np.isfinite([low, high]).all():
                values = np.linspace(low, high, count).tolist()
                return SweepAxis(
                    key, tuple(int(x) if x == int(x) else x for x in values), True)
        elif key and value and len(parts) == 1:
            found = yaml.safe_load(f'[{value}]')
            return SweepAxis(key, tuple(found))
    except (ValueError, yaml.YAMLError):
        pass
    raise ArgumentError(
        'over', f'is "{text}", expected KEY=FROM:TO:COUNT, KEY=FROM:TO or KEY=VALUE,VALUE')
