# SPDX-License-Identifier: Apache-2.0
"""Links and joints whose names make the same identifier stay apart in generated code."""

from codegen.compiled import needs_compiler, QUICK
import flexdyn_ros as fd
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.small_robots import arm
import pytest
from thinned import thinned

# Names of two links: punctuation, case, other alphabets, ends that are cut off.
PAIRS = [('a b', 'a_b'), ('Tool', 'tool'), ('\u00e9', '\u00e8'), ('l' * 70 + '1', 'l' * 70 + '2')]
Q, QD, QDD = np.array([0.3, -0.4]), np.array([1.0, 0.5]), np.array([0.2, 0.7])
BODY = (1.5, (0.1, 0.2, 0.3), ((0.3, 0.01, 0.02), (0.01, 0.4, 0.03), (0.02, 0.03, 0.5)))


def robot(pair):
    """Return an arm with these links, and joints of the same names."""
    text = arm(dynamics='<dynamics damping="2"/>')
    for number, name in enumerate(pair, 1):
        text = text.replace(f'"link{number}"', f'"{name}"')
        text = text.replace(f'"joint{number}"', f'"{name}"')
    return fd.load_robot(text)


def loads(pair):
    """Return a wrench on each link."""
    return {pair[0]: np.arange(1.0, 7.0), pair[1]: np.arange(9.0, 3.0, -1.0)}


@pytest.mark.parametrize('pair', PAIRS)
@pytest.mark.parametrize('backend', ['python', pytest.param('c', marks=needs_compiler)])
def test_loads_of_both_links(backend, pair, monkeypatch):
    """Wrenches and payloads on both."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    model = robot(pair)
    exact, dyn = reference_dynamics(model), fd.Dynamics(model, backend=backend)
    for each in (exact, dyn):
        each.set_payload(pair[0], *BODY)
        each.set_payload(pair[1], 0.5, (0.0, 0.1, 0.0), np.eye(3))
    found, expected = (each.inverse_dynamics(Q, QD, QDD, loads(pair)) for each in (dyn, exact))
    assert_agree(found, expected, 1e-12)


@pytest.mark.parametrize(('first', 'second'), thinned(PAIRS, lambda *pair: pair == PAIRS[0]))
def test_arguments_of_both_links(first, second):
    """Arguments of generated code: wrenches, payloads and parameters."""
    pair = (first, second)
    model = robot(pair)
    code = fd.generate(model, 'inverse_dynamics', 'python', optimise='quick', arguments=(
        *(f'payload:{name}' for name in pair), *(f'wrench:{name}' for name in pair),
        *(f'{name}/mass' for name in pair), *(f'{name}/viscous' for name in pair),
    ))
    assert len({each.name for each in code.inputs}) == len(code.inputs) == 11
    mass, com, matrix = BODY
    payload = [mass, *com, *(matrix[i][j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2),
                                                       (1, 2)))]
    none = [0.0] * 10
    wrenches = loads(pair)
    found = code.compile_python()(
        list(Q), list(QD), list(QDD), payload, none, *(list(wrenches[name]) for name in pair),
        1.2, 1.2, 0.0, 3.0,
    )
    exact = reference_dynamics(model)
    exact.set_payload(pair[0], *BODY)
    expected = exact.inverse_dynamics(Q, QD, QDD, wrenches) + [0.0, QD[1]]
    assert_agree(np.ravel(found), expected, 1e-12)


def test_one_load_twice_is_refused():
    """By its own name or by another."""
    model = robot(PAIRS[0])
    for twice in (('payload', 'payload:a_b'), ('wrench:a b', 'wrench:a b@a_b'), ('gravity',) * 2):
        with pytest.raises(fd.FlexdynError, match='twice'):
            fd.generate(model, 'inverse_dynamics', arguments=twice)
