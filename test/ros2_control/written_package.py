# SPDX-License-Identifier: Apache-2.0
"""Writes a package for ros2_control and builds parts of it."""

from functools import lru_cache
from pathlib import Path
import shutil
import subprocess
import sys

import pytest

HERE = Path(__file__).parent
WARNINGS = ('-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Wshadow', '-Werror')
C_FLAGS = ('-std=c99', '-O2', '-ffp-contract=off', '-fPIC', *WARNINGS)
CXX_FLAGS = ('-O2', '-ffp-contract=off', '-fPIC', '-Wold-style-cast', *WARNINGS)
# The clang of ziglang, a wheel, where the system has none.
ZIG = (sys.executable, '-m', 'ziglang')
ARM64 = ('-target', 'aarch64-linux-musl')
STANDARDS = ('c++17', 'gnu++20')


def write(folder, files):
    """Write the files of a package; return the folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def compilers(kind):
    """Return the commands of the compilers of C and C++; skip the test where one is missing."""
    if kind == 'clang' and shutil.which('clang++') is None:
        pytest.importorskip('ziglang', reason='NO clang: what it compiles is not tested')
        return (*ZIG, 'cc'), (*ZIG, 'c++')
    found = {'gcc': ('gcc', 'g++'), 'clang': ('clang', 'clang++')}[kind]
    for program in found:
        need(program)
    return tuple((program,) for program in found)


def arm64_compilers():
    """Return the commands of the cross compilers of C and C++; see `compilers`."""
    if shutil.which('aarch64-linux-gnu-g++') is None:
        pytest.importorskip('ziglang', reason='NO aarch64-linux-gnu-g++: ARM64 is not tested')
        return (*ZIG, 'cc', *ARM64), (*ZIG, 'c++', *ARM64)
    return ('aarch64-linux-gnu-gcc',), ('aarch64-linux-gnu-g++',)


def need(program):
    """Skip the test where a program is missing."""
    if shutil.which(program) is None:
        pytest.skip(f'NO {program}: what it compiles or runs is not tested')


def run(*command, **options):
    """Run a command, which must succeed; return its output."""
    result = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=600, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@lru_cache(maxsize=None)
def objects(package, compiler):
    """Compile the generated C, once in a run; return the object files."""
    folder = package.parent / f'objects_{"_".join(compiler).replace("/", "_")}'
    folder.mkdir()
    found = []
    for source in sorted((package / 'src' / 'functions').glob('*.c')):
        found.append(folder / f'{source.stem}.o')
        run(*compiler, *C_FLAGS, '-c', source, '-I', package / 'include', '-o', found[-1])
    return found
