# SPDX-License-Identifier: Apache-2.0
"""
One body, rigid or flexible: its inertia at a deflection and the wrench that moves it.

The field is u(r) = sum_k phi_k(r) delta_k, so the integrals over the deflected body are exact
polynomials in delta. The rotary inertia of cross-sections stays about the undeformed axes. The
sums are those of King's equations in El-Rayyes 1990 (2.46)-(2.50), written with second moments in
place of inertia tensors; no term is dropped. The terms of a beam drawn in along its axis are in
foreshortening.py.
"""

from __future__ import annotations

from typing import Iterable

from flexdyn_ros.dynamics.foreshortening import axial_wrench, DeflectedBody, drawn_in
from flexdyn_ros.dynamics.multibody import Body, Entry
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import (
    add,
    add_matrices,
    apply,
    axial,
    BodyMotion,
    BodyWrench,
    cross,
    dot,
    is_zero,
    Matrix,
    multiply,
    outer,
    scale,
    scale_matrix,
    transpose,
    Vector,
    ZERO,
)


def deflect(body: Body, modes: list) -> DeflectedBody:
    """Return the body's inertia integrals at modal coordinates `modes`."""
    modal = body.modal
    first, second = body.first_moment, body.second_moment
    moments = []
    for k, amplitude in enumerate(modes):
        rows = [list(row) for row in (ZERO, ZERO, ZERO)]
        for i, j, value in modal.second[k]:
            rows[i][j] = rows[i][j] + value
            second = _plus_entry(second, j, i, amplitude * value)
        for other, products in zip(modes, modal.product):
            for i, j, value in products[k]:
                rows[i][j] = rows[i][j] + other * value
        moment = tuple(tuple(row) for row in rows)
        moments.append(moment)
        first = add(first, scale(amplitude, modal.first[k]))
        second = add_matrices(second, scale_matrix(amplitude, moment))
    state = DeflectedBody(first, second, moments, modal.first, modal.mass, body)
    return drawn_in(modal.axial, modes, state) if modal.axial.terms else state


def body_wrench(
    body: Body, motion: BodyMotion, modes: list, rates: list, accelerations: list
) -> BodyWrench:
    """
    Return the force, the moment about the origin and the modal forces that a motion takes.

    A point of the body accelerates by a(r) = a + U r + sum_l B_l phi_l(r), where B_l = delta_l U +
    2 delta_l' [w]x + delta_l'' carries the shape of mode l. With A_0 = int r a^T dm and A_k = int
    phi_k a^T dm, the moment is the axial part of A_0 + sum_k delta_k A_k. The force on mode k is
    the trace of A_k. Elastic forces are not among them; the cross-sections' rotary inertia is.

    Args:
        body: The body.
        motion: Motion of its frame.
        modes: Its modal coordinates.
        rates: Their rates.
        accelerations: Their accelerations.
    """
    modal, start, columns = body.modal, motion.acceleration, transpose(motion.matrix)
    shapes = [
        _shape_acceleration(motion, columns, *amplitudes)
        for amplitudes in zip(modes, rates, accelerations)
    ]
    force = add(scale(body.mass, start), apply(motion.matrix, body.first_moment))
    moments = multiply(body.second_moment, columns)
    moment = cross(body.first_moment, start)
    forces: list[Scalar] = []
    for k, amplitude in enumerate(modes):
        force = _plus_shape(force, modal.first[k], shapes[k])
        moments = _plus_shapes(moments, modal.second[k], shapes[k])
        rows = _mode_rows(body, k, start, columns, shapes)
        moments = add_matrices(moments, scale_matrix(amplitude, rows))
        forces.append(rows[0][0] + rows[1][1] + rows[2][2])
    moment = add(moment, axial(moments))
    for k, (rate, acceleration, rotary) in enumerate(zip(rates, accelerations, modal.rotary)):
        moment = add(moment, add(
            scale(rate, cross(motion.angular_velocity, rotary)), scale(acceleration, rotary)
        ))
        forces[k] = forces[k] + dot(rotary, motion.angular_acceleration)
        for mass, other in zip(modal.rotary_mass[k], accelerations):
            forces[k] = forces[k] + mass * other
    if modal.axial.terms:
        more = axial_wrench(modal.axial, motion, modes, rates, accelerations)
        force, moment = add(force, more.force), add(moment, more.moment)
        forces = [force_of_mode + drawn for force_of_mode, drawn in zip(forces, more.modal)]
    return BodyWrench(force, moment, forces)


def _shape_acceleration(
    motion: BodyMotion, columns: Matrix, amplitude: Scalar, rate: Scalar, acceleration: Scalar
) -> Matrix:
    """Return the columns of B = amplitude U + 2 rate [w]x + acceleration."""
    x, y, z = scale(2.0 * rate, motion.angular_velocity)
    turning = ((acceleration, z, -y), (-z, acceleration, x), (y, -x, acceleration))
    return add_matrices(scale_matrix(amplitude, columns), turning)


def _mode_rows(
    body: Body, k: int, start: Vector, columns: Matrix, shapes: list[Matrix]
) -> Matrix:
    """Return A_k = int phi_k a^T dm."""
    modal = body.modal
    rows = outer(modal.first[k], start)
    rows = _plus_shapes(rows, [(j, i, value) for i, j, value in modal.second[k]], columns)
    for products, shape in zip(modal.product[k], shapes):
        rows = _plus_shapes(rows, products, shape)
    return rows


def _plus_shape(total: Vector, weights: Vector, columns: Matrix) -> Vector:
    """Return total + the sum of weight * column over the weights that are not zero."""
    for weight, column in zip(weights, columns):
        if not is_zero(weight):
            total = add(total, scale(weight, column))
    return total


def _plus_shapes(rows: Matrix, entries: Iterable[Entry], columns: Matrix) -> Matrix:
    """Return rows + m B^T for the entries (i, j, m_ij) of m and the columns of B."""
    result = list(rows)
    for i, j, value in entries:
        result[i] = add(result[i], scale(value, columns[j]))
    return tuple(result)


def _plus_entry(m: Matrix, i: int, j: int, value: Scalar) -> Matrix:
    rows = [list(row) for row in m]
    rows[i][j] = rows[i][j] + value
    return tuple(tuple(row) for row in rows)
