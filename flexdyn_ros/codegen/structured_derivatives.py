# SPDX-License-Identifier: Apache-2.0
"""
Derivatives of inverse dynamics by composite bodies: O(n d) for n coordinates in a tree d deep.

The force on coordinate i depends on a coordinate x in two ways. Where x is further inward, it
changes the motion of the body of i, and all that this body carries answers as one: with the
composite inertia to accelerations, and with a composite matrix B (3 columns) to its spin. So one
row a force, d tau_i / d(motion), is carried inward, as the transpose of the way that motions go
outward. Where x is further outward, it changes the wrench on its own body, one column that is
carried inward as wrenches are. Both halves meet at the body itself. Composite bodies are those
of Walker and Orin 1982; that rows and columns of the derivatives can share them is the idea of
Carpentier and Mansard, Analytical derivatives of rigid body dynamics algorithms, 2018, and of
Singh, Russell and Wensing 2022, here with body axes, with no velocity of the origin, and with
flexible bodies. How motions and wrenches depend on the coordinates of one body is found by
differentiation on the graph.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Any
from typing import Iterator
from typing import NamedTuple

from flexdyn_ros.codegen.carried_motion import Change
from flexdyn_ros.codegen.carried_motion import change_power
from flexdyn_ros.codegen.carried_motion import inward
from flexdyn_ros.codegen.carried_motion import outward
from flexdyn_ros.codegen.carried_motion import stages
from flexdyn_ros.codegen.own_axes import OwnAxes
from flexdyn_ros.dynamics.displacement import displacements
from flexdyn_ros.dynamics.flexible_body import body_wrench
from flexdyn_ros.dynamics.flexible_body import BodyMotion
from flexdyn_ros.dynamics.flexible_body import deflect
from flexdyn_ros.dynamics.joints import Column
from flexdyn_ros.dynamics.joints import column_power
from flexdyn_ros.dynamics.newton_euler import propagate
from flexdyn_ros.dynamics.placement import carry_wrench
from flexdyn_ros.dynamics.placement import Placement
from flexdyn_ros.dynamics.placement import placements
from flexdyn_ros.dynamics.placement import Wrench
from flexdyn_ros.dynamics.spatial import acceleration_matrix
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import cross
from flexdyn_ros.dynamics.spatial import dot
from flexdyn_ros.dynamics.spatial import IDENTITY
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.dynamics.spatial import ZERO
from flexdyn_ros.dynamics.spatial_inertia import column_momentum
from flexdyn_ros.dynamics.spatial_inertia import FlexibleInertia
from flexdyn_ros.symbolic.differentiate import Direction
from flexdyn_ros.symbolic.expression import Expression
from flexdyn_ros.symbolic.expression import Graph
from flexdyn_ros.symbolic.program import substitute

Rows = list[list[Any]]
POSITION, VELOCITY = range(2)


class Response(NamedTuple):
    """A change of the wrench on a body and all that it carries, and of its modal forces."""

    force: Vector
    moment: Vector
    modal: list

    def plus(self, other: Response) -> Response:
        """Return the sum."""
        modal = [a + b for a, b in zip_longest(self.modal, other.modal, fillvalue=0.0)]
        return Response(add(self.force, other.force), add(self.moment, other.moment), modal)


class StructuredDerivatives:
    """
    Derivatives of the forces of inertia, gravity and Coriolis at symbolic states.

    Attributes:
        by: Derivatives of the forces by positions (POSITION) and by rates (VELOCITY), rows
            (axes and modes, axes and modes).
    """

    def __init__(self, axes: OwnAxes, gravity: Vector, graph: Graph):
        """
        Differentiate.

        Args:
            axes: The bodies; none may carry an axisymmetric child's `spin_inertia`.
            gravity: Acceleration of gravity in the root frame [m/s^2].
            graph: The graph of the symbols.
        """
        self._tree, self._graph = axes.tree, graph
        self._q, self._qd, self._qdd = axes.q, axes.qd, axes.qdd
        n = axes.tree.nv
        self.by: tuple[Rows, Rows] = tuple([[0.0] * n for _ in range(n)] for _ in range(2))
        self._places = placements(self._tree, self._q)
        self._children: list[list[int]] = [[] for _ in self._tree.bodies]
        for index, body in enumerate(self._tree.bodies[1:], start=1):
            self._children[body.parent].append(index)
        self._motions = propagate(self._tree, self._places, self._qd, self._qdd, gravity)
        self._steps = [self._stages(index) for index in range(len(self._places))]
        self._carried = self._composites()
        self._local = [self._body_wrench(k, self._motions[k]) for k in range(len(self._places))]
        self._wrenches = self._total_wrenches()
        self._spin_responses = self._responses_to_spin()
        positions = [
            Direction({self._q[place]: graph.lift(rate) for place, rate in moved})
            for moved in displacements(self._tree, self._q)
        ]
        rates = [Direction({symbol: graph.one}) for symbol in self._qd]
        self._directions = (positions, rates)
        for index in range(len(self._places)):
            for kind in (POSITION, VELOCITY):
                self._columns_of_joint(index, kind)
                self._columns_of_modes(index, kind)
            self._rows(index)

    def _stages(self, index: int) -> list:
        body = self._tree.bodies[index]
        if body.parent < 0:
            return []
        rates = self._tree.bodies[body.parent].mode_rates(self._qd)
        spin = self._motions[body.parent].spin
        return stages(self._places[index], spin, rates, self._qd)

    def _composites(self) -> list[FlexibleInertia]:
        """Return the inertia of each body with all that it carries."""
        carried = [
            FlexibleInertia.of(deflect(body, body.mode_values(self._q)))
            for body in self._tree.bodies
        ]
        for index in reversed(range(1, len(carried))):
            place = self._places[index]
            carried[place.body.parent].add_child(place, carried[index].rigid)
        return carried

    def _body_wrench(self, index: int, motion: BodyMotion) -> Response:
        """Return the wrench that the motion of one body alone takes."""
        body = self._tree.bodies[index]
        vectors = (body.mode_values(self._q), body.mode_rates(self._qd), body.mode_rates(self._qdd))
        return Response(*body_wrench(body, motion, *vectors))

    def _total_wrenches(self) -> list[Wrench]:
        """Return the wrench on each body with all that it carries."""
        found: list[Wrench] = [(local.force, local.moment) for local in self._local]
        for index in reversed(range(1, len(found))):
            parent = self._tree.bodies[index].parent
            (force, moment), _ = carry_wrench(self._places[index], found[index])
            found[parent] = (add(found[parent][0], force), add(found[parent][1], moment))
        return found

    def _responses_to_spin(self) -> list[list[Response]]:
        """Return B: how all that a body carries answers to its spin, for each axis of it."""
        found = [self._own_responses(index) for index in range(len(self._places))]
        for index in reversed(range(1, len(found))):
            place, parent = self._places[index], self._tree.bodies[index].parent
            for k, axis in enumerate(IDENTITY):
                change = outward(self._steps[index], (axis, ZERO, ZERO))
                answer = self._answer(index, change, found[index])
                found[parent][k] = found[parent][k].plus(self._carry(place, answer))
        return found

    def _own_responses(self, index: int) -> list[Response]:
        """Return the same of one body alone, by differentiation at fixed accelerations."""
        motion = self._motions[index]
        spin = tuple(self._graph.symbol(f'@spin {d}') for d in 'xyz')
        matrix = acceleration_matrix(spin, motion.spin_rate)
        frozen = self._body_wrench(
            index, BodyMotion(spin, motion.spin_rate, motion.acceleration, matrix)
        )
        values = {symbol: self._graph.lift(x) for symbol, x in zip(spin, motion.spin)}
        return [
            self._partial(frozen, Direction({symbol: self._graph.one}), values) for symbol in spin
        ]

    def _partial(
        self, response: Response, along: Direction, values: dict[Expression, Expression]
    ) -> Response:
        """Return the derivative of a wrench along a direction, at values of its symbols."""
        entries = [*response.force, *response.moment, *response.modal]
        slopes = [along.derivative(self._graph.lift(x)) for x in entries]
        found = substitute(slopes, values) if values else slopes
        return Response(tuple(found[:3]), tuple(found[3:6]), found[6:])

    def _answer(self, index: int, change: Change, spin_responses: list[Response]) -> Response:
        """Return how a body with all that it carries answers to a change of its motion."""
        spin, spin_rate, acceleration = change
        inertia = self._carried[index]
        force, moment = inertia.rigid.momentum(acceleration, spin_rate)
        modal = [
            dot(own_force, acceleration) + dot(own_moment, spin_rate)
            for own_force, own_moment in zip(inertia.forces, inertia.moments)
        ]
        answer = Response(force, moment, modal)
        for rate, column in zip(spin, spin_responses):
            part = [rate * x for x in column.modal]
            answer = answer.plus(Response(scale(rate, column.force), scale(rate, column.moment),
                                          part))
        return answer

    @staticmethod
    def _carry(place: Placement, response: Response) -> Response:
        """Return a wrench on a body as one on its parent, with the parent's modal forces."""
        (force, moment), modal = carry_wrench(place, (response.force, response.moment))
        return Response(force, moment, modal)

    def _change(self, index: int, along: Direction) -> Change:
        """Return how the motion of a body changes along a direction."""
        motion = self._motions[index]
        spin, spin_rate, acceleration = (
            tuple(along.derivative(self._graph.lift(x)) for x in vector)
            for vector in (motion.spin, motion.spin_rate, motion.acceleration)
        )
        return spin, spin_rate, acceleration

    def _columns_of_joint(self, index: int, kind: int) -> None:
        """Enter how the forces on a body and further inward change with its joint."""
        place = self._places[index]
        for axis, column in zip(place.body.joint.terms, place.columns):
            x = axis[0].velocity_index
            along = self._directions[kind][x]
            change = self._change(index, along)
            answer = self._answer(index, change, self._spin_responses[index])
            self._enter(index, kind, x, answer)
            if kind == POSITION:
                self._enter_turned_axes(index, x, along)
                answer = answer.plus(_moved(column, self._wrenches[index]))
            self._enter_inward(index, kind, x, self._carry(place, answer))

    def _enter_turned_axes(self, index: int, x: int, along: Direction) -> None:
        """Add what a wrench does on axes that turn with their own joint, as planar ones do."""
        place = self._places[index]
        for axis, column in zip(place.body.joint.terms, place.columns):
            turned = tuple(
                None if part is None else tuple(
                    along.derivative(self._graph.lift(value)) for value in part
                )
                for part in column
            )
            self._add(POSITION, axis[0].velocity_index, x,
                      column_power(turned, self._wrenches[index]))

    def _columns_of_modes(self, index: int, kind: int) -> None:
        """Enter how the forces on a flexible body and further inward change with its modes."""
        body = self._tree.bodies[index]
        for mode in range(body.n_modes):
            x = body.velocity_modes + mode
            along = self._directions[kind][x]
            answer = self._partial(self._local[index], along, {})
            for child in self._children[index]:
                if self._places[child].node is None:
                    continue
                change = self._change(child, along)
                response = self._answer(child, change, self._spin_responses[child])
                answer = answer.plus(self._carry(self._places[child], response))
                if kind == POSITION:
                    answer = answer.plus(self._carried_otherwise(child, along))
            self._enter(index, kind, x, answer)
            if body.parent >= 0:
                self._enter_inward(index, kind, x, self._carry(self._places[index], answer))

    def _carried_otherwise(self, index: int, along: Direction) -> Response:
        """Return how a wrench is carried to a parent that deflects."""
        symbols = [self._graph.symbol(f'@wrench {k}') for k in range(6)]
        carried = self._carry(
            self._places[index], Response(tuple(symbols[:3]), tuple(symbols[3:]), [])
        )
        force, moment = self._wrenches[index]
        values = {s: self._graph.lift(x) for s, x in zip(symbols, (*force, *moment))}
        return self._partial(carried, along, values)

    def _enter_inward(self, index: int, kind: int, x: int, answer: Response) -> None:
        """Enter a change of the wrench on a body's parent, there and further inward."""
        index = self._tree.bodies[index].parent
        while index > 0:
            self._enter(index, kind, x, answer)
            answer = self._carry(self._places[index], answer)
            index = self._tree.bodies[index].parent
        if index == 0:
            self._enter(index, kind, x, answer)

    def _enter(self, index: int, kind: int, x: int, answer: Response) -> None:
        """Enter a change of the wrench on a body and of its modal forces."""
        place = self._places[index]
        for axis, column in zip(place.body.joint.terms, place.columns):
            power = column_power(column, (answer.force, answer.moment))
            self._add(kind, axis[0].velocity_index, x, power)
        for mode, force in enumerate(answer.modal):
            self._add(kind, place.body.velocity_modes + mode, x, force)

    def _rows(self, index: int) -> None:
        """Enter how the forces on one body change with what is further inward."""
        for i, row in self._own_rows(index):
            at = index
            while self._tree.bodies[at].parent >= 0:
                parent = self._tree.bodies[at].parent
                body = self._tree.bodies[parent]
                modes = range(body.velocity_modes, body.velocity_modes + body.n_modes)
                if self._places[at].node is not None:
                    self._enter_row(i, row, at, modes)
                row = inward(self._steps[at], row)
                axes = [axis[0].velocity_index for axis in body.joint.terms]
                self._enter_row(i, row, parent, axes)
                at = parent

    def _own_rows(self, index: int) -> Iterator[tuple[int, Change]]:
        """Yield the place of each force on a body, and its derivatives by the body's motion."""
        place, inertia = self._places[index], self._carried[index]
        answers = self._spin_responses[index]
        for axis, column in zip(place.body.joint.terms, place.columns):
            force, moment = column_momentum(place.body, column, inertia.rigid)
            spin = tuple(column_power(column, (a.force, a.moment)) for a in answers)
            yield axis[0].velocity_index, (spin, moment, force)
        for mode, (force, moment) in enumerate(zip(inertia.forces, inertia.moments)):
            spin = tuple(answer.modal[mode] for answer in answers)
            yield place.body.velocity_modes + mode, (spin, moment, force)

    def _enter_row(self, i: int, row: Change, index: int, coordinates: Any) -> None:
        for x in coordinates:
            for kind in (POSITION, VELOCITY):
                change = self._change(index, self._directions[kind][x])
                self._add(kind, i, x, change_power(row, change))

    def _add(self, kind: int, i: int, x: int, value: Any) -> None:
        self.by[kind][i][x] = self.by[kind][i][x] + value


def _moved(column: Column, wrench: Wrench) -> Response:
    """Return how a wrench in body axes looks from a parent while its body moves along a column."""
    slide, turn = column
    force, moment = wrench
    changed = ZERO if turn is None else cross(turn, force)
    turned = ZERO if turn is None else cross(turn, moment)
    return Response(changed, turned if slide is None else add(turned, cross(slide, force)), [])
