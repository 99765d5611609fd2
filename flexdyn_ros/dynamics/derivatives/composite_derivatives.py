# SPDX-License-Identifier: Apache-2.0
"""
Derivatives of inverse dynamics by composite bodies: O(n d) for n coordinates in a tree d deep.

The force on coordinate i depends on a coordinate x in two ways. Where x is further inward, it
changes the motion of the body of i. All that this body carries responds as one: to accelerations
by the composite inertia, to angular velocity as in motion_variation.py. So one row a force, d
tau_i / d(motion), is carried inward, as the transpose of the way that motions go outward. Where x
is further outward, it changes the wrench on its own body, one column that is carried inward as
wrenches are. Both halves meet at the body itself. Composite bodies are those of Walker and Orin
1982. Rows and columns of the derivatives share them (Carpentier and Mansard, Analytical
derivatives of rigid body dynamics algorithms, 2018; Singh, Russell and Wensing, Efficient
analytical derivatives of rigid-body dynamics using spatial vector algebra, 2022). Here they are in
body axes, without the velocity of origins, and with flexible bodies. The dependence of motions and
wrenches on the coordinates of one body is found by differentiation of scalars, by the calculus of
their kind.
"""

from __future__ import annotations

from typing import Any, Iterator

from flexdyn_ros.dynamics.derivatives.composite_responses import CompositeResponses, slope, vector
from flexdyn_ros.dynamics.derivatives.independent_axes import (
    Calculus,
    CalculusDirection,
    IndependentAxes,
)
from flexdyn_ros.dynamics.derivatives.motion_variation import Variation, variation_power
from flexdyn_ros.dynamics.displacement import displacements
from flexdyn_ros.dynamics.joints import Column, project_on_axis
from flexdyn_ros.dynamics.placement import Wrench
from flexdyn_ros.dynamics.spatial import add, BodyWrench, cross, Vector, ZERO
from flexdyn_ros.dynamics.spatial_inertia import column_momentum

Rows = list[list[Any]]
POSITION, VELOCITY = range(2)


class CompositeDerivatives(CompositeResponses):
    """
    Derivatives of the forces of inertia, gravity and Coriolis at one state.

    Attributes:
        by: Derivatives of the forces by positions (POSITION) and by rates (VELOCITY), rows
            (axes and modes, axes and modes).
    """

    def __init__(self, axes: IndependentAxes, gravity: Vector, calculus: Calculus):
        """Differentiate; see `CompositeResponses`."""
        super().__init__(axes, gravity, calculus)
        n = axes.tree.nv
        self.by: list[Rows] = [[[0.0] * n for _ in range(n)] for _ in (POSITION, VELOCITY)]
        self._children: list[list[int]] = [[] for _ in self._tree.bodies]
        for index, body in enumerate(self._tree.bodies[1:], start=1):
            self._children[body.parent].append(index)
        positions = [
            calculus.direction([(axes.q[place], rate) for place, rate in moved])
            for moved in displacements(self._tree, axes.q)
        ]
        rates = [calculus.direction([(variable, 1.0)]) for variable in axes.qd]
        self._directions = (positions, rates)
        for index in range(len(self.places)):
            for kind in (POSITION, VELOCITY):
                self._columns_of_joint(index, kind)
                self._columns_of_modes(index, kind)
            self._rows(index)

    def _columns_of_joint(self, index: int, kind: int) -> None:
        """Enter the change of the forces on a body and further inward with its joint."""
        place = self.places[index]
        for axis, column in zip(place.body.joint.terms, place.columns):
            x = axis[0].velocity_index
            along = self._directions[kind][x]
            variation = self.variation(index, along)
            response = self.response(index, variation)
            self._enter(index, kind, x, response)
            if kind == POSITION:
                self._enter_axis_rotation(index, x, along)
                response = response.plus(_moved(column, self.wrenches[index]))
            self._enter_inward(index, kind, x, self.carry(index, response))

    def _enter_axis_rotation(self, index: int, x: int, along: CalculusDirection) -> None:
        """Add the power of a wrench on axes that turn with their own joint, as planar ones do."""
        place = self.places[index]
        for axis, (linear, angular) in zip(place.body.joint.terms, place.columns):
            slopes = slope(linear or ZERO, along), slope(angular or ZERO, along)
            power = project_on_axis(slopes, self.wrenches[index])
            self._add(POSITION, axis[0].velocity_index, x, power)

    def _columns_of_modes(self, index: int, kind: int) -> None:
        """Enter the change of the forces on a flexible body and further inward with its modes."""
        body = self._tree.bodies[index]
        for mode in range(body.n_modes):
            x = body.velocity_modes + mode
            along = self._directions[kind][x]
            total = self.partial(self.body_wrenches[index], along)
            for child in self._children[index]:
                if self.places[child].node is None:
                    continue
                variation = self.variation(child, along)
                response = self.response(child, variation)
                total = total.plus(self.carry(child, response))
                if kind == POSITION:
                    total = total.plus(self._wrench_by_deflection(child, along))
            self._enter(index, kind, x, total)
            if body.parent >= 0:
                self._enter_inward(index, kind, x, self.carry(index, total))

    def _wrench_by_deflection(self, index: int, along: CalculusDirection) -> BodyWrench:
        """Return the change of the wrench on a parent with its deflection, at the same wrench."""
        force, moment = self.wrenches[index]
        fixed = [
            self._calculus.variable(f'wrench {k}', x) for k, x in enumerate((*force, *moment))
        ]
        on_parent = self.carry(index, BodyWrench(vector(fixed[:3]), vector(fixed[3:]), []))
        return self.partial(on_parent, along, fixed)

    def _enter_inward(self, index: int, kind: int, x: int, response: BodyWrench) -> None:
        """Enter a change of the wrench on a body's parent, there and further inward."""
        index = self._tree.bodies[index].parent
        while index >= 0:
            self._enter(index, kind, x, response)
            response = self.carry(index, response) if index else response
            index = self._tree.bodies[index].parent

    def _enter(self, index: int, kind: int, x: int, response: BodyWrench) -> None:
        """Enter a change of the wrench on a body and of its modal forces."""
        place = self.places[index]
        for axis, column in zip(place.body.joint.terms, place.columns):
            power = project_on_axis(column, response)
            self._add(kind, axis[0].velocity_index, x, power)
        for mode, force in enumerate(response.modal):
            self._add(kind, place.body.velocity_modes + mode, x, force)

    def _rows(self, index: int) -> None:
        """Enter the derivatives of the forces on one body by coordinates further inward."""
        for i, row in self._body_rows(index):
            at = index
            while self._tree.bodies[at].parent >= 0:
                parent = self._tree.bodies[at].parent
                body = self._tree.bodies[parent]
                if self.places[at].node is not None:
                    self._enter_row(i, row, at, body.modal_coordinates)
                row = self.inward(at, row)
                self._enter_row(i, row, parent, body.joint.coordinates)
                at = parent

    def _body_rows(self, index: int) -> Iterator[tuple[int, Variation]]:
        """Yield the place of each force on a body, and its derivatives by the body's motion."""
        place, inertia = self.places[index], self.inertias[index]
        for axis, column in zip(place.body.joint.terms, place.columns):
            force, moment = column_momentum(place.body, column, inertia.rigid)
            by_omega = self.coriolis[index].row(*column)
            yield axis[0].velocity_index, (by_omega, moment, force)
        modes = zip(self.modal_coriolis[index], inertia.moments, inertia.forces)
        for mode, row in enumerate(modes):
            yield place.body.velocity_modes + mode, row

    def _enter_row(self, i: int, row: Variation, index: int, coordinates: Any) -> None:
        for x in coordinates:
            for kind in (POSITION, VELOCITY):
                variation = self.variation(index, self._directions[kind][x])
                self._add(kind, i, x, variation_power(row, variation))

    def _add(self, kind: int, i: int, x: int, value: Any) -> None:
        self.by[kind][i][x] = self.by[kind][i][x] + value


def _moved(column: Column, wrench: Wrench) -> BodyWrench:
    """Return the rate of a wrench in body axes, seen from a parent, for motion along a column."""
    linear, angular = (part or ZERO for part in column)
    force, moment = wrench
    moment_rate = add(cross(angular, moment), cross(linear, force))
    return BodyWrench(cross(angular, force), moment_rate, [])
