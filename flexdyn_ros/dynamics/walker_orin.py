# SPDX-License-Identifier: Apache-2.0
"""
The mass matrix from inverse dynamics with unit accelerations (Walker and Orin, methods 1 and 2).

At rest, without gravity, the forces of a unit acceleration of one coordinate are its column of
the mass matrix (M. W. Walker and D. E. Orin, Efficient dynamic computer simulation of robotic
mechanisms, 1982). Method 1 takes every column whole. Method 2 takes of each column only what
lies outside its coordinate, where bodies move, and mirrors it. Method 3, composite bodies, is in
composite_body.py; all three give the same matrix at different cost. Behind a flexible link what
the innermost joints share with all others takes most of method 3: there method 1 may do it.
"""

from flexdyn_ros.dynamics.composite_body import mass_matrix
from flexdyn_ros.dynamics.composite_body import SquareMatrix
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.newton_euler import generalised_forces
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import ZERO


def mass_matrix_by_columns(tree: Multibody, q: list) -> SquareMatrix:
    """Return the mass matrix at configuration q, (nv, nv), by method 1."""
    columns = _columns(tree, q)
    return [[column[row] for column in columns] for row in range(tree.nv)]


def mass_matrix_by_outer_links(tree: Multibody, q: list) -> SquareMatrix:
    """
    Return the mass matrix at configuration q, (nv, nv), by method 2.

    The links inside a column's coordinate stand still, so that on symbols they cost nothing.
    """
    columns = _columns(tree, q)
    rank = {coordinate: place for place, coordinate in enumerate(outward_order(tree))}
    return [
        [
            columns[column][row] if rank[row] >= rank[column] else columns[row][column]
            for column in range(tree.nv)
        ]
        for row in range(tree.nv)
    ]


def mass_matrix_by_first_columns(tree: Multibody, q: list) -> SquareMatrix:
    """
    Return the mass matrix at configuration q, (nv, nv), by methods 1 and 3.

    Method 1 gives the columns of the joints on the root, method 3 all others.
    """
    matrix = mass_matrix(tree, q)
    for body in tree.bodies[1:]:
        if body.parent == 0:
            for index in {term.velocity_index for axis in body.joint.terms for term in axis}:
                for row, value in enumerate(_column(tree, q, index)):
                    matrix[row][index] = matrix[index][row] = value
    return matrix


def outward_order(tree: Multibody) -> list[int]:
    """Return the places in qd, body by body from the root: joint coordinates, then modes."""
    order: list[int] = []
    for body in tree.bodies:
        joint = [term.velocity_index for axis in body.joint.terms for term in axis]
        modes = range(body.velocity_modes, body.velocity_modes + body.n_modes)
        order += [index for index in (*joint, *modes) if index not in order]
    return order


def _columns(tree: Multibody, q: list) -> list[list[Scalar]]:
    return [_column(tree, q, index) for index in range(tree.nv)]


def _column(tree: Multibody, q: list, index: int) -> list[Scalar]:
    """Return the forces of a unit acceleration of one coordinate at rest, (nv,)."""
    unit = [1.0 if other == index else 0.0 for other in range(tree.nv)]
    return generalised_forces(tree, q, [0.0] * tree.nv, unit, ZERO)
