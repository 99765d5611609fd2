# SPDX-License-Identifier: Apache-2.0
"""
The factors U and D of the mass matrix, M = U D U^T, without forming it.

Mohan and Saha, eqs. 34 to 38, as corrected: U_ij = P_i^T A_ji^T Psi_j with
Psi_j = Psihat_j Ihat_j^-1. Each body's block Ihat is factorised too, so that U is unit upper
triangular and D diagonal, coordinate by coordinate.
"""

from flexdyn_ros.dynamics.articulated_body import factorise, NoInertia, reduced_momenta
from flexdyn_ros.dynamics.linear_algebra import SymmetricFactors, ZeroPivot
from flexdyn_ros.dynamics.mass_matrix import mass_matrix, SquareMatrix
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.placement import powers_inside
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import scale


def factor_order(tree: Multibody) -> list[int]:
    """
    Return the order of the coordinates in U and D, as places in qd.

    Body by body from the root; within a body its modes from the last to the first, then its
    joint coordinates from the last to the first: the order of elimination, backwards.
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
        ValueError: If a coordinate moves several bodies.
    """
    if tree.shares_coordinates:
        raise ValueError('a coordinate moves several bodies, as mimic joints do: no such factors')
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
