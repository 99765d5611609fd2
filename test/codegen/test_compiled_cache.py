# SPDX-License-Identifier: Apache-2.0
"""Compiled code on disk: warm starts, races, damage, folders of others."""

import os
from pathlib import Path
import subprocess
import sys

from codegen import cases
from codegen.compiled import needs_compiler
from codegen.compiled import QUICK
import flexdyn_ros as fd
from flexdyn_ros.codegen.native import libraries
from flexdyn_ros.codegen.native import native_program
from flexdyn_ros.codegen.native import source_cache
from flexdyn_ros.codegen.native.compiler import CompilationFailed
from flexdyn_ros.codegen.native.compiler import Compiler
from flexdyn_ros.codegen.native.compiler import find_compiler
from flexdyn_ros.codegen.native.libraries import Built
from flexdyn_ros.codegen.native.libraries import load_library
from oracles.random_robots import random_robot_urdf
import pytest

pytestmark = needs_compiler

SCRIPT = """
import sys
import flexdyn_ros as fd
from flexdyn_ros.codegen.native.compiler import Compiler
from flexdyn_ros.codegen.backends import variants
if sys.argv[2] == 'warm':
    Compiler.build = variants.simplify = None
model = fd.load_robot(sys.argv[1])
dyn = fd.Dynamics(model, sys.argv[3])
arguments = [0.1] * model.nq, [0.2] * model.nv, [0.3] * model.nv
print(dyn.backend, dyn.inverse_dynamics(*arguments).tolist())
print(dyn.batch.inverse_dynamics(*([each] * 30 for each in arguments))[-1].tolist())
"""


def start(model, *arguments):
    """Start a process that computes; return it."""
    environment = {
        **os.environ, 'PYTHONPATH': os.pathsep.join(sys.path), 'FLEXDYN_CFLAGS': QUICK,
    }
    return subprocess.Popen(
        [sys.executable, '-c', SCRIPT, str(model), *arguments], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env=environment,
    )


def result(process):
    """Return what a process printed."""
    out, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    return out


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Keep compiled code in a folder of this test."""
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path / 'kept'))
    return tmp_path / 'kept'


def test_processes_race_and_the_next_compiles_nothing(tmp_path, folder):
    """Three at once get the same numbers; a later one, "auto" too, finds all on disk."""
    model = tmp_path / 'robot.urdf'
    model.write_text(random_robot_urdf(3, 2, flexible=0.0))
    racing = [start(model, 'cold', 'c') for _ in range(3)]
    outputs = {result(process) for process in racing}
    assert len(outputs) == 1
    for backend in ('c', 'auto'):
        assert result(start(model, 'warm', backend)) in outputs
    assert not list(folder.glob('*.tmp'))
    assert folder.stat().st_mode & 0o777 == 0o700


def library(number):
    """Return what builds a library with a function that gives a number."""
    source = f'double number(void) {{ return {number}; }}'
    return lambda: Built(find_compiler().build(source, ('-O0',)), 'a note')


def opened(path, note):
    """Return where a library was found, and its note, if it can be loaded."""
    from flexdyn_ros.codegen.native.ctypes_calls import find_function

    find_function(str(path), 'number')
    return Path(path), note


def test_a_damaged_entry_is_built_anew(folder):
    """Cut off, overwritten or empty: no crash, and the whole one takes its place."""
    name = source_cache.entry_name('test', suffix='.so')
    path, note = load_library(name, library(1), opened)
    assert (path, note) == (folder / name, 'a note')
    whole = path.read_bytes()
    for damage in (whole[:-3000], whole[:5000] + b'x' + whole[5001:], b'', b'junk' * 1000):
        path.unlink()  # a library that is loaded must not change in place
        path.write_bytes(damage)
        assert not libraries.is_kept(name)
        load_library(name, library(1), opened)
        assert libraries.is_kept(name)


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path, folder):
    """The library is built in a private place and works."""
    folder.mkdir()
    folder.chmod(0o777)
    name = source_cache.entry_name('test', suffix='.so')
    path, _ = load_library(name, library(2), opened)
    assert not list(folder.iterdir())
    assert path.parent.stat().st_mode & 0o077 == 0


def test_what_cannot_be_loaded_is_an_error(folder):
    """It names the file and the loader's reason."""
    with pytest.raises(CompilationFailed, match='invalid ELF header|too short'):
        load_library('x.so', lambda: Built(b'no library'), opened)


def test_what_an_entry_depends_on(monkeypatch):
    """Another compiler, other flags, another processor, another model: another entry."""
    model, other = cases.robot('rigid tree'), cases.robot('planar')

    def entry(robot=model):
        from codegen.test_c_backend import backend
        from flexdyn_ros.codegen.tracing.functions import Request

        program, _ = backend(robot).program(Request('inverse_dynamics'), ())
        return program._entry(native_program.CALL)

    found = {entry(), entry(other)}
    monkeypatch.setenv('FLEXDYN_CFLAGS', '-O1')
    found.add(entry())
    monkeypatch.setattr('flexdyn_ros.codegen.native.compiler.processor', lambda: 'other')
    found.add(entry())
    found_compiler = Compiler(('/usr/bin/other',), 'other 1.0')
    monkeypatch.setattr(native_program, 'find_compiler', lambda: found_compiler)
    found.add(entry())
    assert len(found) == 5


def test_a_program_of_ones_own(folder):
    """Any trace with named inputs and results is compiled and kept."""
    from flexdyn_ros.codegen.tracing.trace import trace

    model = cases.robot('rigid tree')
    made = trace(model, 'mass_matrix+bias_vector')

    def program(produce):
        return native_program.NativeProgram(
            ('own', model.name), produce, made.inputs, made.outputs, model.quaternion_starts
        )

    q, qd, _, _ = cases.state(model)
    matrix, bias = program(lambda: made).kernel()(q, qd)
    reference = fd.Dynamics(model, 'reference')
    cases.assert_close(cases.flat(matrix), reference.mass_matrix(q).ravel())
    cases.assert_close(cases.flat(bias), reference.bias_vector(q, qd))
    assert program(None).is_ready()
    assert program(None).kernel()(q, qd)[1] == bias
