# SPDX-License-Identifier: Apache-2.0
"""The c backend: the reference's numbers, loads as arguments, the same errors."""

import copy
import logging
import pickle

from codegen import cases
from codegen.compiled import needs_compiler
from codegen.compiled import QUICK
import flexdyn_ros as fd
from flexdyn_ros.codegen.backends import patient_backend
from flexdyn_ros.codegen.backends.c_backend import CBackend
from flexdyn_ros.codegen.native import native_program
from flexdyn_ros.codegen.native.compiler import CompilationFailed
from flexdyn_ros.codegen.native.compiler import find_compiler
from flexdyn_ros.codegen.native.compiler import NoCompiler
from flexdyn_ros.codegen.tracing.parameters import parameter_names
import numpy as np
import pytest

pytestmark = needs_compiler
MAIN_FUNCTIONS = ('inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics', 'frame_pose')
MATRIX = ((0.3, 0.01, 0.02), (0.01, 0.4, 0.03), (0.02, 0.03, 0.5))


def backend(model):
    """Return the c backend of a robot as loaded."""
    declared = {payload.link: payload.inertia for payload in model.payloads}
    return CBackend(model, list(model.gravity_vector), declared)


@pytest.mark.parametrize('name', list(cases.ROBOTS))
def test_the_backend_equals_the_reference(name, monkeypatch):
    """All functions of one robot, the largest ones of others; with wrenches on two frames."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    model = cases.robot(name)
    frames = [model.frame_names[-1], model.frame_names[1]]
    loads = [(f, (1.0, -2.0, 3.0), (0.5, 0.2, -0.4)) for f in frames]
    functions = cases.FUNCTIONS if name == 'rigid tree' else MAIN_FUNCTIONS
    calls = [(function, ()) for function in functions] + [('inverse_dynamics', loads)]
    ours = backend(model)
    for function, wrenches in calls:
        found, expected = (
            cases.answer(model, function, frames[0], wrenches=wrenches, backend=each)
            for each in (ours, cases.reference(model))
        )
        cases.assert_close(found, expected)


def test_optimised_code_equals_the_reference():
    """With the flags that users get."""
    model = cases.robot('flexible chain')
    cases.assert_close(
        cases.answer(model, 'forward_dynamics', backend=backend(model)),
        cases.answer(model, 'forward_dynamics'),
    )


def test_large_functions_are_compiled_in_parts(monkeypatch):
    """Parts that hand their temporaries on give the same numbers as one function."""
    from flexdyn_ros.codegen.emitting import kernel_functions
    from flexdyn_ros.codegen.emitting.chunks import split

    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK + ' -DFLEXDYN_PORTABLE')
    monkeypatch.setattr(kernel_functions, 'split', lambda plan: split(plan, 20, 30))
    model = cases.robot('flexible chain')
    cases.assert_close(
        cases.answer(model, 'forward_dynamics', backend=backend(model)),
        cases.answer(model, 'forward_dynamics'),
    )


@pytest.mark.parametrize('method', ['recursive', 'cholesky'])
def test_both_ways_to_accelerations(method, monkeypatch):
    """Asked for by name, as of the reference."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    model = cases.robot('flexible chain')
    q, qd, _, tau = cases.state(model)
    dyn, reference = fd.Dynamics(model, 'c'), fd.Dynamics(model, 'reference')
    for _ in range(2):
        cases.assert_close(
            dyn.forward_dynamics(q, qd, tau, method=method),
            reference.forward_dynamics(q, qd, tau, method=method),
        )
    cases.assert_close(dyn.forward_dynamics(q, qd, tau), reference.forward_dynamics(q, qd, tau))
    with pytest.raises(fd.FlexdynError, match='cholesky'):
        dyn.forward_dynamics(q, qd, tau, method='gauss')


@pytest.mark.parametrize('name', ['rigid tree', 'floating'])
def test_payload_and_gravity_at_run_time(name, monkeypatch):
    """Set, they equal the reference's; cleared, the results are the same bit for bit."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    model = cases.robot(name)
    q, qd, qdd, tau = (np.array(each) for each in cases.state(model))
    ours, theirs = fd.Dynamics(model, 'c'), fd.Dynamics(model, 'reference')

    def results(dyn):
        return dyn.inverse_dynamics(q, qd, qdd), dyn.forward_dynamics(q, qd, tau)

    before = results(ours)
    again = results(ours)
    for link in (model.links[-1].name, model.links[1].name):
        for dyn in (ours, theirs):
            dyn.set_payload(link, 1.5, [0.1, 0.2, 0.3], MATRIX)
        for _ in range(2):
            for pair in zip(results(ours), results(theirs), strict=True):
                cases.assert_close(*pair)
    for dyn in (ours, theirs):
        dyn.set_gravity([1.0, 2.0, -3.0])
    for pair in zip(results(ours), results(theirs), strict=True):
        cases.assert_close(*pair)
    ours.clear_payload()
    ours.set_gravity(model.gravity)
    for _ in range(2):
        for old, older, new in zip(again, before, results(ours), strict=True):
            assert np.array_equal(old, new)
            assert np.array_equal(older, new)


def test_other_values_of_a_load_need_no_new_code(monkeypatch):
    """One variant serves all payloads of a link, all gravities and all wrenches on a frame."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    model = cases.robot('rigid tree')
    q, qd, qdd, _ = cases.state(model)
    dyn, reference = fd.Dynamics(model, 'c'), fd.Dynamics(model, 'reference')
    frame = model.frame_names[-1]

    def use(dyn, scale):
        dyn.set_payload(frame, scale, [0.1, 0.2, 0.3], MATRIX)
        dyn.set_gravity([0.0, scale, 0.0])
        return dyn.inverse_dynamics(q, qd, qdd, {frame: [scale] * 6})

    cases.assert_close(use(dyn, 1.0), use(reference, 1.0))
    monkeypatch.setattr(native_program.NativeProgram, '_build', None)
    cases.assert_close(use(dyn, 2.0), use(reference, 2.0))


@pytest.mark.parametrize('mass', ['0', '1e-300'])
def test_what_moves_no_inertia_is_refused_as_by_the_reference(mass, monkeypatch):
    """The same error with the same names, also of a call that goes straight to compiled code."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    model = cases.arm_with_point_tip(mass)
    messages = []
    for dyn in (fd.Dynamics(model, 'reference'), fd.Dynamics(model, 'c')):
        for _ in range(2):
            with pytest.raises(fd.FlexdynError) as caught:
                dyn.forward_dynamics(np.array([0.1, 0.2]), np.array([0.3, 0.4]), np.ones(2))
            messages.append((type(caught.value), str(caught.value)))
    assert len(set(messages)) == 1
    assert '"two"' in messages[0][1]


def test_robots_without_coordinates():
    """Nothing moves, and nothing fails."""
    model = fd.load_robot('<robot name="r"><link name="base"/></robot>')
    dyn = fd.Dynamics(model, 'c')
    for _ in range(2):
        assert dyn.inverse_dynamics([], [], []).shape == (0,)
        assert dyn.forward_dynamics([], [], []).shape == (0,)
        assert dyn.mass_matrix([]).shape == (0, 0)
        assert dyn.jacobian([], 'base').shape == (6, 0)
        assert np.array_equal(dyn.frame_pose([], 'base'), np.eye(4))
        assert dyn.kinetic_energy([], []) == 0.0
    assert dyn.batch.inverse_dynamics(*np.zeros((3, 4, 0))).shape == (4, 0)


def test_copies_compute_the_same(monkeypatch):
    """A Dynamics that was copied or pickled has its payloads and gravity."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    model = cases.robot('rigid tree')
    q, qd, qdd, _ = cases.state(model)
    dyn = fd.Dynamics(model, 'c')
    dyn.set_payload(model.links[-1].name, 1.5, [0.1, 0.2, 0.3], MATRIX)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    for other in (copy.deepcopy(dyn), pickle.loads(pickle.dumps(dyn)), copy.copy(dyn)):
        assert other.backend == 'c'
        assert np.array_equal(other.inverse_dynamics(q, qd, qdd), tau)
        other.clear_payload()
        assert not np.array_equal(other.inverse_dynamics(q, qd, qdd), tau)
    assert np.array_equal(dyn.inverse_dynamics(q, qd, qdd), tau)


def test_auto_is_c():
    """And says so."""
    dyn = fd.Dynamics(cases.robot('rigid tree'))
    assert dyn.backend == 'c'


def test_without_a_compiler(monkeypatch, caplog):
    """Auto is "python", with one line that says so; "c" is an error that says what to do."""
    model = cases.robot('rigid tree')
    monkeypatch.setenv('CC', '/nowhere/cc')
    patient_backend._say_once.cache_clear()
    monkeypatch.setattr(logging.getLogger('flexdyn_ros'), 'propagate', True)
    with caplog.at_level(logging.WARNING, 'flexdyn_ros'):
        assert fd.Dynamics(model).backend == 'python'
        assert fd.Dynamics(model).backend == 'python'
    assert ['/nowhere/cc' in record.getMessage() for record in caplog.records] == [True]
    with pytest.raises(NoCompiler, match='apt-get install'):
        fd.Dynamics(model, 'c')


def test_a_compiler_that_fails(monkeypatch, tmp_path, caplog):
    """Auto goes on with Python and shows what the compiler said; "c" raises it."""
    broken = tmp_path / 'broken'
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && echo broken 1.0 && exit 0\n'
                      'echo "no space left in the universe" >&2\nexit 1\n')
    broken.chmod(0o755)
    monkeypatch.setenv('CC', str(broken))
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path / 'cache'))
    monkeypatch.setattr(logging.getLogger('flexdyn_ros'), 'propagate', True)
    model = cases.robot('rigid tree')
    q, qd, qdd, _ = cases.state(model)
    with pytest.raises(CompilationFailed, match='no space left in the universe'):
        fd.Dynamics(model, 'c').inverse_dynamics(q, qd, qdd)
    dyn = fd.Dynamics(model)
    expected = fd.Dynamics(model, 'reference').inverse_dynamics(q, qd, qdd)
    with caplog.at_level(logging.WARNING, 'flexdyn_ros'):
        for _ in range((1 + patient_backend.INTERPRETED) * patient_backend.PATIENCE + 3):
            cases.assert_close(dyn.inverse_dynamics(q, qd, qdd), expected)
    assert dyn.backend == 'python'
    assert ['universe' in record.getMessage() for record in caplog.records] == [True]
    dyn.set_gravity([0.0, 0.0, -1.0])
    assert dyn.backend == 'python'


def test_a_compiler_with_arguments(monkeypatch):
    """CC may hold more than a name."""
    monkeypatch.setenv('CC', 'gcc -g0')
    assert find_compiler().command[1:] == ('-g0',)


def test_derivatives(monkeypatch):
    """By state and by parameters, under loads, also of many samples."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    model = cases.robot('rigid tree')
    q, qd, qdd, tau = cases.state(model)
    ours, theirs = fd.Dynamics(model, 'c'), fd.Dynamics(model, 'reference')
    for dyn in (ours, theirs):
        dyn.set_gravity([1.0, 2.0, -3.0])
    wrenches = {model.frame_names[-1]: [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]}
    names = [name for name in parameter_names(model) if name.endswith(('/com', '/mass'))][:2]
    for function, last in zip(cases.DERIVATIVES, (qdd, tau), strict=True):
        for loads in (None, wrenches):
            found = [np.ravel(getattr(d, function)(q, qd, last, loads)) for d in (ours, theirs)]
            cases.assert_close(*found, 1e-10)
        rows = getattr(ours.batch, function)([q] * 9, [qd] * 9, [last] * 9)
        again = getattr(ours, function)(q, qd, last)
        for many, one in zip(rows, again, strict=True):
            cases.assert_close(many[8], one)
    for function, last in zip(cases.PARAMETER_DERIVATIVES, (qdd, tau), strict=True):
        found = [np.ravel(getattr(d, function)(q, qd, last, names)) for d in (ours, theirs)]
        cases.assert_close(*found, 1e-9)
