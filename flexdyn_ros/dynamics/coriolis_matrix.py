# SPDX-License-Identifier: Apache-2.0
"""
The Coriolis matrix C(q, qd): C qd are the Coriolis forces, and dM/dt - 2 C is skew-symmetric.

C = int J^T dJ/dt dm over all points, J their Jacobian. So dM/dt = C + C^T, and without quaternions
the entries are sum_k Gamma_ijk qd_k with Christoffel's symbols of the first kind. With body-wise
velocities they are the coefficients of the same connection in that frame.

Composite bodies give it in O(n depth) operations, as they give the mass matrix: a column's forces
are carried inward (S. Echeandia and P. M. Wensing, Numerical methods to compute the Coriolis
matrix and Christoffel symbols for rigid-body systems, Journal of Computational and Nonlinear
Dynamics 16, 2021, algorithm 1), here in body axes and over modes too (`moving_inertia.py`).
"""

from __future__ import annotations

from dataclasses import replace

from flexdyn_ros.dynamics.foreshortening import along_modes, amplitude_gradients
from flexdyn_ros.dynamics.frame_kinematics import body_twists
from flexdyn_ros.dynamics.joints import axis_rates, AxisTerm, column_rates, project_on_axis
from flexdyn_ros.dynamics.mass_matrix import mass_matrix, SquareMatrix
from flexdyn_ros.dynamics.moving_inertia import ColumnForces, MovingBody, MovingColumn
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.newton_euler import generalised_forces
from flexdyn_ros.dynamics.placement import Placement, placements, Twist
from flexdyn_ros.dynamics.reduced_forms import expanded, moved, slopes, straightened
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import (
    add,
    apply,
    combine,
    cross,
    scale,
    skew,
    subtract_matrices,
    vector_angular_rate,
    ZERO,
)
from flexdyn_ros.errors import NotYetSupported

Axis = tuple[AxisTerm, ...]


def coriolis_matrix(tree: Multibody, q: list, qd: list) -> SquareMatrix:
    """
    Return C(q, qd), (nv, nv).

    Where deflections leave the kinetic energy unchanged (reduced_forms.py), the derivatives of
    the mass matrix by them leave the matrix of the straight arm.

    Raises:
        NotYetSupported: If a cross-section turns by King's first-order rotation: its equations
            are not those of an energy, so that there is no such matrix.
    """
    for body in tree.bodies:
        if body.node is not None and body.node.linear:
            raise NotYetSupported(
                'has rotation="linear", whose equations are not those of an energy, so that they '
                'have no Coriolis matrix', element='flexible_link',
                name=tree.bodies[body.parent].links[0],
                advice='Use rotation="exact", or coriolis_vector',
            )
    matrix = _of_composite_bodies(tree, straightened(tree, q), qd)
    return _without_slopes(tree, q, qd, matrix) if tree.undeformed else matrix


@expanded(2, 0, 1)
def _of_composite_bodies(tree: Multibody, q: list, qd: list) -> SquareMatrix:
    places = placements(tree, q)
    twists = body_twists(tree, places, qd)
    bodies = [MovingBody.of(body, q, qd, twist) for body, twist in zip(tree.bodies, twists)]
    columns = [_axes(place, twist, qd) for place, twist in zip(places, twists)]
    nodal = [_modes(tree, place, twists, q, qd) for place in places]
    matrix: SquareMatrix = [[0.0] * tree.nv for _ in range(tree.nv)]
    for index in reversed(range(len(places))):
        place, parent = places[index], places[index].body.parent
        for axis, met in _columns_of_body(place, bodies[index], columns[index], matrix):
            _enter_inside(places, index, axis, met, (columns, nodal), matrix)
        if parent < 0:
            continue
        bodies[parent].add_child(place, bodies[index].moving, nodal[index])
        if place.body.polar_inertia:
            spin = scale(_polar(place, qd), apply(place.body.rotation, place.body.joint.axis))
            moving = bodies[parent].moving
            moving.flow = subtract_matrices(moving.flow, skew(scale(0.5, spin)))
    return matrix


def _polar(place: Placement, qd: list) -> Scalar:
    return place.body.polar_inertia * axis_rates(place.body.joint, qd)[0]


def _axes(place: Placement, twist: Twist, qd: list) -> list[MovingColumn]:
    """Return the columns of a body's joint and their rates, in body axes."""
    joint, (velocity, omega) = place.body.joint, twist
    found = []
    own = column_rates(joint, place.columns, axis_rates(joint, qd))
    for (linear, angular), (linear_rate, angular_rate) in zip(place.columns, own):
        v, w = linear or ZERO, angular or ZERO
        swept = add(cross(omega, v), cross(velocity, w))
        found.append(((v, w), (add(swept, linear_rate), add(cross(omega, w), angular_rate))))
    return found


def _modes(
    tree: Multibody, place: Placement, twists: list[Twist], q: list, qd: list
) -> list[MovingColumn]:
    """Return the columns of the parent's modes at a body's node and their rates, parent axes."""
    node = place.node
    if node is None:
        return []
    parent, (linear, omega) = tree.bodies[place.body.parent], twists[place.body.parent]
    rates = parent.mode_rates(qd)
    velocity = add(add(linear, cross(omega, node.position)), combine(rates, node.translation))
    drawn = along_modes(node.node.shortening, amplitude_gradients(node.axial, rates))
    turning = combine(rates, node.node.rotation)
    found = []
    for k, (v, w) in enumerate(zip(node.translation, node.angular)):
        swept, turned = add(cross(omega, v), cross(velocity, w)), cross(omega, w)
        if node.axial.terms:
            swept = add(swept, scale(drawn[k], node.axial.direction))
        if node.node.axis is None:
            turned = add(turned, vector_angular_rate(
                node.rotation_vector, turning, node.node.rotation[k]
            ))
        found.append(((v, w), (swept, turned)))
    return found


def _columns_of_body(
    place: Placement,
    moving: MovingBody,
    columns: list[MovingColumn],
    matrix: SquareMatrix,
) -> list[tuple[Axis, ColumnForces]]:
    """Enter the entries of one body's coordinates; return the forces of each, at its origin."""
    body = place.body
    modes: list[Axis] = [(AxisTerm(0, k),) for k in body.modal_coordinates]
    found = list(zip(modes, moving.modes))
    for row, mode in zip(moving.modal, modes):
        for value, other in zip(row, modes):
            _enter(matrix, mode, other, value)
    for axis, column in zip(body.joint.terms, columns):
        met = moving.moving.forces(column)
        if body.polar_inertia:
            (_, spin), (_, spin_rate) = column
            half = scale(0.5 * body.polar_inertia, spin_rate)
            spin = scale(body.polar_inertia, spin)
            met = met.plus(ColumnForces((ZERO, half), (ZERO, spin), half))
        for mode, shared in zip(modes, moving.modes):
            _enter(matrix, axis, mode, project_on_axis(column[0], shared.rate))
            _enter(matrix, mode, axis, shared.from_column(column))
        for other, (unit, _) in zip(body.joint.terms, columns):
            _enter(matrix, other, axis, project_on_axis(unit, met.rate))
        found.append((axis, met))
    return found


def _enter_inside(
    places: list[Placement],
    index: int,
    axis: Axis,
    met: ColumnForces,
    columns: tuple[list[list[MovingColumn]], list[list[MovingColumn]]],
    matrix: SquareMatrix,
) -> None:
    """Enter the entries of a body's coordinate with all inside, from forces at its origin."""
    of_axes, nodal = columns
    place = places[index]
    while place.body.parent >= 0:
        parent, at_node = place.body.parent, _carried(place, met)
        for k, column in zip(places[parent].body.modal_coordinates, nodal[index]):
            mode = (AxisTerm(0, k),)
            _enter(matrix, mode, axis, project_on_axis(column[0], at_node.rate))
            _enter(matrix, axis, mode, at_node.from_column(column))
        met = at_node if place.node is None else at_node.moved(place.node.position)
        place, index = places[parent], parent
        for inner, column in zip(place.body.joint.terms, of_axes[index]):
            _enter(matrix, inner, axis, project_on_axis(column[0], met.rate))
            _enter(matrix, axis, inner, met.from_column(column))


def _carried(place: Placement, met: ColumnForces) -> ColumnForces:
    """Return a column's forces at the node that carries a body, or at the parent's origin."""
    force, moment, linear, angular, turning = (
        apply(place.rotation, part) for part in (*met.rate, *met.momentum, met.turning)
    )
    at_node = ColumnForces((force, moment), (linear, angular), turning).moved(place.position)
    if place.node is None:
        return at_node
    turn = place.node.rotation
    force, moment, linear, angular, turning = (
        apply(turn, part) for part in (*at_node.rate, *at_node.momentum, at_node.turning)
    )
    return ColumnForces((force, moment), (linear, angular), turning)


def _enter(matrix: SquareMatrix, row: Axis, column: Axis, value: Scalar) -> None:
    """Add the entry of two axes to the entries of the coordinates that drive them."""
    for a in row:
        for b in column:
            i, j = a.velocity_index, b.velocity_index
            matrix[i][j] = matrix[i][j] + a.multiplier * b.multiplier * value


def _without_slopes(
    tree: Multibody, q: list, qd: list, matrix: SquareMatrix
) -> SquareMatrix:
    """Return C without the derivatives of the mass matrix by deflections."""
    modes, rest = {v for _, v in tree.undeformed}, [0.0] * tree.nv
    straight, tree = straightened(tree, q), replace(tree, undeformed=())
    result = [list(row) for row in matrix]
    bending = [rate if k in modes else 0.0 for k, rate in enumerate(qd)]
    grown = [slopes(row) for row in mass_matrix(tree, moved(tree, straight, bending))]
    for k in modes:
        unit = [1.0 if k == other else 0.0 for other in range(tree.nv)]
        slope = slopes(generalised_forces(tree, moved(tree, straight, unit), rest, qd, ZERO))
        for i, value in enumerate(slope):
            grown[i][k] = grown[i][k] + value
            grown[k][i] = grown[k][i] - value
    return [
        [value - 0.5 * less for value, less in zip(row, lost)] for row, lost in zip(result, grown)
    ]
