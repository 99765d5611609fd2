# SPDX-License-Identifier: Apache-2.0
"""Parameter files: units, validation, and the tables of the documentation."""

import math
from pathlib import Path
import re

from flexdyn_ros.nodes.common.parameters import (
    load_specifications,
    markdown_table,
    node_specifications,
    ParameterSpecification,
)
import pytest

ROOT = Path(__file__).resolve().parents[2]
NODES = (
    'inverse_dynamics_node', 'forward_dynamics_node', 'deflection_markers_node',
    'identification_node', 'modal_observer_node', 'trajectory_correction_node',
)


@pytest.mark.parametrize(
    'name', ('common_parameters', 'model_parameters', 'position_parameters', *NODES))
def test_every_numeric_parameter_states_its_unit_in_brackets(name):
    numeric = [item for item in load_specifications(name) if item.is_numeric]
    assert numeric or name == 'common_parameters'
    for item in numeric:
        assert re.search(r'\[[^\]]+\]', item.description), item.name


@pytest.mark.parametrize('name', NODES)
def test_defaults_fit_their_own_type_and_validation(name):
    types = {'bool': bool, 'int': int, 'double': float, 'string': str}
    for item in node_specifications(name):
        assert item.problem(item.default_value) is None, item.name
        expected = list if item.is_array else types[item.type]
        assert type(item.default_value) is expected, item.name


@pytest.mark.parametrize('name', NODES)
def test_the_documentation_holds_the_current_table(name):
    page = (ROOT / 'docs' / 'nodes.md').read_text(encoding='utf-8')
    assert markdown_table(node_specifications(name)) in page


@pytest.mark.parametrize(
    ('rule', 'good', 'bad', 'word'),
    [
        ({'gt<>': [0.0]}, 1.0, 0.0, 'greater than 0.0'),
        ({'gt_eq<>': [0.0]}, 0.0, -1.0, 'less than 0.0'),
        ({'bounds<>': [0.0, 1.0]}, 1.0, 1.5, 'between 0.0 and 1.0'),
        ({}, 1.0, math.nan, 'finite'),
        ({}, 1.0, math.inf, 'finite'),
    ],
)
def test_numbers_outside_the_rules_are_named(rule, good, bad, word):
    item = ParameterSpecification('x', 'double', 1.0, '[m]', validation=rule)
    assert item.problem(good) is None
    assert word in item.problem(bad)
    assert 'x' in item.problem(bad)


@pytest.mark.parametrize(
    ('kind', 'value', 'expected'),
    [
        ('double', 3, 3.0),
        ('double_array', [0, 0, -10], [0.0, 0.0, -10.0]),
        ('double_array', 100, [100.0]),
        ('string_array', ['a'], ['a']),
        ('bool', True, True),
        ('int', 4, 4),
    ],
)
def test_whole_numbers_pass_for_doubles_and_one_number_for_an_array(kind, value, expected):
    found = ParameterSpecification('x', kind, None, '').converted(value)
    assert found == expected
    assert type(found) is type(expected)
    if kind == 'double_array':
        assert all(type(item) is float for item in found)


@pytest.mark.parametrize(
    ('kind', 'value'),
    [('double', 'fast'), ('double', True), ('double_array', ['a']), ('double_array', '12'),
     ('int', 1.5), ('bool', 1), ('string', 1.0), ('double', [1.0])],
)
def test_values_of_another_type_are_refused_by_name(kind, value):
    with pytest.raises(ValueError, match=f'x must be {kind}'):
        ParameterSpecification('x', kind, None, '').converted(value)


def test_arrays_are_checked_by_size_and_for_repeated_names():
    three = ParameterSpecification(
        'g', 'double_array', [], '[m/s^2]', validation={'empty_or_size<>': [3]}
    )
    assert three.problem([]) is None
    assert three.problem([0.0, 0.0, 1.0]) is None
    assert 'empty or have 3 elements' in three.problem([1.0])
    names = ParameterSpecification('n', 'string_array', [], '', validation={'unique<>': []})
    assert names.problem(['a', 'b']) is None
    assert 'duplicates' in names.problem(['a', 'a'])
