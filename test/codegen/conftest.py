# SPDX-License-Identifier: Apache-2.0
"""Let the tests import the oracles; the cache of generated code, and its log."""

import logging
import os
from pathlib import Path
import sys

from codegen.compiled import QUICK
from flexdyn_ros.codegen.backends import generated
from flexdyn_ros.codegen.compile import program
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Keep generated sources in a folder of this test run, which its processes share."""
    base = tmp_path_factory.getbasetemp()
    if 'PYTEST_XDIST_WORKER' in os.environ:
        base = base.parent
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(base / 'cache'))


@pytest.fixture
def quick(monkeypatch):
    """Compile without optimising; reset one-time log records for each test."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    generated._warn_of_size.cache_clear()
    generated._warn_of_no_compiler.cache_clear()


@pytest.fixture
def messages(caplog, monkeypatch):
    """Return a function that gives the messages of a level so far."""
    monkeypatch.setattr(logging.getLogger('flexdyn_ros'), 'propagate', True)
    caplog.set_level(logging.INFO, 'flexdyn_ros.codegen')
    return lambda level='WARNING': [
        record.getMessage() for record in caplog.records if record.levelname == level
    ]


@pytest.fixture
def own_cache_folder(tmp_path, monkeypatch):
    """Keep code in a folder of this test, and drop the code of this process."""
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path / 'cache'))
    monkeypatch.setattr(program, '_loaded', {})
