# SPDX-License-Identifier: Apache-2.0
"""Methods of Dynamics and their compiled calls: the class, copies, subclasses, kept methods."""

import copy
import gc
import inspect
import pickle
import pydoc
import weakref

from codegen import cases
from codegen.compiled import needs_compiler, needs_extension, QUICK
import flexdyn_ros as fd
from flexdyn_ros.codegen.compile import compiler
from flexdyn_ros.direct_calls import is_direct
import numpy as np
import pytest

pytestmark = needs_compiler
METHODS = [
    name for name, value in vars(fd.Dynamics).items()
    if inspect.isfunction(value) and not name.startswith('_')
]
MODEL = cases.robot('rigid tree')
LINK = MODEL.links[-1].name
STATE = tuple(np.array(each) for each in cases.state(MODEL)[:3])
PAYLOAD = (1.5, (0.1, 0.2, 0.3), np.diag((0.3, 0.4, 0.5)))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Compile without optimising; skip where there is no extension."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    needs_extension()


def called(kind=fd.Dynamics, backend='c'):
    """Return an object whose inverse dynamics was called."""
    dyn = kind(MODEL, backend)
    dyn.inverse_dynamics(*STATE)
    return dyn


def test_the_method_of_the_class_stays_the_python_function():
    """With its docstring and signature, before, while and after compiled calls are made."""
    before = dict(vars(fd.Dynamics))
    function = fd.Dynamics.inverse_dynamics
    assert inspect.isfunction(function)
    dyn = called()
    assert is_direct(dyn.inverse_dynamics)
    assert type(dyn).inverse_dynamics is function is before['inverse_dynamics']
    assert 'joint torques' in function.__doc__ and 'qdd: Acceleration' in function.__doc__
    assert [*inspect.signature(function).parameters][:4] == ['self', 'q', 'qd', 'qdd']
    dyn.set_payload(LINK, *PAYLOAD)
    dyn.inverse_dynamics(*STATE)
    after = dict(vars(fd.Dynamics))
    assert [*after] == [*before]
    assert all(after[name] is before[name] for name in before)
    assert np.array_equal(function(dyn, *STATE), dyn.inverse_dynamics(*STATE))


def test_methods_of_the_class_refuse_other_objects():
    """None, or of another class: Python's error."""
    for arguments in ((), STATE, (5, *STATE), (object(), *STATE)):
        with pytest.raises((TypeError, AttributeError)):
            fd.Dynamics.inverse_dynamics(*arguments)


def test_a_replaced_method_is_called(monkeypatch):
    """In one object at once; in the class by the objects that are made from then on."""
    dyn = called()
    monkeypatch.setattr(dyn, 'inverse_dynamics', lambda q: 'of the object')
    assert dyn.inverse_dynamics(STATE[0]) == 'of the object'
    dyn.set_gravity([0.0, 0.0, -1.0])
    assert dyn.inverse_dynamics(STATE[0]) == 'of the object'
    monkeypatch.setattr(fd.Dynamics, 'mass_matrix', lambda self, q: 'of the class')
    other = fd.Dynamics(MODEL, 'c')
    for _ in range(2):
        assert other.mass_matrix(STATE[0]) == 'of the class'


@pytest.mark.parametrize('name', METHODS)
def test_help_and_signatures(name):
    """Of the attribute as of the method: text, arguments, name."""
    plain, dyn = fd.Dynamics(MODEL, 'reference'), called()
    of_class, of_object = getattr(fd.Dynamics, name), getattr(dyn, name)
    assert inspect.signature(of_object) == inspect.signature(getattr(plain, name))
    assert of_object.__doc__ == of_class.__doc__ and of_object.__doc__
    assert of_object.__name__ == name
    assert of_object.__qualname__ == of_class.__qualname__
    assert of_object.__module__ == of_class.__module__
    text = pydoc.plain(pydoc.render_doc(of_object))
    assert name in text and of_class.__doc__.split('\n')[0].strip() in text
    assert ', '.join([*inspect.signature(of_object).parameters][:2]).split(',')[0] in text


def test_help_of_objects_and_classes():
    """The compiled call does not hide the class's page."""
    text = pydoc.plain(pydoc.render_doc(called()))
    assert 'inverse_dynamics(' in text
    assert text.split('\n', 1)[1] == pydoc.plain(pydoc.render_doc(fd.Dynamics)).split('\n', 1)[1]
    assert 'inverse_dynamics' in dir(called())


@pytest.mark.parametrize('backend', ['c', 'auto', 'python', 'reference'])
@pytest.mark.parametrize('make', [
    copy.copy, copy.deepcopy, lambda dyn: pickle.loads(pickle.dumps(dyn)),
])
def test_copies_have_loads_of_their_own(make, backend):
    """They take those of the moment; later changes touch one object alone."""
    dyn = called(backend=backend)
    plain = dyn.inverse_dynamics(*STATE)
    dyn.set_payload(LINK, *PAYLOAD)
    loaded = dyn.inverse_dynamics(*STATE)
    other = make(dyn)
    assert other.backend == dyn.backend
    for _ in range(2):
        assert np.array_equal(other.inverse_dynamics(*STATE), loaded)
    other.clear_payload()
    assert np.array_equal(other.inverse_dynamics(*STATE), plain)
    assert np.array_equal(dyn.inverse_dynamics(*STATE), loaded)
    other.set_gravity([0.0, 0.0, -1.0])
    third = other.inverse_dynamics(*STATE)
    dyn.set_payload(LINK, 3.0, *PAYLOAD[1:])
    assert not np.array_equal(dyn.inverse_dynamics(*STATE), loaded)
    assert np.array_equal(other.inverse_dynamics(*STATE), third)
    assert np.array_equal(make(dyn).inverse_dynamics(*STATE), dyn.inverse_dynamics(*STATE))


@pytest.mark.parametrize('make', [
    copy.copy, copy.deepcopy, lambda dyn: pickle.loads(pickle.dumps(dyn)),
])
def test_attributes_of_ones_own_are_copied(make):
    """As of any object."""
    dyn = called()
    dyn.note = ['mine']
    assert make(dyn).note == ['mine']


def test_a_compiled_call_is_pickled():
    """It is the attribute of its object, which comes along with its loads."""
    dyn = called()
    dyn.set_payload(LINK, *PAYLOAD)
    expected = dyn.inverse_dynamics(*STATE)
    for _ in range(2):
        loaded = pickle.loads(pickle.dumps(dyn.inverse_dynamics))
        for _ in range(2):
            assert np.array_equal(loaded(*STATE), expected)
    both = pickle.loads(pickle.dumps((dyn, dyn.inverse_dynamics)))
    both[0].clear_payload()
    assert np.array_equal(both[1](*STATE), called().inverse_dynamics(*STATE))
    assert np.array_equal(copy.deepcopy(dyn.inverse_dynamics)(*STATE), expected)
    assert np.array_equal(copy.copy(dyn.inverse_dynamics)(*STATE), expected)


class Doubled(fd.Dynamics):
    """Overrides one method, which calls that of its base."""

    def inverse_dynamics(self, *arguments, **named):
        """Return twice the forces."""
        return 2.0 * super().inverse_dynamics(*arguments, **named)


class Plain(fd.Dynamics):
    """Overrides nothing."""

    extra = 5


def test_a_subclass_that_overrides():
    """Its method is called, and by copies too; others are compiled calls."""
    once = called().inverse_dynamics(*STATE)
    dyn = called(Doubled)
    for each in (dyn, copy.copy(dyn), pickle.loads(pickle.dumps(dyn))):
        for _ in range(3):
            assert np.array_equal(each.inverse_dynamics(*STATE), 2.0 * once)
            each.mass_matrix(STATE[0])
        assert 'inverse_dynamics' not in vars(each)
        assert is_direct(each.mass_matrix)
        assert type(each) is Doubled
    assert Doubled.inverse_dynamics.__doc__ == 'Return twice the forces.'
    dyn.set_payload(LINK, *PAYLOAD)
    loaded = called()
    loaded.set_payload(LINK, *PAYLOAD)
    assert np.array_equal(dyn.inverse_dynamics(*STATE), 2.0 * loaded.inverse_dynamics(*STATE))


def test_a_subclass_that_does_not_override():
    """It has compiled calls, and stays itself when copied or pickled."""
    once = called().inverse_dynamics(*STATE)
    dyn = called(Plain)
    assert is_direct(dyn.inverse_dynamics)
    for each in (dyn, copy.deepcopy(dyn), pickle.loads(pickle.dumps(dyn))):
        assert type(each) is Plain and each.extra == 5
        assert np.array_equal(each.inverse_dynamics(*STATE), once)
    assert type(pickle.loads(pickle.dumps(dyn.inverse_dynamics)).__self__) is Plain


@pytest.mark.parametrize('before', [True, False])
def test_a_kept_method_follows_the_loads(before):
    """Looked up before or after the first call, it computes with the loads of the moment."""
    dyn, fresh = fd.Dynamics(MODEL, 'c'), fd.Dynamics(MODEL, 'reference')
    if not before:
        dyn.inverse_dynamics(*STATE)
    kept = dyn.inverse_dynamics
    plain = kept(*STATE)

    def check():
        expected = fresh.inverse_dynamics(*STATE)
        for _ in range(2):
            cases.assert_close(kept(*STATE), expected)
            assert np.array_equal(kept(*STATE), dyn.inverse_dynamics(*STATE))

    for change in (
        lambda each: each.set_payload(LINK, *PAYLOAD),
        lambda each: each.set_gravity([1.0, 2.0, 3.0]),
        lambda each: each.set_payload(LINK, 0.5, *PAYLOAD[1:]),
        lambda each: each.clear_payload(LINK), lambda each: each.set_gravity(MODEL.gravity),
    ):
        for each in (dyn, fresh):
            change(each)
        check()
    assert np.array_equal(kept(*STATE), plain)


def test_a_kept_method_outlives_its_object():
    """Plain calls and those that need the method, with the loads that the object had."""
    dyn = called()
    dyn.set_payload(LINK, *PAYLOAD)
    expected = dyn.inverse_dynamics(*STATE)
    wrenches = {frame: [1.0] * 6 for frame in MODEL.frame_names[-2:]}
    with_wrenches = dyn.inverse_dynamics(*STATE, wrenches)
    kept = dyn.inverse_dynamics
    del dyn
    gc.collect()
    for _ in range(2):
        assert np.array_equal(kept(*STATE), expected)
        assert np.array_equal(kept(*STATE, wrenches), with_wrenches)
    with pytest.raises(fd.FlexdynError, match='"qd" has shape'):
        kept(STATE[0], STATE[1][1:], STATE[2])
    assert np.array_equal(pickle.loads(pickle.dumps(kept))(*STATE), expected)


@pytest.mark.parametrize('backend', ['c', 'python', 'reference'])
def test_an_object_dies_with_its_last_owner(backend):
    """Without the garbage collector: there is no cycle, with kernels of many kinds neither."""
    gc.collect()
    gc.disable()
    try:
        dyn = called(backend=backend)
        q, qd, _ = STATE
        dyn.forward_dynamics(*STATE, method='cholesky')
        dyn.jacobian(q, LINK)
        dyn.inverse_dynamics(*STATE, {LINK: [1.0] * 6})
        dyn.inverse_dynamics_derivatives(*STATE)
        dyn.batch.mass_matrix(np.tile(q, (3, 1)))
        dyn.kinetic_energy(q, qd)
        with pytest.raises(fd.FlexdynError):
            dyn.mass_matrix(q[1:])
        with pytest.raises(fd.FlexdynError):
            dyn.inverse_dynamics(q, 1e200 * qd, qd)
        dyn.set_payload(LINK, *PAYLOAD)
        dyn.inverse_dynamics(*STATE)
        gone = weakref.ref(dyn)
        kept = dyn.inverse_dynamics if backend == 'c' else None
        call = None if kept is None else weakref.ref(kept)
        del dyn
        assert gone() is None
        del kept
        assert call is None or call() is None
    finally:
        gc.enable()


def test_loads_kept_as_arguments_need_no_new_code(monkeypatch):
    """Payload and gravity are arguments of one compiled function; clearing gives the same bits."""
    model = cases.robot('rigid tree')
    link = model.frame_names[-1]
    dyn = fd.Dynamics(model, 'c')
    dyn.compile('inverse_dynamics', arguments=('gravity', f'payload:{link}'))
    monkeypatch.setattr(compiler.Compiler, 'build', None)
    q, qd, qdd, _ = cases.state(model)
    bare = dyn.inverse_dynamics(q, qd, qdd)
    reference = fd.Dynamics(model, 'reference')
    for each in (dyn, reference):
        each.set_payload(link, 1.5, [0.1, 0.2, 0.3], np.diag([0.1, 0.2, 0.15]))
        each.set_gravity([1.0, 2.0, 3.0])
    np.testing.assert_allclose(
        dyn.inverse_dynamics(q, qd, qdd), reference.inverse_dynamics(q, qd, qdd), rtol=1e-10,
    )
    dyn.clear_payload()
    dyn.set_gravity(model.gravity_vector)
    assert np.array_equal(dyn.inverse_dynamics(q, qd, qdd), bare)
    with pytest.raises(fd.FlexdynError, match='payload:<link>'):
        dyn.compile('inverse_dynamics', arguments=('mass',))
