# SPDX-License-Identifier: Apache-2.0
"""
Calls handed straight to compiled or interpreted code, by the extension or by machine code.

Every kind of argument, and the reference's errors.
"""

from array import array
import gc
import inspect
import itertools
import sys
import weakref

from codegen import cases
from codegen.compiled import needs_compiler
from codegen.compiled import needs_extension
from codegen.compiled import QUICK
import flexdyn_ros as fd
from flexdyn_ros.codegen.native import array_functions
from flexdyn_ros.errors import ArgumentError
import numpy as np
import pytest

pytestmark = needs_compiler
NAMES = ('rigid tree', 'floating')


@pytest.fixture(params=['c', 'python', 'c, arrays', 'python, arrays'], autouse=True)
def backend(request, monkeypatch):
    """Return the backend that is called; compile without optimising."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    if request.param.endswith('arrays'):
        monkeypatch.setenv('FLEXDYN_CALLS', 'ctypes')
        if array_functions.problem() is not None:
            pytest.skip(f'{array_functions.problem()}; Linux on x86-64 and CPython runs it')
    else:
        needs_extension()
    return request.param.partition(',')[0]


def state(name):
    """Return q, qd and qdd as arrays."""
    return [np.array(each) for each in cases.state(cases.robot(name))[:3]]


def called(backend, name, *functions):
    """Return a Dynamics whose functions are called directly."""
    model = cases.robot(name)
    dyn = fd.Dynamics(model, backend)
    q, qd, qdd = state(name)
    arguments = {
        'inverse_dynamics': (q, qd, qdd), 'forward_dynamics': (q, qd, qdd), 'mass_matrix': (q,),
        'kinetic_energy': (q, qd), 'jacobian': (q, model.frame_names[-1]),
        'hybrid_dynamics': (q, qd, qdd[:model.n_joints]),
    }
    for function in functions:
        getattr(dyn, function)(*arguments[function])
        assert function in dyn._direct
    return dyn


@pytest.mark.parametrize('name', NAMES)
def test_every_kind_of_argument_gives_the_same_bits(name, backend):
    """Arrays, strided and integer ones, lists, tuples, array.array, by position and by name."""
    dyn = called(backend, name, 'inverse_dynamics')
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


def test_a_result_goes_where_it_is_wanted(backend):
    """Out is returned; it may be one of the arguments, strided, or of another byte order."""
    dyn = called(backend, 'rigid tree', 'inverse_dynamics', 'mass_matrix', 'kinetic_energy')
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


def test_a_result_is_the_callers_own(backend):
    """No later call changes an array that somebody still holds, by any way of holding it."""
    dyn = called(backend, 'rigid tree', 'inverse_dynamics')
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
def test_errors_are_the_references(kind, backend):
    """The same type, the same words."""
    arguments, named = WRONG[kind](*state('floating'))
    found = []
    for dyn in (called(backend, 'floating', 'inverse_dynamics'),
                fd.Dynamics(cases.robot('floating'), 'reference')):
        with pytest.raises((fd.FlexdynError, TypeError)) as caught:
            dyn.inverse_dynamics(*arguments, **named)
        found.append((type(caught.value), str(caught.value)))
    assert found[0] == found[1]


def test_results_that_overflow_are_the_references(backend):
    """On the first call and on the short way, for lists and arrays."""
    model = cases.robot('rigid tree')
    dyn, reference = called(backend, 'rigid tree'), fd.Dynamics(model, 'reference')
    q, qd, qdd = state('rigid tree')
    huge = np.full(model.nv, 1e200)
    expected = reference.inverse_dynamics(q, huge, huge)
    assert not np.isfinite(expected).all()
    for _ in range(3):
        assert np.array_equal(dyn.inverse_dynamics(q, huge, huge), expected, equal_nan=True)
        assert np.array_equal(
            dyn.inverse_dynamics(q.tolist(), huge.tolist(), huge), expected, equal_nan=True
        )
        assert np.isfinite(dyn.inverse_dynamics(q, qd, qdd)).all()


def test_functions_of_frames(backend):
    """Each frame has its own compiled function; an unknown one is the reference's error."""
    model = cases.robot('floating')
    dyn, reference = called(backend, 'floating', 'jacobian'), fd.Dynamics(model, 'reference')
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


def test_a_kept_method_follows_the_loads(backend):
    """A method looked up before a load changed computes with the load of the moment."""
    model = cases.robot('rigid tree')
    dyn, q = called(backend, 'rigid tree', 'mass_matrix'), state('rigid tree')[0]
    kept = dyn.mass_matrix
    plain, link = kept(q), model.frame_names[-1]
    dyn.set_payload(link, 3.0, (0.1, 0.2, 0.3), 0.1 * np.eye(3))
    for _ in range(2):
        assert np.array_equal(kept(q), dyn.mass_matrix(q))
        assert not np.allclose(kept(q), plain)
    dyn.clear_payload(link)
    assert np.array_equal(kept(q), plain)


def test_methods_of_the_class(backend):
    """Calls through the class work; another object, or none, is Python's error."""
    dyn = called(backend, 'rigid tree', 'mass_matrix')
    q = state('rigid tree')[0]
    assert np.array_equal(fd.Dynamics.mass_matrix(dyn, q), dyn.mass_matrix(q))
    for arguments in ((), (q,), (5, q), (object(), q)):
        with pytest.raises((TypeError, AttributeError)):
            fd.Dynamics.mass_matrix(*arguments)


def test_a_replaced_method_is_called(monkeypatch, backend):
    """Who replaces a method, in the class or in one object, is called."""
    dyn = called(backend, 'rigid tree', 'mass_matrix')
    q = state('rigid tree')[0]
    monkeypatch.setattr(fd.Dynamics, 'mass_matrix', lambda self, q: 'of the class')
    assert dyn.mass_matrix(q) == 'of the class'
    monkeypatch.setattr(dyn, 'mass_matrix', lambda q: 'of the object')
    assert dyn.mass_matrix(q) == 'of the object'


def test_several_results(backend, monkeypatch):
    """They are written into a tuple of arrays without Python in between, into others with it."""
    model = cases.robot('flexible chain')
    q, qd, qdd = state('flexible chain')
    n, joints = model.nv, model.n_joints
    for name, arguments, shapes in (
        ('hybrid_dynamics', (q, qd, qdd[:joints]), [(joints,), (n - joints,)]),
        ('inverse_dynamics_derivatives', (q, qd, qdd), [(n, n)] * 3),
    ):
        dyn = called(backend, 'flexible chain', 'hybrid_dynamics')
        method = getattr(dyn, name)
        expected = getattr(fd.Dynamics(model, 'reference'), name)(*arguments)
        found = [method(*arguments)]
        for make in (tuple, list):
            out = make(np.full(shape, np.nan) for shape in shapes)
            found.append(method(*arguments, out=out))
            assert all(each is place for each, place in zip(found[-1], out, strict=True))
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


def test_subclasses_keep_their_methods(backend):
    """A method that a subclass overrides is not shadowed; others are."""

    class Doubled(fd.Dynamics):

        def inverse_dynamics(self, *arguments, **named):
            return 2.0 * super().inverse_dynamics(*arguments, **named)

    dyn = Doubled(cases.robot('rigid tree'), backend)
    q, qd, qdd = state('rigid tree')
    once = called(backend, 'rigid tree', 'inverse_dynamics').inverse_dynamics(q, qd, qdd)
    for _ in range(3):
        assert np.array_equal(dyn.inverse_dynamics(q, qd, qdd), 2.0 * once)
        dyn.mass_matrix(q)
    assert 'mass_matrix' in dyn._direct


def test_a_direct_call_looks_like_the_method(backend):
    """Help and signatures show what the method says."""
    dyn = called(backend, 'rigid tree', 'inverse_dynamics')
    plain = fd.Dynamics(cases.robot('rigid tree'), 'reference')
    assert inspect.signature(dyn.inverse_dynamics) == inspect.signature(plain.inverse_dynamics)
    assert dyn.inverse_dynamics.__doc__ == plain.inverse_dynamics.__doc__
    assert dyn.inverse_dynamics.__name__ == 'inverse_dynamics'


def test_nothing_is_kept_alive(backend):
    """A Dynamics goes when its owner lets go, direct calls included; no result leaks."""
    dyn = called(backend, 'rigid tree', 'inverse_dynamics')
    gone = weakref.ref(dyn)
    q, qd, qdd = state('rigid tree')
    counts = [sys.getrefcount(each) for each in (q, qd, qdd, None)]
    for _ in range(1000):
        dyn.inverse_dynamics(q, qd, qdd, out=qdd.copy())
        dyn.inverse_dynamics(q.tolist(), qd, qdd)
    after = [sys.getrefcount(each) for each in (q, qd, qdd, None)]
    assert all(abs(a - b) < 100 for a, b in zip(counts, after, strict=True))
    del dyn
    gc.collect()
    assert gone() is None


def test_without_the_extension(monkeypatch, backend):
    """Then ctypes calls compiled functions, and CPython runs Python: equal numbers and errors."""
    monkeypatch.setenv('FLEXDYN_CALLS', 'ctypes')
    model = cases.robot('flexible chain')
    q, qd, qdd = state('flexible chain')
    dyn, reference = fd.Dynamics(model, backend), fd.Dynamics(model, 'reference')
    for _ in range(2):
        for function in ('inverse_dynamics', 'forward_dynamics'):
            cases.assert_close(
                getattr(dyn, function)(q, qd, qdd), getattr(reference, function)(q, qd, qdd)
            )
        cases.assert_close(dyn.mass_matrix(q), reference.mass_matrix(q))
        assert dyn.kinetic_energy(q, qd) == pytest.approx(reference.kinetic_energy(q, qd))
    assert ('inverse_dynamics' in dyn._direct) == (array_functions.problem() is None)
    with pytest.raises(fd.FlexdynError, match='shape'):
        dyn.inverse_dynamics(q, qd, qdd[1:])
    rows = np.array([q, 0.5 * q]), np.array([qd, qd]), np.array([qdd, qdd])
    found = dyn.batch.inverse_dynamics(*rows)
    cases.assert_close(found[1], reference.inverse_dynamics(*(each[1] for each in rows)))
