# SPDX-License-Identifier: Apache-2.0
"""
The variants of a function that are generated: one for each kind of loads.

Payloads and gravity that differ from the description's, and wrenches, are arguments of variants
of their own; without them the plain function runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping, Optional, Sequence

from flexdyn_ros.codegen.tracing.function_vectors import inputs_of, outputs_of
from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.codegen.tracing.interface import Input, Output, Trace
from flexdyn_ros.codegen.tracing.loads import Loads
from flexdyn_ros.codegen.tracing.simplify import simplify
from flexdyn_ros.codegen.tracing.trace import ROUND_OFF
from flexdyn_ros.codegen.tracing.traced_dynamics import DENSE, RECURSIVE
from flexdyn_ros.dynamics.newton_euler import FrameWrench
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot

Floats = list[float]
# Frame of each wrench, and the frame whose axes it is given in.
Places = tuple[tuple[str, Optional[str]], ...]
# Arguments and results of functions, by function and key of the variant; so many at most.
_interfaces: dict[tuple[Request, tuple[str, ...]], tuple[tuple[Input, ...], tuple[Output, ...]]]
_interfaces, _MOST_INTERFACES = {}, 1000
NO_PAYLOAD = Inertia(0.0, (0.0, 0.0, 0.0), ((0.0, 0.0, 0.0),) * 3)
# Solver of accelerations, by method of forward dynamics.
SOLVERS = {'auto': None, 'recursive': RECURSIVE, 'cholesky': DENSE}


@dataclass
class CompiledAhead:
    """
    The request of `Dynamics.compile`, for any later loads.

    Attributes:
        requests: Functions that are generated although the robot is large.
        gravity: Whether gravity is an argument of the code in any case.
        payloads: Links whose payload is one.
    """

    requests: set[Request] = field(default_factory=set)
    gravity: bool = False
    payloads: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Variant:
    """
    A function of a robot with its loads.

    Attributes:
        robot: The robot.
        digest: Digest of the robot.
        request: The function.
        loads: Its arguments besides vectors.
        method: Method that solves for accelerations, one of SOLVERS.
        constants: Values of gravity and payloads that are arguments of the code, by name.
    """

    robot: Robot
    digest: str
    request: Request
    loads: Loads
    method: str
    constants: dict[str, tuple[float, ...]]

    @property
    def key(self) -> tuple[str, ...]:
        """Dependencies of the generated code besides the version of this package."""
        return self.digest, repr(self.request.traced), repr(self.loads), self.method

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The arguments of the code."""
        return self._interface[0]

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The results, pivots left out."""
        return self._interface[1]

    @property
    def _interface(self) -> tuple[tuple[Input, ...], tuple[Output, ...]]:
        # Looked up where loads change in every cycle, as gravity on a base that moves.
        key = self.request, self.key
        found = _interfaces.get(key)
        if found is None:
            if len(_interfaces) >= _MOST_INTERFACES:
                _interfaces.clear()
            inputs = *inputs_of(self.robot, [self.request]), *self.loads.inputs()
            found = _interfaces[key] = inputs, tuple(outputs_of(self.robot, self.request))
        return found

    @property
    def quaternions(self) -> tuple[int, ...]:
        """Places of quaternions in the first input."""
        inputs = self.request.function.inputs
        return self.robot.quaternion_starts if inputs[0] in ('q', 'joint_q') else ()

    def trace(self) -> Trace:
        """Return the program; its last output is the pivots, where it has any."""
        return simplify(
            self.robot, self.request.name, [self.request.traced], self.loads, pivots=True,
            quick=True, method=SOLVERS[self.method], rotation_tolerance=ROUND_OFF,
        ).trace


class Variants:
    """Chooses variants for a robot under one gravity and one set of payloads."""

    def __init__(
        self, robot: Robot, digest: str, gravity: Floats, payloads: Mapping[str, Inertia],
        ahead: CompiledAhead,
    ):
        """
        Compare the loads with those of the description.

        Args:
            robot: The robot.
            digest: Digest of the robot.
            gravity: Acceleration of gravity in the root frame, (3,) [m/s^2].
            payloads: Inertia in link axes by link name.
            ahead: The loads that are arguments in any case.
        """
        self._robot, self._digest = robot, digest
        self._gravity = tuple(gravity)
        self._payloads = {**dict.fromkeys(ahead.payloads, NO_PAYLOAD), **payloads}
        declared = {payload.link: payload.inertia for payload in robot.payloads}
        self._changed = tuple(sorted(ahead.payloads.union(
            link for link, inertia in payloads.items() if declared.get(link) != inertia
        )))
        self._has_gravity = ahead.gravity or self._gravity != tuple(robot.gravity_vector)

    def variant(self, request: Request, places: Places, method: str = 'auto') -> Variant:
        """
        Return the variant of a function for the present loads.

        Args:
            request: The function.
            places: Frames of the wrenches, and their axes.
            method: Method that solves for accelerations, one of SOLVERS.
        """
        function = request.traced.function
        gravity = self._has_gravity and function.uses_gravity
        links = self._changed if function.uses_inertia else ()
        sections = {
            link: _section(self._robot.link(link), self._payloads[link].com)
            for link in links if self._robot.link(link).mode_names
        }
        loads = Loads(
            gravity, links, sections, tuple(frame for frame, _ in places),
            {frame: axes for frame, axes in places if axes is not None}, request.parameters,
        )
        values = [self._gravity] if gravity else []
        bodies = [self._payloads[link] for link in links]
        values += [(each.mass, *each.com, *each.entries) for each in bodies]
        constants = dict(zip((each.name for each in loads.inputs()), values))
        return Variant(self._robot, self._digest, request, loads, method, constants)


def ordered_wrenches(wrenches: Sequence[FrameWrench]) -> list[FrameWrench]:
    """Return wrenches in the order of their frames, which is that of the arguments."""
    return sorted((FrameWrench(*wrench) for wrench in wrenches), key=lambda each: each.frame)


def _section(link: Link, com: Vector) -> Vector:
    """Return the point that chooses the cross-section, or the segment, that carries a payload."""
    return com if link.segments is None else link.segments.middle(link.segments.holder(com))
