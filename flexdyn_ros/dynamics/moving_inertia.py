# SPDX-License-Identifier: Apache-2.0
"""
A moving body and all it carries: the inertia that turns columns of a Jacobian into forces.

A point at rho of a body moves with V, and by J_i for a unit rate of coordinate i. The mass matrix
is int J_i . J_j dm, the Coriolis matrix int J_i . dJ_j/dt dm. Let S_j = (v_j, w_j) be the twist of
the body's frame for a unit rate of j. Let R_j = (r_j, a_j) be its rate as a spatial vector. That
is the acceleration of the point that passes the origin less w_j x V. Then

    dJ_j/dt = r_j + a_j x rho + w_j x V + (w x phi_j + dphi_j/dt)

with phi_j the shape of the mode where j is one. The integrals are those of `flexible_body`, and of
w_j x V. With the linear momentum P and N = int rho V^T dm that takes the force w_j x P and the
moment (tr N - N^T) w_j. P and N of bodies add up, so that a composite body has 12 numbers beside
its inertia (the matrix B of Echeandia and Wensing, 2021, eq. 25, in its general form).
"""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.dynamics.flexible_body import deflect
from flexdyn_ros.dynamics.foreshortening import (
    along_modes,
    amplitude_gradients,
    coupled_with_gradients,
    DeflectedBody,
    held_by,
    moments_beside,
)
from flexdyn_ros.dynamics.multibody import Body
from flexdyn_ros.dynamics.placement import Placement, Twist
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import (
    add,
    add_matrices,
    apply,
    apply_transposed,
    axial,
    combine,
    congruence,
    cross,
    dot,
    Matrix,
    outer,
    scale,
    scale_matrix,
    skew,
    subtract,
    subtract_matrices,
    Vector,
)
from flexdyn_ros.dynamics.spatial_inertia import FlexibleInertia, Inertia

# A twist and its rate, linear and angular each.
MovingColumn = tuple[Twist, Twist]


@dataclass
class ColumnForces:
    """
    The forces of one column of a Jacobian, at the origin of a body's frame.

    Attributes:
        rate: The wrench of its rate, (force, moment): projected on a column i it is C_ij.
        momentum: The wrench of the column itself: its power on a rate R_i is a part of C_ji.
        turning: A moment: its power on w_i is the rest of C_ji.
    """

    rate: Twist
    momentum: Twist
    turning: Vector

    def from_column(self, column: MovingColumn) -> Scalar:
        """Return C_ji of another column i, j this one."""
        (_, angular), (linear_rate, angular_rate) = column
        force, moment = self.momentum
        power = dot(force, linear_rate) + dot(moment, angular_rate)
        return power + dot(self.turning, angular)

    def moved(self, position: Vector) -> ColumnForces:
        """Return the same about a point from which the origin is at `position`."""
        (force, moment), (linear, angular) = self.rate, self.momentum
        return ColumnForces(
            (force, add(moment, cross(position, force))),
            (linear, add(angular, cross(position, linear))), self.turning,
        )

    def plus(self, other: ColumnForces) -> ColumnForces:
        """Return the sum."""
        pairs = zip((*self.rate, *self.momentum), (*other.rate, *other.momentum))
        force, moment, linear, angular = (add(a, b) for a, b in pairs)
        return ColumnForces((force, moment), (linear, angular), add(self.turning, other.turning))


@dataclass
class MovingInertia:
    """
    An inertia in motion, without modes.

    Attributes:
        rigid: Inertia about the origin.
        momentum: Linear momentum P.
        flow: N = int rho V^T dm.
    """

    rigid: Inertia
    momentum: Vector
    flow: Matrix

    def forces(self, column: MovingColumn) -> ColumnForces:
        """Return the forces of a column."""
        (linear, angular), rate = column
        force, moment = self.rigid.momentum(*rate)
        trace = scale(self.flow[0][0] + self.flow[1][1] + self.flow[2][2], angular)
        swept = subtract(trace, apply_transposed(self.flow, angular))
        turning = add(cross(self.momentum, linear), subtract(trace, apply(self.flow, angular)))
        return ColumnForces(
            (add(force, cross(angular, self.momentum)), add(moment, swept)),
            self.rigid.momentum(linear, angular), turning,
        )

    def shifted(self, position: Vector) -> MovingInertia:
        """Return the same about a point from which the origin is at `position`."""
        flow = add_matrices(self.flow, outer(position, self.momentum))
        return MovingInertia(self.rigid.shifted(position), self.momentum, flow)

    def plus(self, other: MovingInertia) -> MovingInertia:
        """Return the sum."""
        return MovingInertia(
            self.rigid.plus(other.rigid), add(self.momentum, other.momentum),
            add_matrices(self.flow, other.flow),
        )


@dataclass
class MovingBody:
    """
    A moving body and all it carries, over its twist and its modes.

    Attributes:
        moving: Of the frame's twist.
        modes: The forces of each mode.
        modal: int phi_k . dJ_l/dt dm, indexed [k][l].
    """

    moving: MovingInertia
    modes: list[ColumnForces]
    modal: list[list[Scalar]]

    @classmethod
    def of(cls, body: Body, q: list, qd: list, twist: Twist) -> MovingBody:
        """Return one body at configuration q, (nq,), and velocity qd, (nv,), with its twist."""
        state, rates = deflect(body, body.mode_values(q)), body.mode_rates(qd)
        linear, omega = twist
        flow = add_matrices(
            outer(state.first_moment, linear),
            tuple(cross(omega, row) for row in state.second_moment),
        )
        for rate, moment in zip(rates, state.modal_moments):
            flow = add_matrices(flow, scale_matrix(rate, moment))
        if rates:
            # Half the momentum of turning cross-sections belongs to each of two columns.
            spin = combine(rates, body.modal.rotary)
            flow = subtract_matrices(flow, scale_matrix(0.5, skew(spin)))
        momentum = add(scale(body.mass, linear), cross(omega, state.first_moment))
        momentum = add(momentum, combine(rates, state.modal_first))
        moving = MovingInertia(FlexibleInertia.of(body, q).rigid, momentum, flow)
        return cls(moving, *_modes(state, body.mode_values(q), rates, twist))

    def add_child(self, place: Placement, child: MovingInertia, nodal: list[MovingColumn]) -> None:
        """
        Add a child with all it carries.

        Args:
            place: The child on this body.
            child: In its own frame.
            nodal: The columns of this body's modes at the cross-section that carries the child.
        """
        force = apply(place.rotation, child.momentum)
        rigid = child.rigid.rotated(place.rotation, place.rotate_tensor)
        moving = MovingInertia(rigid, force, place.rotate_tensor(child.flow, symmetric=False))
        moving, node = moving.shifted(place.position), place.node
        if node is not None:
            turn = node.rotation
            moving = MovingInertia(
                moving.rigid.rotated(turn, lambda m: congruence(turn, m)),
                apply(turn, moving.momentum), congruence(turn, moving.flow),
            )
            for k, column in enumerate(nodal):
                met = moving.forces(column)
                for i, ((linear, angular), _) in enumerate(nodal):
                    power = dot(linear, met.rate[0]) + dot(angular, met.rate[1])
                    self.modal[i][k] = self.modal[i][k] + power
                self.modes[k] = self.modes[k].plus(met.moved(node.position))
            moving = moving.shifted(node.position)
        self.moving = self.moving.plus(moving)


def _modes(
    state: DeflectedBody, modes: list, rates: list, twist: Twist
) -> tuple[list[ColumnForces], list[list[Scalar]]]:
    """Return the forces of a body's modes on the body itself, and those among each other."""
    (linear, omega), modal = twist, state.body.modal
    shapes = modal.axial
    e, growing = shapes.direction, amplitude_gradients(shapes, rates)
    firsts = along_modes(shapes.first, growing)
    beside = moments_beside(shapes, modes)
    crossed = _crossed_shapes(state, modes)
    found: list[ColumnForces] = []
    for k, (first, moment) in enumerate(zip(state.modal_first, state.modal_moments)):
        trace = scale(moment[0][0] + moment[1][1] + moment[2][2], omega)
        half = scale(0.5, cross(omega, modal.rotary[k]))
        force, turned = cross(omega, first), subtract(trace, apply_transposed(moment, omega))
        if growing[k]:
            force = add(force, scale(firsts[k], e))
            for j, slope in growing[k]:
                turned = add(turned, cross(scale(slope, beside[j]), e))
        turning = add(cross(linear, first), subtract(apply(moment, omega), trace))
        turning = add(turning, combine(rates, [row[k] for row in crossed]))
        angular = state.angular_coupling[k]
        found.append(ColumnForces(
            (force, add(turned, half)), (first, angular), add(turning, half)
        ))
    matrix = [
        [dot(omega, crossed[column][row]) for column in range(len(rates))]
        for row in range(len(rates))
    ]
    if shapes.terms:
        along = held_by(shapes, modes)
        for row, felt in enumerate(along):
            for column, pulled in enumerate(along_modes(felt, growing)):
                matrix[row][column] = matrix[row][column] + pulled
    return found, matrix


def _crossed_shapes(state: DeflectedBody, modes: list) -> list[list[Vector]]:
    """Return int phi_m x phi_k dm of the shapes, those of the drawing in included, by [m][k]."""
    modal, every = state.body.modal, range(len(modes))
    drawn = [
        [cross(each, modal.axial.direction) for each in row]
        for row in coupled_with_gradients(modal.axial, modes)
    ]
    crossed = []
    for m in every:
        row = []
        for k in every:
            product: list[list[Scalar]] = [[0.0] * 3 for _ in range(3)]
            for i, j, value in modal.product[m][k]:
                product[i][j] = product[i][j] + value
            shape = axial(product)
            if drawn:
                shape = add(shape, subtract(drawn[m][k], drawn[k][m]))
            row.append(shape)
        crossed.append(row)
    return crossed
