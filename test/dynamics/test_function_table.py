# SPDX-License-Identifier: Apache-2.0
"""A function is stated once: reference, generated code, batches and the page read one table."""

import importlib.util
from pathlib import Path

import flexdyn_ros as fd
from flexdyn_ros import batch
from flexdyn_ros.dynamics import functions
from flexdyn_ros.dynamics.functions import Function, FUNCTIONS
from flexdyn_ros.dynamics.reference import ReferenceBackend
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_lists_the_table():
    path = ROOT / 'scripts' / 'functions_page.py'
    spec = importlib.util.spec_from_file_location('functions_page', path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.PAGE.read_text(encoding='utf-8') == script.page()


def test_every_function_of_trees_is_a_method_with_the_arguments_of_the_table():
    for name, function in FUNCTIONS.items():
        if function.of_loops:
            continue
        code = getattr(fd.Dynamics, name).__code__
        arguments = code.co_varnames[1 : code.co_argcount]
        assert arguments[: len(function.inputs)] == function.inputs
        assert ('frame' in arguments) == function.of_frame
        # The bias has no wrenches of its own; generated code may add them.
        assert ('wrenches' in arguments) == (function.takes_wrenches and name != 'bias_vector')


@pytest.mark.parametrize('backend', ['reference', 'python', 'auto'])
def test_a_new_function_takes_three_places(backend, monkeypatch):
    """The example of CONTRIBUTING.md: algorithm, statement, public method."""

    def momentum(self, q, qd):
        """Return the generalised momentum M qd, (nv,)."""
        return [
            sum((a * b for a, b in zip(row, qd)), 0.0 * qd[0]) for row in self.mass_matrix(q)
        ]

    stated = Function(
        ('q', 'qd'), (('momentum_vector', 'force'),), 'the generalised momentum M qd',
        uses_inertia=True,
    )
    monkeypatch.setattr(ReferenceBackend, 'momentum_vector', momentum, raising=False)
    monkeypatch.setitem(functions.FUNCTIONS, 'momentum_vector', stated)
    monkeypatch.setitem(batch.BATCHED, 'momentum_vector', stated)

    class Dynamics(fd.Dynamics):

        def momentum_vector(self, q, qd, out=None):
            return self._evaluate('momentum_vector', (q, qd), out=out)
    # Only then may compiled code answer for it.
    Dynamics._written = {**fd.Dynamics._written, 'momentum_vector': Dynamics.momentum_vector}
    robot = fd.load_robot(ROOT / 'urdf' / 'puma560.urdf.xacro')
    dyn = Dynamics(robot, backend)
    q, qd = np.random.default_rng(3).normal(size=(2, robot.nv))
    expected = dyn.mass_matrix(q) @ qd
    for _ in range(2):  # the second call may go straight to compiled code
        np.testing.assert_allclose(dyn.momentum_vector(q, qd), expected, rtol=1e-12)
    many = dyn.batch.momentum_vector(np.array([q, q]), np.array([qd, qd]))
    np.testing.assert_allclose(many, [expected, expected], rtol=1e-12)
    assert 'momentum_vector' in fd.generate(robot, 'momentum_vector', optimise=False).source
