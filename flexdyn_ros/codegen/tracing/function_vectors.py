# SPDX-License-Identifier: Apache-2.0
"""Arguments and results of functions that are generated: entry by entry, and their names."""

from __future__ import annotations

from typing import Optional, Sequence

from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.codegen.tracing.interface import identifier, Input, Output
from flexdyn_ros.dynamics.articulated_body import factor_order
from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.model.records.robot import Robot

DIRECTIONS = ('x', 'y', 'z')
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
    """Return what each entry of a modal state is, (4 n_modes,)."""
    parts = 'deflection', 'rate', 'acceleration', 'averaged acceleration'
    return tuple(f'{part} of {name}' for part in parts for name in robot.mode_names)


def _position_entries(robot: Robot) -> tuple[str, ...]:
    """Return what each entry of q is, (nq,)."""
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
    coordinates, frame = robot.coordinate_names, request.frame
    if kind == 'parameter matrix':
        columns = [entry for each in request.parameters for entry in each.input.entries]
        entries = tuple(f'{name}: {a}, {b}' for a in coordinates for b in columns)
        return Output(name, (robot.nv, len(columns)), entries)
    if kind == 'matrix':
        entries = tuple(f'{name}: {a}, {b}' for a in coordinates for b in coordinates)
        return Output(name, (robot.nv, robot.nv), entries)
    if kind.startswith('factor'):
        order = [coordinates[k] for k in factor_order(assemble(robot, {}))]
        if kind == 'factor':
            entries = tuple(f'U: {a}, {b}' for a in order for b in order)
            return Output(name, (robot.nv, robot.nv), entries)
        return Output(name, (robot.nv,), tuple(f'D: {each}' for each in order))
    if kind == 'pose':
        entries = tuple(f'pose of {frame}: row {i + 1}, column {j + 1}'
                        for i in range(4) for j in range(4))
        return Output(name, (4, 4), entries)
    if kind == 'jacobian':
        rows = _twist_entries(frame)
        entries = tuple(f'{row} for unit rate of {c}' for row in rows for c in coordinates)
        return Output(name, (6, robot.nv), entries)
    if kind == 'twist':
        return Output(name, (6,), tuple(f'dJ/dt qd, {row}' for row in _twist_entries(frame)))
    if kind.startswith('loop'):
        return _loop_output(robot, name, kind)
    if kind in ('energy', 'power'):
        unit = 'J' if kind == 'energy' else 'W'
        return Output(name, (), (f'{name.replace("_", " ")} [{unit}]',))
    if kind == 'modal state':
        return Output(name, (4 * robot.n_modes,), _modal_state_entries(robot))
    names = {
        'force': coordinates, 'acceleration': coordinates, 'velocity': coordinates,
        'configuration': _position_entries(robot),
        'joint force': robot.joint_names, 'modal acceleration': robot.mode_names,
        'deflection': robot.mode_names,
    }[kind]
    what = name.replace('_', ' ')
    return Output(name, (len(names),), tuple(f'{what} of {each}' for each in names))


def _loop_output(robot: Robot, name: str, kind: str) -> Output:
    if kind == 'loop pose':
        parts = [f'row {i}, column {j}' for i in (1, 2, 3) for j in (1, 2, 3)]
        parts += [f'position {d}' for d in DIRECTIONS]
        entries = tuple(
            f'{loop.frame1} in {loop.frame2}: {part}' for loop in robot.loops for part in parts
        )
        return Output(name, (len(robot.loops), 12), entries)
    rows = robot.constraint_names
    if kind == 'loop acceleration':
        return Output(name, (len(rows),), tuple(f'dA/dt qd of {row}' for row in rows))
    columns = robot.coordinate_names
    if kind == 'loop bias slopes':
        rows = tuple(f'dA/dt qd of {row}' for row in rows)
    else:
        rows = tuple(f'{row} for unit rate of {c}' for row in rows for c in columns)
    if kind == 'loop jacobian':
        return Output(name, (len(robot.constraint_names), robot.nv), rows)
    entries = tuple(f'{row}, by {c}' for row in rows for c in columns)
    return Output(name, (len(rows), robot.nv), entries)


def _twist_entries(frame: Optional[str]) -> list[str]:
    linear = [f'linear {d} of {frame}' for d in DIRECTIONS]
    return linear + [f'angular {d} of {frame}' for d in DIRECTIONS]
