# SPDX-License-Identifier: Apache-2.0
"""
Parameters, each declared once in a YAML file beside its node.

The files have the shape of generate_parameter_library: type, default_value, description,
read_only and validation. This module reads and checks them without ROS.
"""

from __future__ import annotations

from dataclasses import dataclass, field
import math
from pathlib import Path
import re
import sys
from typing import Any, Iterable, Optional

import yaml

FOLDER = Path(__file__).resolve().parents[1]  # of the files, beside the nodes
FILES = {
    'inverse_dynamics_node': (
        'common_parameters', 'model_parameters', 'inverse_dynamics_node', 'position_parameters'),
    'forward_dynamics_node': ('common_parameters', 'forward_dynamics_node'),
    'deflection_markers_node': (
        'common_parameters', 'model_parameters', 'deflection_markers_node'),
    'modal_observer_node': ('common_parameters', 'modal_observer_node'),
    'identification_node': ('common_parameters', 'identification_node'),
    'trajectory_correction_node': (
        'common_parameters', 'model_parameters', 'trajectory_correction_node',
        'position_parameters'),
}
"""The files that declare the parameters of a node, without .yaml."""

# Upper ends of ranges without one.
LARGEST = {'int': 2**63 - 1, 'double': sys.float_info.max}
SCALARS = {'bool': bool, 'int': int, 'double': float, 'string': str}


@dataclass(frozen=True)
class ParameterSpecification:
    """
    One parameter as its YAML file declares it, with the keys of the file.

    Attributes:
        name: Full name, groups separated by dots.
        type: bool, int, double, string, or one of them followed by _array.
        default_value: Value where the user gives none.
        description: Its effect, with the unit in brackets.
        read_only: Whether it is fixed once the node has started.
        validation: Rules by name, such as {'gt<>': [0.0]}.
        additional_constraints: A sentence on when a change takes effect; empty for at once.
        renamed_to: The parameter that this one is an old name of; empty for none.
    """

    name: str
    type: str
    default_value: Any
    description: str
    read_only: bool = False
    validation: dict[str, Any] = field(default_factory=dict)
    additional_constraints: str = ''
    renamed_to: str = ''

    @property
    def is_fixed_while_active(self) -> bool:
        """Whether a new value is refused while the node works."""
        return self.additional_constraints.startswith('Takes effect at the next')

    @property
    def range(self) -> Optional[tuple[float, float]]:
        """Smallest and largest value of a number, bounds that are excluded among them."""
        if not self.is_numeric or self.is_array:
            return None
        if 'bounds<>' in self.validation:
            low, high = self.validation['bounds<>']
            return low, high
        for rule in ('gt<>', 'gt_eq<>'):
            if rule in self.validation:
                return self.validation[rule][0], LARGEST[self.type]
        return None

    @property
    def words(self) -> str:
        """Requirement on the value, and when it takes effect, as text; empty for nothing."""
        allowed = self.validation.get('one_of<>')
        found = []
        if allowed:
            named = [value if value else "''" for value in allowed[0]]
            found.append(f'One of: {", ".join(named)}.')
        if 'gt<>' in self.validation and self.is_numeric:
            found.append(f'Greater than {self.validation["gt<>"][0]:g}.')
        if 'bounds<>' in self.validation:
            found.append('From {:g} to {:g}.'.format(*self.validation['bounds<>']))
        return ' '.join(filter(None, [*found, self.additional_constraints]))

    @property
    def is_array(self) -> bool:
        """Whether the value is a list."""
        return self.type.endswith('_array')

    @property
    def is_numeric(self) -> bool:
        """Whether the value is made of numbers."""
        return self.type.startswith(('int', 'double'))

    def converted(self, value: Any) -> Any:
        """
        Return a value in the declared type.

        Whole numbers pass for doubles and a single number for an array of one, so that
        "gravity: [0, 0, -10]" and "kp: 100" are accepted.

        Raises:
            ValueError: The value is of another type.
        """
        if self.is_array and not hasattr(value, '__len__'):
            value = [value]
        items = list(value) if self.is_array else [value]
        if self.is_array and isinstance(value, (str, bytes)):
            raise ValueError(f'{self.name} must be {self.type}, got {value!r}')
        wanted = SCALARS[self.type.replace('_array', '')]
        accepted = (int, float) if wanted is float else (wanted,)
        for item in items:
            if not isinstance(item, accepted) or isinstance(item, bool) != (wanted is bool):
                raise ValueError(f'{self.name} must be {self.type}, got {value!r}')
        items = [wanted(item) for item in items]
        return items if self.is_array else items[0]

    def problem(self, value: Any) -> Optional[str]:
        """Return the fault of a value, or None."""
        items = list(value) if self.is_array else [value]
        if self.is_numeric and not all(math.isfinite(item) for item in items):
            return f'{self.name} must be finite, got {value}'
        for rule, arguments in self.validation.items():
            message = RULES[rule](items, *arguments)
            if message:
                return f'{self.name} {message}, got {value!r}'
        return None


def _all_of(test, words: str):
    return lambda items, bound: None if all(test(i, bound) for i in items) else f'{words} {bound}'


def _bounds(items, low, high):
    inside = all(low <= item <= high for item in items)
    return None if inside else f'must lie between {low} and {high}'


def _one_of(items, allowed):
    inside = all(item in allowed for item in items)
    return None if inside else 'must be one of ' + ', '.join(map(str, allowed))


def _unique(items):
    return None if len(set(items)) == len(items) else 'must not contain duplicates'


def _empty_or_size(items, size):
    return None if len(items) in (0, size) else f'must be empty or have {size} elements'


RULES = {
    'gt<>': _all_of(lambda a, b: a > b, 'must be greater than'),
    'gt_eq<>': _all_of(lambda a, b: a >= b, 'must not be less than'),
    'bounds<>': _bounds,
    'one_of<>': _one_of,
    'unique<>': _unique,
    'empty_or_size<>': _empty_or_size,
}


def node_specifications(node: str) -> tuple[ParameterSpecification, ...]:
    """Return the parameters of a node, those that it shares with others first."""
    return load_specifications(*FILES[node])


def load_specifications(*names: str) -> tuple[ParameterSpecification, ...]:
    """
    Read parameter files.

    Args:
        names: File names without .yaml, in this folder; later files add to earlier ones.

    Returns:
        The parameters in file order.

    Raises:
        ValueError: A file declares a parameter wrongly.
    """
    found: list[ParameterSpecification] = []
    for name in names:
        path = FOLDER / f'{name}.yaml'
        content = yaml.safe_load(path.read_text(encoding='utf-8'))
        for group in content.values():
            found.extend(_flatten(group, ''))
    return tuple(found)


def _flatten(group: dict[str, Any], prefix: str) -> Iterable[ParameterSpecification]:
    for key, value in group.items():
        if isinstance(value.get('type'), str):
            yield _specification(prefix + key, value)
        else:
            yield from _flatten(value, f'{prefix}{key}.')


def _specification(name: str, value: dict[str, Any]) -> ParameterSpecification:
    unknown = set(value.get('validation', {})) - set(RULES)
    if unknown or value['type'].replace('_array', '') not in SCALARS:
        raise ValueError(f'Parameter "{name}" has a wrong type or validation: {value}.')
    return ParameterSpecification(name, **value)


def markdown_table(specifications: Iterable[ParameterSpecification]) -> str:
    """Return the table of parameters for the documentation."""
    rows = ['| Parameter | Type | Default | Meaning |', '|---|---|---|---|']
    for item in specifications:
        meaning = ' '.join(filter(None, [item.description, item.words]))
        meaning = re.sub(r'[|<]', r'\\\g<0>', meaning)  # neither a cell nor a tag
        value = item.default_value
        default = 'empty' if value in ('', []) else f'`{str(value).lower()}`'
        if item.type.startswith('string') and value:
            default = f'`{value}`'
        rows.append(f'| `{item.name}` | {item.type} | {default} | {meaning} |')
    return '\n'.join(rows) + '\n'


if __name__ == '__main__':
    # The table of one node for docs/nodes.md: python -m flexdyn_ros.nodes.common.parameters NODE
    print(markdown_table(node_specifications(sys.argv[1])), end='')
