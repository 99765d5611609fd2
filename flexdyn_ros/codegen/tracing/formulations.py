# SPDX-License-Identifier: Apache-2.0
"""Equivalent formulations of a function: which ones suit a robot, and which ones are compared."""

from __future__ import annotations

from typing import Sequence

from flexdyn_ros.codegen.tracing.closed_form import CLOSED_FORMS, suits_closed_form
from flexdyn_ros.codegen.tracing.functions import has_followers, Request
from flexdyn_ros.codegen.tracing.traced_derivatives import DERIVATIVE_METHODS, DIRECTIONS
from flexdyn_ros.codegen.tracing.traced_dynamics import (
    DENSE,
    MASS_MATRIX_METHODS,
    MIXED,
    RECURSIVE,
)
from flexdyn_ros.model.records.robot import Robot

# The mass matrix of a robot with more coordinates than this is not tried as a way to solve for
# accelerations: its factors grow with the cube of their number.
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
    """Return all methods that may be asked for: closed forms, of the mass matrix, to solve."""
    closed = closed_forms(robot, requests)
    if any(request.function.solves or request.function.derives for request in requests):
        return (*solving_methods(robot, requests), *closed)
    return (*(MASS_MATRIX_METHODS if _finds_mass_matrix(requests) else ()), *closed)


def _finds_mass_matrix(requests: Sequence[Request]) -> bool:
    """Return whether the mass matrix is asked for, and is not a way to something else."""
    taken = any(request.function.solves or request.function.derives for request in requests)
    return not taken and any(request.name == 'mass_matrix' for request in requests)
