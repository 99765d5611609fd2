# SPDX-License-Identifier: Apache-2.0
"""Every reader of modes, matrices, meshes and measurements on files changed at random."""

from importlib import import_module

from mutated_files import figures, LARGEST, LONGEST, NEEDS, READERS
import pytest
from thinned import thinned

# Files in the default run; a few of those that a process of its own reads.
FEW = {name: 6 if name in ('matlab', 'op4', 'pch', 'mesh', 'surface') else 80 for name in READERS}


@pytest.mark.parametrize(('name', 'count'), thinned(
    [(name, count) for name in READERS for count in (FEW[name], 5000)],
    lambda name, count: count < 5000))
def test_an_error_or_a_valid_model(tmp_path, name, count):
    """No crash, no other exception, at most 5 s of the processor and 1 GB of memory."""
    if name in NEEDS:
        try:
            import_module(NEEDS[name])
        except Exception as error:  # of versions that do not go together
            pytest.skip(f'{NEEDS[name]} cannot be imported: {error}')
    found = figures(name, count, tmp_path)
    assert found['slowest_cpu_s'] < LONGEST, found
    assert found['memory_mb'] < 1e-6 * LARGEST, found
    assert found['errors'] > 0.3 * count, found
    assert found['models'] > 0 or count < 80, found
