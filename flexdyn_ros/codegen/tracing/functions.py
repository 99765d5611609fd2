# SPDX-License-Identifier: Apache-2.0
"""Requested functions: name, frame and parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from flexdyn_ros.codegen.tracing.parameters import Parameter
from flexdyn_ros.dynamics.functions import Function, FUNCTIONS
from flexdyn_ros.errors import ArgumentError, did_you_mean, UnknownName
from flexdyn_ros.model.records.robot import Robot


@dataclass(frozen=True)
class Request:
    """
    A requested function.

    Attributes:
        name: Its name.
        frame: Its frame, or None.
        parameters: Those of its derivatives.
        settings: Numbers of compiled code that solves loops at each call; empty where loops do not
            matter. The first is the largest constraint error that it takes, as a fraction of the
            loop's length [- | rad]. The second is the rank of the constraints plus one, or zero
            where it finds the rank.
    """

    name: str
    frame: Optional[str] = None
    parameters: tuple[Parameter, ...] = ()
    settings: tuple[float, ...] = ()

    @property
    def function(self) -> Function:
        """Its arguments and results."""
        return FUNCTIONS[self.name]

    @property
    def traced(self) -> Request:
        """The request that is generated for it: with loops the equations that are solved."""
        return Request('loop_equations') if self.settings else self


def read_function(robot: Robot, text: str) -> list[Request]:
    """
    Return the functions of a text such as "mass_matrix+jacobian:tool".

    A function of a frame without one is about `tip_link(robot)`.

    Raises:
        ArgumentError: If a function is unknown, or named twice.
        UnknownName: If a frame is unknown.
    """
    if not isinstance(text, str):
        raise ArgumentError('function', (
            f'must be text, not {type(text).__name__}; several names are joined by "+"'
        ))
    requests = []
    for part in text.split('+'):
        name, _, frame = part.strip().partition(':')
        if name not in FUNCTIONS:
            raise ArgumentError(
                'function',
                f'names "{name}", which is not a function. {did_you_mean(name, FUNCTIONS)}',
            )
        if frame and not FUNCTIONS[name].of_frame:
            raise ArgumentError(
                'function', f'gives "{name}" a frame, which it does not take. Remove it')
        if frame and frame not in robot.frame_names:
            raise UnknownName('frame', frame, robot.frame_names)
        if FUNCTIONS[name].of_frame and not frame:
            frame = tip_link(robot)
        _check_loops(robot, name)
        requests.append(Request(name, frame or None))
    if len(set(requests)) != len(requests):
        raise ArgumentError('function', f'names a function twice in "{text}". Keep one')
    return requests


def _check_loops(robot: Robot, name: str) -> None:
    if FUNCTIONS[name].of_loops and not robot.loops:
        raise ArgumentError('function', f'names "{name}", and the robot has no <loop>. Add one')
    if FUNCTIONS[name].by_rank and robot.loops:
        raise ArgumentError(
            'function',
            f'names "{name}", which depends on the rank of the loops and has no straight-line '
            'code. Generate "mass_matrix+bias_vector+loop_jacobian+loop_bias" and solve with '
            'LAPACK',
        )


def functions_of(robot: Robot) -> list[str]:
    """Return the names of the functions that can be generated for a robot."""
    closed = bool(robot.loops)
    left_out = {
        name for name, each in FUNCTIONS.items() if (each.by_rank if closed else each.of_loops)
    }
    if has_followers(robot):
        left_out |= {'mass_matrix_factors', 'articulated_inertia'}
    if any(link.is_linearised for link in robot.links):
        left_out |= {'composite_inertia', 'articulated_inertia'}
    if any(link.rotation == 'linear' for link in robot.links):
        left_out.add('coriolis_matrix')
    return [name for name in FUNCTIONS if name not in left_out]


def has_followers(robot: Robot) -> bool:
    """Return whether some coordinate moves several joints, which breaks the tree's recursion."""
    return any(joint.mimic is not None and joint.type != 'fixed' for joint in robot.joints)


def tip_link(robot: Robot) -> str:
    """Return the last link of the deepest chain of joints, the first one among equals."""
    depth = {robot.root: 0}
    for joint in robot.joints:
        depth[joint.child] = depth[joint.parent] + 1
    return max(robot.frame_names, key=lambda name: depth[name])
