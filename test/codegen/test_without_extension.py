# SPDX-License-Identifier: Apache-2.0
"""Compiled calls through ctypes, where the extension or Python's headers are missing."""

from functools import lru_cache
import logging

from codegen import cases
from codegen.compiled import needs_compiler, needs_extension, QUICK
import flexdyn_ros as fd
from flexdyn_ros.codegen.compile import extension
from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.direct_calls import is_direct
from flexdyn_ros.errors import NonFiniteResult
import numpy as np
import pytest

pytestmark = needs_compiler
NAMES = ('rigid tree', 'floating')


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Compile without optimising; skip where there is no extension."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    needs_extension()


def state(name):
    """Return q, qd and qdd as arrays."""
    return [np.array(each) for each in cases.state(cases.robot(name))[:3]]


def several_results(dyn, wrenches):
    """Return the results of functions of every kind, as one vector."""
    q, qd, qdd, tau = cases.state(dyn.robot)
    return cases.flat([
        dyn.inverse_dynamics(q, qd, qdd), dyn.inverse_dynamics(q, qd, qdd, wrenches),
        dyn.forward_dynamics(q, qd, tau), dyn.mass_matrix(q), dyn.kinetic_energy(q, qd),
        dyn.jacobian(q, dyn.robot.frame_names[-1]), dyn.inverse_dynamics_derivatives(q, qd, qdd),
        dyn.hybrid_dynamics(q, qd, qdd[:dyn.robot.n_joints]),
    ])


def test_without_the_extension(monkeypatch):
    """Then ctypes calls compiled functions: the same bits, the same errors."""
    for name in NAMES:
        model, (q, qd, qdd) = cases.robot(name), state(name)
        wrenches = {model.frame_names[-1]: [1.0, -2.0, 3.0, 0.5, 0.2, -0.4]}
        results = []
        for way in ('', 'ctypes'):
            monkeypatch.setenv('FLEXDYN_CALLS', way)
            dyn = fd.Dynamics(model, 'c')
            results.append(np.concatenate([several_results(dyn, wrenches) for _ in range(2)]))
            with pytest.raises(fd.FlexdynError, match='shape'):
                dyn.inverse_dynamics(q, qd, qdd[1:])
            with pytest.raises(NonFiniteResult):
                dyn.inverse_dynamics(q, 1e200 * qd, qdd)
        assert np.array_equal(*results)
        assert not any(map(is_direct, vars(dyn).values()))
        rows = np.array([q, q]), np.array([qd, qd]), np.array([qdd, 0.5 * qdd])
        found = dyn.batch.inverse_dynamics(*rows)
        cases.assert_close(found[1], dyn.inverse_dynamics(*(each[1] for each in rows)))


def test_kernels_through_ctypes_check_lengths(monkeypatch):
    """Before anything is read."""
    monkeypatch.setenv('FLEXDYN_CALLS', 'ctypes')
    q, qd, qdd = state('rigid tree')
    dyn = fd.Dynamics(cases.robot('rigid tree'), 'c')
    kernel = dyn._backend.function(Request('inverse_dynamics'))
    cases.assert_close(kernel(q, qd, qdd), dyn.inverse_dynamics(q, qd, qdd))
    for wrong in ((q, qd), (q, qd, qdd, qdd), (q, qd[1:], [*qdd, 0.0]), ()):
        with pytest.raises(TypeError, match='lengths'):
            kernel(*wrong)


def test_without_the_headers_of_python(monkeypatch, tmp_path, caplog):
    """Where gcc is there and Python.h is not, "c" goes through ctypes, with one log line."""
    model, (q, qd, qdd) = cases.robot('rigid tree'), state('rigid tree')
    expected = fd.Dynamics(model, 'c').inverse_dynamics(q, qd, qdd)
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path / 'cache'))
    monkeypatch.setattr(extension, '_installed', lambda: None)
    monkeypatch.setattr(extension, '_built', lru_cache(extension._built.__wrapped__))
    monkeypatch.setattr(extension.sysconfig, 'get_path', lambda name: str(tmp_path / 'nowhere'))
    monkeypatch.setattr(logging.getLogger('flexdyn_ros'), 'propagate', True)
    with caplog.at_level(logging.INFO, 'flexdyn_ros.codegen'):
        for _ in range(2):
            dyn = fd.Dynamics(model, 'c')
            assert dyn.backend == 'c'
            assert np.array_equal(dyn.inverse_dynamics(q, qd, qdd), expected)
            assert not any(map(is_direct, vars(dyn).values()))
    lines = [text for text in caplog.messages if 'Python.h' in text]
    assert len(lines) == 1 and 'called through ctypes' in lines[0]
