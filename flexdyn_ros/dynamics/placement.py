# SPDX-License-Identifier: Apache-2.0
"""
Placement of each body on its parent, and the transfer of motion and forces between them.

A body hangs on its parent in two steps. One leads from the parent's frame to the cross-section
(node) that carries it, which moves with the parent's modes. The other leads over the joint.
On a rigid parent the first step is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Optional, Sequence

from flexdyn_ros.dynamics.foreshortening import (
    along_modes,
    amplitude_gradients,
    amplitudes,
    weighted,
)
from flexdyn_ros.dynamics.joints import AxisTerm, Column, frame_axis, joint_motion, project_on_axis
from flexdyn_ros.dynamics.multibody import AxialInertia, Body, BodyNode, Multibody
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import (
    about_axis,
    add,
    add_matrices,
    apply,
    apply_transposed,
    BodyWrench,
    by_vector,
    combine,
    congruence,
    cross,
    dot,
    IDENTITY,
    Matrix,
    multiply,
    rotate_tensor,
    scale,
    skew,
    symmetric_congruence,
    Vector,
    vector_angular_velocity,
    ZERO,
)

Twist = tuple[Vector, Vector]
# Force and moment, or a BodyWrench.
Wrench = Sequence[Any]


@dataclass
class NodePlacement:
    """
    A deflected cross-section in the parent's frame.

    Attributes:
        position: Its place [m].
        rotation: Its rotation (for King's form, the matrix 1 + [theta]x).
        rotation_vector: The rotation vector theta [rad].
        translation: Velocity column of each mode of the parent.
        angular: Angular velocity column of each mode, in the parent's axes.
        node: The undeformed node.
        axial: Shortening of the parent by bending.
    """

    position: Vector
    rotation: Matrix
    rotation_vector: Vector
    translation: list[Vector]
    angular: list[Vector]
    node: BodyNode
    axial: AxialInertia


@dataclass
class Placement:
    """
    A body on its parent at one configuration.

    Attributes:
        body: The body.
        node: The cross-section that carries it; None on a rigid parent.
        position: Body origin from the node (or parent origin), in its axes [m].
        rotation: Body axes in the node's (or parent's) axes.
        joint_rotation: The joint's own rotation; None for none.
        columns: Motion columns of the joint.
        through: Body axes in the parent's where node and joint turn vectors in one step; None
            where they do one after the other.
    """

    body: Body
    node: Optional[NodePlacement]
    position: Vector
    rotation: Matrix
    joint_rotation: Optional[Matrix]
    columns: tuple[Column, ...]
    through: Optional[Matrix] = None

    def rotate_tensor(self, m: Matrix, symmetric: bool = True) -> Matrix:
        """Return R m R^T of a matrix of the body, R its rotation."""
        axis, product = frame_axis(self.body.joint), congruence
        if symmetric:
            product = symmetric_congruence
        if self.joint_rotation is None or axis is None:
            return product(self.rotation, m)
        behind_joint = rotate_tensor(self.joint_rotation, axis, m, symmetric)
        return product(self.body.rotation, behind_joint)


def placements(tree: Multibody, q: list, at_once: bool = False) -> list[Placement]:
    """
    Return the placement of each body at configuration q, (nq,).

    Args:
        tree: The bodies.
        q: Configuration, (nq,).
        at_once: Whether vectors pass node and joint in one step where that is less work, as it
            is for the five that a sweep outward and back turns: where a revolute joint stands at
            a node whose rotation is about no single axis.
    """
    places = [_placement(tree, body, q) for body in tree.bodies]
    if at_once:
        for place in places:
            if place.node is not None and _stands_at_general_node(place.body):
                place.through = multiply(place.node.rotation, place.rotation)
    return places


def _stands_at_general_node(body: Body) -> bool:
    if body.node is None or body.joint.type != 'revolute' or any(body.position):
        return False
    return body.node.linear or body.node.axis is None


def _placement(tree: Multibody, body: Body, q: list) -> Placement:
    node, extra = None, None
    if body.node is not None:
        node = _node_placement(body.node, tree.bodies[body.parent], q)
        if _shares_axis(body):
            # Two turns about one axis are one: the joint takes the node's angle too.
            extra = dot(node.rotation_vector, apply(body.rotation, body.joint.axis))
            node.rotation = IDENTITY
    joint_rotation, shift, columns = joint_motion(body.joint, q, extra)
    rotation = body.rotation if joint_rotation is None else multiply(body.rotation, joint_rotation)
    position = body.position
    if shift is not None:
        position = add(position, apply(body.rotation, shift))
    return Placement(body, node, position, rotation, joint_rotation, columns)


def _shares_axis(body: Body) -> bool:
    """Return whether a joint turns about the one axis, and at the point, its node turns about."""
    if body.joint.type != 'revolute' or body.node.linear or any(body.position):
        return False
    axis = apply(body.rotation, body.joint.axis)
    return body.node.axis is not None and abs(axis[body.node.axis]) == 1.0


def _node_placement(node: BodyNode, parent: Body, q: list) -> NodePlacement:
    modes, axial = parent.mode_values(q), parent.modal.axial
    position, translation = deflected_node(node, axial, modes)
    theta = combine(modes, node.rotation)
    if node.linear:
        rotation, turning = add_matrices(IDENTITY, skew(theta)), list(node.rotation)
    elif node.axis is not None:
        rotation = about_axis(IDENTITY[node.axis], theta[node.axis])
        turning = list(node.rotation)
    else:
        rotation = by_vector(theta)
        turning = [vector_angular_velocity(theta, column) for column in node.rotation]
    return NodePlacement(position, rotation, theta, translation, turning, node, axial)


def deflected_node(
    node: BodyNode, axial: AxialInertia, modes: Sequence[Scalar]
) -> tuple[Vector, list[Vector]]:
    """Return the place of a deflected cross-section, and its velocity for each unit mode rate."""
    place, columns = add(node.position, combine(modes, node.translation)), list(node.translation)
    if axial.terms:
        drawn = weighted(node.shortening, amplitudes(axial, modes))
        place = add(place, scale(drawn, axial.direction))
        rates = along_modes(node.shortening, amplitude_gradients(axial, modes))
        columns = [add(c, scale(rate, axial.direction)) for c, rate in zip(columns, rates)]
    return place, columns


def carry_twist(place: Placement, twist: Twist, mode_rates: Sequence[Scalar]) -> Twist:
    """
    Return the parent's twist carried to the body, its own joint motion apart.

    Args:
        place: The body on its parent.
        twist: Linear velocity at the parent's origin and angular velocity, parent axes.
        mode_rates: Rates of the parent's modes.
    """
    linear, angular = twist
    node = place.node
    if node is not None:
        linear = add(add(linear, cross(angular, node.position)),
                     combine(mode_rates, node.translation))
        angular = add(angular, combine(mode_rates, node.angular))
        linear = apply_transposed(node.rotation, linear)
        angular = apply_transposed(node.rotation, angular)
    linear = add(linear, cross(angular, place.position))
    return apply_transposed(place.rotation, linear), apply_transposed(place.rotation, angular)


def carry_wrench(place: Placement, wrench: Wrench) -> BodyWrench:
    """
    Return a wrench at the body's origin carried to the parent's, with its modal forces there.

    The transpose of `carry_twist`, so that power is conserved.
    """
    node = place.node
    if place.through is not None:
        force, moment = apply(place.through, wrench[0]), apply(place.through, wrench[1])
    else:
        force = apply(place.rotation, wrench[0])
        moment = add(apply(place.rotation, wrench[1]), cross(place.position, force))
        if node is not None:
            force, moment = apply(node.rotation, force), apply(node.rotation, moment)
    if node is None:
        return BodyWrench(force, moment, [])
    columns = zip(node.translation, node.angular)
    modal = [project_on_axis(column, (force, moment)) for column in columns]
    return BodyWrench(force, add(moment, cross(node.position, force)), modal)


def powers_inside(
    places: Sequence[Placement], index: int, wrench: Wrench
) -> Iterator[tuple[tuple[AxisTerm, ...], Scalar]]:
    """
    Yield the power of a wrench on a body on each axis and mode inside that body.

    Args:
        places: The bodies on their parents.
        index: Of the body.
        wrench: At the body's origin, in its axes.

    Yields:
        The drivers of the axis, and the power for its unit velocity.
    """
    place = places[index]
    while place.body.parent >= 0:
        carried = carry_wrench(place, wrench)
        place, wrench = places[place.body.parent], carried
        for k, power in zip(place.body.modal_coordinates, carried.modal):
            yield (AxisTerm(0, k),), power
        for axis, column in zip(place.body.joint.terms, place.columns):
            yield axis, project_on_axis(column, wrench)


def poses(places: list[Placement]) -> list[tuple[Matrix, Vector]]:
    """Return rotation and origin of every body in the root frame."""
    found: list[tuple[Matrix, Vector]] = []
    for place in places:
        parent = place.body.parent
        rotation, position = found[parent] if parent >= 0 else (IDENTITY, ZERO)
        if place.node is not None:
            position = add(position, apply(rotation, place.node.position))
            rotation = multiply(rotation, place.node.rotation)
        position = add(position, apply(rotation, place.position))
        found.append((multiply(rotation, place.rotation), position))
    return found
