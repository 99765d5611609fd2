# SPDX-License-Identifier: Apache-2.0
"""Calls that the extension passes straight to compiled code: every argument, every error."""

from array import array
import gc
import itertools
import sys
import weakref

from codegen import cases
from codegen.compiled import needs_compiler, needs_extension, QUICK
import flexdyn_ros as fd
from flexdyn_ros.direct_calls import is_direct
from flexdyn_ros.errors import ArgumentError, NonFiniteResult
import numpy as np
import pytest

pytestmark = needs_compiler
NAMES = ('rigid tree', 'floating')


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Compile without optimising; skip where there is no extension."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    needs_extension()


@pytest.fixture(autouse=True, scope='module')
def collect_first():
    """Let no garbage of other tests be collected while references are counted."""
    gc.collect()


def state(name):
    """Return q, qd and qdd as arrays."""
    return [np.array(each) for each in cases.state(cases.robot(name))[:3]]


def called(name, *functions):
    """Return a Dynamics whose functions are called directly."""
    model = cases.robot(name)
    dyn = fd.Dynamics(model, 'c')
    q, qd, qdd = state(name)
    arguments = {
        'inverse_dynamics': (q, qd, qdd), 'forward_dynamics': (q, qd, qdd), 'mass_matrix': (q,),
        'kinetic_energy': (q, qd), 'jacobian': (q, model.frame_names[-1]),
        'hybrid_dynamics': (q, qd, qdd[:model.n_joints]),
    }
    for function in functions:
        getattr(dyn, function)(*arguments[function])
        assert is_direct(vars(dyn)[function])
    return dyn


@pytest.mark.parametrize('name', NAMES)
def test_every_kind_of_argument_gives_the_same_bits(name):
    """Arrays, strided and integer ones, lists, tuples, array.array, by position and by name."""
    dyn = called(name, 'inverse_dynamics')
    q, qd, qdd = state(name)
    expected = dyn.inverse_dynamics(q, qd, qdd)
    cases.assert_close(
        expected, fd.Dynamics(cases.robot(name), 'reference').inverse_dynamics(q, qd, qdd)
    )
    wide = np.zeros((len(qd), 3))
    wide[:, 1] = qd
    kinds = [list, tuple, lambda x: array('d', x), lambda x: np.array(x, dtype='>f8'), np.array]
    for kind, other in itertools.product(kinds, kinds):
        assert np.array_equal(dyn.inverse_dynamics(kind(q), other(qd), kind(qdd)), expected)
    assert np.array_equal(dyn.inverse_dynamics(q, wide[:, 1], qdd), expected)
    assert np.array_equal(dyn.inverse_dynamics(q, qd=qd, qdd=qdd, wrenches=None), expected)
    assert np.array_equal(dyn.inverse_dynamics(qdd=qdd, qd=qd, q=q, out=None), expected)
    rounded = np.round(10.0 * qd)
    assert np.array_equal(
        dyn.inverse_dynamics(q, rounded.astype(int), qdd), dyn.inverse_dynamics(q, rounded, qdd)
    )


def test_a_result_goes_where_it_is_wanted():
    """Out is returned; it may be one of the arguments, strided, or of another byte order."""
    dyn = called('rigid tree', 'inverse_dynamics', 'mass_matrix', 'kinetic_energy')
    q, qd, qdd = state('rigid tree')
    tau, matrix = dyn.inverse_dynamics(q, qd, qdd), dyn.mass_matrix(q)
    for out in (np.zeros(len(tau)), np.zeros((len(tau), 2))[:, 0]):
        assert dyn.inverse_dynamics(q, qd, qdd, out=out) is out
        assert np.array_equal(out, tau)
        assert dyn.inverse_dynamics(q, qd, qdd, None, out) is out
    same = qdd.copy()
    assert dyn.inverse_dynamics(q, qd, same, out=same) is same
    assert np.array_equal(same, tau)
    out = np.zeros((len(tau), len(tau)))
    assert dyn.mass_matrix(q, out=out) is out
    assert np.array_equal(out, matrix)
    out = np.zeros_like(matrix, order='F')
    assert np.array_equal(dyn.mass_matrix(q, out=out), matrix)
    energy = np.zeros(())
    assert dyn.kinetic_energy(q, qd, out=energy) is energy
    assert float(energy) == dyn.kinetic_energy(q, qd)


def test_a_result_is_the_callers_own():
    """No later call changes an array that a caller still holds, by any way of holding it."""
    dyn = called('rigid tree', 'inverse_dynamics')
    q, qd, qdd = state('rigid tree')
    held = [dyn.inverse_dynamics(q, qd, k * qdd) for k in range(12)]
    copies = [each.copy() for each in held]
    view = memoryview(dyn.inverse_dynamics(q, qd, qdd))
    part = dyn.inverse_dynamics(q, qd, 2.0 * qdd)[1:]
    kept = part.copy(), list(view)
    watched = dyn.inverse_dynamics(q, qd, 3.0 * qdd)
    gone = weakref.ref(watched)
    del watched
    for k in range(20):
        dyn.inverse_dynamics(q, 2.0 * qd, k * qdd)
    assert all(np.array_equal(*pair) for pair in zip(held, copies, strict=True))
    assert np.array_equal(part, kept[0])
    assert list(view) == kept[1]
    assert gone() is None or gone() is not dyn.inverse_dynamics(q, qd, qdd)
    changed = dyn.inverse_dynamics(q, qd, qdd)
    changed.setflags(write=False)
    changed.shape = (1, changed.size)
    del changed
    for _ in range(5):
        fresh = dyn.inverse_dynamics(q, qd, qdd)
        assert fresh.shape == qdd.shape
        fresh[0] = 0.0


WRONG = {
    'nothing': lambda q, qd, qdd: ((), {}),
    'too few': lambda q, qd, qdd: ((q, qd), {}),
    'too many': lambda q, qd, qdd: ((q, qd, qdd, None, None, 1), {}),
    'unknown name': lambda q, qd, qdd: ((q, qd, qdd), {'torque': 1}),
    'given twice': lambda q, qd, qdd: ((q, qd, qdd), {'q': q}),
    'short': lambda q, qd, qdd: ((q, qd[:-1], qdd), {}),
    'long list': lambda q, qd, qdd: ((q, qd, [*qdd, 1.0]), {}),
    'matrix': lambda q, qd, qdd: ((q, qd, np.outer(qdd, qdd)), {}),
    'text': lambda q, qd, qdd: ((q, qd, ['a'] * len(qdd)), {}),
    'none': lambda q, qd, qdd: ((q, None, qdd), {}),
    'object': lambda q, qd, qdd: ((q, qd.astype(object), qdd), {}),
    'complex': lambda q, qd, qdd: ((q, qd + 1j, qdd), {}),
    'nan': lambda q, qd, qdd: ((q, np.where(np.arange(len(qd)) == 2, np.nan, qd), qdd), {}),
    'infinite': lambda q, qd, qdd: ((q, qd, [-float('inf'), *qdd[1:]]), {}),
    'nan in array': lambda q, qd, qdd: ((q, qd, array('d', [float('nan')] * len(qdd))), {}),
    'floats': lambda q, qd, qdd: ((q, qd, array('f', [1.0])), {}),
    'out short': lambda q, qd, qdd: ((q, qd, qdd), {'out': np.zeros(1)}),
    'out integers': lambda q, qd, qdd: ((q, qd, qdd), {'out': np.zeros(len(qd), dtype=int)}),
    'out list': lambda q, qd, qdd: ((q, qd, qdd), {'out': [0.0] * len(qd)}),
    'out fixed': lambda q, qd, qdd: ((q, qd, qdd), {'out': np.broadcast_to(0.0, qd.shape)}),
    'wrenches': lambda q, qd, qdd: ((q, qd, qdd, 5), {}),
    'frame': lambda q, qd, qdd: ((q, qd, qdd, {'nowhere': [0.0] * 6}), {}),
    'quaternion': lambda q, qd, qdd: ((np.zeros(len(q)), qd, qdd), {}),
}


@pytest.mark.parametrize('kind', WRONG)
def test_errors_are_the_references(kind):
    """The same type, the same words."""
    arguments, named = WRONG[kind](*state('floating'))
    found = []
    for dyn in (called('floating', 'inverse_dynamics'),
                fd.Dynamics(cases.robot('floating'), 'reference')):
        with pytest.raises((fd.FlexdynError, TypeError)) as caught:
            dyn.inverse_dynamics(*arguments, **named)
        found.append((type(caught.value), str(caught.value)))
    assert found[0] == found[1]


def test_results_that_overflow_are_an_error():
    """On the first call and on the short way, for lists and arrays; the next call is sound."""
    model = cases.robot('rigid tree')
    dyn = fd.Dynamics(model, 'c')
    q, qd, qdd = state('rigid tree')
    huge = np.full(model.nv, 1e200)
    for _ in range(3):
        for given in ((q, huge, huge), (q.tolist(), huge.tolist(), huge)):
            with pytest.raises(NonFiniteResult, match='inverse_dynamics.*1e[+]200'):
                dyn.inverse_dynamics(*given)
        assert np.isfinite(dyn.inverse_dynamics(q, qd, qdd)).all()


def test_functions_of_frames():
    """Each frame has its own compiled function; an unknown one is the reference's error."""
    model = cases.robot('floating')
    dyn, reference = called('floating', 'jacobian'), fd.Dynamics(model, 'reference')
    q = state('floating')[0]
    for _ in range(2):
        for frame in model.frame_names[-2:]:
            cases.assert_close(dyn.jacobian(q, frame), reference.jacobian(q, frame))
            cases.assert_close(dyn.jacobian(q, frame=frame), reference.jacobian(q, frame))
    for frame in ('nowhere', 5, ['a']):
        found = []
        for each in (dyn, reference):
            with pytest.raises((fd.FlexdynError, TypeError)) as caught:
                each.jacobian(q, frame)
            found.append((type(caught.value), str(caught.value)))
        assert found[0] == found[1]


def test_no_method_is_an_error_on_every_call():
    """None is no way of solving, on the first call and on the short way."""
    dyn = called('rigid tree', 'forward_dynamics')
    q, qd, tau = state('rigid tree')
    for _ in range(2):
        with pytest.raises(ArgumentError, match='method'):
            dyn.forward_dynamics(q, qd, tau, method=None)


def test_a_kept_method_follows_the_loads():
    """A method looked up before a load changed computes with the load of the moment."""
    model = cases.robot('rigid tree')
    dyn, q = called('rigid tree', 'mass_matrix'), state('rigid tree')[0]
    kept = dyn.mass_matrix
    plain, link = kept(q), model.frame_names[-1]
    dyn.set_payload(link, 3.0, (0.1, 0.2, 0.3), 0.1 * np.eye(3))
    for _ in range(2):
        assert np.array_equal(kept(q), dyn.mass_matrix(q))
        assert not np.allclose(kept(q), plain)
    dyn.clear_payload(link)
    assert np.array_equal(kept(q), plain)


def test_several_results(monkeypatch):
    """They are written into a tuple of arrays without Python in between, into others with it."""
    model = cases.robot('flexible chain')
    q, qd, qdd = state('flexible chain')
    n, joints = model.nv, model.n_joints
    for name, arguments, shapes in (
        ('hybrid_dynamics', (q, qd, qdd[:joints]), [(joints,), (n - joints,)]),
        ('inverse_dynamics_derivatives', (q, qd, qdd), [(n, n)] * 3),
    ):
        dyn = called('flexible chain', 'hybrid_dynamics')
        method = getattr(dyn, name)
        expected = getattr(fd.Dynamics(model, 'reference'), name)(*arguments)
        found = [method(*arguments)]
        for make in (tuple, list):
            out = make(np.full(shape, np.nan) for shape in shapes)
            found.append(method(*arguments, out=out))
            assert all(each is place for each, place in zip(found[-1], out, strict=True))
            method = getattr(dyn, name)
        for each in found:
            for pair in zip(each, expected, strict=True):
                cases.assert_close(*pair)
        strided = tuple(np.zeros((*shape, 2))[..., 1] for shape in shapes)
        for place, each in zip(method(*arguments, out=strided), found[0], strict=True):
            assert np.array_equal(place, each)
        with pytest.raises(ArgumentError, match='out'):
            method(*arguments, out=out[:1])
        monkeypatch.setattr(dyn, '_backend', None)
        assert method(*arguments, out=tuple(out))[0] is out[0]
        with pytest.raises(AttributeError):
            method(*arguments, out=list(out))


def test_no_result_leaks():
    """Nothing holds on to arguments or results."""
    dyn = called('rigid tree', 'inverse_dynamics')
    q, qd, qdd = state('rigid tree')
    counts = [sys.getrefcount(each) for each in (q, qd, qdd, None)]
    for _ in range(1000):
        dyn.inverse_dynamics(q, qd, qdd, out=qdd.copy())
        dyn.inverse_dynamics(q.tolist(), qd, qdd)
    after = [sys.getrefcount(each) for each in (q, qd, qdd, None)]
    assert all(abs(a - b) < 100 for a, b in zip(counts, after, strict=True))


def test_a_single_wrench_goes_to_compiled_code(monkeypatch):
    """On each frame that had one; two of them, and other methods, go through the method."""
    model = cases.robot('rigid tree')
    dyn, reference = fd.Dynamics(model, 'c'), fd.Dynamics(model, 'reference')
    q, qd, qdd = state('rigid tree')
    wrench, (first, *_, last) = [1.0, -2.0, 3.0, 0.5, 0.2, -0.4], model.frame_names
    for loads in ({}, {last: wrench}, {first: wrench}, {last: wrench, first: wrench}):
        expected = reference.inverse_dynamics(q, qd, qdd, loads)
        for _ in range(2):
            cases.assert_close(dyn.inverse_dynamics(q, qd, qdd, loads), expected)
    tau = dyn.inverse_dynamics(q, qd, qdd, {last: wrench})
    monkeypatch.setattr(dyn, '_evaluate', None)
    out = np.zeros_like(tau)
    assert np.array_equal(dyn.inverse_dynamics(q, qd, qdd, {last: tuple(wrench)}, out), tau)
    assert np.array_equal(out, tau)
    for loads in ({last: wrench, first: wrench}, {last: wrench[:5]}, {'nowhere': wrench}):
        with pytest.raises(TypeError, match='NoneType'):
            dyn.inverse_dynamics(q, qd, qdd, loads)


def test_methods_of_forward_dynamics_have_code_of_their_own(monkeypatch):
    """Each choice that was made once is compiled code's."""
    model = cases.robot('flexible chain')
    dyn, reference = fd.Dynamics(model, 'c'), fd.Dynamics(model, 'reference')
    q, qd, tau = state('flexible chain')
    found = {}
    for method in ('auto', 'recursive', 'cholesky'):
        found[method] = dyn.forward_dynamics(q, qd, tau, method=method)
        cases.assert_close(found[method], reference.forward_dynamics(q, qd, tau, method=method))
    monkeypatch.setattr(dyn, '_evaluate', None)
    for method, expected in found.items():
        assert np.array_equal(dyn.forward_dynamics(q, qd, tau, method=method), expected)
    assert np.array_equal(dyn.forward_dynamics(q, qd, tau), found['auto'])


def test_loads_that_another_thread_changes_meanwhile_count(monkeypatch):
    """A call that began under the loads before leaves no compiled call with these behind."""
    dyn = fd.Dynamics(cases.robot('rigid tree'), 'c')
    q = state('rigid tree')[0]
    backend, found = dyn._backend, dyn._backend.function
    calls = []

    def function(*arguments):
        kernel = found(*arguments)
        calls.append(kernel)
        if len(calls) == 2:  # that of the direct call, after the first one's own
            dyn.set_gravity([0.0, 0.0, 0.0])
        return kernel

    monkeypatch.setattr(backend, 'function', function)
    assert np.abs(dyn.gravity_vector(q)).max() > 0.1
    assert len(calls) == 2
    assert np.abs(dyn.gravity_vector(q)).max() == 0.0
