# SPDX-License-Identifier: Apache-2.0
"""The backend behind "auto": who answers, and that clearing a payload leads back."""

import pickle

from codegen.compiled import needs_compiler
from codegen.compiled import needs_extension
from codegen.compiled import QUICK
import flexdyn_ros as fd
from flexdyn_ros.codegen.backends.c_backend import CBackend
from flexdyn_ros.codegen.backends.interpreted_backend import InterpretedBackend
from flexdyn_ros.codegen.backends.patient_backend import INTERPRETED
from flexdyn_ros.codegen.backends.patient_backend import PATIENCE
from flexdyn_ros.codegen.backends.patient_backend import patience_with
from flexdyn_ros.codegen.backends.patient_backend import PatientBackend
from flexdyn_ros.codegen.backends.turns import LONG_PATIENCE
from flexdyn_ros.codegen.backends.turns import Turn
from flexdyn_ros.codegen.backends.without_compiler import python_backend
from flexdyn_ros.codegen.native.extension import extension
from flexdyn_ros.dynamics.reference import ReferenceBackend
import numpy as np
from oracles.random_robots import random_robot_urdf
import pytest

ROBOT = fd.load_robot(random_robot_urdf(5, 3))
LINK = ROBOT.links[-1].name


@pytest.fixture(params=['c', 'python'], autouse=True)
def generated(request, monkeypatch, tmp_path):
    """Return the name of the backend that "auto" ends up with."""
    from flexdyn_ros.codegen.backends import generated_functions
    from flexdyn_ros.codegen.native import interpreted_program
    from flexdyn_ros.codegen.native import machine_program
    from flexdyn_ros.codegen.native import native_program

    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path))
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    monkeypatch.setattr(native_program, '_loaded', {})
    monkeypatch.setattr(generated_functions, '_made', {})
    monkeypatch.setattr(interpreted_program, '_made', {})
    monkeypatch.setattr(machine_program, '_loaded', {})
    tmp_path.chmod(0o700)
    if request.param == 'python':
        monkeypatch.setenv('CC', '/nowhere/cc')
    elif needs_compiler.args[0]:
        pytest.skip(needs_compiler.kwargs['reason'])
    return request.param


def state(robot=ROBOT):
    """Return position, velocity and acceleration."""
    q = robot.neutral_configuration()
    qd, qdd = 0.3 * np.random.default_rng(2).normal(size=(2, robot.nv))
    return q, qd, qdd


def test_generated_code_answers_what_is_called_often(generated):
    """The first calls are the reference's, later ones the generated code's; others wait."""
    backend = PatientBackend(ROBOT, list(ROBOT.gravity_vector), {})
    q = list(ROBOT.neutral_configuration())
    turns = [type(backend.whose_turn('mass_matrix', q)) for _ in range(PATIENCE + 2)]
    if generated == 'c' and extension(build=False) is not None:
        kind = InterpretedBackend
    else:
        kind = {'c': CBackend, 'python': type(python_backend(ROBOT, [0.0] * 3, {}))}[generated]
    assert turns == [ReferenceBackend] * PATIENCE + [kind] * 2
    assert isinstance(backend.whose_turn('inverse_dynamics', q, q, q, ()), ReferenceBackend)
    frames = ROBOT.frame_names[:2]
    for frame in frames:
        assert isinstance(backend.whose_turn('jacobian', q, frame), ReferenceBackend)


def test_compiled_code_comes_last(generated):
    """Without a compiler's work the interpreter answers; its trace is the compiler's too."""
    if generated != 'c':
        pytest.skip('nothing is compiled')
    needs_extension()
    backend = PatientBackend(ROBOT, list(ROBOT.gravity_vector), {})
    q = list(ROBOT.neutral_configuration())
    results = []
    for kind, count in (
        (ReferenceBackend, PATIENCE), (InterpretedBackend, INTERPRETED * PATIENCE), (CBackend, 2)
    ):
        for _ in range(count):
            turn = backend.whose_turn('mass_matrix', q)
            assert type(turn) is kind
        results.append(np.ravel(turn.mass_matrix(q)))
        if kind is InterpretedBackend:
            assert len(backend.generated.traces) == 1
    assert not backend.generated.traces
    assert results[2] == pytest.approx(results[0], rel=1e-12, abs=1e-14)
    assert results[2] == pytest.approx(results[1], rel=1e-12, abs=1e-14)
    # What is on disk, of the best kind, answers from the first call on.
    again = PatientBackend(ROBOT, list(ROBOT.gravity_vector), {})
    assert type(again.whose_turn('mass_matrix', q)) is CBackend


def test_kept_instructions_answer_before_anything_is_compiled(generated, monkeypatch):
    """From the first call on."""
    if generated != 'c':
        pytest.skip('nothing is compiled')
    needs_extension()
    monkeypatch.setenv('FLEXDYN_PYTHON', 'interpreter')
    q = list(ROBOT.neutral_configuration())
    fd.Dynamics(ROBOT, 'python').mass_matrix(q)
    backend = PatientBackend(ROBOT, list(ROBOT.gravity_vector), {})
    assert type(backend.whose_turn('mass_matrix', q)) is InterpretedBackend


@pytest.mark.parametrize('calls', [1, 3, 4, 7, 8, 9])
def test_who_answered_before_other_loads_answers_after_them(calls):
    """Also where it was the last call of its turn."""
    turn, patience = Turn(), (3, 4)
    stages = [turn.next_call(patience) for _ in range(calls)]
    assert stages == [0, 0, 0, 1, 1, 1, 1, 2, 2][:calls]
    for _ in range(3):
        turn.come_back()
        assert turn.next_call(patience) == stages[-1]


def test_what_is_on_disk_answers_at_once(generated):
    """A second object of the same robot needs no patience."""
    q, qd, qdd = state()
    first = fd.Dynamics(ROBOT, generated).inverse_dynamics(q, qd, qdd)
    assert np.array_equal(fd.Dynamics(ROBOT).inverse_dynamics(q, qd, qdd), first)


def test_both_give_the_same_numbers(generated):
    """The change of turns is seen in round-off only."""
    dyn = fd.Dynamics(ROBOT)
    q, qd, qdd = state()
    first = dyn.inverse_dynamics(q, qd, qdd)
    for _ in range(PATIENCE):
        last = dyn.inverse_dynamics(q, qd, qdd)
    assert dyn.backend == generated
    assert last == pytest.approx(first, rel=1e-12, abs=1e-12 * np.abs(first).max())


@pytest.mark.parametrize('before', [1, PATIENCE, PATIENCE + 1])
def test_clearing_a_payload_restores_bit_for_bit_however_long_it_was_there(before):
    """Many calls under a payload do not change who answers without one."""
    dyn = fd.Dynamics(ROBOT)
    q, qd, qdd = state()
    for _ in range(before):
        plain = dyn.inverse_dynamics(q, qd, qdd)
    dyn.set_payload(LINK, 1.0, (0.0, 0.1, 0.0), np.eye(3) * 0.01)
    for _ in range(PATIENCE + 2):
        loaded = dyn.inverse_dynamics(q, qd, qdd)
    assert np.abs(loaded - plain).max() > 1e-6
    dyn.clear_payload()
    assert np.array_equal(dyn.inverse_dynamics(q, qd, qdd), plain)


def test_payloads_that_come_and_go_lead_back_bit_for_bit():
    """However often they change, within what a person tries; whoever goes on gets fast code."""
    dyn = fd.Dynamics(ROBOT)
    q, qd, qdd = state()
    plain = dyn.inverse_dynamics(q, qd, qdd)
    for k in range(3 * PATIENCE):
        dyn.set_payload(LINK, 1.0 + k, (0.0, 0.1, 0.0), np.eye(3) * 0.01)
        dyn.clear_payload()
        assert np.array_equal(dyn.inverse_dynamics(q, qd, qdd), plain)
    backend = PatientBackend(ROBOT, list(ROBOT.gravity_vector), {})
    for _ in range(LONG_PATIENCE * backend.patience):
        assert isinstance(backend.whose_turn('mass_matrix', q), ReferenceBackend)
        backend = backend.under(list(ROBOT.gravity_vector), {})
    assert not isinstance(backend.whose_turn('mass_matrix', q), ReferenceBackend)


def test_without_patience_the_first_call_is_generated(generated):
    """No call is the reference's, under other loads and for batches neither."""
    dyn = fd.Dynamics(ROBOT, patient=False)
    q, qd, qdd = state()
    for payload in (False, True):
        first = dyn.inverse_dynamics(q, qd, qdd)
        again = fd.Dynamics(ROBOT, generated)
        if payload:
            again.set_payload(LINK, 1.0, (0.0, 0.1, 0.0), np.eye(3) * 0.01)
        assert again._backend.is_made('inverse_dynamics', (list(q), list(qd), list(qdd), ()))
        assert np.array_equal(again.inverse_dynamics(q, qd, qdd), first)
        turn = dyn._backend.whose_turn('mass_matrix', list(q))
        assert not isinstance(turn, ReferenceBackend)
        dyn.set_payload(LINK, 1.0, (0.0, 0.1, 0.0), np.eye(3) * 0.01)
    copy = pickle.loads(pickle.dumps(dyn))
    assert not isinstance(copy._backend.whose_turn('mass_matrix', list(q)), ReferenceBackend)


def test_large_robots_take_more_patience():
    """Generating code for them takes long, so that the reference answers more calls."""
    assert patience_with(7) == PATIENCE
    assert patience_with(60) > 100 * PATIENCE


def test_every_method_is_passed_on():
    """The backend has each public method of the reference's, but one that only that one has."""
    methods = {name for name in vars(ReferenceBackend) if not name.startswith('_')}
    assert methods - {'accelerations_beyond'} <= set(vars(PatientBackend))
