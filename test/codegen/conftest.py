# SPDX-License-Identifier: Apache-2.0
"""Let the tests import the oracles and keep generated sources out of the user's cache."""

from pathlib import Path
import sys

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Keep generated sources in a folder of this test run."""
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path_factory.getbasetemp() / 'cache'))
