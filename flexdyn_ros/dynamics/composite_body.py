# SPDX-License-Identifier: Apache-2.0
"""
The mass matrix by composite bodies (Walker and Orin, method 3), with flexible links.

Column by column, the momentum that a unit velocity of one coordinate gives to everything
outside it is carried inward: I_ij = P_i^T Mt_i A_ij P_j (Mohan and Saha, eq. 32).
"""

from flexdyn_ros.dynamics.flexible_body import deflect
from flexdyn_ros.dynamics.joint_motion import AxisTerm
from flexdyn_ros.dynamics.joints import column_power
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.placement import carry_wrench
from flexdyn_ros.dynamics.placement import Placement
from flexdyn_ros.dynamics.placement import placements
from flexdyn_ros.dynamics.placement import Wrench
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.small_deflections import expanded
from flexdyn_ros.dynamics.spatial import dot
from flexdyn_ros.dynamics.spatial import ZERO
from flexdyn_ros.dynamics.spatial_inertia import column_momentum
from flexdyn_ros.dynamics.spatial_inertia import FlexibleInertia
from flexdyn_ros.dynamics.undeformed_energy import of_undeformed_inertia

SquareMatrix = list[list[Scalar]]


@of_undeformed_inertia
@expanded(1, 0, 1)
def mass_matrix(tree: Multibody, q: list) -> SquareMatrix:
    """Return the mass matrix at configuration q, (nv, nv), rotors included."""
    places = placements(tree, q)
    carried = [FlexibleInertia.of(deflect(body, body.mode_values(q))) for body in tree.bodies]
    matrix: SquareMatrix = [[0.0] * tree.nv for _ in range(tree.nv)]
    for index in reversed(range(len(places))):
        _fill_columns(places, index, carried[index], matrix)
        parent = places[index].body.parent
        if parent >= 0:
            carried[parent].add_child(places[index], carried[index].rigid)
    for velocity_index, inertia in tree.rotors:
        row = matrix[velocity_index]
        row[velocity_index] = row[velocity_index] + inertia
    return matrix


def _fill_columns(
    places: list[Placement], index: int, inertia: FlexibleInertia, matrix: SquareMatrix
) -> None:
    """Fill in what the coordinates of one body share with each other and with all inside."""
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
            _enter(matrix, axis, other_axis, column_power(column, momentum), number == other)
        columns.append((axis, momentum))
    for axis, momentum in columns:
        _carry_inward(places, index, axis, momentum, matrix)


def _carry_inward(
    places: list[Placement],
    index: int,
    axis: tuple[AxisTerm, ...],
    momentum: Wrench,
    matrix: SquareMatrix,
) -> None:
    """Project one column's momentum on all coordinates inside body `index`."""
    place = places[index]
    while place.body.parent >= 0:
        momentum, modal = carry_wrench(place, momentum)
        place = places[place.body.parent]
        for k, power in enumerate(modal):
            mode = (AxisTerm(0, place.body.velocity_modes + k),)
            _enter(matrix, axis, mode, power, False)
        for other, column in zip(place.body.joint.terms, place.columns):
            _enter(matrix, axis, other, column_power(column, momentum), False)


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
