# SPDX-License-Identifier: Apache-2.0
"""
Parameters of a model that can stay arguments of a generated function.

- `<link>/mass` [kg], `<link>/com` (3) [m], `<link>/inertia` (6) [kg m^2] of links with an
  <inertial>. The inertia is xx yy zz xy xz yz about the centre of mass, in link axes. Of a
  flexible link they are those of the beam's hub.
- `<joint>/viscous` [N m s/rad | N s/m] and `<joint>/coulomb` [N m | N] of every driven joint of
  one axis. Its `<joint>/rotor_inertia` [kg m^2 | kg] is that before the gear.
- `<joint>/stiffness` [N m/rad | N/m] and `<joint>/damping` [N m s/rad | N s/m] of the spring of
  elastic joints. A table has no such stiffness.
- `<mode>/stiffness` [N/m | N m/rad] and `<mode>/damping` [N s/m | N m s/rad] of beam modes, such
  as `boom/bending_y1/stiffness`. They are the mode's own entry of the modal matrices. Passive
  joints between segments have them too. The stiffness that a nonlinear spring replaces is none.

Inertias that depend on a symbol are left out of the regrouping of inertial parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Iterator, Mapping, Optional, Sequence

from flexdyn_ros.codegen.tracing.interface import identifier, Input
from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.dynamics.joint_terms import DRIVEN
from flexdyn_ros.dynamics.multibody import Body, Multibody
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.errors import ArgumentError, did_you_mean
from flexdyn_ros.model.records.base import symmetric_matrix
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.joint import Joint, JointDynamics
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot

MOMENTS = ('xx', 'yy', 'zz', 'xy', 'xz', 'yz')


@dataclass(frozen=True)
class Parameter:
    """A parameter: its owner (link, joint or mode), its kind and its argument."""

    owner: str
    kind: str
    input: Input


def find_parameter(robot: Robot, name: str) -> Optional[Parameter]:
    """Return the parameter of this name, or None."""
    return next((p for p in _parameters(robot) if f'{p.owner}/{p.kind}' == name), None)


def parameter_names(robot: Robot) -> list[str]:
    """Return the names of all parameters that a robot has."""
    return [f'{p.owner}/{p.kind}' for p in _parameters(robot)]


def _parameters(robot: Robot) -> Iterator[Parameter]:
    for link in robot.links:
        if link.inertia is not None:
            yield _parameter(link.name, 'mass')
            yield _parameter(link.name, 'com', 'xyz')
            yield _parameter(link.name, 'inertia', MOMENTS)
        for mode in link.mode_names:
            if mode not in link.replaced_modes:
                yield _parameter(mode, 'stiffness')
            yield _parameter(mode, 'damping')
    for joint in robot.joints:
        if joint.type in DRIVEN:
            yield _parameter(joint.name, 'viscous')
            yield _parameter(joint.name, 'coulomb')
            yield _parameter(joint.name, 'rotor_inertia')
        if joint.elastic_name:
            if joint.dynamics.stiffness is not None:
                yield _parameter(joint.name, 'stiffness')
            yield _parameter(joint.name, 'damping')


def _parameter(owner: str, kind: str, entries: Sequence[str] = ()) -> Parameter:
    name = identifier(f'{owner}_{kind}')
    words = tuple(f'{owner} {kind} {entry}'.rstrip() for entry in entries or ('',))
    return Parameter(owner, kind, Input(name, words, scalar=not entries))


def with_scalars(
    robot: Robot,
    payloads: Mapping[str, Inertia],
    symbols: Mapping[tuple[str, str], Sequence[Any]],
    places: Mapping[str, Vector] = MappingProxyType({}),
) -> Multibody:
    """Return the tree of bodies with scalars of any kind for parameters, by owner and kind."""
    links = tuple(_with_inertia(link, symbols) for link in robot.links)
    joints = tuple(
        replace(joint, dynamics=_with_drive(joint, symbols)) for joint in robot.joints
    )
    tree = assemble(replace(robot, links=links, joints=joints), payloads, places)
    return _with_modes(robot, _with_passive_joints(robot, tree, symbols), symbols)


def _with_inertia(link: Link, symbols: Mapping) -> Link:
    """Return the link with symbols in its inertia."""
    mass, com, moments = (symbols.get((link.name, kind)) for kind in ('mass', 'com', 'inertia'))
    given = link.inertia
    if given is None or not (mass or com or moments):
        return link
    return replace(link, inertia=Inertia(
        mass[0] if mass else given.mass,
        tuple(com) if com else given.com,
        symmetric_matrix(moments) if moments else given.matrix,
    ))


def _with_drive(joint: Joint, symbols: Mapping) -> JointDynamics:
    """Return a joint's drive with its symbols; a Stribeck level equal to Coulomb's follows it."""
    drive, law = joint.dynamics, joint.dynamics.friction
    known = {kind: values[0] for (owner, kind), values in symbols.items() if owner == joint.name}
    if 'viscous' in known and not drive.elastic:
        drive = replace(drive, damping=0.0)
    if 'coulomb' in known and law.breakaway == law.coulomb:
        law = replace(law, stribeck=None)
    law = replace(law, **{kind: known[kind] for kind in ('viscous', 'coulomb') if kind in known})
    kinds = ('rotor_inertia', 'stiffness', 'damping')
    return replace(drive, friction=law, **{kind: known[kind] for kind in kinds if kind in known})


def _with_modes(robot: Robot, tree: Multibody, symbols: Mapping) -> Multibody:
    """Return the tree with symbolic modal stiffness and damping."""
    bodies = list(tree.bodies)
    for index, body in enumerate(bodies):
        stiffness = _symbolic_diagonal(robot, body, body.modal.stiffness, 'stiffness', symbols)
        damping = _symbolic_diagonal(robot, body, body.modal.damping, 'damping', symbols)
        if body.n_modes:
            modal = replace(body.modal, stiffness=stiffness, damping=damping)
            bodies[index] = replace(body, modal=modal)
    return replace(tree, bodies=tuple(bodies))


def _with_passive_joints(robot: Robot, tree: Multibody, symbols: Mapping) -> Multibody:
    """Return the tree with symbolic springs and dampers between segments."""
    owners = {name for link in robot.links if link.segments for name in link.mode_names}
    springs = []
    for spring in tree.springs:
        name = robot.coordinate_names[spring.terms[0].velocity_index]
        if name in owners and spring.law is None:
            spring = replace(
                spring,
                stiffness=_value(symbols, name, 'stiffness', spring.stiffness),
                damping=_value(symbols, name, 'damping', spring.damping),
            )
        springs.append(spring)
    return replace(tree, springs=tuple(springs))


def _symbolic_diagonal(
    robot: Robot, body: Body, matrix: tuple, kind: str, symbols: Mapping
) -> tuple:
    names = robot.coordinate_names[body.velocity_modes : body.velocity_modes + body.n_modes]
    return tuple(
        tuple(
            _value(symbols, names[k], kind, x) if k == other else x for other, x in enumerate(row)
        )
        for k, row in enumerate(matrix)
    )


def _value(symbols: Mapping, owner: str, kind: str, value: Any) -> Any:
    symbol = symbols.get((owner, kind))
    return symbol[0] if symbol else value


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
            hint = parameter_hint(str(name), tuple(parameter_names(robot)))
            raise ArgumentError('parameters', f'names "{name}", which is not a parameter. {hint}')
        if parameter in found:
            raise ArgumentError('parameters', f'names "{name}" twice. Keep one')
        found.append(parameter)
        values += _values(robot, parameter)
    return ChosenParameters(robot, tuple(found), tuple(values))


def _values(robot: Robot, parameter: Parameter) -> list[float]:
    """Return the numbers that a parameter has in the model."""
    owner, kind = parameter.owner, parameter.kind
    if kind in ('mass', 'com', 'inertia'):
        inertia = robot.link(owner).inertia
        assert inertia is not None
        values = {'mass': (inertia.mass,), 'com': inertia.com, 'inertia': inertia.entries}
        return list(values[kind])
    if owner in robot.mode_names:
        return [_modal_value(robot, owner, kind)]
    drive = robot.joint(owner).dynamics
    return [getattr(drive.losses if kind in ('viscous', 'coulomb') else drive, kind)]


def _modal_value(robot: Robot, mode: str, kind: str) -> float:
    """Return the stiffness or damping of a mode, or of a passive joint between segments."""
    tree, index = assemble(robot, {}), robot.coordinate_names.index(mode)
    link = next(link for link in robot.links if mode in link.mode_names)
    if link.segments:
        spring = next(each for each in tree.springs if each.terms[0].velocity_index == index)
        return getattr(spring, kind)
    body = next(each for each in tree.bodies if 0 <= index - each.velocity_modes < each.n_modes)
    k = index - body.velocity_modes
    return getattr(body.modal, kind)[k][k]


def parameter_hint(name: str, known: Sequence[str]) -> str:
    """Return a hint on an unknown parameter name: the nearest name, or the known names."""
    owner, _, kind = name.rpartition('/')
    if kind in ('damping', 'friction') and f'{owner}/viscous' in known:
        return (
            f'URDF damping of a joint without a spring is "{owner}/viscous", and URDF friction '
            f'"{owner}/coulomb"'
        )
    return did_you_mean(name, known)
