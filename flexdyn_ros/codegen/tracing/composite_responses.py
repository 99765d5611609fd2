# SPDX-License-Identifier: Apache-2.0
"""
How each body of a tree, with all that it carries, answers to small changes of its motion.

To accelerations it answers with its composite inertia (Walker and Orin 1982), to its spin as in
spin_response.py; both are found from the tips inward. What a flexible body alone answers to its
spin is the derivative of its own wrench.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Iterable
from typing import Mapping
from typing import NamedTuple

from flexdyn_ros.codegen.tracing.carried_motion import Change
from flexdyn_ros.codegen.tracing.carried_motion import inward
from flexdyn_ros.codegen.tracing.carried_motion import Stage
from flexdyn_ros.codegen.tracing.carried_motion import stages
from flexdyn_ros.codegen.tracing.own_axes import OwnAxes
from flexdyn_ros.codegen.tracing.spin_response import over_joint
from flexdyn_ros.codegen.tracing.spin_response import SpinResponse
from flexdyn_ros.dynamics.flexible_body import body_wrench
from flexdyn_ros.dynamics.flexible_body import BodyMotion
from flexdyn_ros.dynamics.flexible_body import deflect
from flexdyn_ros.dynamics.newton_euler import propagate
from flexdyn_ros.dynamics.placement import carry_wrench
from flexdyn_ros.dynamics.placement import placements
from flexdyn_ros.dynamics.placement import Wrench
from flexdyn_ros.dynamics.spatial import acceleration_matrix
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import apply
from flexdyn_ros.dynamics.spatial import congruence
from flexdyn_ros.dynamics.spatial import cross
from flexdyn_ros.dynamics.spatial import dot
from flexdyn_ros.dynamics.spatial import multiply
from flexdyn_ros.dynamics.spatial import negate
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import skew
from flexdyn_ros.dynamics.spatial import subtract
from flexdyn_ros.dynamics.spatial import transpose
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.dynamics.spatial_inertia import FlexibleInertia
from flexdyn_ros.dynamics.spatial_inertia import RigidInertia
from flexdyn_ros.symbolic.differentiate import Direction
from flexdyn_ros.symbolic.expression import Expression
from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.program import substitute


class Response(NamedTuple):
    """A change of the wrench on a body and all that it carries, and of its modal forces."""

    force: Vector
    moment: Vector
    modal: list

    def plus(self, other: Response) -> Response:
        """Return the sum."""
        modal = [a + b for a, b in zip_longest(self.modal, other.modal, fillvalue=0.0)]
        return Response(add(self.force, other.force), add(self.moment, other.moment), modal)


class CompositeResponses:
    """
    The answers of all bodies of a tree at a symbolic state.

    Attributes:
        places: Each body on its parent.
        inertias: Inertia of each body with all that it carries.
        own: Wrench that each body's own motion takes.
        wrenches: Wrench on each body with all that it carries.
        spin: Answer of each body to its spin.
        modal_spin: For each mode of each body, the derivative of its force by the spin.
    """

    def __init__(self, axes: OwnAxes, gravity: Vector, graph: Graph):
        """
        Find the answers.

        Args:
            axes: The bodies; none may carry an axisymmetric child's `spin_inertia`.
            gravity: Acceleration of gravity in the root frame [m/s^2].
            graph: The graph of the symbols.
        """
        self._tree, self._graph = axes.tree, graph
        self._q, self._qd, self._qdd = axes.q, axes.qd, axes.qdd
        self.places = placements(self._tree, self._q)
        self._motions = propagate(self._tree, self.places, self._qd, self._qdd, gravity)
        self._steps = [self._stages(index) for index in range(len(self.places))]
        self.inertias = self._composites()
        self.own = [self._body_wrench(k, motion) for k, motion in enumerate(self._motions)]
        self.wrenches = self._total_wrenches()
        own = [self._own_response(index) for index in range(len(self.places))]
        self.spin = [response for response, _ in own]
        self.modal_spin = [rows for _, rows in own]
        for index in reversed(range(1, len(self.places))):
            self._add_to_parent(index)

    def _stages(self, index: int) -> list[Stage]:
        """Return the steps from the parent to a body."""
        body = self._tree.bodies[index]
        if body.parent < 0:
            return []
        rates = self._tree.bodies[body.parent].mode_rates(self._qd)
        spin = self._motions[body.parent].spin
        return stages(self.places[index], spin, rates, self._qd)

    def _composites(self) -> list[FlexibleInertia]:
        """Return the inertia of each body with all that it carries."""
        carried = [
            FlexibleInertia.of(deflect(body, body.mode_values(self._q)))
            for body in self._tree.bodies
        ]
        for index in reversed(range(1, len(carried))):
            place = self.places[index]
            carried[place.body.parent].add_child(place, carried[index].rigid)
        return carried

    def _body_wrench(self, index: int, motion: BodyMotion) -> Response:
        """Return the wrench that the motion of one body alone takes."""
        body = self._tree.bodies[index]
        modes, rates = body.mode_values(self._q), body.mode_rates(self._qd)
        return Response(*body_wrench(body, motion, modes, rates, body.mode_rates(self._qdd)))

    def _total_wrenches(self) -> list[Wrench]:
        """Return the wrench on each body with all that it carries."""
        found: list[Wrench] = [(local.force, local.moment) for local in self.own]
        for index in reversed(range(1, len(found))):
            parent = self._tree.bodies[index].parent
            (force, moment), _ = carry_wrench(self.places[index], found[index])
            found[parent] = (add(found[parent][0], force), add(found[parent][1], moment))
        return found

    def _own_response(self, index: int) -> tuple[SpinResponse, list[Vector]]:
        """Return the answer of one body alone to its spin, and its modal forces' derivatives."""
        body, double = self._tree.bodies[index], scale(2.0, self._motions[index].spin)
        if not body.n_modes:
            # C = [w]x S without trace, S the second moments.
            turning = multiply(skew(negate(double)), body.second_moment)
            return SpinResponse(cross(double, body.first_moment), turning), []
        x, y, z = self._columns_by_spin(index)
        # The force is a product, dw x 2 s', from which 2 s' is read.
        momentum = (-y.force[2], x.force[2], y.force[0])
        rows = [vector(entries) for entries in zip(x.modal, y.modal, z.modal)]
        return SpinResponse(momentum, transpose((x.moment, y.moment, z.moment))), rows

    def _columns_by_spin(self, index: int) -> list[Response]:
        """Return the derivatives of a body's own wrench by its spin at a fixed db."""
        motion = self._motions[index]
        spin = vector(self._graph.symbol(f'@spin {d}') for d in 'xyz')
        spin_rate = subtract(motion.spin_rate, cross(motion.spin, subtract(spin, motion.spin)))
        matrix = acceleration_matrix(spin, spin_rate)
        frozen = self._body_wrench(
            index, BodyMotion(spin, spin_rate, motion.acceleration, matrix)
        )
        values = {symbol: self._graph.lift(x) for symbol, x in zip(spin, motion.spin)}
        return [
            self.partial(frozen, Direction({symbol: self._graph.one}), values) for symbol in spin
        ]

    def _add_to_parent(self, index: int) -> None:
        """Add a body's answer to its spin, with all that it carries, to the parent's."""
        place, joint = self.places[index], self._steps[index][-1]
        rigid, parent = self._rigid(index), self._tree.bodies[index].parent
        response = over_joint(place, joint, self.spin[index], rigid.mass, rigid.first_moment)
        node = place.node
        if node is not None:
            moment = add(
                apply(joint.rotation, rigid.first_moment), scale(rigid.mass, joint.position)
            )
            response = response.turned(node.rotation, congruence(node.rotation, response.map))
            velocity = self._steps[index][0].velocity
            response = response.moving(velocity, rigid.mass, apply(node.rotation, moment))
            self.modal_spin[parent] = [
                add(row, response.row(move, turn))
                for row, move, turn in zip(
                    self.modal_spin[parent], node.translation, node.turning
                )
            ]
            response = response.shifted(node.position)
        self.spin[parent] = self.spin[parent].plus(response)

    def _rigid(self, index: int) -> RigidInertia:
        """Return the inertia of a body with all that it carries, its modes at rest."""
        rigid = self.inertias[index].rigid
        assert isinstance(rigid, RigidInertia), 'first-order rotations have no such composite'
        return rigid

    def partial(
        self, response: Response, along: Direction, values: Mapping[Expression, Expression]
    ) -> Response:
        """Return the derivative of a wrench along a direction, at values of its symbols."""
        entries = [*response.force, *response.moment, *response.modal]
        slopes = [along.derivative(self._graph.lift(x)) for x in entries]
        found = substitute(slopes, values) if values else slopes
        return Response(vector(found[:3]), vector(found[3:6]), found[6:])

    def answer(self, index: int, change: Change) -> Response:
        """Return how a body with all that it carries answers to a change of its motion."""
        spin, spin_rate, acceleration = change
        inertia = self.inertias[index]
        force, moment = inertia.rigid.momentum(acceleration, spin_rate)
        own_force, own_moment = self.spin[index].wrench(spin)
        modal = [
            dot(push, acceleration) + dot(twist, spin_rate) + dot(row, spin)
            for push, twist, row in zip(
                inertia.forces, inertia.moments, self.modal_spin[index]
            )
        ]
        return Response(add(force, own_force), add(moment, own_moment), modal)

    def carry(self, index: int, response: Response) -> Response:
        """Return a wrench on a body as one on its parent, with the parent's modal forces."""
        wrench = (response.force, response.moment)
        (force, moment), modal = carry_wrench(self.places[index], wrench)
        return Response(force, moment, modal)

    def carried_inward(self, index: int, row: Change) -> Change:
        """Return derivatives by a body's motion as derivatives by its parent's."""
        return inward(self._steps[index], row)

    def change(self, index: int, along: Direction) -> Change:
        """Return how the motion of a body changes along a direction."""
        motion = self._motions[index]
        spin, spin_rate = self.slope(motion.spin, along), self.slope(motion.spin_rate, along)
        spin_rate = add(spin_rate, cross(motion.spin, spin))
        return spin, spin_rate, self.slope(motion.acceleration, along)

    def slope(self, values: Vector, along: Direction) -> Vector:
        """Return the derivative of a vector along a direction."""
        return vector(along.derivative(self._graph.lift(x)) for x in values)


def vector(values: Iterable) -> Vector:
    """Return three values as a vector."""
    x, y, z = values
    return x, y, z
