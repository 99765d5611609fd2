# SPDX-License-Identifier: Apache-2.0
"""Every reader of modes, matrices, meshes and measurements on files changed at random."""

from importlib import import_module

from flexdyn_ros.model.modal.files import modal_arrays
from flexdyn_ros.model.modal.reduction import reduced_modes
from mutated_files import figures, LARGEST, LONGEST, NEEDS, READERS
import numpy as np
from oracles.finite_elements import beam
import pytest
from thinned import thinned

# Files in the default run; a few of those that a process of its own reads.
FEW = {name: 3 if name in ('matlab', 'op4', 'pch', 'mesh', 'surface') else 80 for name in READERS}


def skip_without_what_it_needs(name):
    if name in NEEDS:
        try:
            import_module(NEEDS[name])
        except Exception as error:  # of versions that do not go together
            pytest.skip(f'{NEEDS[name]} cannot be imported: {error}')


@pytest.mark.parametrize('name', ['op4', 'pch'])
def test_nastran_matrices(tmp_path, name):
    """As pyNastran writes OUTPUT4, and DMIG with ten digits."""
    skip_without_what_it_needs(name)
    found = next(iter(READERS[name](tmp_path).values()))()
    exact = modal_arrays(reduced_modes(beam(1), [10], [20], 3))
    assert found.mass == pytest.approx(exact.mass, rel=1e-9)
    assert np.allclose(np.diag(found.stiffness), np.diag(exact.stiffness), rtol=1e-6)


@pytest.mark.parametrize(('name', 'count'), thinned(
    [(name, count) for name in READERS for count in (FEW[name], 5000)],
    lambda name, count: count < 5000))
def test_an_error_or_a_valid_model(tmp_path, name, count):
    """No crash, no other exception, at most 5 s of the processor and 1 GB of memory."""
    skip_without_what_it_needs(name)
    found = figures(name, count, tmp_path)
    assert found['slowest_cpu_s'] < LONGEST, found
    assert found['memory_mb'] < 1e-6 * LARGEST, found
    assert found['errors'] > 0.3 * count, found
    assert found['models'] > 0 or count < 80, found
