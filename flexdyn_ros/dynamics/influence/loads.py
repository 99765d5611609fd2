# SPDX-License-Identifier: Apache-2.0
"""Velocities, nonlinear accelerations and loads by influences: (7), (13), (19), (27) of Graves."""

from __future__ import annotations

from typing import NamedTuple

from flexdyn_ros.dynamics.foreshortening import (
    amplitude_biases,
    amplitude_gradients,
    amplitude_rates,
)
from flexdyn_ros.dynamics.influence.geometry import Columns, LinkPlace
from flexdyn_ros.dynamics.influence.link_inertia import (
    field_factors,
    LinkFields,
    mode_columns,
    sum_matrices,
    weighted_values,
)
from flexdyn_ros.dynamics.spatial import (
    add,
    add_matrices,
    apply,
    axial as axial_part,
    BodyWrench,
    combine,
    cross,
    dot,
    multiply,
    outer,
    scale,
    scale_matrix,
    skew,
    subtract,
    transpose,
    Vector,
    ZERO,
)


class LinkMotion(NamedTuple):
    """
    The motion of a link's frame without the accelerations of coordinates.

    Attributes:
        angular_velocity: Angular velocity [rad/s].
        angular_acceleration: Angular acceleration [rad/s^2].
        acceleration: Of the origin [m/s^2].
    """

    angular_velocity: Vector
    angular_acceleration: Vector
    acceleration: Vector


def nonlinear_load(
    fields: LinkFields, motion: LinkMotion, modes: list, rates: list, undeformed: bool = False
) -> BodyWrench:
    """
    Return the load of the nonlinear accelerations, integrated over the link, in link axes.

    The element equation (19) with a point's acceleration for qdd = 0, a(r) = a_0 + U rho + 2 w x
    rho' + rho''. U is [alpha]x + [w]x [w]x. rho' and rho'' are of the modes' rates alone.

    Args:
        fields: The link.
        motion: Motion of its frame, link axes.
        modes: Its modal coordinates.
        rates: Their rates.
        undeformed: Whether each mass element counts at its undeformed place, as in (25).
    """
    body, axial = fields.body, fields.body.modal.axial
    none = [0.0] * len(axial.terms)
    if undeformed:
        modes, drawn_rates, drawn_biases = [0.0] * body.n_modes, none, none
    else:
        gradients = amplitude_gradients(axial, modes)
        drawn_rates = amplitude_rates(axial, gradients, rates)
        drawn_biases = amplitude_biases(axial, rates)
    factors = field_factors(fields, modes)
    still = [0.0] * (1 + body.n_modes)
    speeds, biases = [0.0, *rates, *drawn_rates], [*still, *drawn_biases]
    omega = skew(motion.angular_velocity)
    acceleration_map = add_matrices(skew(motion.angular_acceleration), multiply(omega, omega))
    force = add(scale(body.mass, motion.acceleration), combine(biases, fields.first))
    force = add(force, apply(acceleration_map, combine(factors, fields.first)))
    force = add(force, scale(2.0, cross(motion.angular_velocity, combine(speeds, fields.first))))
    acceleration_map, turned = transpose(acceleration_map), scale_matrix(2.0, transpose(omega))
    integrals = (fields.against(weights) for weights in (factors, speeds, biases))
    felt = []  # int b_a a^T dm
    for first, at, speed, bias in zip(fields.first, *integrals):
        total = add_matrices(outer(first, motion.acceleration), multiply(at, acceleration_map))
        felt.append(add_matrices(total, add_matrices(multiply(speed, turned), bias)))
    moment = axial_part(sum_matrices(list(enumerate(factors)), felt))
    traces = [m[0][0] + m[1][1] + m[2][2] for m in felt]
    modal = [weighted_values(column, traces) for column in mode_columns(fields, modes)]
    for k, (rate, rotary) in enumerate(zip(rates, body.modal.rotary)):
        moment = add(moment, scale(rate, cross(motion.angular_velocity, rotary)))
        modal[k] = modal[k] + dot(rotary, motion.angular_acceleration)
    return BodyWrench(force, moment, modal)


Twist = tuple[Vector, Vector]


def propagated_motion(motion: LinkMotion, place: LinkPlace, qd: list) -> LinkMotion:
    """
    Return the motion at the end of a way outward, in root axes: (27) with all its terms.

    Over a rigid arm r the acceleration grows by alpha x r + w x (w x r). Over a slide it grows by
    2 w x u and the bias of u. Where they turn, alpha grows by w x t and the bias of t.
    """
    omega, alpha, start = motion
    for step in place.steps:
        start = add(start, swept(omega, alpha, step.arm))
        linear, angular = ZERO, ZERO
        for coordinate, translation, rotation, _ in step.influences:
            linear = add(linear, scale(qd[coordinate], translation))
            angular = add(angular, scale(qd[coordinate], rotation))
        start = add(start, scale(2.0, cross(omega, linear)))
        if step.sweeps:
            start = add(start, cross(angular, linear))
        start = add(start, step.linear_bias)
        alpha = add(alpha, add(cross(omega, angular), step.angular_bias))
        omega = add(omega, angular)
    return LinkMotion(omega, alpha, add(start, swept(omega, alpha, place.arm)))


def swept(omega: Vector, alpha: Vector, arm: Vector) -> Vector:
    return add(cross(alpha, arm), cross(omega, cross(omega, arm)))


def printed_motion(motion: LinkMotion, inner: Twist, outer: Twist) -> LinkMotion:
    """Return the motion of a point or frame b outside of a by (27) as it is printed."""
    linear, angular = subtract(outer[0], inner[0]), subtract(outer[1], inner[1])
    return LinkMotion(
        outer[1],
        add(motion.angular_acceleration, cross(inner[1], angular)),
        add(motion.acceleration, cross(inner[1], linear)),
    )


def twist_of(columns: Columns, rates: list) -> Twist:
    """Return J times rates: linear and angular part (7)."""
    linear, angular = ZERO, ZERO
    for coordinate, (translation, rotation) in columns.items():
        linear = add(linear, scale(rates[coordinate], translation))
        angular = add(angular, scale(rates[coordinate], rotation))
    return linear, angular


def project(columns: Columns, modes: int, load: BodyWrench, tau: list) -> None:
    """Add J^T (force, moment) to tau (13), and modal forces from place `modes` on."""
    for coordinate, (linear, angular) in columns.items():
        power = dot(linear, load.force) + dot(angular, load.moment)
        tau[coordinate] = tau[coordinate] + power
    for k, force in enumerate(load.modal, start=modes):
        tau[k] = tau[k] + force
