# SPDX-License-Identifier: Apache-2.0
"""
The fields that move the points of one link, their integrals, and its inertia (Graves, eq. 25).

Eq. 25 of Graves (The Method of Kinematic Influence) integrates over the undeformed link, with
"variations due to the flexibility" left out. Here they are kept. A point of the link is rho =
sum_a c_a b_a with factors c = (1, delta, a(delta)). The b are the undeformed place r, the mode
shapes phi_k and the axial shapes f_j e by which bending draws the link in. So every integral is a
contraction of one table, G_ab = int b_a b_b^T dm. It is one with c and with the modes' own shapes
psi_k = phi_k + sum_j D_jk f_j e, D_jk = da_j / d delta_k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Sequence

from flexdyn_ros.dynamics.foreshortening import amplitude_gradients, amplitudes, weighted
from flexdyn_ros.dynamics.multibody import Body
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import (
    add,
    add_matrices,
    apply,
    axial as axial_part,
    BodyWrench,
    combine,
    congruence,
    cross,
    dot,
    inertia_of,
    is_zero,
    Matrix,
    outer,
    scale,
    scale_matrix,
    transpose,
    Vector,
    ZERO,
)

# Fields a and b, row, column and value of an entry of int b_a b_b^T dm that is not zero.
GramEntry = tuple[int, int, int, int, Scalar]
# Weights of fields, those that are not zero.
Weights = list[tuple[int, Scalar]]


@dataclass(frozen=True)
class LinkFields:
    """
    The fields of one link and their integrals; vectors in link axes.

    Attributes:
        body: The link.
        first: int b_a dm for each field: r, then the mode shapes, then the axial shapes.
        gram: int b_a b_b^T dm, both orders of a and b. Its part for r, r holds the rotary inertia
            J of cross-sections, written as tr(J) / 2 - J.
    """

    body: Body
    first: tuple[Vector, ...]
    gram: tuple[GramEntry, ...]

    @classmethod
    def of(cls, body: Body) -> LinkFields:
        """Return the fields of a body."""
        modal, axial, e = body.modal, body.modal.axial, body.modal.axial.direction
        drawn = 1 + body.n_modes
        gram: list[GramEntry] = [
            (0, 0, i, j, value)
            for i, row in enumerate(body.second_moment) for j, value in enumerate(row)
        ]
        for k, second in enumerate(modal.second, start=1):
            gram += _both((0, k, i, j, value) for i, j, value in second)
        for k, products in enumerate(modal.product, start=1):
            for other, matrix in enumerate(products, start=1):
                gram += [(k, other, i, j, value) for i, j, value in matrix]
        square = outer(e, e)
        for j, along in enumerate(axial.second):
            entries = _entries(scale_matrix(along, square))
            gram += _both((0, drawn + j, *place) for place in entries)
        for k, coupling in enumerate(axial.coupling, start=1):
            for j, axis, value in coupling:
                gram += _both((drawn + j, k, i, axis, value * e[i]) for i in range(3))
        for j, row in enumerate(axial.product):
            for other, value in enumerate(row):
                entries = _entries(scale_matrix(value, square))
                gram += [(drawn + j, drawn + other, *place) for place in entries]
        first = (body.first_moment, *modal.first, *(scale(x, e) for x in axial.first))
        return cls(body, first, tuple(entry for entry in gram if not is_zero(entry[-1])))

    def against(self, weights: Sequence[Scalar]) -> list[Matrix]:
        """Return int b_a (sum_b weight_b b_b)^T dm for each field a."""
        totals = [[list(ZERO), list(ZERO), list(ZERO)] for _ in self.first]
        for a, b, i, j, value in self.gram:
            row = totals[a][i]
            row[j] = row[j] + value * weights[b]
        return [(tuple(x), tuple(y), tuple(z)) for x, y, z in totals]


def field_factors(fields: LinkFields, modes: list) -> list[Scalar]:
    """Return the factors c of the fields in the place of a point."""
    return [1.0, *modes, *amplitudes(fields.body.modal.axial, modes)]


def mode_columns(fields: LinkFields, modes: list) -> list[Weights]:
    """Return for each mode the weights of the fields in its shape psi_k."""
    drawn = 1 + len(modes)
    gradients = amplitude_gradients(fields.body.modal.axial, modes)
    return [
        [(k, 1.0), *((drawn + j, slope) for j, slope in column)]
        for k, column in enumerate(gradients, start=1)
    ]


def dense_weights(column: Weights, size: int) -> list[Scalar]:
    weights: list[Scalar] = [0.0] * size
    for a, weight in column:
        weights[a] = weights[a] + weight
    return weights


def sum_matrices(weights: Weights, matrices: Sequence[Matrix]) -> Matrix:
    total: Matrix = (ZERO, ZERO, ZERO)
    for a, weight in weights:
        total = add_matrices(total, scale_matrix(weight, matrices[a]))
    return total


def sum_vectors(weights: Weights, vectors: Sequence[Vector]) -> Vector:
    return combine([weight for _, weight in weights], [vectors[a] for a, _ in weights])


def weighted_values(weights: Weights, values: Sequence[Scalar]) -> Scalar:
    return weighted([weight for _, weight in weights], [values[a] for a, _ in weights])


def _entries(m: Matrix) -> list[tuple[int, int, Scalar]]:
    return [(i, j, value) for i, row in enumerate(m) for j, value in enumerate(row)]


def _both(entries: Iterable[GramEntry]) -> list[GramEntry]:
    """Return entries of int b_a b_b^T dm and those of its transpose."""
    found = list(entries)
    return found + [(b, a, j, i, value) for a, b, i, j, value in found]


@dataclass
class LinkInertia:
    """
    The inertia of a link over the twist of its frame and its modes, the blocks of (25).

    Attributes:
        mass: [kg].
        first: int rho dm.
        inertia: About the frame's origin.
        modal_first: int psi_k dm for each mode.
        modal_angular: Angular momentum about the origin for each unit mode rate.
        modal_mass: Generalised mass of the modes.
    """

    mass: Scalar
    first: Vector
    inertia: Matrix
    modal_first: list[Vector]
    modal_angular: list[Vector]
    modal_mass: list[list[Scalar]]

    def rotated(self, rotation: Matrix) -> LinkInertia:
        """Return the inertia in the axes in which its own have this rotation (26)."""
        return LinkInertia(
            self.mass,
            apply(rotation, self.first),
            congruence(rotation, self.inertia),
            [apply(rotation, x) for x in self.modal_first],
            [apply(rotation, x) for x in self.modal_angular],
            self.modal_mass,
        )

    def momentum(self, linear: Vector, angular: Vector) -> BodyWrench:
        """Return the momenta of frame and modes from a twist of the frame."""
        return BodyWrench(
            add(scale(self.mass, linear), cross(angular, self.first)),
            add(cross(self.first, linear), apply(self.inertia, angular)),
            [
                dot(first, linear) + dot(turning, angular)
                for first, turning in zip(self.modal_first, self.modal_angular)
            ],
        )

    def modal_momentum(self, rates: Sequence[Scalar]) -> BodyWrench:
        """Return the momenta of frame and modes from rates of the modes."""
        return BodyWrench(
            combine(rates, self.modal_first),
            combine(rates, self.modal_angular),
            [weighted(row, rates) for row in self.modal_mass],
        )

    def weight(self, gravity: Vector) -> BodyWrench:
        """Return the forces that hold the link against gravity."""
        return self.momentum(scale(-1.0, gravity), ZERO)


def link_inertia(fields: LinkFields, modes: list) -> LinkInertia:
    """Return a link's inertia at modal coordinates `modes`, in link axes."""
    body, factors = fields.body, field_factors(fields, modes)
    columns = mode_columns(fields, modes)
    reach = fields.against(factors)  # int b_a rho^T dm
    moments = [sum_matrices(column, reach) for column in columns]  # int psi_k rho^T dm
    masses = []
    for column, rotary in zip(columns, body.modal.rotary_mass):
        products = fields.against(dense_weights(column, len(factors)))
        traces = [m[0][0] + m[1][1] + m[2][2] for m in products]
        masses.append([
            weighted_values(other, traces) + mass for other, mass in zip(columns, rotary)
        ])
    return LinkInertia(
        body.mass,
        combine(factors, fields.first),
        inertia_of(sum_matrices(list(enumerate(factors)), reach)),
        [sum_vectors(column, fields.first) for column in columns],
        [
            add(axial_part(transpose(moment)), rotary)
            for moment, rotary in zip(moments, body.modal.rotary)
        ],
        masses,
    )
