# SPDX-License-Identifier: Apache-2.0
"""Arguments and results of functions that are generated: entry by entry, and their names."""

from __future__ import annotations

from itertools import product
from typing import Any, Sequence

from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.codegen.tracing.interface import identifier, Input, Output
from flexdyn_ros.dynamics.articulated_body import factor_order
from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.model.records.robot import Robot

DIRECTIONS = ('x', 'y', 'z')
# Rows and columns of a homogeneous transform.
PLACES = range(1, 5)
# Fortran allows names of 63 characters; parts of a function add some.
NAME_LIMIT = 50


def function_identifier(requests: Sequence[Request]) -> str:
    """Return the name of the generated function; many functions together get a short one."""
    parts = [r.name if r.frame is None else f'{r.name}_{r.frame}' for r in requests]
    name = identifier('_'.join(parts))
    if len(name) <= NAME_LIMIT:
        return name
    if len(requests) == 1:
        return identifier(name[:NAME_LIMIT])
    return identifier(f'{requests[0].name}_and_{len(requests) - 1}_more')


def inputs_of(robot: Robot, requests: Sequence[Request]) -> list[Input]:
    """Return the vectors that the functions take, in the order of `functions.VECTORS`."""
    taken = {name for request in requests for name in request.function.inputs}
    names = robot.coordinate_names
    position = _position_entries(robot)
    known = {
        'q': position,
        'qd': tuple(f'rate of {name}' for name in names),
        'qdd': tuple(f'acceleration of {name}' for name in names),
        'joint_q': position[: robot.nq - robot.n_modes],
        'joint_qd': tuple(f'rate of {name}' for name in robot.joint_names),
        'joint_qdd': tuple(f'acceleration of {name}' for name in robot.joint_names),
        'modal_state': _modal_state_entries(robot),
        'step': ('size [s]', 'spectral radius'),
        'tau': tuple(f'force on {name}' for name in names),
    }
    return [Input(name, entries) for name, entries in known.items() if name in taken]


def _modal_state_entries(robot: Robot) -> tuple[str, ...]:
    """Return the meaning of each entry of a modal state, (4 n_modes,)."""
    parts = 'deflection', 'rate', 'acceleration', 'averaged acceleration'
    return tuple(f'{part} of {name}' for part in parts for name in robot.mode_names)


def _position_entries(robot: Robot) -> tuple[str, ...]:
    """Return the meaning of each entry of q, (nq,)."""
    entries: list[str] = []
    for joint in robot.joints:
        names = list(joint.position_names)
        at = joint.quaternion_place
        if at is not None:
            names[at : at + 4] = [f'{joint.name} quaternion {d}' for d in (*DIRECTIONS, 'w')]
        if joint.type == 'floating':
            names[:at] = [f'{joint.name} position {d}' for d in DIRECTIONS]
        entries += names
    return (*entries, *robot.mode_names)


def outputs_of(robot: Robot, request: Request) -> list[Output]:
    """Return the results of one function."""
    return [_output(robot, request, name, kind) for name, kind in request.function.outputs]


def _output(robot: Robot, request: Request, name: str, kind: str) -> Output:
    label, *axes = _labels(robot, request, name, kind)
    entries = tuple(label(*each) for each in product(*axes))
    return Output(name, tuple(map(len, axes)), entries)


def _labels(robot: Robot, request: Request, name: str, kind: str) -> Sequence[Any]:
    """Return the function from a label on each axis to an entry's meaning, and these labels."""
    coordinates, frame, constraints = robot.coordinate_names, request.frame, robot.constraint_names
    what = name.replace('_', ' ')
    twist = [f'{part} {d} of {frame}' for part in ('linear', 'angular') for d in DIRECTIONS]
    if kind.startswith('factor'):
        order = [coordinates[k] for k in factor_order(assemble(robot, {}))]
        if kind == 'factor':
            return (lambda a, b: f'U: {a}, {b}'), order, order
        return (lambda a: f'D: {a}'), order
    if kind == 'spatial inertia':
        return (lambda a, b: f'{what}: {a}, {b}'), twist, twist
    if kind in ('energy', 'power'):
        return (lambda: f'{what} [{"J" if kind == "energy" else "W"}]'),
    if kind in ('matrix', 'parameter matrix'):
        chosen = [entry for each in request.parameters for entry in each.input.entries]
        columns = coordinates if kind == 'matrix' else chosen
        return (lambda a, b: f'{name}: {a}, {b}'), coordinates, columns
    if kind == 'loop pose':
        loops = [f'{loop.frame1} in {loop.frame2}' for loop in robot.loops]
        parts = [f'row {i}, column {j}' for i in (1, 2, 3) for j in (1, 2, 3)]
        parts += [f'position {d}' for d in DIRECTIONS]
        return (lambda loop, part: f'{loop}: {part}'), loops, parts
    if kind in ('jacobian', 'loop jacobian'):
        rows = twist if kind == 'jacobian' else constraints
        return (lambda row, c: f'{row} for unit rate of {c}'), rows, coordinates
    if kind == 'loop jacobian slopes':
        rows = [f'{row} for unit rate of {c}' for row in constraints for c in coordinates]
        return (lambda row, c: f'{row}, by {c}'), rows, coordinates
    vectors: dict[str, Sequence[str]] = {
        'force': coordinates, 'acceleration': coordinates, 'velocity': coordinates,
        'configuration': _position_entries(robot), 'joint force': robot.joint_names,
        'modal acceleration': robot.mode_names, 'deflection': robot.mode_names,
    }
    if kind in vectors:
        return (lambda a: f'{what} of {a}'), vectors[kind]
    return {
        'modal state': (str, _modal_state_entries(robot)),
        'pose': (lambda i, j: f'pose of {frame}: row {i}, column {j}', PLACES, PLACES),
        'twist': (lambda row: f'dJ/dt qd, {row}', twist),
        'loop acceleration': (lambda row: f'dA/dt qd of {row}', constraints),
        'loop bias slopes': (
            lambda row, c: f'dA/dt qd of {row}, by {c}', constraints, coordinates,
        ),
    }[kind]
