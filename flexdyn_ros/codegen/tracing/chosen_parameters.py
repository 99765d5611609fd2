# SPDX-License-Identifier: Apache-2.0
"""Parameters of a model that someone chose: their values, and trees of bodies with others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Sequence

from flexdyn_ros.codegen.tracing.parameters import (
    find_parameter,
    Parameter,
    parameter_names,
    with_scalars,
)
from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.errors import ArgumentError, did_you_mean
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.robot import Robot


@dataclass(frozen=True)
class ChosenParameters:
    """
    Parameters in the order in which they were chosen.

    Attributes:
        robot: The robot.
        parameters: The parameters.
        values: Their numbers in the model, one after the other.
    """

    robot: Robot
    parameters: tuple[Parameter, ...]
    values: tuple[float, ...]

    def tree(self, payloads: Mapping[str, Inertia], values: Sequence[Any]) -> Multibody:
        """Return the tree of bodies with other values, scalars of any kind."""
        symbols = {(each.owner, each.kind): numbers for each, numbers in self._grouped(values)}
        return with_scalars(self.robot, payloads, symbols)

    def arguments(self) -> tuple[Any, ...]:
        """Return the values as a generated function takes them: numbers and vectors."""
        return tuple(
            numbers[0] if each.input.scalar else numbers
            for each, numbers in self._grouped(self.values)
        )

    def _grouped(self, values: Sequence[Any]) -> Iterator[tuple[Parameter, Sequence[Any]]]:
        """Yield each parameter with its numbers."""
        rest = iter(values)
        for parameter in self.parameters:
            yield parameter, tuple(next(rest) for _ in parameter.input.entries)


def choose_parameters(robot: Robot, names: Sequence[str]) -> ChosenParameters:
    """
    Return parameters of a robot by name, see `parameters.py`.

    Raises:
        ArgumentError: If a name is unknown or comes twice, or there is none.
    """
    names = (names,) if isinstance(names, str) else tuple(names)
    if not names:
        raise ArgumentError('parameters', 'is empty, expected names such as "<link>/mass"')
    found, values = [], []
    for name in names:
        parameter = find_parameter(robot, str(name))
        if parameter is None:
            hint = did_you_mean(str(name), parameter_names(robot))
            raise ArgumentError('parameters', f'names "{name}", which is not a parameter. {hint}')
        if parameter in found:
            raise ArgumentError('parameters', f'names "{name}" twice')
        found.append(parameter)
        values += _values(robot, parameter)
    return ChosenParameters(robot, tuple(found), tuple(values))


def _values(robot: Robot, parameter: Parameter) -> list[float]:
    """Return the numbers that a parameter has in the model."""
    owner, kind = parameter.owner, parameter.kind
    if kind in ('mass', 'com', 'inertia'):
        return _inertial_values(robot.link(owner).inertia, kind)
    if owner in robot.mode_names:
        return [_modal_value(robot, owner, kind)]
    drive = robot.joint(owner).dynamics
    return [getattr(drive.losses if kind in ('viscous', 'coulomb') else drive, kind)]


def _modal_value(robot: Robot, mode: str, kind: str) -> float:
    """Return the stiffness or damping of a mode, or of a passive joint between segments."""
    tree, index = assemble(robot, {}), robot.coordinate_names.index(mode)
    link = next(link for link in robot.links if mode in link.mode_names)
    if link.segments:
        spring = next(each for each in tree.springs if each.velocity_index == index)
        return getattr(spring, kind)
    body = next(each for each in tree.bodies if 0 <= index - each.velocity_modes < each.n_modes)
    k = index - body.velocity_modes
    return getattr(body.modal, kind)[k][k]


def _inertial_values(inertia: Any, kind: str) -> list[float]:
    if kind == 'mass':
        return [inertia.mass]
    if kind == 'com':
        return list(inertia.com)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.matrix
    return [xx, yy, zz, xy, xz, yz]
