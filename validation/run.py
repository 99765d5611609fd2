# SPDX-License-Identifier: Apache-2.0
"""Runs cases one after another or side by side; one that breaks does not stop the others."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
import logging
import multiprocessing
from pathlib import Path
import time
import traceback
from typing import Any, Callable, Iterator, Optional, Sequence

from validation.case import (
    Case,
    EXPLAINED,
    MET,
    MISSED,
    no_progress,
    NOT_RUN,
    NotRun,
    Picture,
    Progress,
    Row,
)
from validation.registry import cases

# Names of modules in pip, where they differ.
PIP_NAMES = {'pinocchio': 'pin'}
_POLL = 0.5  # [s]
_REPORT_STEP = 0.01  # of a case, between reports from another process


@dataclass(frozen=True)
class Outcome:
    """
    The result of a case.

    Attributes:
        name: The case.
        rows: Its rows; none where it broke.
        pictures: The pictures that it drew.
        seconds: Duration.
        error: The traceback where it broke; else empty.
    """

    name: str
    rows: tuple[Row, ...]
    pictures: tuple[Picture, ...] = ()
    seconds: float = 0.0
    error: str = ''

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of rows of each verdict."""
        found = [row.verdict for row in self.rows]
        return {kind: found.count(kind) for kind in (MET, EXPLAINED, MISSED, NOT_RUN)}

    @property
    def failed(self) -> bool:
        """Whether it broke, has no row, or a row misses that should not."""
        return bool(self.error) or not self.rows or self.verdicts[MISSED] > 0


def needed(module: str) -> NotRun:
    """Return the result of a part that cannot run without a module."""
    return NotRun(f'{module} (pip install {PIP_NAMES.get(module, module)})')


def run_case(
    case: Case, folder: Optional[Path] = None, progress: Progress = no_progress
) -> Outcome:
    """
    Run a case and draw its pictures.

    Args:
        case: The case.
        folder: Folder of the pictures; None draws none.
        progress: Receives the fraction done.
    """
    start = time.monotonic()
    missing = [module for module in case.needs if find_spec(module) is None]
    if missing:
        row = Row(case.title, 'the case runs', needed(missing[0]), kind='other_code')
        return Outcome(case.name, (row,))
    rows: tuple[Row, ...] = ()
    pictures: tuple[Picture, ...] = ()
    error = ''
    # Warnings about the subject of a case, such as constraints that repeat each other, are left
    # out.
    logger = logging.getLogger('flexdyn_ros')
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        rows = tuple(case.run(progress))
        if not rows:
            error = f'case "{case.name}" gave no row'
        elif folder is not None and case.plots is not None:
            folder.mkdir(parents=True, exist_ok=True)
            pictures = tuple(case.plots(folder))
    except Exception:
        error = traceback.format_exc()
    finally:
        logger.setLevel(level)
    return Outcome(case.name, rows, pictures, time.monotonic() - start, error)


def run_cases(
    chosen: Sequence[Case],
    folder: Optional[Path] = None,
    jobs: int = 1,
    running: Callable[[dict[str, float]], None] = lambda fractions: None,
) -> Iterator[Outcome]:
    """
    Run cases; yield the outcome of each as it ends.

    Args:
        chosen: The cases.
        folder: Folder of the pictures; None draws none.
        jobs: Number of cases side by side, each in a process of its own; slow ones start first.
        running: Receives the fraction done of each running case, repeatedly.
    """
    if jobs == 1:
        for case in chosen:
            running({case.name: 0.0})
            yield run_case(case, folder, partial(_tell, running, case.name))
        return
    context = multiprocessing.get_context('spawn')
    slow_first = sorted(chosen, key=lambda case: case.cost != 'slow')
    with context.Manager() as manager:
        fractions: Any = manager.dict()
        with ProcessPoolExecutor(jobs, mp_context=context) as pool:
            waiting: dict[Future, str] = {
                pool.submit(_run_named, case.name, folder, fractions): case.name
                for case in slow_first
            }
            try:
                while waiting:
                    done, _ = wait(waiting, _POLL, FIRST_COMPLETED)
                    for future in done:
                        name = waiting.pop(future)
                        fractions.pop(name, None)
                        yield _outcome(future, name)
                    running(dict(fractions))
            finally:
                for future in waiting:
                    future.cancel()


def _outcome(future: Future, name: str) -> Outcome:
    """Return the outcome of a case, also where its process died."""
    try:
        return future.result()
    except Exception:
        return Outcome(name, (), error=traceback.format_exc())


def _tell(running: Callable[[dict[str, float]], None], name: str, fraction: float) -> None:
    running({name: fraction})


def _run_named(name: str, folder: Optional[Path], fractions: Any) -> Outcome:
    """Run a case in a process of its own; cases themselves cannot be sent there."""
    reported = 0.0

    def progress(fraction: float) -> None:
        nonlocal reported
        if fraction >= reported + _REPORT_STEP:
            reported = fractions[name] = fraction

    fractions[name] = 0.0
    return run_case(cases()[name], folder, progress)
