# SPDX-License-Identifier: Apache-2.0
"""
The mass matrix by the three methods of Walker and Orin, with flexible links.

Method 3, composite bodies, goes column by column. It carries inward the momentum of everything
outside a coordinate, for its unit velocity: I_ij = P_i^T Mt_i A_ij P_j (Mohan and Saha, eq. 32).
Methods 1 and 2 take the forces of inverse dynamics. At rest, without gravity, the forces of a unit
acceleration of one coordinate are its column of the mass matrix (M. W. Walker and D. E. Orin,
Efficient dynamic computer simulation of robotic mechanisms, 1982). Method 1 takes every column
whole. Method 2 takes of each column only the part outside its coordinate, where bodies move, and
mirrors it. All three give the same matrix at different cost. Behind a flexible link the entries of
the innermost joints with all others take most of method 3. There method 1 may do it.
"""

from flexdyn_ros.dynamics.joints import AxisTerm, project_on_axis
from flexdyn_ros.dynamics.multibody import Frame, Multibody
from flexdyn_ros.dynamics.newton_euler import generalised_forces
from flexdyn_ros.dynamics.placement import Placement, placements, powers_inside, Wrench
from flexdyn_ros.dynamics.reduced_forms import expanded, of_undeformed_inertia
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import dot, ZERO
from flexdyn_ros.dynamics.spatial_inertia import column_momentum, FlexibleInertia

SquareMatrix = list[list[Scalar]]


@of_undeformed_inertia
@expanded(1, 0, 1)
def mass_matrix(tree: Multibody, q: list) -> SquareMatrix:
    """Return the mass matrix at configuration q, (nv, nv), rotors included."""
    places = placements(tree, q)
    inertias = [FlexibleInertia.of(body, q) for body in tree.bodies]
    matrix: SquareMatrix = [[0.0] * tree.nv for _ in range(tree.nv)]
    for index in reversed(range(len(places))):
        _fill_columns(places, index, inertias[index], matrix)
        parent = places[index].body.parent
        if parent >= 0:
            inertias[parent].add_child(places[index], inertias[index].rigid)
    for velocity_index, inertia in tree.rotors:
        row = matrix[velocity_index]
        row[velocity_index] = row[velocity_index] + inertia
    return matrix


@of_undeformed_inertia
def composite_inertia(tree: Multibody, q: list, frame: Frame) -> SquareMatrix:
    """Return the composite inertia of a frame's body, (6, 6); see `Dynamics`."""
    places = placements(tree, q)
    inertias = [FlexibleInertia.of(body, q) for body in tree.bodies]
    for index in reversed(range(frame.body + 1, len(places))):
        inertias[places[index].body.parent].add_child(places[index], inertias[index].rigid)
    return inertias[frame.body].rigid.blocks().at(frame)


def _fill_columns(
    places: list[Placement], index: int, inertia: FlexibleInertia, matrix: SquareMatrix
) -> None:
    """Fill in the entries of one body's coordinates with each other and with all inside."""
    place, body = places[index], places[index].body
    modes = [(AxisTerm(0, body.velocity_modes + k),) for k in range(body.n_modes)]
    axes = list(zip(body.joint.terms, place.columns))
    columns: list[tuple[tuple[AxisTerm, ...], Wrench]] = []
    for k, mode in enumerate(modes):
        for other in range(k + 1):
            _enter(matrix, mode, modes[other], inertia.modal[k][other], k == other)
        columns.append((mode, (inertia.forces[k], inertia.moments[k])))
    for number, (axis, (linear, angular)) in enumerate(axes):
        momentum = column_momentum(body, (linear, angular), inertia.rigid)
        linear, angular = linear or ZERO, angular or ZERO
        for k, mode in enumerate(modes):
            shared = dot(inertia.forces[k], linear) + dot(inertia.moments[k], angular)
            _enter(matrix, axis, mode, shared, False)
        for other, (other_axis, column) in enumerate(axes[: number + 1]):
            _enter(matrix, axis, other_axis, project_on_axis(column, momentum), number == other)
        columns.append((axis, momentum))
    for axis, wrench in columns:
        for inner, power in powers_inside(places, index, wrench):
            _enter(matrix, axis, inner, power, False)


def _enter(
    matrix: SquareMatrix,
    axis: tuple[AxisTerm, ...],
    other: tuple[AxisTerm, ...],
    value: Scalar,
    same: bool,
) -> None:
    """Add the inertia shared by two axes to the entries of the coordinates that drive them."""
    for a in axis:
        for b in other:
            i, j = a.velocity_index, b.velocity_index
            part = a.multiplier * b.multiplier * value
            matrix[i][j] = matrix[i][j] + part
            if not same:
                matrix[j][i] = matrix[j][i] + part


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
            for index in set(body.joint.coordinates):
                for row, value in enumerate(_column(tree, q, index)):
                    matrix[row][index] = matrix[index][row] = value
    return matrix


def outward_order(tree: Multibody) -> list[int]:
    """Return the places in qd, body by body from the root: joint coordinates, then modes."""
    order: list[int] = []
    for body in tree.bodies:
        coordinates = (*body.joint.coordinates, *body.modal_coordinates)
        order += [index for index in coordinates if index not in order]
    return order


def _columns(tree: Multibody, q: list) -> list[list[Scalar]]:
    return [_column(tree, q, index) for index in range(tree.nv)]


def _column(tree: Multibody, q: list, index: int) -> list[Scalar]:
    """Return the forces of a unit acceleration of one coordinate at rest, (nv,)."""
    unit = [1.0 if other == index else 0.0 for other in range(tree.nv)]
    return generalised_forces(tree, q, [0.0] * tree.nv, unit, ZERO)
