# SPDX-License-Identifier: Apache-2.0
"""Work that hangs with Python's lock held is cut off, other work is left alone."""

import subprocess
import sys
import time

import pytest

SCRIPT = """
import ctypes
import time
from flexdyn_ros.nodes.common.process import time_limit
with time_limit(0.3, 5):
    print('begun')
    if {hang}:
        ctypes.PyDLL(None).sleep(60)
time.sleep(0.6)
print('done')
raise SystemExit(2)
"""


@pytest.mark.skipif(sys.platform != 'linux', reason='timers of other systems are not used')
def test_what_hangs_is_cut_off():
    """With the exit code that was named, soon after the time that was given."""
    start = time.monotonic()
    run = subprocess.run(
        [sys.executable, '-u', '-c', SCRIPT.format(hang=True)], capture_output=True, text=True,
        timeout=30,
    )
    assert (run.returncode, run.stdout) == (5, 'begun\n'), run.stderr
    assert time.monotonic() - start < 20.0


def test_what_ends_in_time_goes_on():
    """The timer is gone with the block."""
    run = subprocess.run(
        [sys.executable, '-u', '-c', SCRIPT.format(hang=False)], capture_output=True, text=True,
        timeout=30,
    )
    assert (run.returncode, run.stdout) == (2, 'begun\ndone\n'), run.stderr
