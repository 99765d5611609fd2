# SPDX-License-Identifier: Apache-2.0
"""Accelerations from forces by the mass matrix, or an error for a motion without inertia."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from flexdyn_ros.dynamics.articulated_body import factorise, NoInertia, PIVOT_TOLERANCE, solve
from flexdyn_ros.dynamics.linear_algebra import SymmetricFactors, ZeroPivot
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.errors import SingularMassMatrix
from flexdyn_ros.model.records.joint import Joint

# Beyond it [m | rad] a coordinate is likely wrong: beside its inertia others are round-off.
FAR = 1e3


def solved_accelerations(
    tree: Multibody,
    mass_matrix: Callable[[Sequence[Any]], list[list]],
    q: Sequence[Any],
    forces: Sequence[Any],
    free: range,
    recursive: bool,
) -> tuple[list, list]:
    """
    Return the accelerations of the free coordinates, zeros beside, and the pivots met.

    Args:
        tree: The bodies.
        mass_matrix: Of a configuration, (nv, nv).
        q: Configuration, (nq,).
        forces: Generalised forces, (nv,), velocity-dependent terms and gravity taken off.
        free: Coordinates that accelerate; the others stand still.
        recursive: Whether to solve by the articulated bodies where the tree allows it.

    Raises:
        NoInertia: A free coordinate meets no inertia.
    """
    if recursive and tree.is_recursive:
        steps = factorise(tree, q, frozenset(free))
        pivots = [pivot for step in steps for pivot in step.factors.pivots]
        return solve(tree, steps, forces), pivots
    full = mass_matrix(q)
    block = [[full[i][j] for j in free] for i in free]
    diagonal = [row[i] for i, row in enumerate(block)]
    floors = [PIVOT_TOLERANCE * abs(x) if isinstance(x, float) else 0.0 for x in diagonal]
    try:
        factors = SymmetricFactors(block, floors)
    except ZeroPivot as zero:
        raise NoInertia(free[zero.index]) from zero
    result = [0.0] * tree.nv
    result[free.start : free.stop] = factors.solve([forces[i] for i in free])
    return result, factors.pivots


def singular_mass_matrix(
    tree: Multibody, joints: Sequence[Joint], coordinate: int, q: Sequence[float]
) -> SingularMassMatrix:
    """Return the error for a coordinate without inertia at q, with the bodies it moves, advice."""
    name = tree.coordinate_names[coordinate]
    moved: set[int] = set()
    for index, body in enumerate(tree.bodies):
        coordinates = (*body.joint.coordinates, *body.modal_coordinates)
        if coordinate in coordinates or body.parent in moved:
            moved.add(index)
    # A link in segments is many bodies; it is named once.
    bodies = [tree.bodies[index] for index in sorted(moved)]
    links = list(dict.fromkeys(link for body in bodies for link in body.links))
    advice = 'Give these links a mass and an inertia in the description, or a payload'
    if name.endswith('/elastic'):
        advice = (
            f'Give joint "{name[: -len("/elastic")]}" a rotor_inertia, since a spring '
            'needs inertia on both sides, and the links behind it a mass'
        )
    if tree.linearised:
        advice += (
            '; or reduce the deflections: with linearised deflections the mass matrix is not '
            'positive definite beyond some size. fd.reduced(robot, "exact") has no such limit'
        )
    joint, _, axis = name.rpartition('/')
    if any(j.name == joint and j.type == 'multi_axis' for j in joints):
        advice += (
            f'; or, if the axes of joint "{joint}" are parallel (gimbal lock), write '
            'rotation="quaternion" in its <multi_axis_joint>'
        )
    largest = max(range(len(q)), key=lambda k: abs(q[k]))
    if abs(q[largest]) > FAR:
        advice = f'Check value and unit of q[{largest}] = {q[largest]:g}, or g{advice[1:]}'
    return SingularMassMatrix(name, links, advice)
