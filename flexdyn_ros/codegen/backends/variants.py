# SPDX-License-Identifier: Apache-2.0
"""
The variants of a function that the generated backends make: one for each kind of loads.

Payloads and gravity that differ from the description's, and wrenches, are arguments of variants
of their own; without them the plain function runs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping
from typing import Optional
from typing import Sequence

from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.codegen.tracing.interface import Trace
from flexdyn_ros.codegen.tracing.loads import Loads
from flexdyn_ros.codegen.tracing.simplify import simplify
from flexdyn_ros.codegen.tracing.snap import ROUND_OFF
from flexdyn_ros.codegen.tracing.traced_dynamics import DENSE
from flexdyn_ros.codegen.tracing.traced_dynamics import RECURSIVE
from flexdyn_ros.dynamics.newton_euler import FrameWrench
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot

Floats = list[float]
Wrenches = Sequence[FrameWrench]
# Frame of each wrench, and the frame whose axes it is given in.
Places = tuple[tuple[str, Optional[str]], ...]

# Functions that gravity, and inertia, changes.
GRAVITY_MATTERS = frozenset((
    'inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics', 'bias_vector', 'gravity_vector',
    'potential_energy', 'loop_equations', 'inverse_dynamics_derivatives',
    'forward_dynamics_derivatives',
    'inverse_dynamics_parameter_derivatives', 'forward_dynamics_parameter_derivatives',
))
INERTIA_MATTERS = GRAVITY_MATTERS | frozenset((
    'mass_matrix', 'coriolis_vector', 'inertia_vector', 'kinetic_energy',
))

# Functions that take wrenches.
TAKES_WRENCHES = frozenset((
    'inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics', 'external_force_vector',
    'loop_equations', 'inverse_dynamics_derivatives', 'forward_dynamics_derivatives',
    'inverse_dynamics_parameter_derivatives', 'forward_dynamics_parameter_derivatives',
))

# Forward dynamics by method, as a name and how it solves for accelerations.
FORWARD = {
    'auto': 'forward_dynamics', 'recursive': 'forward_dynamics/recursive',
    'cholesky': 'forward_dynamics/cholesky',
}
SOLVERS = {'recursive': RECURSIVE, 'cholesky': DENSE, '': None}


def ordered_wrenches(wrenches: Wrenches) -> list[FrameWrench]:
    """Return wrenches in the order of their frames, which is that of the arguments."""
    return sorted((FrameWrench(*wrench) for wrench in wrenches), key=_frame_of)


def places_of(ordered: Sequence[FrameWrench]) -> Places:
    """Return where wrenches act, which is what a variant depends on."""
    return tuple((wrench.frame, wrench.axes) for wrench in ordered)


def _frame_of(wrench: FrameWrench) -> str:
    return wrench.frame


def loads_of(robot: Robot, gravity: Floats, payloads: Mapping[str, Inertia]) -> Loads:
    """Return what differs from the description and so must be an argument."""
    declared = {payload.link: payload.inertia for payload in robot.payloads}
    changed = tuple(sorted(
        link for link, inertia in payloads.items() if declared.get(link) != inertia
    ))
    sections = {
        link: _section(robot.link(link), payloads[link].com)
        for link in changed if robot.link(link).mode_names
    }
    return Loads(tuple(gravity) != tuple(robot.gravity_vector), changed, sections)


def _section(link: Link, com: Vector) -> Vector:
    """Return the point that chooses the cross-section, or the segment, that carries a payload."""
    return com if link.segments is None else link.segments.middle(link.segments.holder(com))


def resolved(
    request: Request,
    places: Places,
    loads: Loads,
    gravity: Floats,
    payloads: Mapping[str, Inertia],
) -> tuple[Request, Loads, str, tuple]:
    """
    Return a variant's function, its loads, how it solves, and the values of its loads.

    Args:
        request: The function; its name may end in how it solves, see FORWARD.
        places: Where wrenches act.
        loads: What differs from the description, see `loads_of`.
        gravity: Acceleration of gravity in the root frame, (3,) [m/s^2].
        payloads: Inertia in link axes by link name.
    """
    name, _, solver = request.name.partition('/')
    request = replace(request, name=name)
    has_gravity = loads.gravity and name in GRAVITY_MATTERS
    links = loads.payloads if name in INERTIA_MATTERS else ()
    own = replace(
        loads, gravity=has_gravity, payloads=links, parameters=request.parameters,
        wrenches=tuple(frame for frame, _ in places),
        axes={frame: axes for frame, axes in places if axes is not None},
    )
    extra = [tuple(gravity)] if has_gravity else []
    extra += [payload_values(payloads[link]) for link in links]
    return request, own, solver, tuple(extra)


def payload_values(inertia: Inertia) -> tuple[float, ...]:
    """Return the numbers of a payload's argument, see `loads.py`."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.matrix
    return (inertia.mass, *inertia.com, xx, yy, zz, xy, xz, yz)


def key_of(digest: str, request: Request, loads: Loads, solver: str) -> tuple[str, ...]:
    """Return what generated code depends on."""
    return digest, repr(request), repr(loads), solver


def traced(robot: Robot, request: Request, loads: Loads, solver: str) -> Trace:
    """Return a function as the generated backends run it."""
    return simplify(
        robot, request.name, [request], loads, snap=ROUND_OFF, pivots=True, hasty=True,
        method=SOLVERS[solver],
    ).trace
