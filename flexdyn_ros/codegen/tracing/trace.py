# SPDX-License-Identifier: Apache-2.0
"""
From a robot and the name of a function to a program: the algorithms run on symbols.

Before that, entries of rotations next to 0, 1 and -1 become exact. Descriptions write right angles
with ten digits (1.57079632679). Rotation matrices then hold entries of some 1e-12 in place of
zero. Each would cost operations in generated code. Forces change by about as much, relative to
their size, and accelerations by up to that times the condition number of the mass matrix.

Equivalent formulations of a function come first: those that suit a robot, and those compared.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Optional, Sequence

from flexdyn_ros.codegen.tracing.closed_form import (
    CLOSED_FORMS,
    ClosedFormDynamics,
    suits_closed_form,
)
from flexdyn_ros.codegen.tracing.function_vectors import function_identifier, inputs_of, outputs_of
from flexdyn_ros.codegen.tracing.functions import has_followers, read_function, Request
from flexdyn_ros.codegen.tracing.interface import Output, Trace
from flexdyn_ros.codegen.tracing.loads import (
    gravity_of,
    loaded_tree,
    Loads,
    read_loads,
    wrenches_of,
)
from flexdyn_ros.codegen.tracing.traced_derivatives import (
    DERIVATIVE_METHODS,
    DifferentiatedDynamics,
    DIRECTIONS,
    STRUCTURED,
)
from flexdyn_ros.codegen.tracing.traced_dynamics import (
    DENSE,
    MASS_MATRIX_METHODS,
    MIXED,
    RECURSIVE,
)
from flexdyn_ros.dynamics.base_parameters import regroup
from flexdyn_ros.dynamics.multibody import Body, Frame, Multibody
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.configuration import ConfigurationSpace
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.program import Program

# The mass matrix of a robot with more coordinates than this is not tried for accelerations: its
# factors grow with the cube of their number.
DENSE_LIMIT = 30
# Functions that a closed form computes.
CLOSED_FUNCTIONS = {
    'inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'bias_vector', 'coriolis_vector',
    'inertia_vector', 'gravity_vector', 'inverse_dynamics_derivatives',
    'forward_dynamics_derivatives',
}


def compared(robot: Robot, requests: Sequence[Request], quick: bool = False) -> tuple[str, ...]:
    """
    Return the formulations of which the cheapest one is taken.

    Args:
        robot: The robot.
        requests: The functions.
        quick: Whether only the ways to solve for accelerations are compared.
    """
    found = solving_methods(robot, requests)
    if quick:
        # The first way to derivatives costs less but for the shortest arms, where both do little.
        derives = any(request.function.derives for request in requests)
        return found[:1] if derives else found
    if robot.n_modes and _finds_mass_matrix(requests):
        found = (*found, MIXED)
    return (*found, *closed_forms(robot, requests))


def solving_methods(robot: Robot, requests: Sequence[Request]) -> tuple[str, ...]:
    """
    Return the ways to solve for accelerations that suit a robot; the cheapest may be taken.

    Coordinates that move several bodies at once (mimic joints) break the tree's recursion, and so
    do linearised deflections. With derivatives, the ways to find these; they solve by the mass
    matrix.
    """
    if any(request.function.derives for request in requests):
        # Composite bodies seen through King's first-order rotations, no rotations, are others, and
        # so are those of equations that are cut off.
        others = any(link.reduced_form for link in robot.links)
        return (DIRECTIONS,) if others else DERIVATIVE_METHODS
    if any(request.function.of_parameters and request.function.solves for request in requests):
        return (DENSE,)
    if not any(request.function.solves for request in requests):
        return (RECURSIVE,)
    if has_followers(robot) or any(link.is_linearised for link in robot.links):
        return (DENSE,)
    return (RECURSIVE, DENSE) if robot.nv <= DENSE_LIMIT else (RECURSIVE,)


def closed_forms(robot: Robot, requests: Sequence[Request]) -> tuple[str, ...]:
    """Return the closed forms that suit a robot and functions; the cheapest may be taken."""
    names = {request.name for request in requests}
    return CLOSED_FORMS if names & CLOSED_FUNCTIONS and suits_closed_form(robot) else ()


def methods(robot: Robot, requests: Sequence[Request]) -> tuple[str, ...]:
    """Return all permitted methods: closed forms, of the mass matrix, to solve."""
    closed = closed_forms(robot, requests)
    if any(request.function.solves or request.function.derives for request in requests):
        return (*solving_methods(robot, requests), *closed)
    return (*(MASS_MATRIX_METHODS if _finds_mass_matrix(requests) else ()), *closed)


def _finds_mass_matrix(requests: Sequence[Request]) -> bool:
    """Return whether the mass matrix is a result, and not a way to another one."""
    taken = any(request.function.solves or request.function.derives for request in requests)
    return not taken and any(request.name == 'mass_matrix' for request in requests)


# Right angles written with ten digits; forces change by less than 1e-11 relative.
ANGLE_TOLERANCE = 1e-9
# Round-off alone: cos(pi/2) in double precision is 6e-17.
ROUND_OFF = 1e-14


def trace(
    robot: Robot, function: str, arguments: Sequence[str] = (), **choices: Any
) -> Trace:
    """
    Return a function of a robot as a program.

    Args:
        robot: The robot; its numbers, gravity and payloads become constants.
        function: See `functions.read_function`.
        arguments: The quantities that stay arguments, see `loads.py`.
        choices: See `trace_requests`.

    Raises:
        ArgumentError: If a function or an argument is unknown.
        UnknownName: If a link or frame is unknown.
    """
    requests, loads = read_function(robot, function), read_loads(robot, arguments)
    return trace_requests(robot, function, requests, loads, **choices)


def trace_requests(
    robot: Robot,
    function: str,
    requests: Sequence[Request],
    loads: Loads,
    method: Optional[str] = None,
    base_parameters: bool = True,
    rotation_tolerance: float = ANGLE_TOLERANCE,
    pivots: bool = False,
) -> Trace:
    """
    Return a function as a program; see `trace`.

    Args:
        robot: The robot.
        function: The request.
        requests: The same, read.
        loads: The quantities that stay arguments.
        method: Method that solves for accelerations (`solving_methods`); the first of them when
            None.
        base_parameters: Whether inertial parameters are regrouped.
        rotation_tolerance: Distance from 0, 1 and -1 within which entries of rotations are
            rounded; 0 for none.
        pivots: Whether the pivots met while solving are a last output.
    """
    requests = [_about_parameters(request, loads) for request in requests]
    graph = Graph()
    inputs = inputs_of(robot, requests)
    vectors = {each.name: [graph.symbol(name) for name in each.symbols] for each in inputs}
    tree = _round_rotations(loaded_tree(robot, loads, graph), rotation_tolerance)
    # Nothing moves the root body: frames on it need no inertia, and base parameters end there.
    method = solving_methods(robot, requests)[0] if method is None else method
    if base_parameters and not any(request.function.of_bodies for request in requests):
        tree = regroup(tree, axisymmetric=method != STRUCTURED)
    kind = ClosedFormDynamics if method in CLOSED_FORMS else DifferentiatedDynamics
    dynamics = kind(tree, robot.n_joints, gravity_of(robot, loads, graph), method, graph)
    outputs: list[Output] = []
    values: list[Any] = []
    parameters = [graph.symbol(x) for each in loads.inputs_by_kind()[2] for x in each.symbols]
    for request in requests:
        found = dynamics.evaluate(
            request.name, [vectors[name] for name in request.function.inputs], request.frame,
            parameters, wrenches_of(loads, graph),
        )
        results = outputs_of(robot, request)
        for output, result in zip(results, found if len(results) > 1 else (found,)):
            outputs.append(output)
            values += _flat(result)
    if pivots and dynamics.pivots:
        names = tuple(f'pivot {k + 1}' for k in range(len(dynamics.pivots)))
        outputs.append(Output('pivots', (len(names),), names))
        values += dynamics.pivots
    nodes = tuple(graph.lift(value) for value in values)
    program = Program(graph, nodes, tuple(graph.nodes))
    solved = any(request.function.solves for request in requests)
    choices = (method,) if solved or method != RECURSIVE else ()
    return Trace(
        robot.name, function, function_identifier(requests), (*inputs, *loads.inputs()),
        _distinct(outputs, requests), program, robot.coordinate_names,
        ConfigurationSpace(robot).velocity_of, choices,
    )


def _about_parameters(request: Request, loads: Loads) -> Request:
    """Return a request with the parameters that it is about, all those among the arguments."""
    if not request.function.of_parameters:
        return request
    if not loads.parameters:
        raise ArgumentError(
            'arguments', f'names no parameter; "{request.name}" needs at least one, such as '
            '"<link>/mass"'
        )
    return replace(request, parameters=loads.parameters)


def _flat(value: Any) -> list:
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in _flat(item)]
    return [value]


def _distinct(outputs: list[Output], requests: Sequence[Request]) -> tuple[Output, ...]:
    """Return the outputs with different names, distinguished by frames."""
    names = [output.name for output in outputs]
    result, frames = [], [r.frame for r in requests for _ in r.function.outputs] + [None]
    for output, frame in zip(outputs, frames):
        if names.count(output.name) > 1:
            output = replace(output, name=f'{output.name}:{frame}')
        result.append(output)
    return tuple(result)


def _round_rotations(tree: Multibody, tolerance: float) -> Multibody:
    """Return the tree with rotations and axes exact where they are within `tolerance` of it."""
    if tolerance <= 0.0:
        return tree
    return replace(
        tree,
        bodies=tuple(_round_body(body, tolerance) for body in tree.bodies),
        frames={
            name: Frame(frame.body, frame.position, _rounded(frame.rotation, tolerance))
            for name, frame in tree.frames.items()
        },
    )


def _round_body(body: Body, tolerance: float) -> Body:
    joint = body.joint
    plane = joint.plane if joint.plane is None else _rounded(joint.plane, tolerance)
    axes = tuple(
        replace(each, direction=_rounded(each.direction, tolerance)) for each in joint.axes
    )
    joint = replace(joint, axis=_rounded(joint.axis, tolerance), plane=plane, axes=axes)
    return replace(body, joint=joint, rotation=_rounded(body.rotation, tolerance))


def _rounded(value: Any, tolerance: float) -> Any:
    """Return a number, or a tuple of them at any depth, rounded where it is close."""
    if isinstance(value, tuple):
        return tuple(_rounded(item, tolerance) for item in value)
    if isinstance(value, float) and value != round(value) and abs(value) < 2.0:
        nearest = float(round(value))
        return nearest if abs(value - nearest) <= tolerance else value
    return value
