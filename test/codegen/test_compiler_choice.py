# SPDX-License-Identifier: Apache-2.0
"""Backends without a compiler, with one that fails, and the variables that name it."""

import os

from codegen import cases
from codegen.compiled import needs_compiler, QUICK
import flexdyn_ros as fd
from flexdyn_ros import direct_calls
from flexdyn_ros.codegen.compile import compiler
from flexdyn_ros.codegen.compile.compiler import CompilationFailed, find_compiler, NoCompiler
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures('quick')


def test_without_a_compiler(monkeypatch, messages):
    """Auto is "python", with one log line; "c" is an error that names the remedy."""
    model = cases.robot('rigid tree')
    monkeypatch.setenv('CC', '/nowhere/cc')
    dyns = [fd.Dynamics(model) for _ in range(2)]
    assert [dyn.backend for dyn in dyns] == ['python', 'python']
    assert ['/nowhere/cc' in text for text in messages()] == [True]
    vectors = cases.state(model)[:3]
    assert np.array_equal(
        dyns[0].inverse_dynamics(*vectors), fd.Dynamics(model, 'python').inverse_dynamics(*vectors)
    )
    with pytest.raises(NoCompiler, match='apt-get install'):
        fd.Dynamics(model, 'c')


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Name a compiler that prints its version and cannot compile."""
    script = tmp_path / 'broken'
    script.write_text('#!/bin/sh\n[ "$1" = --version ] && echo broken 1.0 && exit 0\n'
                      'echo "no space left in the universe" >&2\nexit 1\n')
    script.chmod(0o755)
    monkeypatch.setenv('CC', str(script))
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path / 'cache'))


def test_a_compiler_that_fails(broken, messages):
    """Auto goes on with Python and shows the compiler's output; "c" raises it."""
    model = cases.robot('rigid tree')
    vectors = cases.state(model)[:3]
    dyn = fd.Dynamics(model, 'c')
    for call in (dyn.inverse_dynamics, dyn.batch.inverse_dynamics):
        given = vectors if call == dyn.inverse_dynamics else [[each] * 3 for each in vectors]
        with pytest.raises(CompilationFailed, match='no space left in the universe'):
            call(*given)
    with pytest.raises(CompilationFailed, match='universe'):
        dyn.compile('mass_matrix')
    dyn = fd.Dynamics(model)
    expected = fd.Dynamics(model, 'python').inverse_dynamics(*vectors)
    assert dyn.backend == 'c'
    for _ in range(3):
        assert np.array_equal(dyn.inverse_dynamics(*vectors), expected)
    assert dyn.backend == 'python'
    assert ['universe' in text and '"python"' in text for text in messages()] == [True]
    dyn.set_gravity([0.0, 0.0, -1.0])
    assert dyn.backend == 'python'


def test_a_compiler_that_fails_at_a_batch(broken, messages):
    """Samples go one by one then."""
    model = cases.robot('rigid tree')
    rows = [np.tile(each, (3, 1)) for each in cases.state(model)[:3]]
    dyn = fd.Dynamics(model)
    found = dyn.batch.inverse_dynamics(*rows)
    assert dyn.backend == 'python'
    assert np.array_equal(found[2], dyn.inverse_dynamics(*(each[2] for each in rows)))
    assert len(messages()) == 1


def test_a_compiler_with_arguments(monkeypatch):
    """CC may hold more than a name."""
    monkeypatch.setenv('CC', f'{find_compiler().command[0]} -g0')
    assert find_compiler().command[1:] == ('-g0',)


@pytest.mark.parametrize('value', ["gcc '-DX=1", 'gcc "', "it's cc"])
def test_quotes_of_cc_that_do_not_match(value, monkeypatch):
    """They are an error that names the variable; other backends look for no compiler."""
    monkeypatch.setenv('CC', value)
    for backend in ('auto', 'c'):
        with pytest.raises(fd.FlexdynError, match=r'\$CC.*quotes do not match'):
            fd.Dynamics(cases.robot('rigid tree'), backend)
    q = cases.state(cases.robot('rigid tree'))[0]
    monkeypatch.setattr(direct_calls, 'extension', None)
    for backend in ('python', 'reference'):
        assert fd.Dynamics(cases.robot('rigid tree'), backend).mass_matrix(q).shape == (6, 6)


@needs_compiler
@pytest.mark.parametrize('value', ["-O0 '-DX=1", '"'])
def test_quotes_of_flags_that_do_not_match(value, monkeypatch, own_cache_folder):
    """The same, of calls and batches."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', value)
    q = cases.state(cases.robot('rigid tree'))[0]
    for backend in ('auto', 'c'):
        with pytest.raises(fd.FlexdynError, match=r'\$FLEXDYN_CFLAGS.*quotes do not match'):
            fd.Dynamics(cases.robot('rigid tree'), backend).mass_matrix(q)
        with pytest.raises(fd.FlexdynError, match=r'\$FLEXDYN_CFLAGS.*quotes do not match'):
            fd.Dynamics(cases.robot('rigid tree'), backend).batch.mass_matrix([q])


@needs_compiler
@pytest.mark.parametrize('value', [' ', '#', "''"])
def test_a_cc_without_a_name(value, monkeypatch):
    """Spaces count as nothing; a name that is none is not found."""
    monkeypatch.setenv('CC', value)
    if not value.strip():
        assert os.path.basename(find_compiler().command[0]) in compiler.NAMES
    else:
        with pytest.raises(NoCompiler):
            find_compiler()


@needs_compiler
def test_flags_of_ones_own_are_used(monkeypatch, own_cache_folder):
    """After those of the package; a flag that the compiler refuses is its error."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', f"{QUICK} '-DA=\"b c\"' -nonsense-of-the-test")
    q = cases.state(cases.robot('rigid tree'))[0]
    with pytest.raises(CompilationFailed, match='nonsense-of-the-test'):
        fd.Dynamics(cases.robot('rigid tree'), 'c').mass_matrix(q)
