# SPDX-License-Identifier: Apache-2.0
"""
The runs of a sweep, on several processes of this machine or on a cluster.

Each finished run is a line of rows.jsonl in the sweep's folder, so that a sweep resumes where it
stopped. A run in a process that ends is repeated. Rows depend on the point alone, not on the
process, and the table is in the order of the points.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
import json
import multiprocessing
import os
from pathlib import Path
import signal
import threading
from typing import Any, Callable, Iterator, Mapping, Optional
import warnings

from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.scenario.load import load
from flexdyn_ros.scenario.result import ScenarioRun
from flexdyn_ros.scenario.run import run
from flexdyn_ros.scenario.sweep_points import Sweep
import numpy as np

# Processes that a run may take with it before it counts as failed.
LOST_PROCESSES = 3
Row = dict[str, Any]
Finished = Callable[[int, Row], None]


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

    The first runs alone: it compiles the code that the others share. When a process ends, those of
    its pool do. Their points are repeated alone, and fail where they have ended several processes.
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
            'A sweep on a cluster needs Dask: pip install dask distributed') from missed
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
