# SPDX-License-Identifier: Apache-2.0
"""Generated code equals the reference, in every language, for every function."""

import shutil

from codegen import cases
from codegen.native import Native, need_compiler
from evaluated_program import evaluate_program
import flexdyn_ros as fd
from flexdyn_ros.codegen.export.c import c_program, emit_c
from flexdyn_ros.codegen.export.chunks import split
from flexdyn_ros.codegen.export.fortran import emit_fortran
from flexdyn_ros.codegen.export.schedule import schedule
from flexdyn_ros.codegen.generate import GeneratedCode
from flexdyn_ros.codegen.tracing.functions import tip_link
from flexdyn_ros.codegen.tracing.trace import trace
from flexdyn_ros.dynamics.functions import FUNCTIONS
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.symbolic.optimise import PASSES
import numpy as np
import pytest
from thinned import thinned
from validation.counts.c_source import count_c

pytestmark = pytest.mark.usefixtures('simplified_once')
LANGUAGES = ['c', 'python', 'fortran']
# With the passes, for which the default run takes these; a rigid tree has all functions.
OF_FLEXIBLE_LINKS = ('inverse_dynamics', 'forward_dynamics', 'jacobian_rate_qd')
# Those that mimic joints do not allow: test_formulations.py, test_carried_inertia.py.
NOT_OF_MIMICS = ('mass_matrix_factors', 'articulated_inertia')
ALL = '+'.join(cases.FUNCTIONS[:8])


def call(code, folder, values):
    """Return the results of generated code as one vector."""
    if code.language == 'python':
        return cases.flat(code.compile_python()(*values))
    need_compiler(code.language)
    return Native(code, folder)(*values)


def test_every_function_of_the_contract_can_be_generated():
    """The cases of these tests are all functions."""
    derivatives = {*cases.DERIVATIVES, *cases.PARAMETER_DERIVATIVES}
    of_loops = {name for name, function in FUNCTIONS.items() if function.of_loops}
    known = {*cases.FUNCTIONS, *NOT_OF_MIMICS, *derivatives, *of_loops}
    assert known == set(FUNCTIONS)
    assert of_loops == {
        'loop_poses', 'loop_jacobian', 'loop_bias', 'loop_equations', 'loop_derivatives',
        'project',
    }


@pytest.mark.parametrize(('name', 'function'), thinned(
    # The same robots and functions run in a hurry in test_python_backend.py.
    [(name, function) for name in cases.ROBOTS for function in cases.FUNCTIONS],
    lambda name, function: name == 'rigid tree' or (
        name == 'flexible chain' and function in OF_FLEXIBLE_LINKS),
))
def test_python_equals_the_reference(name, function):
    """All functions on all kinds of robots."""
    model = cases.robot(name)
    code = fd.generate(model, function, 'python')
    frame = tip_link(model)
    found = cases.flat(code.compile_python()(*cases.given(model, code)))
    cases.assert_close(found, cases.answer(model, function, frame))


@pytest.mark.parametrize('language', ['c', 'fortran', 'python'])
def test_functions_of_loops(language, tmp_path):
    """Poses, Jacobian, bias and derivatives of a closed chain, in every language."""
    model = cases.loop_robot()
    code = fd.generate(model, 'loop_poses+loop_jacobian+loop_bias+loop_derivatives', language)
    found = call(code, tmp_path, cases.given(model, code))
    backend, (q, qd, *_) = cases.reference(model), cases.state(model)
    expected = [backend.loop_poses(q), backend.loop_jacobian(q), backend.loop_bias(q, qd)]
    expected += [each.tolist() for each in backend.loop_derivatives(q, qd)]
    cases.assert_close(found, np.concatenate([cases.flat(each) for each in expected]))


@pytest.mark.parametrize('language', ['c', 'fortran'])
@pytest.mark.parametrize('name', thinned(cases.ROBOTS, ('rigid tree', 'multi axis', 'floating')))
def test_compiled_functions_equal_the_reference(name, language, tmp_path):
    """Several functions in one, which share their work."""
    model = cases.robot(name)
    functions = ('inverse_dynamics', 'mass_matrix', 'jacobian', 'frame_pose', 'kinetic_energy')
    code = fd.generate(model, '+'.join(functions), language)
    found = call(code, tmp_path, cases.given(model, code))
    frame = tip_link(model)
    expected = [cases.answer(model, function, frame) for function in functions]
    cases.assert_close(found, np.concatenate(expected))


@pytest.mark.parametrize('language', ['c', 'fortran'])
@pytest.mark.parametrize('function', ['forward_dynamics', 'hybrid_dynamics'])
@pytest.mark.parametrize('name', thinned(['flexible chain', 'mimic'], ['flexible chain']))
def test_compiled_accelerations_equal_the_reference(name, function, language, tmp_path):
    """Code that solves for accelerations."""
    model = cases.robot(name)
    code = fd.generate(model, function, language)
    found = call(code, tmp_path, cases.given(model, code))
    cases.assert_close(found, cases.answer(model, function))


@pytest.mark.parametrize('function', thinned(
    ['inverse_dynamics', 'forward_dynamics', 'jacobian'], ['inverse_dynamics', 'jacobian'],
))
def test_linear_rotations(function):
    """King's first-order rotations."""
    model = cases.linear_robot()
    code = fd.generate(model, function, 'python')
    found = cases.flat(code.compile_python()(*cases.given(model, code)))
    cases.assert_close(found, cases.answer(model, function, tip_link(model)))


@pytest.mark.parametrize('language', ['c', 'fortran'])
def test_large_deflections_take_the_closed_forms(language, tmp_path):
    """Rotation vectors beyond the series' range."""
    model = cases.robot('flexible chain')
    code = fd.generate(model, 'inverse_dynamics', language)
    q, qd, qdd, _ = cases.state(model)
    for k in range(model.n_joints, model.nq):
        q[k] = 1.5
    found = call(code, tmp_path, [q, qd, qdd])
    cases.assert_close(found, cases.flat(cases.reference(model).inverse_dynamics(q, qd, qdd)))


def test_functions_joined_share_their_work():
    """Mass matrix and bias together cost less than apart."""
    model = cases.robot('flexible chain')
    together, *apart = (
        fd.generate(model, name, optimise='quick').counts
        for name in ('mass_matrix+bias_vector', 'mass_matrix', 'bias_vector'))
    assert sum(together.values()) < sum(sum(counts.values()) for counts in apart)


@pytest.mark.parametrize('function', ['inverse_dynamics', 'forward_dynamics', 'mass_matrix'])
@pytest.mark.parametrize('name', ['rigid tree', 'flexible chain'])
def test_optimised_code_equals_code_as_traced(name, function):
    """And takes fewer operations."""
    model = cases.robot(name)
    plain = fd.generate(model, function, 'python', optimise=False)
    lean = fd.generate(model, function, 'python')
    values = cases.given(model, plain)
    cases.assert_close(
        cases.flat(lean.compile_python()(*values)), cases.flat(plain.compile_python()(*values))
    )
    assert sum(lean.counts.values()) < sum(plain.counts.values())
    assert lean.report[0].name == 'traced'
    passes = [sum(step.counts.values()) for step in lean.report if step.name in PASSES]
    assert passes and passes == sorted(passes, reverse=True)


@pytest.mark.parametrize('name', list(PASSES))
@pytest.mark.parametrize('model_name', ['rigid tree', 'flexible chain', 'floating'])
def test_every_pass_keeps_the_values(model_name, name):
    """At random points, to 1e-12."""
    model = cases.robot(model_name)
    found = trace(model, 'inverse_dynamics+mass_matrix')
    changed = PASSES[name](found.program)
    for seed in (1, 2):
        values = dict(zip(
            [symbol for each in found.inputs for symbol in each.symbols],
            [x for vector in cases.given(model, found, seed) for x in vector], strict=True,
        ))
        before = np.array(evaluate_program(found.program, values))
        cases.assert_close(np.array(evaluate_program(changed, values)), before)


@pytest.mark.parametrize('language', ['c', 'fortran'])
def test_parts_give_the_same_numbers(language, tmp_path):
    """A function split into many small parts, and the same in one piece."""
    need_compiler(language)
    model = cases.robot('flexible chain')
    made, results = trace(model, 'bias_vector+jacobian'), []
    for number, size in enumerate((40, 10**9)):
        folder = tmp_path / str(number)
        folder.mkdir()
        program = c_program(made, part_size=size)
        plan = schedule(made)
        parts = program.parts if language == 'c' else split(plan, part_size=size)
        assert len(parts.parts) > 5 if size == 40 else len(parts.parts) == 1
        source = emit_c(program) if language == 'c' else emit_fortran(plan, parts)
        code = GeneratedCode(
            source, {}, language, 'x', made.name, made.inputs, made.outputs,
        )
        results.append(Native(code, folder)(*cases.given(model, code)))
    cases.assert_close(*results)
    if language == 'c':
        counts = [count_c(emit_c(c_program(made, part_size=size))) for size in (40, 10**9)]
        assert counts[0] == counts[1]


@pytest.mark.parametrize('language', LANGUAGES)
def test_payload_gravity_and_wrench_stay_arguments(language, tmp_path):
    """Together, on a rigid link, against the reference."""
    model = cases.robot('rigid tree')
    frame = tip_link(model)
    code = fd.generate(
        model, 'inverse_dynamics', language,
        arguments=('gravity', 'payload', f'wrench:{model.frame_names[1]}'),
    )
    second_moments = ((0.3, 0.01, 0.02), (0.01, 0.4, 0.03), (0.02, 0.03, 0.5))
    inertia = Inertia(0.7, (0.1, -0.2, 0.3), second_moments)
    gravity, wrench = (1.0, -2.0, 7.0), [1.0, 2.0, 3.0, -4.0, 5.0, 6.0]
    q, qd, qdd, _ = cases.state(model)
    payload = [0.7, 0.1, -0.2, 0.3, 0.3, 0.4, 0.5, 0.01, 0.02, 0.03]
    assert [each.name for each in code.inputs][:5] == ['q', 'qd', 'qdd', 'gravity', 'payload']
    found = call(code, tmp_path, [q, qd, qdd, gravity, payload, wrench])
    dyn = cases.reference(model, {frame: inertia}, gravity)
    loads = [(model.frame_names[1], tuple(wrench[:3]), tuple(wrench[3:]))]
    cases.assert_close(found, cases.flat(dyn.inverse_dynamics(q, qd, qdd, loads)))


def test_a_payload_on_a_beam_rides_on_its_tip():
    """Its centre of mass may lie beside the beam: it turns with the tip's cross-section."""
    model = cases.robot('flexible chain')
    link = next(each for each in model.links if each.mode_names and each.name != model.root)
    code = fd.generate(model, 'inverse_dynamics', 'python', arguments=(f'payload:{link.name}',))
    axes, length = np.array(link.beam.axes), link.beam.length
    matrix = ((0.3, 0.01, 0.02), (0.01, 0.4, 0.03), (0.02, 0.03, 0.5))
    # Beyond the tip along the beam, and beside it: set_payload chooses the tip's section too.
    com = tuple((axes @ [1.2 * length, 0.1, -0.2]).tolist())
    q, qd, qdd, _ = cases.state(model)
    values = [2.0, *com, 0.3, 0.4, 0.5, 0.01, 0.02, 0.03]
    found = cases.flat(code.compile_python()(q, qd, qdd, values))
    dyn = cases.reference(model, {link.name: Inertia(2.0, com, matrix)})
    cases.assert_close(found, cases.flat(dyn.inverse_dynamics(q, qd, qdd)))


def test_tools_that_the_compiled_tests_need():
    """Print the languages that this run could not try."""
    missing = [name for name in ('gcc', 'gfortran') if shutil.which(name) is None]
    if missing:
        pytest.skip(f'NOT INSTALLED: {missing}; the code for them was not compiled')
