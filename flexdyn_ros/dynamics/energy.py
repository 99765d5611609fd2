# SPDX-License-Identifier: Apache-2.0
"""Kinetic and potential energy, from velocities and places alone."""

from flexdyn_ros.dynamics.flexible_body import deflect, DeflectedBody
from flexdyn_ros.dynamics.frame_kinematics import body_twists
from flexdyn_ros.dynamics.internal_forces import elastic_energy
from flexdyn_ros.dynamics.joints import axis_rates
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.placement import placements, poses, Twist
from flexdyn_ros.dynamics.reduced_forms import expanded, of_undeformed_inertia
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import add, apply, combine, cross, dot, scale, Vector


@of_undeformed_inertia
@expanded(2)
def kinetic_energy(tree: Multibody, q: list, qd: list) -> Scalar:
    """Return the kinetic energy of all bodies and rotors [J]."""
    twists = body_twists(tree, placements(tree, q), qd)
    energy: Scalar = 0.0
    for body, twist in zip(tree.bodies, twists):
        state = deflect(body, body.mode_values(q))
        energy = energy + _body_energy(state, twist, body.mode_rates(qd))
        if body.polar_inertia:
            rate = axis_rates(body.joint, qd)[0]
            # The body turns at the carrier's rate plus the joint's: half of the sum's square
            # less the carrier's own, which the parent has.
            about = dot(body.joint.axis, twist[1]) - 0.5 * rate
            energy = energy + body.polar_inertia * rate * about
    for index, inertia in tree.rotors:
        energy = energy + 0.5 * inertia * qd[index] * qd[index]
    return energy


def _body_energy(state: DeflectedBody, twist: Twist, rates: list) -> Scalar:
    """Return 1/2 int |v + w x rho + u'|^2 dm and the rotary energy of the cross-sections."""
    linear, angular = twist
    flow = add(cross(angular, state.first_moment), combine(rates, state.modal_first))
    energy = dot(linear, add(scale(0.5 * state.body.mass, linear), flow))
    energy = energy + 0.5 * dot(angular, apply(state.inertia, angular))
    if rates:
        energy = energy + dot(angular, combine(rates, state.angular_coupling))
    for rate, row in zip(rates, state.modal_mass):
        for mass, other in zip(row, rates):
            energy = energy + 0.5 * mass * rate * other
    return energy


def potential_energy(tree: Multibody, q: list, gravity: Vector) -> Scalar:
    """Return the energy of gravity, zero at the root frame's origin, and of elasticity [J]."""
    return elastic_energy(tree, q) + gravitational_energy(tree, q, gravity)


@expanded(1)
def gravitational_energy(tree: Multibody, q: list, gravity: Vector) -> Scalar:
    """Return the energy of gravity, zero at the root frame's origin [J]."""
    energy: Scalar = 0.0
    for body, (rotation, position) in zip(tree.bodies, poses(placements(tree, q))):
        first = deflect(body, body.mode_values(q)).first_moment
        moment = add(scale(body.mass, position), apply(rotation, first))
        energy = energy - dot(gravity, moment)
    return energy
