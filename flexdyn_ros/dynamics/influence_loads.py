# SPDX-License-Identifier: Apache-2.0
"""The load of the nonlinear accelerations of one link, integrated over its mass elements."""

from __future__ import annotations

from typing import NamedTuple

from flexdyn_ros.dynamics.foreshortening import amplitude_biases
from flexdyn_ros.dynamics.foreshortening import amplitude_gradients
from flexdyn_ros.dynamics.foreshortening import amplitude_rates
from flexdyn_ros.dynamics.influence_fields import field_factors
from flexdyn_ros.dynamics.influence_fields import LinkFields
from flexdyn_ros.dynamics.influence_fields import mode_columns
from flexdyn_ros.dynamics.influence_fields import sum_matrices
from flexdyn_ros.dynamics.influence_fields import weighted_values
from flexdyn_ros.dynamics.influence_inertia import Load
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import add_matrices
from flexdyn_ros.dynamics.spatial import apply
from flexdyn_ros.dynamics.spatial import axial as axial_part
from flexdyn_ros.dynamics.spatial import combine
from flexdyn_ros.dynamics.spatial import cross
from flexdyn_ros.dynamics.spatial import dot
from flexdyn_ros.dynamics.spatial import multiply
from flexdyn_ros.dynamics.spatial import outer
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import scale_matrix
from flexdyn_ros.dynamics.spatial import skew
from flexdyn_ros.dynamics.spatial import transpose
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.dynamics.spatial import ZERO


class LinkMotion(NamedTuple):
    """
    The motion of a link's frame without the accelerations of coordinates.

    Attributes:
        spin: Angular velocity [rad/s].
        spin_rate: Angular acceleration [rad/s^2].
        acceleration: Of the origin [m/s^2].
    """

    spin: Vector
    spin_rate: Vector
    acceleration: Vector


def nonlinear_load(
    fields: LinkFields, motion: LinkMotion, modes: list, rates: list, undeformed: bool = False
) -> Load:
    """
    Return the load of the nonlinear accelerations, integrated over the link, in link axes.

    The element equation (19) with a point's acceleration for qdd = 0,
    a(r) = a_0 + U rho + 2 w x rho' + rho'', with U = [alpha]x + [w]x [w]x and rho' and rho''
    of the modes' rates alone.

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
    spin = skew(motion.spin)
    carried = add_matrices(skew(motion.spin_rate), multiply(spin, spin))
    force = add(scale(body.mass, motion.acceleration), combine(biases, fields.first))
    force = add(force, apply(carried, combine(factors, fields.first)))
    force = add(force, scale(2.0, cross(motion.spin, combine(speeds, fields.first))))
    carried, turned = transpose(carried), scale_matrix(2.0, transpose(spin))
    moving = fields.against(speeds) if body.n_modes else [(ZERO, ZERO, ZERO)]
    bending = fields.against(biases) if axial.terms else [(ZERO, ZERO, ZERO)] * len(factors)
    felt = []  # int b_a a^T dm
    for first, at, speed, bias in zip(fields.first, fields.against(factors), moving, bending):
        own = add_matrices(outer(first, motion.acceleration), multiply(at, carried))
        felt.append(add_matrices(own, add_matrices(multiply(speed, turned), bias)))
    moment = axial_part(sum_matrices(list(enumerate(factors)), felt))
    traces = [m[0][0] + m[1][1] + m[2][2] for m in felt]
    modal = [weighted_values(column, traces) for column in mode_columns(fields, modes)]
    for k, (rate, rotary) in enumerate(zip(rates, body.modal.rotary)):
        moment = add(moment, scale(rate, cross(motion.spin, rotary)))
        modal[k] = modal[k] + dot(rotary, motion.spin_rate)
    return Load(force, moment, modal)
