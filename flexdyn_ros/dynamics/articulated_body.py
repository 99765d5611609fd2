# SPDX-License-Identifier: Apache-2.0
"""
Recursive O(n) solution of M qdd = forces with flexible bodies, in all or some coordinates.

The reverse Gaussian elimination of the DeNOC form (Mohan and Saha, eqs. 34 to 42, as corrected:
Psi_i = Psihat_i Ihat_i^-1, phihat_i = phi_i - P_i^T etabar_i). Body by body from the tips, the
block of a body's own coordinates is factorised and eliminated. The remainder is the articulated
inertia at the parent. The mass matrix is never formed.

The same steps give the factors U and D of the mass matrix, M = U D U^T (eqs. 34 to 38, as
corrected: U_ij = P_i^T A_ji^T Psi_j). Each body's block Ihat is factorised too, so that U is unit
upper triangular and D diagonal, coordinate by coordinate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

from flexdyn_ros.dynamics.joints import Column, project_on_axis
from flexdyn_ros.dynamics.linear_algebra import SymmetricFactors, ZeroPivot
from flexdyn_ros.dynamics.mass_matrix import mass_matrix, SquareMatrix
from flexdyn_ros.dynamics.multibody import Body, Frame, Multibody
from flexdyn_ros.dynamics.placement import (
    carry_twist,
    carry_wrench,
    Placement,
    placements,
    powers_inside,
    Twist,
    Wrench,
)
from flexdyn_ros.dynamics.reduced_forms import of_undeformed_inertia
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import add, BodyWrench, dot, scale, ZERO
from flexdyn_ros.dynamics.spatial_inertia import BlockInertia, column_momentum, FlexibleInertia
from flexdyn_ros.errors import ArgumentError

# A pivot below this fraction of the body's inertia meets no inertia but round-off.
PIVOT_TOLERANCE = 1e-13


class NoInertia(ArithmeticError):
    """
    A coordinate meets no inertia.

    Attributes:
        coordinate: Its place in qd.
    """

    def __init__(self, coordinate: int):
        self.coordinate = coordinate
        super().__init__(f'coordinate {coordinate} meets no inertia')


@dataclass
class Elimination:
    """
    The result of eliminating one body's coordinates.

    Attributes:
        place: The body on its parent.
        coordinates: Places in qd of the body's free coordinates, joint first, then modes.
        columns: Motion column of each joint coordinate among them.
        momenta: Psihat: wrench on the body for a unit acceleration of each coordinate.
        factors: Factors of Ihat, the block of the coordinates.
    """

    place: Placement
    coordinates: list[int]
    columns: list[Column]
    momenta: list[Wrench]
    factors: SymmetricFactors


@of_undeformed_inertia
def factorise(tree: Multibody, q: list, free: frozenset[int]) -> list[Elimination]:
    """
    Eliminate the free coordinates, body by body from the tips.

    Args:
        tree: The bodies; no coordinate may move several of them (`shares_coordinates`).
        q: Configuration, (nq,).
        free: Places in qd of the coordinates to solve for; the others stand still.

    Raises:
        NoInertia: If a free coordinate meets no inertia.
    """
    return [step for step, _ in _eliminated(tree, q, free)][::-1]


def _eliminated(
    tree: Multibody, q: list, free: frozenset[int]
) -> Iterator[tuple[Elimination, BlockInertia]]:
    """Yield the eliminations of the free coordinates, and the inertia, from the last body."""
    places = placements(tree, q)
    rotors: dict[int, float] = {}
    for index, reflected in tree.rotors:
        rotors[index] = rotors.get(index, 0.0) + reflected
    inertias = [FlexibleInertia.of(body, q) for body in tree.bodies]
    for place, inertia in reversed(list(zip(places, inertias))):
        step, articulated = _eliminate(place, inertia, free, rotors)
        yield step, articulated
        if place.body.parent >= 0:
            inertias[place.body.parent].add_child(place, articulated)


@of_undeformed_inertia
def articulated_inertia(tree: Multibody, q: list, frame: Frame) -> tuple[SquareMatrix, list]:
    """
    Return the articulated inertia of a frame's body, (6, 6), and the pivots on the way.

    See `Dynamics.articulated_inertia`.

    Args:
        tree: The bodies; no coordinate may move several of them, none may be linearised.
        q: Configuration, (nq,).
        frame: At whose origin, in whose axes.

    Raises:
        NoInertia: If a coordinate meets no inertia.
    """
    body = tree.bodies[frame.body]
    steps = _eliminated(tree, q, frozenset(range(tree.nv)) - {*body.joint.coordinates})
    found = next(steps)
    pivots = list(found[0].factors.pivots)
    while found[0].place.body is not body:
        found = next(steps)
        pivots += found[0].factors.pivots
    return found[1].at(frame), pivots


def _eliminate(
    place: Placement,
    inertia: FlexibleInertia,
    free: frozenset[int],
    rotors: dict[int, float],
) -> tuple[Elimination, BlockInertia]:
    """Return the elimination of one body's free coordinates and its articulated inertia."""
    body, rigid = place.body, inertia.rigid.blocks()
    joint = [
        (term.velocity_index, column)
        for axis, column in zip(body.joint.terms, place.columns)
        for term in axis
        if term.velocity_index in free
    ]
    modes = [k for k in range(body.n_modes) if body.velocity_modes + k in free]
    coordinates = [index for index, _ in joint] + [body.velocity_modes + k for k in modes]
    columns = [column for _, column in joint]
    momenta = [column_momentum(body, column, rigid) for column in columns]
    momenta += [(inertia.forces[k], inertia.moments[k]) for k in modes]
    block = []
    for i, momentum in enumerate(momenta):
        row = [project_on_axis(column, momentum) for column in columns]
        if i >= len(columns):
            row += [inertia.modal[modes[i - len(columns)]][k] for k in modes]
        elif coordinates[i] in rotors:
            row[i] = row[i] + rotors[coordinates[i]]
        block.append(row)
    try:
        factors = SymmetricFactors(block, _floors(rigid, columns, len(modes)))
    except ZeroPivot as found:
        raise NoInertia(coordinates[found.index]) from found
    step = Elimination(place, coordinates, columns, momenta, factors)
    return step, _reduce(rigid, step)


def _reduce(rigid: BlockInertia, step: Elimination) -> BlockInertia:
    """Return Mhat - Psihat Ihat^-1 Psihat^T, the inertia of the body at its parent."""
    for (force, moment), pivot in zip(reduced_momenta(step), step.factors.pivots):
        rigid = rigid.less(1.0 / pivot, force, moment)
    return rigid


def reduced_momenta(step: Elimination) -> Iterator[Wrench]:
    """Yield Psihat L^-T: each coordinate's momentum after those eliminated before it."""
    reduced: list[Wrench] = []
    for (force, moment), row in zip(step.momenta, step.factors.lower):
        for factor, (known_force, known_moment) in zip(row, reduced):
            force = add(force, scale(-factor, known_force))
            moment = add(moment, scale(-factor, known_moment))
        reduced.append((force, moment))
        yield force, moment


def solve(tree: Multibody, eliminated: list[Elimination], forces: list) -> list[Scalar]:
    """
    Return the accelerations of the free coordinates under generalised forces, (nv,).

    Coordinates that are not free get zero. Velocity-dependent terms and gravity must already
    be taken off the forces.
    """
    count = len(tree.bodies)
    wrenches = [BodyWrench(ZERO, ZERO, [0.0] * body.n_modes) for body in tree.bodies]
    partial: list[list[Scalar]] = [[]] * count
    for index in reversed(range(count)):
        step = eliminated[index]
        wrench, known = _inward(step, wrenches[index], forces)
        partial[index] = known
        parent = step.place.body.parent
        if parent >= 0:
            wrenches[parent] = wrenches[parent].plus(carry_wrench(step.place, wrench))
    return _outward(tree, eliminated, partial)


def _inward(
    step: Elimination, wrench: BodyWrench, forces: list
) -> tuple[Wrench, list[Scalar]]:
    """Return eta of one body and Ihat^-1 phihat of its coordinates."""
    body: Body = step.place.body
    effective = []
    for i, index in enumerate(step.coordinates):
        if i < len(step.columns):
            felt = project_on_axis(step.columns[i], wrench)
        else:
            felt = wrench.modal[index - body.velocity_modes]
        effective.append(forces[index] - felt)
    known = step.factors.solve(effective)
    force, moment = wrench.force, wrench.moment
    for value, (unit_force, unit_moment) in zip(known, step.momenta):
        force = add(force, scale(value, unit_force))
        moment = add(moment, scale(value, unit_moment))
    return (force, moment), known


def _outward(
    tree: Multibody, eliminated: list[Elimination], partial: list[list[Scalar]]
) -> list[Scalar]:
    """Return the accelerations, parents first: qdd_i = phitil_i - Psi_i^T mubar_i."""
    accelerations: list[Scalar] = [0.0] * tree.nv
    twists: list[Twist] = []
    for step, known in zip(eliminated, partial):
        place = step.place
        twist = (ZERO, ZERO)
        if place.body.parent >= 0:
            parent = tree.bodies[place.body.parent]
            twist = carry_twist(
                place, twists[place.body.parent], parent.mode_rates(accelerations)
            )
            felt = [
                dot(force, twist[0]) + dot(moment, twist[1]) for force, moment in step.momenta
            ]
            known = [a - b for a, b in zip(known, step.factors.solve(felt))]
        for index, value in zip(step.coordinates, known):
            accelerations[index] = value
        linear, angular = twist
        for (translation, rotation), value in zip(step.columns, known):
            linear = linear if translation is None else add(linear, scale(value, translation))
            angular = angular if rotation is None else add(angular, scale(value, rotation))
        twists.append((linear, angular))
    return accelerations


def _floors(rigid: BlockInertia, columns: list[Column], n_modes: int) -> list[float]:
    """Return the pivots at or below which a coordinate meets no inertia; floats only."""
    if not isinstance(rigid.linear[0][0], float) or not isinstance(rigid.angular[0][0], float):
        return [0.0] * (len(columns) + n_modes)
    rotary = sum(abs(rigid.angular[k][k]) for k in range(3))
    mass = sum(abs(rigid.linear[k][k]) for k in range(3))
    floors = [PIVOT_TOLERANCE * (mass if angular is None else rotary) for _, angular in columns]
    return floors + [0.0] * n_modes


def factor_order(tree: Multibody) -> list[int]:
    """
    Return the order of the coordinates in U and D, as places in qd.

    It is the order of elimination backwards, body by body from the root. Within a body its modes
    come from the last to the first, then its joint coordinates likewise.
    """
    order: list[int] = []
    for body in tree.bodies:
        order += [*reversed(body.modal_coordinates), *reversed(body.joint.coordinates)]
    return order


def mass_matrix_factors(tree: Multibody, q: list) -> tuple[SquareMatrix, list[Scalar]]:
    """
    Return U, rows (nv, nv) unit upper triangular, and the diagonal of D, (nv,).

    With P = factor_order(tree), U D U^T is the mass matrix with rows and columns in the order P.

    Args:
        tree: The bodies; no coordinate may move several of them (`shares_coordinates`). With
            linearised deflections the mass matrix is formed after all.
        q: Configuration, (nq,).

    Raises:
        NoInertia: If a coordinate meets no inertia.
        ArgumentError: If a coordinate moves several bodies.
    """
    if tree.shares_coordinates:
        raise ArgumentError(
            'function', 'names "mass_matrix_factors", which mimic joints do not allow. '
            'Use "mass_matrix"',
        )
    if tree.linearised:
        return _dense_factors(tree, q)
    steps = factorise(tree, q, frozenset(range(tree.nv)))
    places = [step.place for step in steps]
    rank = {coordinate: place for place, coordinate in enumerate(factor_order(tree))}
    upper: SquareMatrix = [
        [1.0 if row == column else 0.0 for column in range(tree.nv)] for row in range(tree.nv)
    ]
    diagonal: list[Scalar] = [0.0] * tree.nv
    for index, step in enumerate(steps):
        for number, momentum in enumerate(reduced_momenta(step)):
            column = rank[step.coordinates[number]]
            pivot = step.factors.pivots[number]
            diagonal[column] = pivot
            for later in range(number + 1, len(step.coordinates)):
                upper[rank[step.coordinates[later]]][column] = step.factors.lower[later][number]
            unit = [scale(1.0 / pivot, part) for part in momentum]
            for axis, power in powers_inside(places, index, unit):
                for term in axis:
                    upper[rank[term.velocity_index]][column] = power
    return upper, diagonal


def _dense_factors(tree: Multibody, q: list) -> tuple[SquareMatrix, list[Scalar]]:
    """Return U and D by L D L^T of the mass matrix from the tips inward, which is U backwards."""
    matrix, inward = mass_matrix(tree, q), factor_order(tree)[::-1]
    block = [[matrix[i][j] for j in inward] for i in inward]
    try:
        factors = SymmetricFactors(block, [0.0] * tree.nv)
    except ZeroPivot as found:
        raise NoInertia(inward[found.index]) from found
    last = tree.nv - 1
    upper: SquareMatrix = [
        [0.0] * row + [1.0] + [factors.lower[last - row][last - column]
                               for column in range(row + 1, tree.nv)]
        for row in range(tree.nv)
    ]
    return upper, factors.pivots[::-1]
