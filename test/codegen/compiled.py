# SPDX-License-Identifier: Apache-2.0
"""Needs of tests of compiled code: a compiler, or the reason why they are skipped."""

import shutil

import pytest

needs_compiler = pytest.mark.skipif(
    shutil.which('cc') is None and shutil.which('gcc') is None,
    reason='no C compiler; sudo apt-get install -y gcc libc6-dev runs it',
)
# Compiles three times as fast; the results differ by round-off.
QUICK = '-O0'


def needs_extension():
    """Return the extension module, or skip: Python's or numpy's headers may be missing."""
    from flexdyn_ros.codegen.compile.extension import extension

    module = extension()
    if module is None:
        pytest.skip('no extension; sudo apt-get install -y gcc python3-dev runs it')
    return module
