# SPDX-License-Identifier: Apache-2.0
"""
The response of the wrench on each body, with all that it carries, to small variations of motion.

It responds to accelerations by its composite inertia (Walker and Orin 1982), to angular velocity
as in motion_variation.py; both are found from the tips inward. The response of a flexible body
alone to its angular velocity is the derivative of its own wrench.
"""

from __future__ import annotations

from typing import Iterable, Sequence

from flexdyn_ros.dynamics.derivatives.independent_axes import (
    Calculus,
    CalculusDirection,
    IndependentAxes,
)
from flexdyn_ros.dynamics.derivatives.motion_variation import (
    CoriolisResponse,
    inward,
    response_over_joint,
    Stage,
    stages,
    Variation,
)
from flexdyn_ros.dynamics.flexible_body import body_wrench
from flexdyn_ros.dynamics.newton_euler import propagate
from flexdyn_ros.dynamics.placement import carry_wrench, placements, Wrench
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import (
    acceleration_matrix,
    add,
    apply,
    BodyMotion,
    BodyWrench,
    congruence,
    cross,
    dot,
    multiply,
    negate,
    scale,
    skew,
    subtract,
    transpose,
    Vector,
)
from flexdyn_ros.dynamics.spatial_inertia import FlexibleInertia, RigidInertia


class CompositeResponses:
    """
    The responses of all bodies of a tree at one state.

    Attributes:
        places: Each body on its parent.
        inertias: Inertia of each body with all that it carries.
        body_wrenches: Wrench that the motion of each body alone takes.
        wrenches: Wrench on each body with all that it carries.
        coriolis: BodyWrench of each body, with all that it carries, to its angular velocity.
        modal_coriolis: For each mode of each body, the derivative of its force by the angular
            velocity.
    """

    def __init__(self, axes: IndependentAxes, gravity: Vector, calculus: Calculus):
        """
        Find the responses.

        Args:
            axes: The bodies; none may carry an axisymmetric child's `polar_inertia`.
            gravity: Acceleration of gravity in the root frame [m/s^2].
            calculus: Differentiates the scalars.
        """
        self._tree, self._calculus = axes.tree, calculus
        self._q, self._qd, self._qdd = axes.q, axes.qd, axes.qdd
        self.places = placements(self._tree, self._q)
        self._motions = propagate(self._tree, self.places, self._qd, self._qdd, gravity)
        self._steps = [self._stages(index) for index in range(len(self.places))]
        self.inertias = self._composites()
        self.body_wrenches = [self._body_wrench(k, m) for k, m in enumerate(self._motions)]
        self.wrenches = self._total_wrenches()
        responses = [self._body_response(index) for index in range(len(self.places))]
        self.coriolis = [response for response, _ in responses]
        self.modal_coriolis = [rows for _, rows in responses]
        for index in reversed(range(1, len(self.places))):
            self._add_to_parent(index)

    def _stages(self, index: int) -> list[Stage]:
        """Return the steps from the parent to a body."""
        body = self._tree.bodies[index]
        if body.parent < 0:
            return []
        rates = self._tree.bodies[body.parent].mode_rates(self._qd)
        omega = self._motions[body.parent].angular_velocity
        return stages(self.places[index], omega, rates, self._qd)

    def _composites(self) -> list[FlexibleInertia]:
        """Return the inertia of each body with all that it carries."""
        inertias = [FlexibleInertia.of(body, self._q) for body in self._tree.bodies]
        for index in reversed(range(1, len(inertias))):
            place = self.places[index]
            inertias[place.body.parent].add_child(place, inertias[index].rigid)
        return inertias

    def _body_wrench(self, index: int, motion: BodyMotion) -> BodyWrench:
        """Return the wrench that the motion of one body alone takes."""
        body = self._tree.bodies[index]
        modes, rates = body.mode_values(self._q), body.mode_rates(self._qd)
        return body_wrench(body, motion, modes, rates, body.mode_rates(self._qdd))

    def _total_wrenches(self) -> list[Wrench]:
        """Return the wrench on each body with all that it carries."""
        found: list[Wrench] = [(local.force, local.moment) for local in self.body_wrenches]
        for index in reversed(range(1, len(found))):
            parent = self._tree.bodies[index].parent
            wrench = carry_wrench(self.places[index], found[index])
            force, moment = found[parent]
            found[parent] = (add(force, wrench.force), add(moment, wrench.moment))
        return found

    def _body_response(self, index: int) -> tuple[CoriolisResponse, list[Vector]]:
        """Return the response of one body alone to its angular velocity, and its modal forces'."""
        body, double = self._tree.bodies[index], scale(2.0, self._motions[index].angular_velocity)
        if not body.n_modes:
            # C = [w]x S without trace, S the second moments.
            turning = multiply(skew(negate(double)), body.second_moment)
            return CoriolisResponse(cross(double, body.first_moment), turning), []
        x, y, z = self._columns_by_angular_velocity(index)
        # The force is a product, dw x 2 s', from which 2 s' is read.
        momentum = (-y.force[2], x.force[2], y.force[0])
        rows = [vector(entries) for entries in zip(x.modal, y.modal, z.modal)]
        return CoriolisResponse(momentum, transpose((x.moment, y.moment, z.moment))), rows

    def _columns_by_angular_velocity(self, index: int) -> list[BodyWrench]:
        """Return the derivatives of a body's own wrench by its angular velocity at a fixed db."""
        motion, calculus = self._motions[index], self._calculus
        omega = vector(
            calculus.variable(f'angular velocity {d}', x)
            for d, x in zip('xyz', motion.angular_velocity)
        )
        swept = cross(motion.angular_velocity, subtract(omega, motion.angular_velocity))
        alpha = subtract(motion.angular_acceleration, swept)
        matrix = acceleration_matrix(omega, alpha)
        varied = self._body_wrench(index, BodyMotion(omega, alpha, motion.acceleration, matrix))
        return [
            self.partial(varied, calculus.direction([(variable, 1.0)]), omega)
            for variable in omega
        ]

    def _add_to_parent(self, index: int) -> None:
        """Add a body's response to its angular velocity, with all that it carries."""
        place, joint = self.places[index], self._steps[index][-1]
        rigid, parent = self._rigid(index), self._tree.bodies[index].parent
        response = response_over_joint(
            place, joint, self.coriolis[index], rigid.mass, rigid.first_moment
        )
        node = place.node
        if node is not None:
            moment = add(
                apply(joint.rotation, rigid.first_moment), scale(rigid.mass, joint.position)
            )
            response = response.rotated(node.rotation, congruence(node.rotation, response.map))
            velocity = self._steps[index][0].velocity
            response = response.moving(velocity, rigid.mass, apply(node.rotation, moment))
            self.modal_coriolis[parent] = [
                add(row, response.row(linear, angular))
                for row, linear, angular in zip(
                    self.modal_coriolis[parent], node.translation, node.angular
                )
            ]
            response = response.shifted(node.position)
        self.coriolis[parent] = self.coriolis[parent].plus(response)

    def _rigid(self, index: int) -> RigidInertia:
        """Return the inertia of a body with all that it carries, its modes at rest."""
        rigid = self.inertias[index].rigid
        assert isinstance(rigid, RigidInertia), 'first-order rotations have no such composite'
        return rigid

    @staticmethod
    def partial(
        response: BodyWrench, along: CalculusDirection, evaluated: Sequence[Scalar] = ()
    ) -> BodyWrench:
        """Return the derivative of a wrench along a direction, at the values of variables."""
        entries = [*response.force, *response.moment, *response.modal]
        found = along.derivatives(entries, evaluated)
        return BodyWrench(vector(found[:3]), vector(found[3:6]), found[6:])

    def response(self, index: int, variation: Variation) -> BodyWrench:
        """Return the response of the wrench on a body with all that it carries to a variation."""
        omega, alpha, acceleration = variation
        inertia = self.inertias[index]
        force, moment = inertia.rigid.momentum(acceleration, alpha)
        coriolis_force, coriolis_moment = self.coriolis[index].wrench(omega)
        modal = [
            dot(push, acceleration) + dot(twist, alpha) + dot(row, omega)
            for push, twist, row in zip(
                inertia.forces, inertia.moments, self.modal_coriolis[index]
            )
        ]
        return BodyWrench(add(force, coriolis_force), add(moment, coriolis_moment), modal)

    def carry(self, index: int, response: BodyWrench) -> BodyWrench:
        """Return a wrench on a body as one on its parent, with the parent's modal forces."""
        return carry_wrench(self.places[index], response)

    def inward(self, index: int, row: Variation) -> Variation:
        """Return derivatives by a body's motion as derivatives by its parent's."""
        return inward(self._steps[index], row)

    def variation(self, index: int, along: CalculusDirection) -> Variation:
        """Return the change of the motion of a body along a direction."""
        motion = self._motions[index]
        omega = slope(motion.angular_velocity, along)
        alpha = slope(motion.angular_acceleration, along)
        alpha = add(alpha, cross(motion.angular_velocity, omega))
        return omega, alpha, slope(motion.acceleration, along)


def slope(values: Vector, along: CalculusDirection) -> Vector:
    """Return the derivative of a vector along a direction."""
    return vector(along.derivatives(values))


def vector(values: Iterable) -> Vector:
    """Return three values as a vector."""
    x, y, z = values
    return x, y, z
