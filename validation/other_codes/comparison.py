# SPDX-License-Identifier: Apache-2.0
"""The installed codes, and rows of a comparison with each."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Callable, Iterable, Optional

import numpy as np
from validation.case import NotRun
from validation.other_codes.motion import angle_between, distances, TipMotion
from validation.run import needed


class CodeComparison:
    """
    Results of a case against several codes, of which some may not be installed.

    Attributes:
        results: Our results by the keys of the rows.
        computed: Expected values that a code computed, by the keys of the rows.
    """

    def __init__(self) -> None:
        self.results: dict[str, Any] = {}
        self.computed: dict[str, np.ndarray] = {}

    def with_code(
        self, code: str, modules: Iterable[str], endings: Iterable[str],
        compare: Callable[[], None],
    ) -> None:
        """
        Fill a code's rows by `compare`, or with the missing module.

        Args:
            code: Start of the keys of its rows.
            modules: The modules that it needs.
            endings: End of the keys of its rows.
            compare: Fills the rows.
        """
        missing = first_missing(modules)
        if missing is None:
            compare()
        else:
            self.results.update({f'{code}_{ending}': missing for ending in endings})

    def tips(self, code: str, ours: TipMotion, theirs: TipMotion) -> None:
        """Fill the rows of the tip at the end, the tips' distance, and the satellites' angle."""
        size = 2 if theirs.turn is None else 3
        self.results[f'{code}_tip'] = ours.tip[-1, :size]
        self.computed[f'{code}_tip'] = theirs.tip[-1, :size]
        self.results[f'{code}_path'] = np.max(distances(ours, theirs))
        if ours.turn is not None and theirs.turn is not None:
            self.results[f'{code}_turn'] = angle_between(ours.turn, theirs.turn)

    def alike(self, code: str, ours: TipMotion, theirs: TipMotion) -> None:
        """Fill the row of the tips' distance where both have the same model."""
        self.results[f'{code}_alike'] = np.max(distances(ours, theirs))


def first_missing(modules: Iterable[str]) -> Optional[NotRun]:
    """Return the message on the first module that is not installed, or None."""
    for module in modules:
        if find_spec(module) is None:
            return needed(module)
    return None
