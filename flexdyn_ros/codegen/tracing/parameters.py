# SPDX-License-Identifier: Apache-2.0
"""
Parameters of a model that can stay arguments of a generated function.

- `<link>/mass` [kg], `<link>/com` (3) [m], `<link>/inertia` (6: xx yy zz xy xz yz about the
  centre of mass, link axes) [kg m^2] of links with an <inertial>; of a beam's hub where the link
  is flexible;
- `<joint>/viscous` [N m s/rad | N s/m] and `<joint>/coulomb` [N m | N] of every driven joint,
  which has one axis, and its `<joint>/rotor_inertia` [kg m^2 | kg], before the gear;
- `<joint>/stiffness` [N m/rad | N/m] and `<joint>/damping` [N m s/rad | N s/m] of the spring of
  elastic joints; the stiffness only where it is a number and no table;
- `<mode>/stiffness` [N/m | N m/rad] and `<mode>/damping` [N s/m | N m s/rad] of beam modes, such
  as `boom/bending_y1/stiffness`: the mode's own entry of the modal matrices; and of the passive
  joints between segments. The stiffness that a nonlinear spring replaces is none.

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
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.joint import Friction, Joint
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.symbolic.graph import Graph

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


def with_parameters(
    robot: Robot,
    payloads: Mapping[str, Inertia],
    parameters: Sequence[Parameter],
    graph: Graph,
    places: Mapping[str, Vector],
) -> Multibody:
    """Return the tree of bodies with symbols for the parameters; see `assemble` for places."""
    symbols = {
        (p.owner, p.kind): [graph.symbol(name) for name in p.input.symbols] for p in parameters
    }
    return with_scalars(robot, payloads, symbols, places)


def with_scalars(
    robot: Robot,
    payloads: Mapping[str, Inertia],
    symbols: Mapping[tuple[str, str], Sequence[Any]],
    places: Mapping[str, Vector] = MappingProxyType({}),
) -> Multibody:
    """Return the tree of bodies with scalars of any kind for parameters, by owner and kind."""
    tree = assemble(_with_inertias(robot, symbols), payloads, places)
    tree = _with_drives(robot, tree, symbols)
    tree = _with_passive_joints(robot, tree, symbols)
    return _with_modes(robot, tree, symbols)


def _with_inertias(robot: Robot, symbols: Mapping) -> Robot:
    """Return the robot with symbolic link inertias, and with a term for each symbolic loss."""
    links = []
    for link in robot.links:
        mass = symbols.get((link.name, 'mass'))
        com = symbols.get((link.name, 'com'))
        moments = symbols.get((link.name, 'inertia'))
        own = link.inertia
        if own is not None and (mass or com or moments):
            link = replace(link, inertia=Inertia(
                mass[0] if mass else own.mass,
                tuple(com) if com else own.com,
                symmetric_matrix(moments) if moments else own.matrix,
            ))
        links.append(link)
    joints = [_with_losses(joint, symbols) for joint in robot.joints]
    return replace(robot, links=tuple(links), joints=tuple(joints))


def _with_losses(joint: Joint, symbols: Mapping) -> Joint:
    """Return the joint with a number that is not zero where a symbol is to stand."""
    drive = joint.dynamics
    wanted = {kind for owner, kind in symbols if owner == joint.name}
    if wanted & {'viscous', 'coulomb'}:
        law: Friction = replace(drive.friction, viscous=drive.friction.viscous or 1.0)
        drive = replace(drive, friction=law)
    if 'rotor_inertia' in wanted:
        drive = replace(drive, rotor_inertia=drive.rotor_inertia or 1.0)
    return replace(joint, dynamics=drive)


def _with_drives(robot: Robot, tree: Multibody, symbols: Mapping) -> Multibody:
    """Return the tree with symbolic friction, rotors and springs."""
    friction, rotors, springs = list(tree.friction), list(tree.rotors), list(tree.springs)
    losses, rotor, spring = 0, 0, 0
    for plain in robot.joints:
        joint = _with_losses(plain, symbols)
        if _has_losses(joint):
            friction[losses] = _loss(friction[losses], plain, symbols)
            losses += 1
        if joint.type in DRIVEN and joint.dynamics.reflected_inertia:
            symbol = symbols.get((joint.name, 'rotor_inertia'))
            if symbol:
                index = rotors[rotor][0]
                ratio = joint.mimic.multiplier if joint.mimic else 1.0
                factor = (ratio * joint.dynamics.gear_ratio) ** 2
                rotors[rotor] = (index, factor * symbol[0])
            rotor += 1
        if joint.elastic_name:
            found = springs[spring]
            springs[spring] = replace(
                found,
                stiffness=_value(symbols, joint.name, 'stiffness', found.stiffness),
                damping=_value(symbols, joint.name, 'damping', found.damping),
            )
            spring += 1
    return replace(
        tree, friction=tuple(friction), rotors=tuple(rotors), springs=tuple(springs)
    )


def _has_losses(joint: Joint) -> bool:
    """Return whether the tree has a friction term for a joint."""
    drive, law = joint.dynamics, joint.dynamics.friction
    viscous = law.viscous + (0.0 if drive.elastic else drive.damping)
    return joint.type in DRIVEN and bool(viscous or law.coulomb or law.breakaway)


def _loss(term: Any, joint: Joint, symbols: Mapping) -> Any:
    """Return a friction term with its symbols; a Stribeck level equal to Coulomb's follows it."""
    law, drive = joint.dynamics.friction, joint.dynamics
    viscous = law.viscous + (0.0 if drive.elastic else drive.damping)
    coulomb = _value(symbols, joint.name, 'coulomb', law.coulomb)
    stribeck = coulomb if law.breakaway == law.coulomb else law.breakaway
    return replace(
        term,
        viscous=_value(symbols, joint.name, 'viscous', viscous),
        coulomb=coulomb,
        stribeck=stribeck,
    )


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
        name = robot.coordinate_names[spring.velocity_index]
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


def symmetric_matrix(values: Sequence) -> tuple:
    """Return a symmetric matrix from its entries xx, yy, zz, xy, xz, yz."""
    xx, yy, zz, xy, xz, yz = values
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
