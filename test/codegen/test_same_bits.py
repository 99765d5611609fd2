# SPDX-License-Identifier: Apache-2.0
"""All ways to run the backend "python" give the bits of generated Python."""

import math
from pathlib import Path

from codegen import cases
from codegen.programs import as_batch
from codegen.programs import as_python
from codegen.programs import bits
from codegen.programs import kernels
from codegen.programs import random_trace
from codegen.programs import random_vectors
from codegen.programs import symbols
from codegen.programs import traced_of
import flexdyn_ros as fd
from flexdyn_ros.codegen.backends.interpreted_backend import InterpretedBackend
from flexdyn_ros.codegen.backends.machine_backend import MachineBackend
from flexdyn_ros.codegen.backends.python_backend import PythonBackend
from flexdyn_ros.codegen.backends.variants import traced
from flexdyn_ros.codegen.native import machine_program
from flexdyn_ros.codegen.native.extension import extension
from flexdyn_ros.codegen.tracing.chosen_parameters import choose_parameters
from flexdyn_ros.codegen.tracing.functions import FUNCTIONS
from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.codegen.tracing.loads import Loads
from flexdyn_ros.codegen.tracing.simplify import simplify
from flexdyn_ros.dynamics.piecewise import monotone_cubic
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.symbolic.graph import Graph
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


def same_bits(trace, *vectors):
    """
    Compare all ways with CPython.

    Args:
        trace: What to run.
        vectors: For each input, vectors by samples.
    """
    python, samples = as_python(trace), list(zip(*vectors))
    expected = [bits(python(*each)) for each in samples]
    for name, kernel in kernels(trace).items():
        assert [bits(kernel(*each)) for each in samples] == expected, name
    if machine_program.problem() is None:
        rows = [np.concatenate(each) for each in samples]
        found, flags = as_batch(trace)(rows)
        assert not flags.any()
        assert [bits(each) for each in found] == [
            each[: 8 * found.shape[1]] for each in expected
        ]


@pytest.mark.parametrize('seed', range(40))
def test_random_expressions(seed):
    """Products in products, quotients in products, signs anywhere, results that are inputs."""
    same_bits(random_trace(seed), random_vectors(seed))


def test_more_values_than_registers():
    """What is put aside comes back, from more than a page of the stack."""
    graph = Graph()
    names, nodes = symbols(graph)
    made = [(nodes[k % 4] * (k + 0.3)).sin() for k in range(700)]
    # All of them are needed at the end, in the order in which they were made, and before.
    total = graph.sum(tuple(a * b for a, b in zip(made, reversed(made))))
    trace = traced_of(graph, names, [total * a for a in made])
    same_bits(trace, random_vectors(1, 3))


@pytest.mark.parametrize(('function', 'x'), [
    ('stumpff0', 0.0), ('stumpff1', 0.999999), ('stumpff2', 1.0), ('stumpff3', 1.0),
    ('stumpff4', 1e-300), ('stumpff5', 1e6), ('sin', 1e22), ('cos', -1e5), ('exp', -800.0),
    ('tanh', 1e-310), ('tanh', 40.0),
])
def test_functions_where_they_change(function, x):
    """At the limit of Stumpff's series, for large and for tiny arguments."""
    graph = Graph()
    names, (first, *_) = symbols(graph)
    trace = traced_of(graph, names, [graph.call(function, first)])
    same_bits(trace, [[x, 0.0, 0.0, 0.0]])


def test_tables_at_their_knots():
    """On, just below and just above each knot, and far beyond the ends."""
    graph = Graph()
    names, (first, *_) = symbols(graph)
    table = monotone_cubic([(-0.5, -90.0), (0.0, 0.0), (0.3, 40.0), (0.6, 40.0), (0.9, 41.0)])
    trace = traced_of(graph, names, [
        first.piecewise(each) for each in (table, table.derivative(), table.integral())
    ])
    same_bits(trace, [
        [x, 0.0, 0.0, 0.0] for knot in (*table.knots, -0.0, 100.0, -100.0)
        for x in (knot, math.nextafter(knot, -1e9), math.nextafter(knot, 1e9))
    ])


@pytest.mark.parametrize(('make', 'x'), [
    (lambda a, b: 1.0 / (1.0 / (a - b)), 1.0), (lambda a, b: 1.0 / a.exp(), 1000.0),
    (lambda a, b: a * a, 1e200), (lambda a, b: a.sin().tanh(), float('inf')),
])
def test_what_python_refuses_is_refused(make, x):
    """A division by zero, an overflow: an error, also where the result would be finite."""
    graph = Graph()
    names, (a, b, *_) = symbols(graph)
    trace = traced_of(graph, names, [make(a, b)])
    for kernel in kernels(trace).values():
        with pytest.raises(ArithmeticError):
            kernel([x, 1.0, 0.0, 0.0])
    if machine_program.problem() is None:
        wrong, sound = [x, 1.0, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0]
        _, flags = as_batch(trace)([wrong, sound, sound, wrong, wrong])
        assert flags.astype(bool).tolist() == [True, False, False, True, True]


def same_bits_of(model, trace, seeds=3):
    """Compare at random states."""
    states = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        q, qd, qdd = (each.tolist() for each in random_state(model, rng, 0.2))
        known = {'q': q, 'qd': qd, 'qdd': qdd, 'joint_qdd': qdd[:model.n_joints],
                 'tau': (10.0 * rng.normal(size=model.nv)).tolist()}
        states.append([known[each.name] for each in trace.inputs])
    same_bits(trace, *zip(*states))


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
        same_bits_of(model, found.trace)


def test_a_long_chain():
    """Forty links."""
    model = fd.load_robot(random_robot_urdf(
        2, 40, flexible=0.0, kinds=('revolute', 'prismatic'), tree=False
    ))
    request = Request('inverse_dynamics')
    found = simplify(model, request.name, [request], Loads(), optimised=False, pivots=True)
    same_bits_of(model, found.trace)


def test_angles_however_large():
    """Their sines are those of Python."""
    model = fd.load_robot(URDF / 'puma560.urdf.xacro')
    trace = traced(model, Request('mass_matrix'), Loads(), '')
    same_bits(trace, [
        [scale * (k + 0.7) for k in range(model.nq)]
        for scale in (1e-300, 1e-8, -30.0, 1e5, -1e15, 1e22)
    ])


@pytest.mark.parametrize('name', SMALL)
def test_every_function_as_the_backend_runs_it(name):
    """After all passes, derivatives, factors and loops among them."""
    model = fd.load_robot(URDF / f'{name}.urdf.xacro')
    for request in functions(model, FUNCTIONS):
        same_bits_of(model, traced(model, request, Loads(), ''))


def test_springs_of_tables_and_friction():
    """Piecewise polynomials, exponentials and hyperbolic tangents in one arm."""
    model = fd.load_robot(URDF / 'cobot7.urdf.xacro', xacro_arguments=SPRINGS)
    for name in ('elastic_vector', 'friction_vector', 'potential_energy'):
        trace = traced(model, Request(name), Loads(), '')
        same_bits_of(model, trace)


def backends(model, payloads=None, gravity=None):
    """Return CPython and all other ways for a robot under the same loads."""
    declared = {payload.link: payload.inertia for payload in model.payloads}
    arguments = (
        model, list(model.gravity_vector if gravity is None else gravity),
        {**declared, **(payloads or {})},
    )
    found = []
    if extension() is not None:
        found.append(InterpretedBackend(*arguments))
    if machine_program.problem() is None:
        found.append(MachineBackend(*arguments))
    shared = {}
    for backend in found:
        backend.traces = shared  # traced once
    return [*found, PythonBackend(*arguments)]


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
    ways = backends(model, payloads, (1.0, 2.0, -3.0))
    for function in names:
        found = {bits(cases.answer(model, function, frame, wrenches=wrenches, backend=backend))
                 for backend in ways}
        assert len(found) == 1


def test_parameters():
    """Derivatives by parameters of the model, which are arguments."""
    model = cases.robot('flexible chain')
    q, qd, qdd, _ = cases.state(model)
    chosen = choose_parameters(model, [f'{model.links[1].name}/mass'])
    found = {
        bits(each.inverse_dynamics_parameter_derivatives(q, qd, qdd, chosen))
        for each in backends(model)
    }
    assert len(found) == 1
