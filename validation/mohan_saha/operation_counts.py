# SPDX-License-Identifier: Apache-2.0
"""Table 1: multiplications and additions of recursive forward dynamics, as polynomials."""

from __future__ import annotations

import numpy as np
from validation.case import Progress, Row
from validation.case_file import inputs, make_rows
from validation.counts.published import cyril, jain_rodriguez, mohan_saha
from validation.registry import Code


def rows(progress: Progress) -> list[Row]:
    """Return the rows of table 1."""
    given = inputs('ms_table1')
    n, m = given['links'], given['modes']
    first, second = (jain_rodriguez(7, m, second=second) for second in (False, True))
    by_modes = jain_rodriguez(n, m, second=False)
    ours = mohan_saha(n, m)
    return make_rows('ms_table1', {
        'proposed': ours,
        'jain_rodriguez': jain_rodriguez(n, m),
        'cyril': cyril(n, m),
        'cyril_as_printed': cyril(n, m, linear=-251 / 6)[1],
        'proposed_coefficients': [_coefficients(k) for k in (1, 2, 3, 4)],
        'proposed_grid': [mohan_saha(k, m) for k in given['grid']],
        'cyril_grid': [cyril(k, m) for k in given['grid']],
        'branches_meet': second[0] - first[0],
        'fewest': np.subtract(ours, by_modes),
    })


def _coefficients(m: int) -> np.ndarray:
    """Return slope and constant, by the number of links, of multiplications and additions."""
    one, two = np.array(mohan_saha(1, m)), np.array(mohan_saha(2, m))
    return np.stack((two - one, 2.0 * one - two), axis=1).ravel()


CODE = {'ms_table1': Code(rows)}
