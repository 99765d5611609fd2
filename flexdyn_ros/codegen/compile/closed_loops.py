# SPDX-License-Identifier: Apache-2.0
"""
C of the functions that loops solve by rank, put after the robot's equations.

`spaces.h` and `loops.h` of `closed_chains/` solve them at each call; here are the sizes, tables
and tolerances that they read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Iterable, Sequence

from flexdyn_ros import closed_chains
from flexdyn_ros.codegen.export.writer import WIDTH, wrap
from flexdyn_ros.dynamics import loop_tolerances
from flexdyn_ros.model.configuration import ConfigurationSpace
from flexdyn_ros.model.loop_layout import LoopLayout
from flexdyn_ros.model.records.robot import Robot

# After the loads of a function: the largest constraint error that it takes, as a fraction of the
# loop's length [- | rad]. Then the rank of the constraints plus one, or zero to find it.
SETTINGS = 2


def closing_source(robot: Robot, loads: int, work: int) -> str:
    """
    Return C of the functions of a robot with loops.

    Args:
        robot: The robot.
        loads: Numbers that follow q and qd in the input of the equations.
        work: Numbers that the equations need for their work.
    """
    layout, space = LoopLayout(robot), ConfigurationSpace(robot)
    given = {*layout.actuated, *layout.prescribed}
    moving = [k for k in range(robot.nv) if k not in given]
    constrained = [loop.directions for loop in robot.loops]
    sizes = {
        'NQ': robot.nq, 'NV': robot.nv, 'N_JOINTS': robot.n_joints, 'LOOPS': len(robot.loops),
        'N': len(layout.lengths), 'TAIL': loads, 'WORK': work, 'MOVING': len(moving),
        'HELD': len(layout.prescribed), 'GROUPS': len(layout.groups),
        'SIZE': max(robot.nv, len(layout.lengths)),
        'PLAIN': len(space.plain_q), 'FLOATING': len(space.floating),
        'QUATERNIONS': len(space.quaternions),
    }
    tables = {
        'all': range(robot.nv), 'moving': moving, 'plain_q': space.plain_q.tolist(),
        'plain_v': space.plain_v.tolist(), 'floating': sum(space.floating, ()),
        'quaternions': sum(space.quaternions, ()),
        'groups': [k for group in layout.groups for k in group],
        'group_sizes': [len(group) for group in layout.groups],
        'constrained': map(len, constrained),
    }
    rows = ', '.join(f'{{{_listed(row)}}}' for row in constrained)
    lines = [f'enum {{ {name} = {value} }};' for name, value in sizes.items()]
    lines += [
        f'static const double {name} = {value!r};'
        for name, value in vars(loop_tolerances).items() if name.isupper()
    ]
    for name, values in tables.items():
        lines += _table('int', f'{name}[]', _listed(values) or '0')
    lines += _table('int', 'directions[][6]', rows)
    lines += _table('double', 'lengths[]', _listed(map(float, layout.lengths)))
    lines += [
        Path(closed_chains.__file__).with_name(name).read_text(encoding='utf-8')
        for name in ('spaces.h', 'loops.h')
    ]
    return '\n'.join(lines)


def _listed(values: Iterable[Any]) -> str:
    return ', '.join(map(repr, values))


def _table(kind: str, name: str, values: str) -> Sequence[str]:
    return wrap(f'static const {kind} {name} = {{', values, '};', '', WIDTH)
