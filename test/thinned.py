# SPDX-License-Identifier: Apache-2.0
"""Parameters of which the default run takes a few, and `make test-all` the whole product."""

import pytest


def thinned(values, kept):
    """
    Return parameters for pytest, marked slow where they repeat other cases.

    Args:
        values: Parameters, one or a tuple for each case.
        kept: Those of the default run: a collection, or a function of the parts of a case.
    """
    def stays(case):
        return kept(*case) if callable(kept) else (case if len(case) > 1 else case[0]) in kept

    cases = [value if isinstance(value, tuple) else (value,) for value in values]
    chosen = [stays(case) for case in cases]
    assert any(chosen), 'no case is left for the default run'
    return [
        pytest.param(*case, marks=[] if stay else [pytest.mark.slow])
        for case, stay in zip(cases, chosen, strict=True)
    ]
