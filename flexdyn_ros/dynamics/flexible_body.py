# SPDX-License-Identifier: Apache-2.0
"""
One body, rigid or flexible: its inertia at a deflection and the wrench that moves it.

The field is u(r) = sum_k phi_k(r) delta_k, so the integrals over the deflected body are exact
polynomials in delta. The sums are those of King's equations in El-Rayyes 1990 (2.46)-(2.50),
written with second moments in place of inertia tensors; no term is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.dynamics.multibody import Body
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import add_matrices
from flexdyn_ros.dynamics.spatial import apply
from flexdyn_ros.dynamics.spatial import axial
from flexdyn_ros.dynamics.spatial import combine
from flexdyn_ros.dynamics.spatial import cross
from flexdyn_ros.dynamics.spatial import dot
from flexdyn_ros.dynamics.spatial import IDENTITY
from flexdyn_ros.dynamics.spatial import Matrix
from flexdyn_ros.dynamics.spatial import multiply
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import scale_matrix
from flexdyn_ros.dynamics.spatial import skew
from flexdyn_ros.dynamics.spatial import subtract_matrices
from flexdyn_ros.dynamics.spatial import transpose
from flexdyn_ros.dynamics.spatial import Vector


@dataclass
class DeflectedBody:
    """
    A body's inertia integrals at one deflection, about its frame's origin in its axes.

    Attributes:
        body: The body.
        first_moment: int rho dm, rho = r + u.
        second_moment: int rho rho^T dm.
        modal_moments: int rho phi_k^T dm for each mode k.
    """

    body: Body
    first_moment: Vector
    second_moment: Matrix
    modal_moments: list[Matrix]

    @property
    def inertia(self) -> Matrix:
        """Inertia matrix about the frame's origin."""
        m = self.second_moment
        return subtract_matrices(scale_matrix(m[0][0] + m[1][1] + m[2][2], IDENTITY), m)

    @property
    def angular_coupling(self) -> list[Vector]:
        """Angular momentum about the origin for each unit mode rate."""
        rotary = self.body.modal.rotary
        return [add(axial(m), spin) for m, spin in zip(self.modal_moments, rotary)]


@dataclass
class BodyMotion:
    """
    Motion of a body's frame, in its axes.

    Attributes:
        spin: Angular velocity.
        spin_rate: Angular acceleration.
        acceleration: Of the frame's origin, gravity taken off.
        matrix: U = [spin_rate]x + [spin]x [spin]x.
    """

    spin: Vector
    spin_rate: Vector
    acceleration: Vector
    matrix: Matrix


def deflect(body: Body, modes: list) -> DeflectedBody:
    """Return the body's inertia integrals at modal coordinates `modes`."""
    modal = body.modal
    first, second = body.first_moment, body.second_moment
    moments = []
    for k, amplitude in enumerate(modes):
        moment = modal.second[k]
        for other, products in zip(modes, modal.product):
            moment = add_matrices(moment, scale_matrix(other, products[k]))
        moments.append(moment)
        first = add(first, scale(amplitude, modal.first[k]))
        spread = add_matrices(transpose(modal.second[k]), moment)
        second = add_matrices(second, scale_matrix(amplitude, spread))
    return DeflectedBody(body, first, second, moments)


def body_wrench(
    state: DeflectedBody, motion: BodyMotion, rates: list, accelerations: list
) -> tuple[Vector, Vector, list[Scalar]]:
    """
    Return the force, the moment about the origin and the modal forces that a motion takes.

    Elastic forces are not among them. With rho = r + u and a(rho) = a + U rho + 2 w x u' + u'':
    force = int a(rho) dm, moment = int rho x a(rho) dm, modal force k = int phi_k . a(rho) dm,
    and the cross-sections' rotary inertia.

    Args:
        state: The deflected body.
        motion: Motion of its frame.
        rates: Rates of its modes.
        accelerations: Accelerations of its modes.
    """
    body, modal = state.body, state.body.modal
    start, matrix, spin = motion.acceleration, motion.matrix, motion.spin
    force = add(scale(body.mass, start), apply(matrix, state.first_moment))
    moments = multiply(state.second_moment, transpose(matrix))
    moment = cross(state.first_moment, start)
    if rates:
        flow = combine(rates, modal.first)
        force = add(force, add(scale(2.0, cross(spin, flow)), combine(accelerations, modal.first)))
        sweep = _combine_matrices(rates, state.modal_moments)
        moments = subtract_matrices(moments, multiply(scale_matrix(2.0, sweep), skew(spin)))
        moments = add_matrices(moments, _combine_matrices(accelerations, state.modal_moments))
        moment = add(moment, cross(spin, combine(rates, modal.rotary)))
        moment = add(moment, combine(accelerations, modal.rotary))
    moment = add(moment, axial(moments))
    forces = [
        _modal_force(state, k, motion, rates, accelerations) for k in range(len(rates))
    ]
    return force, moment, forces


def _modal_force(
    state: DeflectedBody, k: int, motion: BodyMotion, rates: list, accelerations: list
) -> Scalar:
    modal = state.body.modal
    moments = state.modal_moments[k]
    force = dot(modal.first[k], motion.acceleration) + dot(modal.rotary[k], motion.spin_rate)
    # int phi_k . U rho dm is the sum over all entries of U and of the transposed moments.
    for row, column in zip(motion.matrix, transpose(moments)):
        force = force + dot(row, column)
    flow = _combine_matrices(rates, [products[k] for products in modal.product])
    force = force + 2.0 * dot(motion.spin, axial(flow))
    for mass, acceleration in zip(modal.mass[k], accelerations):
        force = force + mass * acceleration
    return force


def _combine_matrices(factors: list, matrices: list) -> Matrix:
    total = scale_matrix(factors[0], matrices[0])
    for factor, matrix in zip(factors[1:], matrices[1:]):
        total = add_matrices(total, scale_matrix(factor, matrix))
    return total
