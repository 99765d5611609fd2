# SPDX-License-Identifier: Apache-2.0
"""Let the tests import the oracles and keep generated sources out of the user's cache."""

import os
from pathlib import Path
import sys

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Keep generated sources in a folder of this test run, which its processes share."""
    base = tmp_path_factory.getbasetemp()
    if 'PYTEST_XDIST_WORKER' in os.environ:
        base = base.parent
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(base / 'cache'))
