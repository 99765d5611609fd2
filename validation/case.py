# SPDX-License-Identifier: Apache-2.0
"""A case of the validation, its rows and their verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional, Sequence, Union

import numpy as np

# Foundation of the number that a row is compared with.
KINDS = {
    'printed': 'equal to the printed value',
    'approximate': 'near the printed value, of which an input or a program is not printed',
    'bound': 'not beyond the printed value, such as fewer operations',
    'polynomial': 'fewer operations than a polynomial that the source prints',
    'closed_form': 'closed form',
    'second_formulation': 'second formulation or independent model',
    'other_code': 'other code, in the same run',
    'qualitative': 'statement of the source',
    'regression': 'regression: our own value, kept',
    'source': 'the source against itself: sums and statements of its tables, nothing of ours',
}
# The same in a word.
KIND_WORDS = {
    'printed': 'printed', 'approximate': 'printed, near', 'bound': 'printed bound',
    'polynomial': 'printed polynomial',
    'closed_form': 'closed form', 'second_formulation': 'model',
    'other_code': 'code', 'qualitative': 'statement', 'regression': 'own', 'source': 'source',
}
# Accepted error of ours from the number that explains a miss, of its largest entry, unless a row
# gives one.
EXPLAINED_WITHIN = 1e-3
RELATIONS = ('equal', 'at most', 'at least')
COSTS = ('quick', 'slow')

MET, EXPLAINED, MISSED, NOT_RUN = 'met', 'explained', 'missed', 'not run'

Numbers = Union[float, np.ndarray]
Progress = Callable[[float], None]
Draw = Callable[[Path], Sequence['Picture']]


@dataclass(frozen=True)
class Verdict:
    """
    Whether a statement holds, and the numbers that decide it.

    Attributes:
        holds: The answer.
        detail: The numbers behind it, in words.
    """

    holds: bool
    detail: str


@dataclass(frozen=True)
class NotRun:
    """
    A result that is not there, since something is not installed.

    Attributes:
        needs: The missing module, and how to get it: `exudyn (pip install exudyn)`.
    """

    needs: str


@dataclass(frozen=True)
class Picture:
    """
    A picture of a case.

    Attributes:
        file: Its name in the folder that it was drawn into.
        caption: Its description.
    """

    file: str
    caption: str


@dataclass(frozen=True)
class Row:
    """
    One quantity: the expected value, ours, and the verdict.

    Attributes:
        quantity: The compared quantity.
        expected: A number, an array of numbers, or a statement.
        ours: The same from this package; a Verdict on a statement; NotRun.
        unit: Unit of both.
        tolerance: Largest difference that counts as none.
        relative: Whether tolerance and difference are fractions of each expected number.
        of_largest: Reason for fractions of the largest expected number instead, if they are.
        kind: A key of KINDS.
        relation: Required relation of ours to the expected: equal, at most or at least.
        place: Place in the source.
        note: Remark for the reader.
        expected_miss: Cause of a miss of the row, and the side in error; empty without.
        shown: The expected number as the page prints it, where not as the file gives it.
        instead: The value of ours where it should miss.
        instead_within: Accepted error of ours from that; a thousandth of its largest entry if
            None.
    """

    quantity: str
    expected: Union[Numbers, str]
    ours: Union[Numbers, Verdict, NotRun]
    unit: str = ''
    tolerance: float = 0.0
    relative: bool = False
    of_largest: str = ''
    kind: str = 'printed'
    relation: str = 'equal'
    place: str = ''
    note: str = ''
    expected_miss: str = ''
    shown: str = ''
    instead: Optional[Numbers] = None
    instead_within: Optional[float] = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f'"{self.quantity}": kind "{self.kind}" is none of {list(KINDS)}')
        if self.kind == 'printed' and self.relation != 'equal':
            raise ValueError(f'"{self.quantity}": a printed bound is of kind "bound"')
        if self.relation not in RELATIONS:
            raise ValueError(f'"{self.quantity}": relation "{self.relation}" is not known')
        if self.tolerance and self.relation != 'equal':
            raise ValueError(f'"{self.quantity}": a bound has no tolerance')
        if isinstance(self.ours, NotRun):
            return
        if bool(self.expected_miss) != (self.instead is not None):
            raise ValueError(f'"{self.quantity}": "instead" bounds rows that miss, and no others')
        if isinstance(self.expected, str) != isinstance(self.ours, Verdict):
            raise ValueError(f'"{self.quantity}": a statement and a Verdict belong together')
        if not isinstance(self.expected, str) and not isinstance(self.ours, Verdict):
            ours, expected = np.shape(self.ours), np.shape(self.expected)
            if ours != expected:
                raise ValueError(f'"{self.quantity}": {ours=} but {expected=}')
            if not np.size(self.expected):
                raise ValueError(f'"{self.quantity}": there is no number to compare')

    @property
    def difference(self) -> Optional[float]:
        """
        The largest difference, by absolute value; over the expected number if relative.

        For "at most" and "at least" it is the excess over the bound, negative within it. None
        where there are no two numbers.
        """
        if isinstance(self.expected, str) or isinstance(self.ours, (Verdict, NotRun)):
            return None
        expected = np.asarray(self.expected, dtype=float)
        difference = np.asarray(self.ours, dtype=float) - expected
        sign = {'equal': 0.0, 'at most': 1.0, 'at least': -1.0}[self.relation]
        values = sign * difference if sign else np.abs(difference)
        if not np.all(np.isfinite(values)):
            return float('inf')
        if self.of_largest:
            values = values / (np.max(np.abs(expected)) or 1.0)
        elif self.relative:
            # An expected zero leaves no difference but none.
            size = np.where(expected == 0.0, np.where(values > 0.0, 0.0, 1.0), np.abs(expected))
            with np.errstate(divide='ignore'):
                values = values / size
        return float(np.max(values))

    @property
    def verdict(self) -> str:
        """`met`, `explained`, `missed` or `not run`; a row that should miss must miss."""
        if isinstance(self.ours, NotRun):
            return NOT_RUN
        if isinstance(self.ours, Verdict):
            met = self.ours.holds
        else:
            difference = self.difference
            met = difference is not None and difference <= self.tolerance
        if self.expected_miss:
            return MISSED if met or not self._as_explained() else EXPLAINED
        return MET if met else MISSED

    def _as_explained(self) -> bool:
        """Return whether ours agrees with the value of the explanation."""
        off = np.abs(np.asarray(self.ours, dtype=float) - np.asarray(self.instead, dtype=float))
        within = self.instead_within
        if within is None:
            within = EXPLAINED_WITHIN * float(np.max(np.abs(self.instead)))
        return bool(np.max(off) <= within)


@dataclass(frozen=True)
class Source:
    """
    Source of a case.

    Attributes:
        key: Name of the file of cases, such as `el_rayyes`.
        publication: Authors, title, year.
        place: Place in it.
    """

    key: str
    publication: str
    place: str


@dataclass(frozen=True)
class Case:
    """
    One case.

    Attributes:
        name: Its name on the command line.
        title: Its subject.
        source: Its source.
        run: Computes the rows; it receives a function that takes the fraction done.
        cost: `quick` (under 3 s) or `slow`.
        needs: Modules of other programs, by import name, without which nothing of it runs.
        plots: Draws the important pictures into a folder, or None.
    """

    name: str
    title: str
    source: Source
    run: Callable[[Progress], list[Row]]
    cost: str = 'quick'
    needs: tuple[str, ...] = ()
    plots: Optional[Draw] = None


def no_progress(fraction: float) -> None:
    """Ignore the fraction done."""
