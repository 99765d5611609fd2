# SPDX-License-Identifier: Apache-2.0
"""The backend "python" run by the interpreter of the extension."""

import os
from pathlib import Path
import pickle
import subprocess
import sys

from codegen import cases
from codegen.compiled import needs_extension
import flexdyn_ros as fd
from flexdyn_ros.codegen.backends.interpreted_backend import InterpretedBackend
from flexdyn_ros.codegen.native import interpreted_program
from flexdyn_ros.codegen.tracing.functions import Request
import numpy as np
from oracles.random_robots import random_robot_urdf
import pytest


@pytest.fixture(autouse=True)
def with_extension():
    """Skip where there is no extension."""
    needs_extension()


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Let the interpreter run the backend "python"."""
    monkeypatch.setenv('FLEXDYN_PYTHON', 'interpreter')


def test_the_backend_is_python_and_calls_are_direct():
    """By name; plain calls go straight to the interpreter; a copy works too."""
    model = cases.robot('flexible chain')
    q, qd, qdd, tau = cases.state(model)
    dyn, reference = fd.Dynamics(model, 'python'), fd.Dynamics(model, 'reference')
    assert dyn.backend == 'python'
    for other in (dyn, pickle.loads(pickle.dumps(dyn))):
        cases.assert_close(
            other.inverse_dynamics(q, qd, qdd), reference.inverse_dynamics(q, qd, qdd)
        )
        other.forward_dynamics(q, qd, tau)
        assert 'inverse_dynamics' in other._direct and 'forward_dynamics' in other._direct


def test_without_the_extension_cpython_runs_the_same_bits(monkeypatch):
    """FLEXDYN_CALLS leaves the extension out."""
    model = cases.robot('flexible chain')
    q, qd, qdd, _ = cases.state(model)
    results = [fd.Dynamics(model, 'python').inverse_dynamics(q, qd, qdd)]
    monkeypatch.setenv('FLEXDYN_CALLS', 'ctypes')
    plain = fd.Dynamics(model, 'python')
    results.append(plain.inverse_dynamics(q, qd, qdd))
    assert 'inverse_dynamics' not in plain._direct
    assert np.array_equal(*results)


def test_many_threads_at_once():
    """Each call has registers of its own."""
    cases.assert_same_in_threads(fd.Dynamics(cases.robot('flexible chain'), 'python'))


def test_wrenches_on_very_many_frames():
    """A kernel takes as many vectors as there are."""
    links = ''.join(f'<link name="l{k}"/>' for k in range(70))
    joints = ''.join(
        f'<joint name="j{k}" type="{"fixed" if k else "continuous"}"><origin xyz="0.1 0 0"/>'
        f'<parent link="l{k}"/><child link="l{k + 1}"/><axis xyz="0 0 1"/></joint>'
        for k in range(69)
    )
    model = fd.load_robot(f'<robot name="r">{links}{joints}</robot>')
    wrenches = {f'l{k}': [0.0, 1.0, 0.0, 0.0, 0.0, 0.5] for k in range(1, 70)}
    found = fd.Dynamics(model, 'python').external_force_vector([0.0], wrenches)
    # Moments about the joint, which lies at the first link: arms of 0, 0.1, 0.2 m and so on.
    assert found == pytest.approx([-sum(0.1 * k + 0.5 for k in range(69))], rel=1e-13)


SCRIPT = """
import sys
import flexdyn_ros as fd
from flexdyn_ros.codegen.native import interpreted_program
from flexdyn_ros.codegen.native.extension import extension
extension()
if sys.argv[2] == 'warm':
    interpreted_program.instructions_of = None
model = fd.load_robot(sys.argv[1])
dyn = fd.Dynamics(model, 'python')
print(dyn.inverse_dynamics([0.1] * model.nq, [0.2] * model.nv, [0.3] * model.nv))
"""


def test_a_second_process_makes_nothing(tmp_path):
    """Instructions are kept on disk."""
    model = tmp_path / 'robot.urdf'
    model.write_text(random_robot_urdf(3, 3, flexible=0.0))
    kept = Path(os.environ['FLEXDYN_CACHE_DIR'])
    before = set(kept.glob('*.instructions'))
    results = [
        subprocess.run(
            [sys.executable, '-c', SCRIPT, str(model), kind], capture_output=True, text=True,
            check=True, env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
        ).stdout for kind in ('cold', 'warm')
    ]
    assert results[0] == results[1]
    assert len(set(kept.glob('*.instructions')) - before) == 1


def test_what_is_kept_is_checked(monkeypatch):
    """An entry that is no program is made anew."""
    model = cases.robot('rigid tree')
    q, qd, qdd, _ = cases.state(model)
    backend = InterpretedBackend(model, list(model.gravity_vector), {})
    program, _ = backend.program(Request('inverse_dynamics'), ())
    expected = program.kernel()(q, qd, qdd)
    for content in (b'', b'nonsense\n', b'[1, 2, 3, 0, [], []]\n'):
        interpreted_program.source_cache.write_bytes(program._entry(), content)
        monkeypatch.setattr(interpreted_program, '_made', {})
        assert program.kernel()(q, qd, qdd) == expected
