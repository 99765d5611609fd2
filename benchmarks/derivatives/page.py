# SPDX-License-Identifier: Apache-2.0
"""The page on derivatives: their definition, their computation and their cost."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

import flexdyn_ros as fd
from flexdyn_ros.codegen.tracing.trace import trace
from flexdyn_ros.codegen.tracing.traced_derivatives import DIRECTIONS
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.symbolic.program import operation_counts
from validation.counts.dh_chain import chain, DhRow

URDF = Path(__file__).resolve().parents[2] / 'urdf'
LENGTHS = (5, 10, 20, 40)
RIGID = {'flexible_forearm': 'false', 'friction': 'false'}
INTRODUCTION = """\
<!-- Written by `make counts`; edit benchmarks/derivatives instead. -->
# Derivatives

```python
import flexdyn_ros as fd

robot = fd.load_robot('package://flexdyn_ros/urdf/two_link_arm.urdf.xacro')
dyn = fd.Dynamics(robot)
q = qd = qdd = tau = [0.0] * robot.nv
by_q, by_qd, mass = dyn.inverse_dynamics_derivatives(q, qd, qdd)      # of the torques
by_q, by_qd, by_tau = dyn.forward_dynamics_derivatives(q, qd, tau)    # of the accelerations
by_mass = dyn.inverse_dynamics_parameter_derivatives(q, qd, qdd, ['tip/mass'])
a, b = fd.linearise(dyn, q, qd, tau)                                  # dx/dt = A x + B u
```

All are exact, with payloads, gravity, wrenches and friction as set. With loops they hold for
displacements and changes of velocity that keep the loops closed, where their rank does not change.
Column k by position belongs to a displacement of velocity coordinate k. This is a change of q,
with two exceptions in body axes. A quaternion has a rotation vector, and a floating joint's
position a translation. `linearise` has the same x = (displacement, velocity); u are the joint
torques.

Parameters have the names of the arguments of generated code: `<link>/mass`, `<link>/com`,
`<link>/inertia`, `<joint>/viscous`, `<joint>/coulomb`, `<joint>/rotor_inertia`,
`<joint>/stiffness`, `<joint>/damping`, `<mode>/stiffness`, `<mode>/damping`.

## Method
The reference backend runs the algorithms on dual numbers. Generated code differentiates on the
expression graph, in the cheaper of two ways:

- **directions**: one direction after another through the whole graph. Terms independent of the
  direction are zero and cost nothing. Equal expressions are computed once.
- **rows and columns**: composite bodies. The force on a coordinate depends on inward bodies
  through the motion of its body, and on outward bodies through the wrench on it. The first
  dependence is a row, the second a column; both are propagated inward. To changes (dw, d alpha + w
  x dw, da) of a body's motion, all that it carries responds with its composite inertia. The
  response to dw takes 12 more numbers. Only terms of one body are differentiated on the graph.
  Flexible links and all joint types therefore need no special case.

Derivatives of forward dynamics are -M^-1 times those of inverse dynamics at the accelerations,
with one factorisation of M. `fd.generate(robot, 'inverse_dynamics_derivatives')` writes C, Python
or Fortran; `method` selects the way.

## Cost
Operations of the generated C after all passes (multiplications and divisions + additions + calls).
Derivatives of inverse dynamics include the mass matrix. In parentheses: multiples of the function
itself.

| robot | nv | inverse dynamics | its derivatives | way | forward dynamics | its derivatives |
|---|---:|---:|---:|---|---:|---:|
"""
CHAINS = """
Rigid chains of n joints in general position (no right angle, no zero), as traced, before passes:

| n | inverse dynamics | directions | rows and columns | ratio |
|---:|---:|---:|---:|---:|
"""


def page(tell: Callable[[str], None]) -> str:
    """Return docs/derivatives.md."""
    lines = [count_row(label, robot, tell) for label, robot in robots()]
    chains = [_chain_row(n, tell) for n in LENGTHS]
    return INTRODUCTION + '\n'.join(lines) + '\n' + CHAINS + '\n'.join(chains) + '\n'


def robots() -> list[tuple[str, Robot]]:
    """Return the robots of the table with their labels."""
    cobot = URDF / 'cobot7.urdf.xacro'
    return [
        ('Puma 560', fd.load_robot(URDF / 'puma560.urdf.xacro')),
        ('cobot7, rigid', fd.load_robot(cobot, xacro_arguments=RIGID)),
        ('7 joints in general position', general_chain(7)),
        ('flexible Canadarm', fd.load_robot(URDF / 'canadarm.urdf.xacro')),
        ('two flexible links', fd.load_robot(URDF / 'two_link_arm.urdf.xacro')),
        ('cobot7, flexible forearm', fd.load_robot(cobot)),
    ]


def general_chain(n: int) -> Robot:
    """Return a rigid arm of n equal links without right angles or zeros."""
    row = DhRow(
        alpha=40.0, a=0.3, d=0.1, mass=2.0, com=(-0.1, 0.02, 0.05), moments=(0.02, 0.03, 0.04)
    )
    return chain(f'chain{n}', [row] * n)


def count_row(label: str, robot: Robot, tell: Callable[[str], None]) -> str:
    """Return the line of a robot in the table of counts."""
    cells = [label, str(robot.nv)]
    for function in ('inverse_dynamics', 'forward_dynamics'):
        tell(f'{label}: {function}')
        plain = sum(fd.generate(robot, function).counts.values())
        code = fd.generate(robot, f'{function}_derivatives')
        total = sum(code.counts.values())
        cells += [str(plain), f'{total} ({total / plain:.1f})']
        if function == 'inverse_dynamics':
            cells.append(code.choices[0] if code.choices else DIRECTIONS)
    return f'| {" | ".join(cells)} |'


def _chain_row(n: int, tell: Callable[[str], None]) -> str:
    tell(f'chain of {n} joints')
    robot = general_chain(n)
    plain = _traced(robot, 'inverse_dynamics')
    name = 'inverse_dynamics_derivatives'
    by_directions = _traced(robot, name, DIRECTIONS)
    by_bodies = _traced(robot, name)
    ratio = f'{by_directions / by_bodies:.1f}'
    return f'| {n} | {plain} | {by_directions} | {by_bodies} | {ratio} |'


def _traced(robot: Robot, function: str, method: str | None = None) -> int:
    found = trace(robot, function, method=method)
    return sum(operation_counts(found.program.outputs).values())
