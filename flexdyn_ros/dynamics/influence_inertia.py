# SPDX-License-Identifier: Apache-2.0
"""The inertia of one link over the motion of its frame and its modes, Graves (25), exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from typing import Sequence

from flexdyn_ros.dynamics.influence_fields import dense_weights
from flexdyn_ros.dynamics.influence_fields import field_factors
from flexdyn_ros.dynamics.influence_fields import LinkFields
from flexdyn_ros.dynamics.influence_fields import mode_columns
from flexdyn_ros.dynamics.influence_fields import sum_matrices
from flexdyn_ros.dynamics.influence_fields import sum_vectors
from flexdyn_ros.dynamics.influence_fields import weighted_sum
from flexdyn_ros.dynamics.influence_fields import weighted_values
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import apply
from flexdyn_ros.dynamics.spatial import axial as axial_part
from flexdyn_ros.dynamics.spatial import combine
from flexdyn_ros.dynamics.spatial import congruence
from flexdyn_ros.dynamics.spatial import cross
from flexdyn_ros.dynamics.spatial import dot
from flexdyn_ros.dynamics.spatial import inertia_of
from flexdyn_ros.dynamics.spatial import Matrix
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import transpose
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.dynamics.spatial import ZERO


class Load(NamedTuple):
    """Force, moment about the link's origin, and modal forces."""

    force: Vector
    moment: Vector
    modal: list[Scalar]


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

    def turned(self, rotation: Matrix) -> LinkInertia:
        """Return the inertia in the axes in which its own have this rotation (26)."""
        return LinkInertia(
            self.mass,
            apply(rotation, self.first),
            congruence(rotation, self.inertia),
            [apply(rotation, x) for x in self.modal_first],
            [apply(rotation, x) for x in self.modal_angular],
            self.modal_mass,
        )

    def momentum(self, linear: Vector, angular: Vector) -> Load:
        """Return what a twist of the frame gives to the frame and to the modes."""
        return Load(
            add(scale(self.mass, linear), cross(angular, self.first)),
            add(cross(self.first, linear), apply(self.inertia, angular)),
            [
                dot(first, linear) + dot(turning, angular)
                for first, turning in zip(self.modal_first, self.modal_angular)
            ],
        )

    def modal_momentum(self, rates: Sequence[Scalar]) -> Load:
        """Return what rates of the modes give to the frame and to the modes."""
        return Load(
            combine(rates, self.modal_first),
            combine(rates, self.modal_angular),
            [weighted_sum(row, rates) for row in self.modal_mass],
        )

    def weight(self, gravity: Vector) -> Load:
        """Return what holds the link against gravity."""
        return self.momentum(scale(-1.0, gravity), ZERO)


def link_inertia(fields: LinkFields, modes: list) -> LinkInertia:
    """Return a link's inertia at modal coordinates `modes`, in link axes."""
    body, factors = fields.body, field_factors(fields, modes)
    columns = mode_columns(fields, modes)
    reach = fields.against(factors)  # int b_a rho^T dm
    moments = [sum_matrices(column, reach) for column in columns]  # int psi_k rho^T dm
    masses = []
    for column, rotary in zip(columns, body.modal.rotary_mass):
        own = fields.against(dense_weights(column, len(factors)))
        traces = [m[0][0] + m[1][1] + m[2][2] for m in own]
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
