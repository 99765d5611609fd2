# SPDX-License-Identifier: Apache-2.0
"""The backend "auto": sizes that it compiles, its bits, its log and code compiled ahead."""

import warnings

from codegen import cases
from codegen.compiled import needs_compiler
import flexdyn_ros as fd
from flexdyn_ros.codegen.backends import executors, generated
from flexdyn_ros.codegen.backends.generated import GeneratedBackend
from flexdyn_ros.codegen.compile import program
from flexdyn_ros.codegen.tracing.functions import Request
import numpy as np
from oracles.dh_urdf import chain_urdf
import pytest

pytestmark = pytest.mark.usefixtures('quick')


@pytest.fixture(scope='module')
def chains():
    """Return arms without flexible links by their number of joints."""
    found = {}

    def chain(n):
        if n not in found:
            link = {'alpha': 0.7, 'a': 0.3, 'd': 0.1, 'm': 2.0, 'com': [-0.1, 0.02, 0.05],
                    'J_cm': [0.02, 0.03, 0.04]}
            found[n] = fd.load_robot(chain_urdf([link] * n))
            assert found[n].nv == n
        return found[n]

    return chain


def answered_by_reference(dyn, name):
    """Return whether the reference answers calls of a function."""
    vectors = [np.full(dyn.robot.nv, 0.1)] * {'mass_matrix': 1, 'gravity_vector': 1}.get(name, 3)
    found = getattr(dyn, name)(*vectors)
    expected = getattr(fd.Dynamics(dyn.robot, 'reference'), name)(*vectors)
    same = np.array_equal(np.ravel(found), np.ravel(expected))
    cases.assert_close(np.ravel(found), np.ravel(expected), 1e-9)
    assert same == (dyn._backend.function(request_of(name)) is None)
    return same


def request_of(name):
    """Return the request of a function without a frame."""
    return Request(name)


@needs_compiler
@pytest.mark.parametrize(('name', 'most'), [
    ('gravity_vector', 40), ('inverse_dynamics_derivatives', 12),
])
def test_sizes_up_to_which_auto_generates(name, most, chains, messages):
    """Up to there compiled code answers; above the reference, and one warning names the remedy."""
    assert not answered_by_reference(fd.Dynamics(chains(most)), name)
    assert messages() == []
    dyn = fd.Dynamics(chains(most + 1))
    assert dyn.backend == 'c'
    assert answered_by_reference(dyn, name)
    for _ in range(2):
        answered_by_reference(fd.Dynamics(chains(most + 1)), name)
    assert dyn.batch.gravity_vector(np.full((2, most + 1), 0.1)).shape == (2, most + 1)
    own = [text for text in messages() if f'generates {name} up to {most} ' in text]
    assert len(own) == 1
    assert f'has {most + 1} coordinates' in own[0]
    assert f'dyn.compile("{name}")' in own[0]


@needs_compiler
def test_compile_makes_large_functions_compiled(monkeypatch, chains, messages):
    """From then on, under any loads, of copies too; others stay the reference's."""
    monkeypatch.setattr(generated, 'MOST_FOR_VALUES', 3)
    model = chains(4)
    dyn = fd.Dynamics(model)
    before = np.full(4, 0.1)
    dyn.compile('gravity_vector', batch=True)
    assert messages() == []
    assert not answered_by_reference(dyn, 'gravity_vector')
    dyn.set_payload(model.links[-1].name, 1.0, (0.1, 0.0, 0.2), 0.01 * np.eye(3))
    assert dyn._backend.function(request_of('gravity_vector')) is not None
    dyn.clear_payload()
    assert dyn._backend.batch(request_of('gravity_vector')) is not None
    assert messages() == []
    assert answered_by_reference(dyn, 'mass_matrix')
    assert len(messages()) == 1 and 'mass_matrix' in messages()[0]
    cases.assert_close(
        dyn.batch.gravity_vector(before[None])[0], dyn.gravity_vector(before), 1e-12
    )


@needs_compiler
def test_what_the_warning_advises_helps(monkeypatch, chains, messages):
    """Of functions of frames, and of derivatives whose parameters come with the call."""
    monkeypatch.setattr(generated, 'MOST_FOR_VALUES', 2)
    monkeypatch.setattr(generated, 'MOST_FOR_DERIVATIVES', 2)
    model = chains(3)
    q, dyn = np.full(3, 0.1), fd.Dynamics(model)
    frame, chosen = model.frame_names[1], [f'{model.frame_names[2]}/mass']
    calls = [lambda: dyn.jacobian(q, frame),
             lambda: dyn.inverse_dynamics_parameter_derivatives(q, q, q, chosen)]
    slow = [call() for call in calls]
    advice = [text.partition('dyn.compile("')[2].partition('"')[0] for text in messages()]
    assert advice == [f'jacobian:{frame}', 'inverse_dynamics_parameter_derivatives']
    dyn.compile(*advice)
    found = [call() for call in calls]
    derived = Request(advice[1], None, dyn._parameters(chosen).parameters)
    for request in (Request('jacobian', frame), derived):
        assert dyn._backend.function(request) is not None
    for each, expected in zip(found, slow):
        cases.assert_close(each.ravel(), expected.ravel())


@needs_compiler
def test_the_other_backends_have_no_limit(monkeypatch, chains):
    """A backend that is named is taken."""
    monkeypatch.setattr(generated, 'MOST_FOR_VALUES', 3)
    for backend in ('c', 'python'):
        assert not answered_by_reference(fd.Dynamics(chains(4), backend), 'mass_matrix')


@needs_compiler
@pytest.mark.parametrize('backend', ['auto', 'python', 'reference'])
@pytest.mark.parametrize('name', ['rigid tree', 'floating'])
def test_the_nth_call_has_the_bits_of_the_first(backend, name, own_cache_folder):
    """Of one object, of the next one, after other loads; "auto" runs the code of "c"."""
    model = cases.robot(name)
    q, qd, qdd, tau = (np.array(each) for each in cases.state(model))
    frame = model.frame_names[-1]
    wrench = {frame: [1.0, -2.0, 3.0, 0.5, 0.2, -0.4]}

    def results(dyn):
        return np.concatenate([cases.flat(each) for each in (
            dyn.inverse_dynamics(q, qd, qdd), dyn.inverse_dynamics(q, qd, qdd, wrench),
            dyn.forward_dynamics(q, qd, tau), dyn.mass_matrix(q), dyn.jacobian(q, frame),
            dyn.potential_energy(q), dyn.inverse_dynamics(q.tolist(), qd, qdd),
            dyn.inverse_dynamics(q, qd, qdd, out=np.zeros(model.nv)),
        )])

    dyn = fd.Dynamics(model, backend)
    first = results(dyn)
    for _ in range(5):
        assert np.array_equal(results(dyn), first)
    dyn.set_payload(frame, 1.0, (0.0, 0.1, 0.0), np.eye(3))
    dyn.set_gravity([0.0, 0.0, -3.0])
    assert not np.array_equal(results(dyn), first)
    dyn.clear_payload()
    dyn.set_gravity(model.gravity)
    assert np.array_equal(results(dyn), first)
    assert np.array_equal(results(fd.Dynamics(model, backend)), first)


@needs_compiler
def test_auto_gives_the_bits_of_c():
    """It is the same code."""
    model = cases.robot('flexible chain')
    vectors = cases.state(model)[:3]
    dyn = fd.Dynamics(model)
    assert dyn.backend == 'c'
    assert np.array_equal(
        dyn.inverse_dynamics(*vectors), fd.Dynamics(model, 'c').inverse_dynamics(*vectors)
    )


@needs_compiler
def test_a_long_compilation_is_logged_once(monkeypatch, own_cache_folder, messages):
    """Name, robot and duration; code on disk logs no record."""
    model = cases.robot('rigid tree')
    q = cases.state(model)[0]
    assert program.LONG == 1.0
    monkeypatch.setattr(program, 'LONG', 1000.0)
    fd.Dynamics(model).mass_matrix(q)
    assert not [text for text in messages('INFO') if 'mass_matrix' in text]
    monkeypatch.setattr(program, 'LONG', 0.0)
    for _ in range(2):
        fd.Dynamics(model).gravity_vector(q)
    monkeypatch.setattr(program, '_loaded', {})
    fd.Dynamics(model).gravity_vector(q)
    lines = [text for text in messages('INFO') if 'Compiling' in text]
    assert len(lines) == 1
    assert lines[0].startswith('Compiling gravity_vector of robot "random" took ')


def test_patient_is_deprecated_and_changes_nothing():
    """One warning, at the caller's line."""
    model = cases.robot('rigid tree')
    vectors = cases.state(model)[:3]
    plain = fd.Dynamics(model, 'python').inverse_dynamics(*vectors)
    for patient in (True, False):
        with pytest.warns(DeprecationWarning, match='"patient".*Dynamics.compile') as caught:
            dyn = fd.Dynamics(model, 'python', patient=patient)
        assert [each.filename for each in caught] == [__file__]
        assert np.array_equal(dyn.inverse_dynamics(*vectors), plain)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        fd.Dynamics(model, 'python')


def test_generating_python_is_logged(monkeypatch, own_cache_folder, messages):
    """Once, as compiling is: the cache has it then."""
    monkeypatch.setattr(program, 'LONG', 0.0)
    monkeypatch.setattr(executors, '_made', {})
    model = cases.robot('rigid tree')
    for _ in range(2):
        fd.Dynamics(model, 'python').gravity_vector(cases.state(model)[0])
        executors._made.clear()
    assert [text.startswith('Compiling gravity_vector') for text in messages('INFO')] == [True]


def test_compile_needs_names():
    """And refuses those that are none."""
    dyn = fd.Dynamics(cases.robot('rigid tree'), 'reference')
    dyn.compile('inverse_dynamics', 'jacobian:link1')
    for names, words in (((), 'functions'), (('inverse_dynamic',), 'inverse_dynamics'),
                         (('jacobian:lnk1',), 'link1')):
        with pytest.raises(fd.FlexdynError, match=words):
            dyn.compile(*names)
    with pytest.raises(fd.FlexdynError, match='nowhere'):
        dyn.compile('inverse_dynamics', wrenches=['nowhere'])


@needs_compiler
def test_compile_makes_what_calls_need(own_cache_folder, monkeypatch):
    """Functions of frames, wrenches and samples: no later call builds code."""
    model = cases.robot('rigid tree')
    dyn, frame = fd.Dynamics(model), model.frame_names[-1]
    dyn.compile('inverse_dynamics', f'jacobian:{frame}', wrenches=frame, batch=True)
    dyn.compile('inverse_dynamics')
    monkeypatch.setattr(GeneratedBackend, '_make', None)
    q, qd, qdd, _ = cases.state(model)
    reference = fd.Dynamics(model, 'reference')
    wrench = {frame: [1.0] * 6}
    cases.assert_close(
        dyn.inverse_dynamics(q, qd, qdd, wrench), reference.inverse_dynamics(q, qd, qdd, wrench)
    )
    cases.assert_close(dyn.inverse_dynamics(q, qd, qdd), reference.inverse_dynamics(q, qd, qdd))
    cases.assert_close(dyn.jacobian(q, frame), reference.jacobian(q, frame))
    many = dyn.batch.inverse_dynamics([q], [qd], [qdd], wrench)
    cases.assert_close(many[0], reference.inverse_dynamics(q, qd, qdd, wrench))
