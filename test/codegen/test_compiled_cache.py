# SPDX-License-Identifier: Apache-2.0
"""Compiled code on disk: warm starts, races, damage, libraries that cannot be loaded, removal."""

import ctypes
import os
from pathlib import Path
import signal
import stat
import subprocess
import sys
import time

from codegen import cases
from codegen.compiled import needs_compiler, QUICK
from codegen.variant_of import variant_of
import flexdyn_ros as fd
from flexdyn_ros.codegen.backends.executors import _program
from flexdyn_ros.codegen.compile import cache, program
from flexdyn_ros.codegen.compile.compiler import (
    CompilationFailed,
    Compiler,
    find_compiler,
    load_library,
)
from flexdyn_ros.codegen.compile.program import CompiledProgram
from flexdyn_ros.codegen.tracing.trace import trace
from oracles.random_robots import random_robot_urdf
import pytest

pytestmark = needs_compiler

SCRIPT = """
import sys
import flexdyn_ros as fd
from flexdyn_ros.codegen.compile.compiler import Compiler
from flexdyn_ros.codegen.backends import variants
if sys.argv[2] == 'warm':
    Compiler.build = variants.simplify = None
model = fd.load_robot(sys.argv[1])
dyn = fd.Dynamics(model, sys.argv[3])
arguments = [0.1] * model.nq, [0.2] * model.nv, [0.3] * model.nv
print(dyn.backend, dyn.inverse_dynamics(*arguments).tolist())
print(dyn.batch.inverse_dynamics(*([each] * 30 for each in arguments))[-1].tolist())
"""


def start(model, *arguments, **more):
    """Start a process that computes; return it."""
    environment = {
        **os.environ, 'PYTHONPATH': os.pathsep.join(sys.path), 'FLEXDYN_CFLAGS': QUICK, **more,
    }
    return subprocess.Popen(
        [sys.executable, '-c', SCRIPT, str(model), *arguments], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True,
    )


def result(process):
    """Return the output of a process."""
    out, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    return out


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Keep compiled code in a folder of this test."""
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path / 'kept'))
    return tmp_path / 'kept'


@pytest.fixture
def model(tmp_path):
    """Return the file of a small robot."""
    path = tmp_path / 'robot.urdf'
    path.write_text(random_robot_urdf(3, 2, flexible=0.0))
    return path


def test_processes_race_and_the_next_compiles_nothing(model, folder):
    """Three at once get the same numbers; a later one, "auto" too, finds all on disk."""
    racing = [start(model, 'cold', 'c') for _ in range(3)]
    outputs = {result(process) for process in racing}
    assert len(outputs) == 1
    for backend in ('c', 'auto'):
        assert result(start(model, 'warm', backend)) in outputs
    assert {path.suffix for path in folder.iterdir()} == {'.so'}
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_killed_process_leaves_nothing_behind(model, folder, tmp_path):
    """The next build removes its folder; nothing of it is in TMPDIR."""
    temporary = tmp_path / 'temporary'
    temporary.mkdir()
    slow = tmp_path / 'slow'
    slow.write_text('#!/bin/sh\n[ "$1" = --version ] && echo slow 1.0 && exit 0\nsleep 60\n')
    slow.chmod(0o755)
    process = start(model, 'cold', 'c', CC=str(slow), TMPDIR=str(temporary))
    try:
        end = time.monotonic() + 60.0
        while not list(folder.glob(f'{cache.BUILD_PREFIX}{process.pid}_*/code.c')):
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.05)
    finally:
        # Its session: the compiler goes with it.
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    left, = folder.glob(f'{cache.BUILD_PREFIX}*')
    other = cache.build_folder()
    assert not left.exists()
    assert other.parent == folder and stat.S_IMODE(other.stat().st_mode) == 0o700
    # A folder of a process that lives, as this one, stays.
    again = cache.build_folder()
    assert other.exists() and again.exists()
    assert list(temporary.iterdir()) == []


def library(number):
    """Return a builder of a library with a function that gives a number."""
    source = f'double number(void) {{ return {number}; }}'
    return lambda: find_compiler().build(source, ('-O0',))


def opened(path):
    """Return the path of a library, and its number, if it can be loaded."""
    function = ctypes.CDLL(str(path)).number
    function.restype = ctypes.c_double
    return Path(path), function()


def test_a_damaged_entry_is_built_anew(folder):
    """Cut off, overwritten or empty: no crash, and the whole one takes its place."""
    name = cache.entry_name('test', suffix=cache.LIBRARY)
    assert load_library(name, library(1), opened) == (folder / name, 1.0)
    path = folder / name
    whole = path.read_bytes()
    for damage in (whole[:-3000], whole[:5000] + b'x' + whole[5001:], b'', b'junk' * 1000):
        path.unlink()  # a library that is loaded must not change in place
        path.write_bytes(damage)
        path.chmod(0o600)
        assert cache.path_of(name) is None
        load_library(name, library(1), opened)
        assert cache.path_of(name) == path
    assert load_library(name, None, opened) == (path, 1.0)


def test_what_cannot_be_loaded_is_an_error(folder):
    """It names the file and the loader's reason."""
    with pytest.raises(CompilationFailed, match='invalid ELF header|too short'):
        load_library('x.so', lambda: b'no library', opened)


def test_a_cache_that_cannot_execute_is_done_without(folder):
    """As on a file system mounted noexec: the library is loaded from a folder of its own."""
    def refused(path):
        if folder in path.parents:
            raise OSError('failed to map segment from shared object')
        return opened(path)

    name = cache.entry_name('test', suffix=cache.LIBRARY)
    path, number = load_library(name, library(3), refused)
    assert number == 3.0
    assert not path.parent.exists()
    assert [each.name for each in folder.iterdir()] == [name]


def test_a_cache_that_cannot_be_written_is_done_without(folder, tmp_path, monkeypatch):
    """As on a file system mounted read-only; without any folder the error is ours."""
    make, closed = cache.tempfile.mkdtemp, [folder]

    def refused(**named):
        if Path(named['dir']) in closed:
            raise OSError(30, 'Read-only file system')
        return make(**named)

    monkeypatch.setattr(cache.tempfile, 'mkdtemp', refused)
    monkeypatch.setattr(cache.tempfile, 'tempdir', str(tmp_path))
    assert find_compiler().build('double number(void) { return 1; }', ('-O0',))
    assert not list(tmp_path.glob(f'{cache.BUILD_PREFIX}*'))
    closed.append(tmp_path)
    with pytest.raises(CompilationFailed, match='Read-only'):
        find_compiler().build('double number(void) { return 1; }')


def test_folders_on_the_way_to_the_cache_are_private(tmp_path, monkeypatch):
    """At any umask: a group that could write to one would keep the cache from use."""
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path / 'a' / 'b' / 'cache'))
    before = os.umask(0o002)
    try:
        assert cache.write('entry', b'text')
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / 'a').stat().st_mode) == 0o700
    assert cache.read('entry') == b'text'


def test_without_a_cache_nothing_is_left_over(tmp_path, monkeypatch):
    """A file where the folder should be: code is built, loaded and removed."""
    (tmp_path / 'file').write_text('')
    temporary = tmp_path / 'temporary'
    temporary.mkdir()
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path / 'file' / 'cache'))
    monkeypatch.setattr(cache.tempfile, 'tempdir', str(temporary))
    name = cache.entry_name('test', suffix=cache.LIBRARY)
    assert load_library(name, library(4), opened)[1] == 4.0
    assert not cache.write(name, b'content')
    assert cache.read(name) is None
    assert list(temporary.iterdir()) == []


def entry(name='rigid tree'):
    """Return the entry of a compiled function of a robot."""
    made, seen = _program(variant_of(cases.robot(name), 'inverse_dynamics')), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, 'load_library', lambda entry, build, load: seen.append(entry))
        patch.setattr(program, '_loaded', {})
        made._load(program.CALL)
    return seen[0]


def test_what_an_entry_depends_on(monkeypatch):
    """Another compiler, other flags, another processor, another model: another entry."""
    found = {entry(), entry('planar')}
    assert entry() in found
    monkeypatch.setenv('FLEXDYN_CFLAGS', '-O1')
    found.add(entry())
    monkeypatch.setattr('flexdyn_ros.codegen.compile.compiler.processor', lambda: 'other')
    found.add(entry())
    other = Compiler(('/usr/bin/other',), 'other 1.0')
    monkeypatch.setattr(program, 'find_compiler', lambda: other)
    found.add(entry())
    assert len(found) == 5


def test_another_name_of_the_model_is_another_entry():
    """The file that it came from does not matter."""
    text = random_robot_urdf(3, 3)
    models = [fd.load_robot(each) for each in (text, text, text.replace('"random"', '"other"'))]
    assert len({cache.model_digest(each) for each in models}) == 2
    assert cache.entry_name('a', 'b') != cache.entry_name('a', 'c')


def test_a_program_of_ones_own(folder, monkeypatch):
    """Any trace with named inputs and results is compiled and kept."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    robot = cases.robot('rigid tree')
    made = trace(robot, 'mass_matrix+bias_vector')

    def own(produce):
        return CompiledProgram(
            'two functions', ('own', robot.name), produce, made.inputs, made.outputs, {},
            robot.quaternion_starts,
        )

    q, qd, _, _ = cases.state(robot)
    matrix, bias = own(lambda: made).kernel()(q, qd)
    reference = fd.Dynamics(robot, 'reference')
    cases.assert_close(matrix, reference.mass_matrix(q))
    cases.assert_close(bias, reference.bias_vector(q, qd))
    assert (own(None).kernel()(q, qd)[1] == bias).all()


def test_the_oldest_entries_make_room(folder, monkeypatch):
    """The folder does not grow without bound."""
    monkeypatch.setattr(cache, 'ENTRY_LIMIT', 3)
    for k in range(5):
        cache.write(f'{k}.py', b'text')
        os.utime(folder / f'{k}.py', (k, k))
    cache.write('new.py', b'text')
    assert cache.read('new.py') == b'text'
    assert sorted(path.name for path in folder.iterdir()) == ['3.py', '4.py', 'new.py']


def test_unfinished_entries_of_killed_processes_are_removed(tmp_path, monkeypatch):
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path))
    left, fresh = tmp_path / 'left.tmp', tmp_path / 'fresh.tmp'
    for path in (left, fresh):
        path.write_bytes(b'half')
    os.utime(left, (0.0, 0.0))
    assert cache.write(cache.entry_name('whole'), b'whole')
    assert not left.exists() and fresh.exists()


def test_entries_depend_on_all_c_of_the_package():
    """Their names contain a digest of the folders, or the text itself, as of simulated steps."""
    package = Path(fd.__file__).parent
    with_c = {path.relative_to(package).parts[0] for path in package.rglob('*.[ch]')}
    assert 'closed_chains' in with_c
    assert with_c - {'simulation'} <= set(cache.GENERATOR_FOLDERS)
