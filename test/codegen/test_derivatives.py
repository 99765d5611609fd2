# SPDX-License-Identifier: Apache-2.0
"""Derivatives on the graph against the reference's dual numbers, and their cost."""

from functools import lru_cache
from pathlib import Path

from benchmarks.derivatives.page import count_row, INTRODUCTION, robots
from codegen import cases
from codegen.compiled import needs_compiler, QUICK
from codegen.native import Native, need_compiler
from evaluated_program import evaluate_program
import flexdyn_ros as fd
from flexdyn_ros.codegen.tracing.parameters import choose_parameters, parameter_names
from flexdyn_ros.codegen.tracing.trace import trace
from flexdyn_ros.codegen.tracing.traced_derivatives import (
    DERIVATIVE_METHODS,
    DIRECTIONS,
    STRUCTURED,
)
from flexdyn_ros.symbolic.program import operation_counts
import numpy as np
from oracles.dh_urdf import chain_urdf
from oracles.random_robots import random_robot_urdf
from oracles.segment_arms import boom, WRIST
from oracles.small_robots import arm
import pytest
from thinned import thinned

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'derivatives.md'
WRENCH = ((1.0, -2.0, 3.0), (0.5, 0.2, -0.4))
# Beside those of cases.py: King's rotations, a table for a spring, a chain of segments, ...
MORE = ('linear', 'spring table', 'elastic mimic', 'segments')


@lru_cache(maxsize=None)
def robot(name):
    """Return a robot by name."""
    if name == 'segments':
        return fd.load_robot(boom(3, 'y z', 'centred', 'continuous', more=WRIST))
    if name == 'linear':
        return cases.linear_robot()
    if name == 'elastic mimic':
        return fd.load_robot(random_robot_urdf(23, 4, flexible=0.3, max_modes=1, mimic=True))
    if name == 'spring table':
        return fd.load_robot(arm(
            '<joint_dynamics joint="joint2" damping="0.4" rotor_inertia="0.02"><friction '
            'viscous="0.3" coulomb="1.2" stribeck="2.5" stribeck_velocity="0.2" '
            'smoothing_velocity="0.3"/><spring points="-0.5 -90, 0 0, 0.3 40, 0.6 130"/>'
            '</joint_dynamics>'
        ))
    return cases.robot(name)


def expected(model, function, chosen=None, wrenches=()):
    """Return the reference's derivatives as one vector."""
    q, qd, qdd, tau = cases.state(model)
    last = qdd if function.startswith('inverse') else tau
    extra = () if chosen is None else (chosen,)
    found = getattr(cases.reference(model), function)(q, qd, last, *extra, wrenches)
    return np.concatenate([np.ravel(each) for each in found])


def evaluated(found, model, values=()):
    """Return the outputs of a trace at a state, without pivots."""
    q, qd, qdd, tau = cases.state(model)
    known = {'q': q, 'qd': qd, 'qdd': qdd, 'tau': tau, **dict(values)}
    inputs = {}
    for each in found.inputs:
        value = known[each.name]
        inputs.update(zip(each.symbols, [value] if each.scalar else value, strict=True))
    return np.array(evaluate_program(found.program, inputs))


@pytest.mark.parametrize(('name', 'function', 'method'), thinned(
    [
        (name, function, method) for name in (*cases.ROBOTS, *MORE)
        for function in cases.DERIVATIVES for method in DERIVATIVE_METHODS
        if (name, method) != ('linear', STRUCTURED)
    ],
    # Accelerations follow from the derivatives of forces in the same way on every robot.
    lambda name, function, method: function.startswith('inverse') or name in (
        'rigid tree', 'flexible chain', 'floating', 'multi axis'),
))
def test_both_ways_equal_the_reference(name, function, method):
    """Direction by direction, and by rows and columns of composite bodies."""
    model = robot(name)
    frame = model.frame_names[-1]
    found = trace(model, function, (f'wrench:{frame}',), method=method)
    label = found.inputs[-1].name
    values = evaluated(found, model, {label: [*WRENCH[0], *WRENCH[1]]})
    cases.assert_close(
        values, expected(model, function, wrenches=[(frame, *WRENCH)]), 1e-11
    )
    symbols = {name for each in found.inputs for name in each.symbols}
    used = {node.value for node in found.program.needed() if node.kind == 1}
    assert used <= symbols


@pytest.mark.parametrize('function', cases.PARAMETER_DERIVATIVES)
@pytest.mark.parametrize('name', ['flexible chain', 'elastic mimic', 'spring table', 'segments'])
def test_parameters_equal_the_reference(name, function):
    """All parameters that a robot has."""
    model = robot(name)
    names = parameter_names(model)
    chosen = choose_parameters(model, names)
    found = trace(model, function, names)
    assert found.outputs[0].shape == (model.nv, len(chosen.values))
    inputs = {p.input.name: value for p, value in zip(
        chosen.parameters, chosen.arguments(), strict=True
    )}
    cases.assert_close(
        evaluated(found, model, inputs), expected(model, function, chosen), 1e-10
    )


@pytest.mark.parametrize('language', ['c', 'fortran'])
@pytest.mark.parametrize('name', thinned(['floating', 'spring table'], ['floating']))
def test_generated_code_equals_the_reference(name, language, tmp_path):
    """Compiled, all three matrices of both."""
    need_compiler(language)
    model = robot(name)
    for function in cases.DERIVATIVES:
        # As traced where the passes take long.
        code = fd.generate(model, function, language, optimise=name == 'spring table')
        found = Native(code, tmp_path)(*cases.given(model, code))
        cases.assert_close(found, expected(model, function), 1e-11)


def test_generated_python_of_parameters():
    """Those that are named are arguments, and the columns."""
    model = robot('spring table')
    names = ['link1/com', 'joint2/coulomb']
    for function in cases.PARAMETER_DERIVATIVES:
        code = fd.generate(model, function, 'python', 'quick', names)
        chosen = choose_parameters(model, names)
        assert code.outputs[0].shape == (model.nv, 4)
        rows = code.compile_python()(*cases.given(model, code), *chosen.arguments())
        cases.assert_close(np.ravel(rows), expected(model, function, chosen), 1e-11)
        with pytest.raises(fd.FlexdynError, match='no parameter'):
            fd.generate(model, function, arguments=['gravity'])


def test_the_python_backend_under_loads():
    """Payload, gravity and wrenches at run time; cleared, every bit comes back."""
    model = robot('spring table')
    q, qd, qdd, tau = cases.state(model)
    ours, theirs = fd.Dynamics(model, 'python'), fd.Dynamics(model, 'reference')
    before = ours.inverse_dynamics_derivatives(q, qd, qdd)
    for dyn in (ours, theirs):
        dyn.set_payload(model.frame_names[-1], 1.5, [0.1, 0.2, 0.3], np.eye(3))
        dyn.set_gravity([1.0, 2.0, -3.0])
    wrenches = {model.frame_names[-1]: [*WRENCH[0], *WRENCH[1]]}
    for function, last in zip(cases.DERIVATIVES, (qdd, tau), strict=True):
        results = [
            np.ravel(getattr(dyn, function)(q, qd, last, wrenches)) for dyn in (ours, theirs)
        ]
        cases.assert_close(*results, 1e-10)
    names = parameter_names(model)[:3]
    for function, last in zip(cases.PARAMETER_DERIVATIVES, (qdd, tau), strict=True):
        results = [
            np.ravel(getattr(dyn, function)(q, qd, last, names, wrenches))
            for dyn in (ours, theirs)
        ]
        cases.assert_close(*results, 1e-10)
    ours.clear_payload()
    ours.set_gravity(model.gravity)
    for old, new in zip(before, ours.inverse_dynamics_derivatives(q, qd, qdd), strict=True):
        assert np.array_equal(old, new)


@needs_compiler
def test_auto_gives_the_bits_of_its_first_call(monkeypatch):
    """They are the reference's numbers."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    model = robot('spring table')
    q, qd, qdd, _ = cases.state(model)
    dyn = fd.Dynamics(model)
    first = np.ravel(dyn.inverse_dynamics_derivatives(q, qd, qdd))
    cases.assert_close(first, expected(model, 'inverse_dynamics_derivatives'))
    for _ in range(3):
        assert np.array_equal(np.ravel(dyn.inverse_dynamics_derivatives(q, qd, qdd)), first)


def test_what_does_not_depend_is_not_computed():
    """Branches of a tree do not couple: their entries are zero, not round-off."""
    model = robot('rigid tree')
    for method in DERIVATIVE_METHODS:
        found = trace(model, 'inverse_dynamics_derivatives', method=method)
        zero = np.array([x is found.program.graph.zero for x in found.program.outputs])
        blocks = zero.reshape(3, model.nv, model.nv)
        assert blocks[2].any()
        # Where the mass matrix couples nothing, positions and rates couple nothing either.
        assert (blocks[0] | ~blocks[2])[~np.eye(model.nv, dtype=bool)].all()
        assert (blocks[1] | ~blocks[2])[~np.eye(model.nv, dtype=bool)].all()


def total(model, function, method=None):
    """Return the operations of a traced function."""
    return sum(operation_counts(trace(model, function, method=method).program.outputs).values())


def serial_arm(n):
    """Return a rigid arm of n joints, neighbours at an angle that is no right one."""
    link = {'alpha': 0.7, 'a': 0.3, 'd': 0.1, 'm': 2.0, 'com': [-0.1, 0.02, 0.05],
            'J_cm': [0.02, 0.03, 0.04]}
    return fd.load_robot(chain_urdf([link] * n))


def test_rows_and_columns_cost_less_on_long_arms():
    """Seven joints in general position: about half of direction by direction."""
    model = serial_arm(7)
    by_bodies = total(model, 'inverse_dynamics_derivatives', STRUCTURED)
    assert by_bodies < 0.6 * total(model, 'inverse_dynamics_derivatives', DIRECTIONS)


def test_the_cost_grows_with_the_square_of_a_chain():
    """O(n d): twice the joints take less than four times the operations."""
    counts = [
        total(serial_arm(n), 'inverse_dynamics_derivatives', STRUCTURED) for n in (5, 10)
    ]
    assert counts[1] < 4.0 * counts[0]


@pytest.mark.slow
def test_generate_takes_the_cheaper_way_and_says_which():
    """Both are compared; the passes only help."""
    model = robot('spring table')
    code = fd.generate(model, 'inverse_dynamics_derivatives')
    assert code.choices[0] in DERIVATIVE_METHODS
    for method in DERIVATIVE_METHODS:
        one = fd.generate(model, 'inverse_dynamics_derivatives', method=method)
        assert one.choices == (method,)
        assert sum(code.counts.values()) <= sum(one.counts.values())
    with pytest.raises(fd.FlexdynError, match=STRUCTURED):
        fd.generate(model, 'inverse_dynamics_derivatives', method='finite differences')


def test_first_order_rotations_go_direction_by_direction():
    """Their composite bodies are none that turn."""
    with pytest.raises(fd.FlexdynError, match=f'allows "{DIRECTIONS}" here'):
        fd.generate(robot('linear'), 'inverse_dynamics_derivatives', method=STRUCTURED)


@pytest.mark.slow
def test_the_page_is_current():
    """Its words, and the counts of its smallest arm."""
    page = PAGE.read_text()
    assert page.startswith(INTRODUCTION)
    label = 'two flexible links'
    model = dict(robots())[label]
    assert count_row(label, model, lambda what: None) in page
