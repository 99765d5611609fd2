# SPDX-License-Identifier: Apache-2.0
"""Every quick case meets its source; the slow ones are run by `make validate`."""

import pytest
from validation.registry import cases
from validation.run import run_case
from validation.words import difference_text, expected_text, ours_text

QUICK = [case for case in cases().values() if case.cost == 'quick']


@pytest.mark.parametrize('case', QUICK, ids=lambda case: case.name)
def test_quick_case(case):
    outcome = run_case(case)
    missed = [
        f'{row.quantity}: expected {expected_text(row)}, ours {ours_text(row)}, '
        f'{difference_text(row)}'
        for row in outcome.rows if row.verdict == 'missed'
    ]
    assert not outcome.failed, '\n'.join([outcome.error, *missed])
