# SPDX-License-Identifier: Apache-2.0
"""Declares the parameters of a YAML file on a node and keeps their values."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Optional

from flexdyn_ros.nodes.common.parameters import ParameterSpecification
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter

Check = Callable[[dict[str, Any], set[str]], Optional[str]]
ADVICE = 'Deactivate the node, set it, and activate the node again'


class NodeParameters:
    """
    The declared parameters of a node, read with `parameters['group.name']`.

    An array parameter without a value stays unset in ROS (an empty array has no type there) and
    reads as its default. Numbers are declared with dynamic typing and checked here: parameters of
    type double accept whole numbers.

    Attributes:
        changed: Names set since the node last took them.
        needs_configure: Whether one has been set that takes effect at the next configure; the
            node resets it.
    """

    def __init__(
        self,
        node: Node,
        specifications: Iterable[ParameterSpecification],
        check: Optional[Check] = None,
        active: Callable[[], bool] = lambda: False,
    ):
        """
        Declare the parameters.

        Args:
            node: Node to declare them on.
            specifications: The parameters.
            check: Called with all values as they would become and the names of those that are
                set; returns the fault or None.
            active: Returns whether the node works, so that parameters which need a new
                configure are refused.
        """
        self._specifications = {item.name: item for item in specifications}
        self._values = {item.name: item.default_value for item in self._specifications.values()}
        self._check: Optional[Check] = None
        self._active: Callable[[], bool] = lambda: False
        self.changed: set[str] = set()
        self.needs_configure = False
        node.add_on_set_parameters_callback(self._on_set)
        for item in self._specifications.values():
            self._declare(node, item)
        self.changed.clear()
        self.needs_configure = False
        self._check = check
        self._active = active
        for item in self._specifications.values():
            if item.renamed_to and self._values[item.name]:
                node.get_logger().warning(
                    f'The parameter "{item.name}" is deprecated; use "{item.renamed_to}". The old '
                    'name works for one more release.')
                value = Parameter(item.renamed_to, value=self._values[item.name])
                node.set_parameters([value])

    def __getitem__(self, name: str) -> Any:
        """Return the value of a parameter."""
        return self._values[name]

    def take_changes(self) -> set[str]:
        """Return the names that have been set since the last call, and clear them."""
        # Another thread that adds names to the old set keeps it for the next call.
        changed, self.changed = self.changed, set()
        return changed

    def _declare(self, node: Node, item: ParameterSpecification) -> None:
        numbers = item.type.startswith('double')
        descriptor = ParameterDescriptor(
            description=item.description, read_only=item.read_only, dynamic_typing=numbers,
            additional_constraints=item.words,
        )
        if item.range is not None and item.type == 'int':
            least, most = map(int, item.range)
            descriptor.integer_range = [IntegerRange(from_value=least, to_value=most)]
        elif item.range is not None:
            low, high = map(float, item.range)
            descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
        default = item.default_value
        if item.is_array and not default:
            default = None if numbers else Parameter.Type[item.type.upper()]
        node.declare_parameter(item.name, default, descriptor)

    @staticmethod
    def _value(item: ParameterSpecification, value: Any) -> Any:
        if value is None:
            return item.default_value
        value = item.converted(value)
        if item.is_array:
            value = [entry for entry in value if entry != '']
        problem = item.problem(value)
        if problem:
            raise ValueError(problem)
        return value

    def _on_set(self, parameters: list[Parameter]) -> SetParametersResult:
        values = dict(self._values)
        changed: set[str] = set()
        fresh = False
        for parameter in parameters:
            item = self._specifications.get(parameter.name)
            if item is None:
                continue
            try:
                value = self._value(item, parameter.value)
            except ValueError as error:
                return SetParametersResult(successful=False, reason=str(error))
            target = item.renamed_to if item.renamed_to and value else item.name
            constraints, new = item.additional_constraints, value != values[target]
            if new and item.is_fixed_while_active and self._active():
                return SetParametersResult(
                    successful=False, reason=f'{item.name}: {constraints} {ADVICE}.')
            fresh |= new and constraints.endswith('configure.')
            values[item.name] = values[target] = value
            changed |= {item.name, target}
        problem = self._check(values, changed) if self._check and changed else None
        if problem:
            return SetParametersResult(successful=False, reason=problem)
        self._values = values
        self.changed |= changed
        self.needs_configure |= fresh
        return SetParametersResult(successful=True)
