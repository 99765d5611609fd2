# SPDX-License-Identifier: Apache-2.0
"""
Arguments of a generated function besides positions, rates and forces.

- "gravity": acceleration of gravity in the root frame, 3 numbers.
- "payload" or "payload:<link>": a rigid body on a link, by default the last link of the deepest
  chain. It replaces the one that the description declares there. Its 10 numbers are mass, centre
  of mass x y z, ixx iyy izz ixy ixz iyz about it, in link axes. On a flexible link it rides on the
  cross-section at the beam's tip, in segments on the last one.
- "wrench:<frame>": force and moment on the robot at the frame's origin, root axes, 6 numbers.
  "wrench:<frame>@<axes>": the same in the axes of a second frame, such as the frame itself.
- the name of a parameter, see `parameters.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Mapping, Optional, Sequence

from flexdyn_ros.arguments import names as names_of
from flexdyn_ros.codegen.tracing.functions import tip_link
from flexdyn_ros.codegen.tracing.interface import identifier, Input, told_apart
from flexdyn_ros.codegen.tracing.parameters import (
    find_parameter,
    Parameter,
    parameter_hint,
    parameter_names,
    with_scalars,
)
from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.newton_euler import FrameWrench
from flexdyn_ros.dynamics.spatial import add_matrices, outer, scale, scale_matrix, subtract
from flexdyn_ros.errors import ArgumentError, require_known
from flexdyn_ros.model.records.base import symmetric_matrix
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.symbolic.graph import Expression, Graph

GRAVITY_ENTRIES = tuple(f'gravity {d} [m/s^2]' for d in 'xyz')
PAYLOAD_ENTRIES = (
    'mass [kg]', 'centre of mass x [m]', 'centre of mass y [m]', 'centre of mass z [m]',
    'ixx [kg m^2]', 'iyy [kg m^2]', 'izz [kg m^2]', 'ixy [kg m^2]', 'ixz [kg m^2]', 'iyz [kg m^2]',
)
WRENCH_ENTRIES = (
    'force x [N]', 'force y [N]', 'force z [N]', 'moment x [N m]', 'moment y [N m]',
    'moment z [N m]',
)


@dataclass(frozen=True)
class Loads:
    """
    The quantities that stay arguments.

    Attributes:
        gravity: Whether gravity does.
        payloads: Links whose payload does.
        sections: For payloads on flexible links, the point [m] that chooses the cross-section or
            the segment; the beam's tip where a link is missing. On a cross-section the point stays
            the centre of mass.
        wrenches: Frames that a wrench acts on.
        axes: Frame whose axes a frame's wrench is given in, where they are not the root's.
        parameters: Parameters of the model.
        plain_payload: The link whose payload's argument is called `payload`.
    """

    gravity: bool = False
    payloads: tuple[str, ...] = ()
    sections: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    wrenches: tuple[str, ...] = ()
    axes: Mapping[str, str] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    plain_payload: Optional[str] = None

    def inputs(self) -> list[Input]:
        """Return the arguments, in the order gravity, payloads, wrenches, parameters."""
        found = [Input('gravity', GRAVITY_ENTRIES)] if self.gravity else []
        for link in self.payloads:
            entries = tuple(f'payload of {link}: {entry}' for entry in PAYLOAD_ENTRIES)
            plain = link == self.plain_payload
            found.append(Input('payload' if plain else f'payload_{identifier(link)}', entries))
        for frame in self.wrenches:
            where = f' in axes of {self.axes[frame]}' if frame in self.axes else ''
            entries = tuple(f'wrench on {frame}{where}: {entry}' for entry in WRENCH_ENTRIES)
            found.append(Input(f'wrench_{identifier(frame)}', entries))
        found += [parameter.input for parameter in self.parameters]
        return told_apart(found)

    def inputs_by_kind(self) -> tuple[list[Input], ...]:
        """Return the arguments of payloads, of wrenches, and of parameters."""
        rest = iter(self.inputs()[int(self.gravity) :])
        kinds = (self.payloads, self.wrenches, self.parameters)
        return tuple([next(rest) for _ in names] for names in kinds)


def read_loads(robot: Robot, arguments: Sequence[str]) -> Loads:
    """
    Return the loads of a list of argument names.

    Raises:
        ArgumentError: If a name is unknown or comes twice.
        UnknownName: If a link or frame is unknown.
    """
    arguments = names_of('arguments', arguments)
    loads = Loads()
    for text in arguments:
        kind, separator, name = text.partition(':')
        if text == 'gravity':
            loads = replace(loads, gravity=True)
        elif kind == 'payload':
            link = robot.link(name).name if separator else tip_link(robot)
            if robot.pieces(link):
                own = ', '.join(f'payload:{piece.name}' for piece in robot.pieces(link))
                raise ArgumentError(
                    'arguments', f'names "{text}", a link that its beams divide. Write {own}')
            plain = loads.plain_payload if separator else link
            loads = replace(loads, payloads=(*loads.payloads, link), plain_payload=plain)
        elif kind == 'wrench' and separator:
            name, turned, axes = name.partition('@')
            require_known('frame', (name, axes) if turned else (name,), robot.frame_names)
            loads = replace(loads, wrenches=(*loads.wrenches, name))
            if turned:
                loads = replace(loads, axes={**loads.axes, name: axes})
        else:
            parameter = find_parameter(robot, text)
            if parameter is None:
                raise _unknown(robot, text)
            loads = replace(loads, parameters=(*loads.parameters, parameter))
    for each in (arguments, loads.payloads, loads.wrenches):
        for name in each:
            if each.count(name) > 1:
                raise ArgumentError('arguments', f'names "{name}" twice. Keep one')
    return loads


def _unknown(robot: Robot, text: str) -> ArgumentError:
    known = ['gravity', 'payload', *parameter_names(robot)]
    known += [f'payload:{link}' for link in robot.frame_names]
    known += [f'wrench:{frame}' for frame in robot.frame_names]
    return ArgumentError(
        'arguments', f'names "{text}", which is not an argument of this robot. '
        f'{parameter_hint(text, known)}'
    )


def loaded_tree(robot: Robot, loads: Loads, graph: Graph) -> Multibody:
    """Return the tree of bodies with symbols for the loads; wrenches are separate."""
    payloads: dict[str, Any] = {
        payload.link: payload.inertia for payload in robot.payloads
    }
    tips = []
    places = {}
    of_payloads, _, of_parameters = loads.inputs_by_kind()
    for link, given in zip(loads.payloads, of_payloads):
        values = _symbols(graph, given)
        mass, com, matrix = values[0], tuple(values[1:4]), symmetric_matrix(values[4:])
        if robot.link(link).segments is not None:
            places[link] = loads.sections.get(link) or _tip(robot, link)
        elif robot.link(link).mode_names:
            section = loads.sections.get(link)
            if section is None:
                section = _tip(robot, link)
                tips.append((link, mass, subtract(com, section)))
            com = section
        payloads[link] = Inertia(mass, com, matrix)
    symbols = {
        (p.owner, p.kind): _symbols(graph, given)
        for p, given in zip(loads.parameters, of_parameters)
    }
    tree = with_scalars(robot, payloads, symbols, places)
    order = list(payloads)
    for link, mass, offset in tips:
        until = {name: payloads[name] for name in order[: order.index(link) + 1]}
        tree = _off_section(tree, len(assemble(robot, until, places).bodies) - 1, mass, offset)
    return _kept_symbolic(tree, graph)


def _kept_symbolic(tree: Multibody, graph: Graph) -> Multibody:
    """Return the tree with a symbolic mass wherever a moment is: regrouping leaves it alone."""
    bodies = []
    for body in tree.bodies:
        numbers = (*body.first_moment, *(x for row in body.second_moment for x in row))
        if any(isinstance(x, Expression) for x in numbers):
            body = replace(body, mass=graph.lift(body.mass))
        bodies.append(body)
    return replace(tree, bodies=tuple(bodies))


def _tip(robot: Robot, link: str) -> tuple[float, float, float]:
    modal = robot.link(link).modal
    if modal is not None:
        return modal.tip
    beam = robot.link(link).undeformed_beam
    assert beam is not None
    return scale(beam.length, beam.direction)


def _off_section(tree: Multibody, index: int, mass: Any, offset: tuple) -> Multibody:
    """
    Return the tree with a payload moved off the centre of its cross-section.

    Args:
        tree: The tree.
        index: Index of the payload's body.
        mass: Its mass.
        offset: Of its centre of mass, in link axes of the undeformed link [m].
    """
    body = tree.bodies[index]
    moved = replace(
        body,
        first_moment=scale(mass, offset),
        second_moment=add_matrices(body.second_moment, scale_matrix(mass, outer(offset, offset))),
    )
    return replace(tree, bodies=(*tree.bodies[:index], moved, *tree.bodies[index + 1 :]))


def _symbols(graph: Graph, given: Input) -> list:
    return [graph.symbol(name) for name in given.symbols]


def gravity_of(robot: Robot, loads: Loads, graph: Graph) -> tuple:
    """Return gravity as numbers or symbols."""
    return tuple(_symbols(graph, loads.inputs()[0])) if loads.gravity else robot.gravity_vector


def wrenches_of(loads: Loads, graph: Graph) -> list[FrameWrench]:
    """Return the wrenches as the algorithms take them."""
    found = []
    for frame, given in zip(loads.wrenches, loads.inputs_by_kind()[1]):
        values = _symbols(graph, given)
        found.append(
            FrameWrench(frame, tuple(values[:3]), tuple(values[3:]), loads.axes.get(frame))
        )
    return found
