# SPDX-License-Identifier: Apache-2.0
"""
Inverse dynamics by the recursive Newton-Euler form, with flexible links and joints.

The motion of every frame is carried outward (Luh, Walker and Paul; King's equations with exact
node rotations for flexible links, El-Rayyes 1990, sections 2.2 and 2.4). Inward go the wrenches,
projected on joint axes and modes. Gravity is an acceleration of the base.
"""

from __future__ import annotations

from typing import Iterable, NamedTuple, Optional

from flexdyn_ros.dynamics.flexible_body import body_wrench
from flexdyn_ros.dynamics.foreshortening import amplitude_biases, weighted
from flexdyn_ros.dynamics.joints import (
    axis_rates,
    combine_columns,
    project_on_axis,
    velocity_product,
)
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.placement import (
    carry_wrench,
    NodePlacement,
    Placement,
    placements,
    poses,
)
from flexdyn_ros.dynamics.reduced_forms import expanded, forces_of_undeformed_inertia
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import (
    acceleration_matrix,
    add,
    apply,
    apply_transposed,
    BodyMotion,
    BodyWrench,
    combine,
    cross,
    dot,
    negate,
    scale,
    subtract,
    Vector,
    vector_angular_bias,
    ZERO,
)


class FrameWrench(NamedTuple):
    """
    A wrench of the environment on the robot.

    Attributes:
        frame: Name of the frame at whose origin it acts.
        force: [N].
        moment: [N m].
        axes: Name of the frame whose axes give its components; None for the root's.
    """

    frame: str
    force: Vector
    moment: Vector
    axes: Optional[str] = None


@forces_of_undeformed_inertia
@expanded(3, 0)
def generalised_forces(
    tree: Multibody,
    q: list,
    qd: list,
    qdd: list,
    gravity: Vector,
    wrenches: Iterable[FrameWrench] = (),
) -> list[Scalar]:
    """
    Return the generalised forces of inertia, gravity and outside wrenches, (nv,).

    Friction and springs are in internal_forces.py.

    Args:
        tree: The bodies.
        q: Configuration, (nq,).
        qd: Velocity, (nv,).
        qdd: Acceleration, (nv,).
        gravity: Acceleration of gravity in the root frame [m/s^2].
        wrenches: Wrenches that the environment exerts on the robot.
    """
    places = placements(tree, q, at_once=True)
    motions = propagate(tree, places, qd, qdd, gravity)
    loads = [
        body_wrench(body, motion, body.mode_values(q), body.mode_rates(qd), body.mode_rates(qdd))
        for body, motion in zip(tree.bodies, motions)
    ]
    for wrench in wrenches:
        index, force, moment = _on_body(tree, places, FrameWrench(*wrench))
        known = loads[index]
        loads[index] = BodyWrench(
            subtract(known.force, force), subtract(known.moment, moment), known.modal
        )
    tau: list[Scalar] = [0.0] * tree.nv
    for place in places:
        if place.body.polar_inertia:
            _add_axisymmetric(place, motions[place.body.parent], qd, qdd, loads, tau)
    _project(places, loads, tau)
    for velocity_index, inertia in tree.rotors:
        tau[velocity_index] = tau[velocity_index] + inertia * qdd[velocity_index]
    return tau


def _on_body(
    tree: Multibody, places: list[Placement], wrench: FrameWrench
) -> tuple[int, Vector, Vector]:
    """Return the body that a wrench acts on, and its force and moment there in body axes."""
    frame = tree.frames[wrench.frame]
    force, moment, axes = wrench.force, wrench.moment, None
    if wrench.axes is not None:
        axes = tree.frames[wrench.axes]
        force, moment = apply(axes.rotation, force), apply(axes.rotation, moment)
    if axes is None or axes.body != frame.body:
        if axes is not None:
            rotation, _ = poses(places)[axes.body]
            force, moment = apply(rotation, force), apply(rotation, moment)
        rotation, _ = poses(places)[frame.body]
        force, moment = apply_transposed(rotation, force), apply_transposed(rotation, moment)
    return frame.body, force, add(moment, cross(frame.position, force))


def propagate(
    tree: Multibody, places: list[Placement], qd: list, qdd: list, gravity: Vector
) -> list[BodyMotion]:
    """Return the motion of each body's frame in its own axes, gravity taken off."""
    motions = [BodyMotion(ZERO, ZERO, negate(gravity), acceleration_matrix(ZERO, ZERO))]
    for place in places[1:]:
        parent = tree.bodies[place.body.parent]
        motion = motions[place.body.parent]
        if place.node is not None:
            motion = _node_motion(
                place, place.node, motion, parent.mode_rates(qd), parent.mode_rates(qdd)
            )
        motions.append(_joint_motion(place, motion, qd, qdd))
    return motions


def _node_motion(
    place: Placement, node: NodePlacement, motion: BodyMotion, rates: list, accelerations: list
) -> BodyMotion:
    """Return the motion of a deflecting cross-section, in its own axes unless they come later."""
    linear = combine(rates, node.translation)
    angular = combine(rates, node.angular)
    start = add(motion.acceleration, apply(motion.matrix, node.position))
    start = add(start, scale(2.0, cross(motion.angular_velocity, linear)))
    start = add(start, combine(accelerations, node.translation))
    if node.axial.terms:
        drawn = weighted(node.node.shortening, amplitude_biases(node.axial, rates))
        start = add(start, scale(drawn, node.axial.direction))
    alpha = add(motion.angular_acceleration, cross(motion.angular_velocity, angular))
    alpha = add(alpha, combine(accelerations, node.angular))
    if not node.node.linear and node.node.axis is None:
        vector_rate = combine(rates, node.node.rotation)
        alpha = add(alpha, vector_angular_bias(node.rotation_vector, vector_rate))
    omega = add(motion.angular_velocity, angular)
    if place.through is not None:
        # The body stands here: nothing needs the matrix before its joint has turned the axes.
        return BodyMotion(omega, alpha, start, motion.matrix)
    omega = apply_transposed(node.rotation, omega)
    alpha = apply_transposed(node.rotation, alpha)
    return BodyMotion(
        omega,
        alpha,
        apply_transposed(node.rotation, start),
        acceleration_matrix(omega, alpha),
    )


def _joint_motion(place: Placement, motion: BodyMotion, qd: list, qdd: list) -> BodyMotion:
    """Return the motion of a body behind its joint, in its own axes."""
    joint = place.body.joint
    rates = axis_rates(joint, qd)
    linear, angular = combine_columns(place.columns, rates)
    linear_rate, angular_rate = combine_columns(place.columns, axis_rates(joint, qdd))
    if place.through is None:
        rotation = place.rotation
        start = add(motion.acceleration, apply(motion.matrix, place.position))
    else:
        rotation, start = place.through, motion.acceleration
    start = apply_transposed(rotation, start)
    omega = apply_transposed(rotation, motion.angular_velocity)
    alpha = apply_transposed(rotation, motion.angular_acceleration)
    linear_bias, angular_bias = velocity_product(joint, place.columns, rates, linear, angular)
    if linear is not None:
        start = add(start, add(scale(2.0, cross(omega, linear)), linear_rate))
        start = start if linear_bias is None else add(start, linear_bias)
    if angular is not None:
        alpha = add(alpha, add(cross(omega, angular), angular_rate))
        alpha = alpha if angular_bias is None else add(alpha, angular_bias)
        omega = add(omega, angular)
    return BodyMotion(omega, alpha, start, acceleration_matrix(omega, alpha))


def _add_axisymmetric(
    place: Placement, carrier: BodyMotion, qd: list, qdd: list, loads: list[BodyWrench], tau: list
) -> None:
    """Add the torque and the gyroscopic moment on the parent of the rotation about the joint."""
    joint, inertia = place.body.joint, place.body.polar_inertia
    axis = apply(place.body.rotation, joint.axis)
    momentum = inertia * axis_rates(joint, qd)[0]
    torque = inertia * axis_rates(joint, qdd)[0]
    parent = place.body.parent
    moment = add(scale(torque, axis), scale(momentum, cross(carrier.angular_velocity, axis)))
    loads[parent] = loads[parent].plus(BodyWrench(ZERO, moment, []))
    torque = torque + inertia * dot(axis, carrier.angular_acceleration)
    for term in joint.terms[0]:
        tau[term.velocity_index] = tau[term.velocity_index] + term.multiplier * torque


def _project(places: list[Placement], loads: list[BodyWrench], tau: list) -> None:
    """Add the generalised forces of the bodies' wrenches to tau, carrying them inward."""
    for index in reversed(range(len(places))):
        place, body, load = places[index], places[index].body, loads[index]
        for k, force in enumerate(load.modal):
            tau[body.velocity_modes + k] = force
        for axis, column in zip(body.joint.terms, place.columns):
            power = project_on_axis(column, load)
            for term in axis:
                tau[term.velocity_index] = tau[term.velocity_index] + term.multiplier * power
        if body.parent >= 0:
            loads[body.parent] = loads[body.parent].plus(carry_wrench(place, load))
