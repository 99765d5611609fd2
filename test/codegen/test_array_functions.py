# SPDX-License-Identifier: Apache-2.0
"""Functions of arrays in machine code: what they compute, and what they leave alone."""

import ctypes
import sys

from codegen import cases
import flexdyn_ros as fd
from flexdyn_ros.codegen.emitting.array_function import ArrayFunction
from flexdyn_ros.codegen.native import array_functions
from flexdyn_ros.codegen.native.array_functions import array_function_at
import numpy as np
import pytest

DOUBTFUL = 1e-3
NUMBERS = ctypes.POINTER(ctypes.c_double)
TARGET = ctypes.CFUNCTYPE(None, NUMBERS, NUMBERS)
_kept = []


@pytest.fixture(autouse=True)
def machine_code():
    """Skip where there are none."""
    if array_functions.problem() is not None:
        pytest.skip(f'{array_functions.problem()}; Linux on x86-64 and CPython runs it')


def made(evaluate, sizes, shapes, constants=(), pivots=0, quaternions=()):
    """Return a function of arrays from one in Python that returns all numbers of y."""
    n_x = sum(sizes) + len(constants)

    def target(x, y):
        for k, value in enumerate(evaluate(*x[:n_x])):
            y[k] = value

    called = TARGET(target)
    address = ctypes.cast(called, ctypes.c_void_p).value
    function = array_function_at(
        address, ArrayFunction(sizes, len(constants), shapes, pivots, quaternions),
        np.array(constants, dtype=float), DOUBTFUL,
    )
    # No other function may get its address, as none gets that of generated code.
    _kept.append(called)
    return function


def test_vectors_constants_and_results_of_every_shape():
    """They stand in x and y one after the other; a call returns True."""
    seen = []

    def evaluate(*x):
        seen.append(x)
        return range(1, 11)

    function = made(evaluate, (2, 0, 3), ((), (2, 3), (3,)), constants=(7.0, 8.0))
    results = np.zeros(()), np.zeros((2, 3)), np.zeros(3)
    vectors = np.array([1.0, 2.0]), np.zeros(0), np.array([3.0, 4.0, 5.0])
    assert function(*vectors, *results) is True
    assert seen == [(1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 8.0)]
    assert results[0] == 1.0
    assert results[1].tolist() == [[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]
    assert results[2].tolist() == [8.0, 9.0, 10.0]


def test_many_numbers():
    """The frame takes several pages of the stack."""
    n = 3000
    function = made(lambda *x: [2.0 * value for value in x], (n,), ((n,),))
    x, y = np.arange(float(n)), np.zeros(n)
    assert function(x, y)
    assert np.array_equal(y, 2.0 * x)


def fixed(shape):
    """Return an array that cannot be written."""
    array = np.zeros(shape)
    array.flags.writeable = False
    return array


GOOD = np.array([1.0, 2.0, 3.0])
REFUSED = {
    'nothing': (),
    'too few': (GOOD, GOOD),
    'too many': (GOOD, GOOD, GOOD, GOOD),
    'none': (GOOD, None, np.zeros(3)),
    'number': (GOOD, 5, np.zeros(3)),
    'list': (GOOD, [1.0, 2.0, 3.0], np.zeros(3)),
    'subclass': (GOOD, GOOD.view(np.matrix), np.zeros(3)),
    'short': (GOOD, GOOD[:2], np.zeros(3)),
    'matrix': (GOOD, GOOD[None], np.zeros(3)),
    'scalar': (GOOD, np.array(1.0), np.zeros(3)),
    'strided': (GOOD, np.arange(6.0)[::2], np.zeros(3)),
    'backwards': (GOOD, GOOD[::-1], np.zeros(3)),
    'integers': (GOOD, np.arange(3), np.zeros(3)),
    'singles': (GOOD, GOOD.astype(np.float32), np.zeros(3)),
    'other byte order': (GOOD, GOOD.astype('>f8'), np.zeros(3)),
    'not a number': (GOOD, np.array([1.0, np.nan, 3.0]), np.zeros(3)),
    'infinite': (np.array([-np.inf, 0.0, 0.0]), GOOD, np.zeros(3)),
    'out none': (GOOD, GOOD, None),
    'out short': (GOOD, GOOD, np.zeros(2)),
    'out matrix': (GOOD, GOOD, np.zeros((3, 1))),
    'out strided': (GOOD, GOOD, np.zeros(6)[::2]),
    'out fixed': (GOOD, GOOD, fixed(3)),
    'out of integers': (GOOD, GOOD, np.zeros(3, dtype=int)),
    'out between': (GOOD, GOOD, np.zeros(25, np.uint8)[1:].view(np.float64)),
}


@pytest.mark.parametrize('kind', REFUSED)
def test_what_is_not_plain_is_left_alone(kind):
    """The function is not called, and nothing is written."""
    arguments = REFUSED[kind]
    before = [np.copy(each) for each in arguments]
    function = made(lambda *x: pytest.fail('called'), (3, 3), ((3,),))
    assert function(*arguments) is False
    for each, old in zip(arguments, before, strict=True):
        assert np.array_equal(each, old, equal_nan=old.dtype.kind == 'f')


def test_columns_of_a_matrix_are_left_alone():
    """Results go by rows."""
    function = made(lambda *x: range(4), (1,), ((2, 2),))
    assert not function(np.ones(1), np.zeros((2, 2), order='F'))
    assert function(np.ones(1), np.zeros((2, 2)))


def test_arrays_between_multiples_of_eight_are_read():
    """Only results need to lie on them."""
    function = made(lambda *x: x, (2,), ((2,),))
    shifted = np.zeros(17, np.uint8)[1:].view(np.float64)
    shifted[:] = 3.0, 4.0
    y = np.zeros(2)
    assert function(shifted, y)
    assert y.tolist() == [3.0, 4.0]


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('place', range(3))
def test_results_that_are_not_finite_are_not_written(bad, place):
    """Neither are those beside them."""
    values = [1.0, 2.0, 3.0]
    values[place] = bad
    function = made(lambda *x: values, (1,), ((1,), (2,)))
    results = np.zeros(1), np.zeros(2)
    assert function(np.ones(1), *results) is False
    assert not np.concatenate(results).any()


@pytest.mark.parametrize('pivots, sound', [
    ([1.0, 1.0, 1.0], True), ([1.0, 0.002, 0.5], True), ([0.0005, 1.0, 0.5], False),
    ([1.0, -1.0, 1.0], False), ([2.0, 1.0, 0.0], False), ([0.002, 1.0, 3.0], False),
])
def test_doubtful_pivots(pivots, sound):
    """The least over the greatest decides."""
    function = made(lambda *x: (5.0, *pivots), (1,), ((1,),), pivots=3)
    y = np.zeros(1)
    assert function(np.ones(1), y) is sound
    assert y[0] == (5.0 if sound else 0.0)


@pytest.mark.parametrize('length, sound', [
    (1.0, True), (0.51, True), (1.99, True), (0.49, False), (2.01, False), (0.0, False),
    (1e200, False),
])
def test_quaternions_come_to_unit_length(length, sound):
    """The arrays that are given stay as they are."""
    function = made(lambda *x: x, (6,), ((6,),), quaternions=(1,))
    q = np.array([5.0, *(length * np.array([0.1, -0.5, 0.7, 0.5])), 6.0])
    before, y = q.copy(), np.zeros(6)
    assert function(q, y) is sound
    assert np.array_equal(q, before)
    if sound:
        x, u, v, w = q[1:5].tolist()
        size = (x * x + u * u + v * v + w * w) ** 0.5
        assert y.tolist() == [5.0, x / size, u / size, v / size, w / size, 6.0]


def test_counts_of_references_stay():
    """Of arguments, of the results, and of what a call returns."""
    function = made(lambda *x: x, (3,), ((3,),))
    x, y, bad = GOOD.copy(), np.zeros(3), np.zeros(2)
    watched = (x, y, bad, True, False)
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(1000):
        function(x, y)
        function(bad, y)
    after = [sys.getrefcount(each) for each in watched]
    assert all(abs(a - b) < 100 for a, b in zip(before, after, strict=True))


def test_constants_have_to_be_all_there():
    """Code would read beyond them."""
    with pytest.raises(ValueError, match='expected 2 constants'):
        array_function_at(0, ArrayFunction((1,), 2, ((1,),), 0, ()), np.zeros(1), DOUBTFUL)


def test_where_arrays_lie_otherwise_lists_are_used(monkeypatch):
    """Results are the same."""
    monkeypatch.setenv('FLEXDYN_CALLS', 'ctypes')
    model = cases.robot('flexible chain')
    q, qd, qdd = map(np.array, cases.state(model)[:3])
    plain = fd.Dynamics(model, 'python')
    expected = [plain.inverse_dynamics(q, qd, qdd) for _ in range(2)]
    assert 'inverse_dynamics' in plain._direct
    monkeypatch.setattr(array_functions, 'problem', lambda: 'arrays lie otherwise')
    dyn = fd.Dynamics(model, 'python')
    for each in expected:
        assert np.array_equal(dyn.inverse_dynamics(q, qd, qdd), each)
    assert 'inverse_dynamics' not in dyn._direct


def test_another_layout_is_noticed(monkeypatch):
    """Fields that are not where they are looked for, or arrays that are too small."""
    from flexdyn_ros.codegen.emitting import array_function

    for name, place in (('DATA', 24), ('RANK', 28), ('DIMENSIONS', 40), ('STRIDES', 32),
                        ('DESCRIPTOR', 48), ('FLAGS', 24), ('TYPE', 0), ('FLAGS', 1 << 20)):
        with monkeypatch.context() as changed:
            changed.setattr(array_function, name, place)
            assert 'another way' in array_functions.problem.__wrapped__()
    assert array_functions.problem.__wrapped__() is None
