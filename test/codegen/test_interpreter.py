# SPDX-License-Identifier: Apache-2.0
"""The backend "python" run by the extension: the bits of generated Python, checked as compiled."""

from concurrent.futures import ThreadPoolExecutor
import os
from pathlib import Path
import pickle
import subprocess
import sys

from codegen import cases
from codegen.compiled import needs_extension
from codegen.programs import as_kernel
from codegen.programs import as_python
from codegen.programs import bits
import flexdyn_ros as fd
from flexdyn_ros.codegen.backends.interpreted_backend import InterpretedBackend
from flexdyn_ros.codegen.backends.python_backend import PythonBackend
from flexdyn_ros.codegen.backends.variants import traced
from flexdyn_ros.codegen.native import interpreted_program
from flexdyn_ros.codegen.tracing.chosen_parameters import choose_parameters
from flexdyn_ros.codegen.tracing.functions import FUNCTIONS
from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.codegen.tracing.loads import Loads
from flexdyn_ros.codegen.tracing.simplify import simplify
from flexdyn_ros.model.robot.link import Inertia
import numpy as np
from oracles.random_robots import random_robot_urdf
from oracles.random_robots import random_state
import pytest

URDF = Path(__file__).resolve().parents[2] / 'urdf'
EXAMPLES = sorted(path.name.partition('.')[0] for path in URDF.glob('*.urdf.xacro'))
# Between them they call all functions of scalars; the others are made of the same parts.
SOME = ('inverse_dynamics', 'forward_dynamics', 'elastic_vector', 'friction_vector',
        'potential_energy', 'frame_pose', 'loop_equations')
SMALL = ('four_bar', 'two_link_arm', 'flexible_beam')
SPRINGS = {'joint_spring': 'table', 'elastic_joints': 'true'}
MATRIX = ((0.3, 0.01, 0.02), (0.01, 0.4, 0.03), (0.02, 0.03, 0.5))


@pytest.fixture(autouse=True)
def with_extension():
    """Skip where there is no extension."""
    needs_extension()


def same_bits(model, trace, seeds=3):
    """Compare the interpreter with CPython at random states."""
    kernel, python = as_kernel(trace), as_python(trace)
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        q, qd, qdd = (each.tolist() for each in random_state(model, rng, 0.2))
        known = {'q': q, 'qd': qd, 'qdd': qdd, 'joint_qdd': qdd[:model.n_joints],
                 'tau': (10.0 * rng.normal(size=model.nv)).tolist()}
        vectors = [known[each.name] for each in trace.inputs]
        assert bits(kernel(*vectors)) == bits(python(*vectors))


def functions(model, names):
    """Return the requests for functions that a robot has."""
    for name in names:
        function = FUNCTIONS[name]
        if not function.of_parameters and (model.loops or not function.of_loops):
            yield Request(name, model.frame_names[-1] if function.of_frame else None)


@pytest.mark.parametrize('name', EXAMPLES)
def test_every_example_gives_the_bits_of_python(name):
    """As traced, which takes the passes' time off and leaves more to compute."""
    model = fd.load_robot(URDF / f'{name}.urdf.xacro')
    for request in functions(model, SOME):
        found = simplify(model, request.name, [request], Loads(), optimised=False, pivots=True)
        same_bits(model, found.trace)


@pytest.mark.parametrize('name', SMALL)
def test_every_function_as_the_backend_runs_it(name):
    """After all passes, derivatives, factors and loops among them."""
    model = fd.load_robot(URDF / f'{name}.urdf.xacro')
    for request in functions(model, FUNCTIONS):
        same_bits(model, traced(model, request, Loads(), ''))


def test_springs_of_tables_and_friction():
    """Piecewise polynomials, exponentials and hyperbolic tangents in one arm."""
    model = fd.load_robot(URDF / 'cobot7.urdf.xacro', xacro_arguments=SPRINGS)
    for name in ('elastic_vector', 'friction_vector', 'potential_energy'):
        trace = traced(model, Request(name), Loads(), '')
        same_bits(model, trace)


def backends(model, payloads=None, gravity=None):
    """Return the interpreter and CPython for a robot under the same loads."""
    declared = {payload.link: payload.inertia for payload in model.payloads}
    arguments = (
        model, list(model.gravity_vector if gravity is None else gravity),
        {**declared, **(payloads or {})},
    )
    return InterpretedBackend(*arguments), PythonBackend(*arguments)


@pytest.mark.parametrize(('name', 'names'), [
    ('rigid tree', ('inverse_dynamics', 'forward_dynamics', 'mass_matrix')),
    ('flexible chain', ('inverse_dynamics',)),
])
def test_loads_at_run_time(name, names):
    """A payload, gravity and a wrench are arguments of the same programs."""
    model = cases.robot(name)
    link, frame = model.links[-1].name, model.frame_names[1]
    payloads = {link: Inertia(1.5, (0.1, 0.2, 0.3), MATRIX)}
    wrenches = [(frame, (1.0, -2.0, 3.0), (0.5, 0.2, -0.4))]
    both = backends(model, payloads, (1.0, 2.0, -3.0))
    for function in names:
        found = [cases.answer(model, function, frame, wrenches=wrenches, backend=backend)
                 for backend in both]
        assert bits(found[0]) == bits(found[1])


def test_parameters():
    """Derivatives by parameters of the model, which are arguments."""
    model = cases.robot('flexible chain')
    q, qd, qdd, _ = cases.state(model)
    chosen = choose_parameters(model, [f'{model.links[1].name}/mass'])
    found = [
        each.inverse_dynamics_parameter_derivatives(q, qd, qdd, chosen)
        for each in backends(model)
    ]
    assert bits(found[0]) == bits(found[1])


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
    model = cases.robot('flexible chain')
    dyn = fd.Dynamics(model, 'python')
    q, qd, qdd, _ = (np.array(each) for each in cases.state(model))
    scales = np.linspace(0.1, 2.0, 400)
    expected = [dyn.inverse_dynamics(q, s * qd, qdd) for s in scales]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda s: dyn.inverse_dynamics(q, s * qd, qdd), scales))
    assert all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))


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
    program, _ = backends(model)[0].program(Request('inverse_dynamics'), ())
    expected = program.kernel()(q, qd, qdd)
    for content in (b'', b'nonsense\n', b'[1, 2, 3, 0, [], []]\n'):
        interpreted_program.source_cache.write_bytes(program._entry(), content)
        monkeypatch.setattr(interpreted_program, '_made', {})
        assert program.kernel()(q, qd, qdd) == expected
