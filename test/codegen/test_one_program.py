# SPDX-License-Identifier: Apache-2.0
"""The statements of exported C are those that run, one by one and over samples, in their order."""

import re

from codegen import cases
from codegen.variant_of import variant_of
import flexdyn_ros as fd
from flexdyn_ros.codegen.compile.compiled_c import batch_source, call_source
from flexdyn_ros.codegen.export.c import c_program, emit_c
from flexdyn_ros.codegen.tracing.trace import ROUND_OFF, trace
from oracles.dh_urdf import chain_urdf
import pytest

# Robot and function: whole and in parts, with tables, series, pivots, several results, frames.
FUNCTIONS = [
    ('rigid tree', 'inverse_dynamics'), ('flexible chain', 'inverse_dynamics'),
    ('flexible chain', 'forward_dynamics'), ('mimic', 'forward_dynamics'),
    ('floating', 'hybrid_dynamics'), ('multi axis', 'mass_matrix'), ('planar', 'frame_pose'),
    ('floating', 'inverse_dynamics_derivatives'), ('rigid tree', 'forward_dynamics_derivatives'),
    ('rigid tree', 'potential_energy'), ('rigid tree', 'friction_vector'),
]


def functions_of(source):
    """Return the functions of C source: name to the text of its body, without comments."""
    text = re.sub(r'/\*.*?\*/', '', source, flags=re.DOTALL)
    found = {}
    for head, body in re.findall(r'^([^\n{};#][^{};]*)\{(.*?)^\}', text, re.DOTALL | re.MULTILINE):
        name = re.search(r'(\w+)\([^()]*\)\s*$', head)
        if name:
            found[name[1]] = body
    return found


def statements(body):
    """Return statements with single spaces, in one spelling of types and functions."""
    text = re.sub(r'\s+', ' ', body)
    text = re.sub(r'\(lanes\)\{0\} \+ \((-?[0-9.e+-]+)\)', r'\1', text)
    text = re.sub(r'\blanes_(?=\w+\()', '', text)
    text = re.sub(r'\blanes\b', 'double', text)
    return [each.strip() for each in text.split(';') if each.strip()]


def computing(found, name):
    """Return the statements of a function and its parts that compute or call."""
    declarations = ('double angle[', 'double work[', '(void)')
    order = [name, *sorted((each for each in found if re.fullmatch(rf'{name}_part\d+', each)),
                           key=lambda each: int(each.rpartition('part')[2]))]
    return {
        each: [
            # Where memory for the numbers in between comes from the caller, it is no statement.
            line for line in statements(found[each]) if not line.startswith(declarations)
        ] for each in order
    }


def assert_equal(found, expected):
    """Compare functions line by line, and show the first difference alone."""
    assert [*found] == [*expected]
    for name, lines in expected.items():
        pairs = enumerate(zip(found[name], lines))
        first = next(((k, *pair) for k, pair in pairs if pair[0] != pair[1]), None)
        assert first is None, (name, first)
        assert len(found[name]) == len(lines)


def assert_one_program(made):
    """Compare the exported C of a trace with both sources that are compiled."""
    exported = functions_of(emit_c(c_program(made)))
    own = computing(exported, made.name)
    count = sum(len(lines) for lines in own.values())
    assert count >= sum(output.size for output in made.outputs)
    for source in (call_source(made), batch_source(made)):
        compiled = functions_of(source)
        assert_equal(computing(compiled, made.name), own)
        # All that else may differ: the function of sines and cosines, which calls the runtime's.
        if 'sines_and_cosines' in exported:
            assert re.fullmatch(r'\s*(lanes_)?sin\w*_all\(angle, sine, cosine, \d+\);\s*',
                                compiled['sines_and_cosines'])
        others = {*exported} - {*own, 'sines_and_cosines'}
        assert all(compiled[name] == exported[name] for name in others)
    return own


@pytest.mark.parametrize(('name', 'function'), FUNCTIONS)
def test_what_runs_is_what_is_exported(name, function):
    """Temporaries, calls and results, line by line, also of statements before the angles."""
    assert_one_program(variant_of(cases.robot(name), function).trace())


def test_programs_in_parts():
    """Of a long chain: the same parts, the same numbers passed on."""
    link = {'alpha': 0.7, 'a': 0.3, 'd': 0.1, 'm': 2.0, 'com': [-0.1, 0.02, 0.05],
            'J_cm': [0.02, 0.03, 0.04]}
    made = variant_of(fd.load_robot(chain_urdf([link] * 20)), 'inverse_dynamics').trace()
    assert len(assert_one_program(made)) > 3


@pytest.mark.parametrize(('name', 'function', 'arguments'), [
    ('rigid tree', 'mass_matrix', ()), ('flexible chain', 'gravity_vector', ('gravity',)),
    ('rigid tree', 'inverse_dynamics', ('gravity', 'payload', 'wrench:link1')),
    ('floating', 'jacobian', ()), ('floating', 'forward_dynamics', ()),
])
def test_generate_returns_the_statements_of_its_program(name, function, arguments):
    """The text of `generate` for the same arguments is the exported C of that program."""
    model = cases.robot(name)
    code = fd.generate(model, function, arguments=arguments, optimise=False)
    made = trace(model, function, arguments, base_parameters=False, method=(
        code.choices[0] if code.choices else None
    ))
    assert code.source == emit_c(c_program(made))
    own = computing(functions_of(code.source), code.name)
    for source in (call_source(made), batch_source(made)):
        assert_equal(computing(functions_of(source), code.name), own)


@pytest.mark.parametrize(('name', 'function'), [
    ('rigid tree', 'inverse_dynamics'), ('flexible chain', 'mass_matrix'),
    ('floating', 'jacobian'), ('planar', 'potential_energy'),
    ('rigid tree', 'inverse_dynamics_derivatives'),
])
def test_generate_writes_what_runs(name, function):
    """With quick code, and the rounding of the backends, it returns that program."""
    model = cases.robot(name)
    code = fd.generate(model, function, optimise='quick', rotation_tolerance=ROUND_OFF)
    made = variant_of(model, function).trace()
    assert code.source == emit_c(c_program(made))
    own = computing(functions_of(code.source), code.name)
    assert_equal(computing(functions_of(call_source(made)), code.name), own)
