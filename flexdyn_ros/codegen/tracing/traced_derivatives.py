# SPDX-License-Identifier: Apache-2.0
"""
Derivatives of traced dynamics.

Those of inverse dynamics are found in one of two ways. One goes direction by direction over the
whole graph, the other by rows and columns of composite bodies (composite_derivatives.py). Those of
forward dynamics follow from them: M qdd + h = tau gives d qdd / dx = -M^-1 d ID / dx at these qdd.
The solution is not differentiated, and one factorisation serves all (Carpentier and Mansard,
Analytical derivatives of rigid body dynamics algorithms, 2018, section III).
"""

from __future__ import annotations

from typing import Any, Iterable, Sequence

from flexdyn_ros.codegen.tracing.traced_dynamics import TracedDynamics
from flexdyn_ros.dynamics.derivatives.composite_derivatives import (
    CompositeDerivatives,
    POSITION,
    VELOCITY,
)
from flexdyn_ros.dynamics.derivatives.independent_axes import Drivers, independent_axes
from flexdyn_ros.dynamics.displacement import displacements
from flexdyn_ros.dynamics.internal_forces import elastic_forces, friction_forces
from flexdyn_ros.dynamics.linear_algebra import SymmetricFactors
from flexdyn_ros.dynamics.mass_matrix import outward_order
from flexdyn_ros.symbolic.differentiate import Direction
from flexdyn_ros.symbolic.graph import Expression, Graph, Operand
from flexdyn_ros.symbolic.program import substitute

STRUCTURED = 'rows and columns'
DIRECTIONS = 'directions'
DERIVATIVE_METHODS = (STRUCTURED, DIRECTIONS)

Rows = list[list[Expression]]


class DifferentiatedDynamics(TracedDynamics):
    """Traced dynamics with their derivatives."""

    def inverse_dynamics_derivatives(self, q, qd, qdd, wrenches=()) -> tuple:
        """Return the derivatives of the forces by q, qd and qdd, (nv, nv) each."""
        if not qd:
            return [], [], []
        return (*self._by_state(q, qd, qdd, wrenches), self.mass_matrix(q))

    def forward_dynamics_derivatives(self, q, qd, tau, wrenches=()) -> tuple:
        """Return the derivatives of the accelerations by q, qd and tau, (nv, nv) each."""
        if not qd:
            return [], [], []
        graph, solver = qd[0].graph, Solver(self, q)
        accelerations, values = self._accelerations(solver, q, qd, tau, wrenches)
        inverse = solver.inverse(graph)
        found = []
        for rows in self._by_state(q, qd, accelerations, wrenches):
            columns = [substitute(column, values) for column in zip(*rows)]
            found.append([
                [-graph.sum(a * b for a, b in zip(row, column)) for column in columns]
                for row in inverse
            ])
        return found[0], found[1], inverse

    def inverse_dynamics_parameter_derivatives(self, q, qd, qdd, chosen, wrenches=()) -> list:
        """Return the derivatives of the forces by symbols of parameters, (nv, n)."""
        if not qd:
            return []
        graph, forces = qd[0].graph, self.inverse_dynamics(q, qd, qdd, wrenches)
        return _along([Direction({symbol: graph.one}) for symbol in chosen], forces, graph)

    def forward_dynamics_parameter_derivatives(self, q, qd, tau, chosen, wrenches=()) -> list:
        """Return the derivatives of the accelerations by symbols of parameters, (nv, n)."""
        if not qd:
            return []
        graph, solver = qd[0].graph, Solver(self, q)
        accelerations, values = self._accelerations(solver, q, qd, tau, wrenches)
        rows = self.inverse_dynamics_parameter_derivatives(q, qd, accelerations, chosen, wrenches)
        columns = [solver.solve(substitute(column, values)) for column in zip(*rows)]
        return [[graph.negate(graph.lift(x)) for x in row] for row in zip(*columns)]

    def loop_derivatives(self, q, qd) -> tuple:
        """Return the derivatives by q of the loops' Jacobian, row by row, and of their bias."""
        graph = qd[0].graph
        jacobian = [x for row in self.loop_jacobian(q) for x in row]
        displaced = self._displaced(q, graph)
        return tuple(
            _along(displaced, values, graph) for values in (jacobian, self.loop_bias(q, qd))
        )

    def _displaced(self, q: list, graph: Graph) -> list[Direction]:
        """Return the directions in which positions are displaced, one a velocity coordinate."""
        return [
            Direction({q[place]: graph.lift(rate) for place, rate in moved})
            for moved in displacements(self._tree, q)
        ]

    def _by_state(self, q: list, qd: list, qdd: list, wrenches: Sequence) -> tuple[Rows, Rows]:
        """Return the derivatives of the forces by displacements and by rates, (nv, nv) each."""
        graph, tree = qd[0].graph, self._tree
        displaced = self._displaced(q, graph)
        rates = [Direction({symbol: graph.one}) for symbol in qd]
        if self.method != STRUCTURED:
            forces = self.inverse_dynamics(q, qd, qdd, wrenches)
            return _along(displaced, forces, graph), _along(rates, forces, graph)
        rest = [friction_forces(tree, qd), elastic_forces(tree, q, qd)]
        if wrenches:
            rest.append(self.external_force_vector(q, wrenches))
        forces = [graph.sum(map(graph.lift, parts)) for parts in zip(*rest)]
        calculus = GraphCalculus(graph)
        axes = independent_axes(tree, q, qd, list(map(graph.lift, qdd)), calculus)
        values = dict(calculus.values)
        x, y, z = self._gravity
        found = CompositeDerivatives(axes, (x, y, z), calculus)
        by_position, by_rate = (
            _gathered(axes.drivers, values, found.by[kind], tree.nv, graph)
            for kind in (POSITION, VELOCITY)
        )
        return (
            _sum(by_position, _along(displaced, forces, graph)),
            _sum(by_rate, _along(rates, forces, graph)),
        )

    def _accelerations(
        self, solver: Solver, q: list, qd: list, tau: list, wrenches: Sequence
    ) -> tuple[list[Expression], dict[Expression, Expression]]:
        """Return symbols for the accelerations that forces cause, and their expressions."""
        graph, bias = qd[0].graph, self.inverse_dynamics(q, qd, self._zero, wrenches)
        found = solver.solve([force - rest for force, rest in zip(tau, bias)])
        symbols = [graph.symbol(f'@qdd {k}') for k in range(len(found))]
        return symbols, {symbol: graph.lift(x) for symbol, x in zip(symbols, found)}


class GraphCalculus:
    """
    Differentiation on the graph, for the algorithms of `dynamics.derivatives`.

    Attributes:
        graph: The graph.
        values: By variable that it has made, the expression that it stands for.
    """

    def __init__(self, graph: Graph):
        """Start without variables."""
        self.graph = graph
        self.values: dict[Expression, Expression] = {}

    def variable(self, name: str, value: Operand) -> Expression:
        """Return a symbol of this name that stands for a value, the last one given for it."""
        symbol = self.graph.symbol(f'@{name}')
        self.values[symbol] = self.graph.lift(value)
        return symbol

    def direction(self, rates: Iterable[tuple[Expression, Operand]]) -> GraphDirection:
        """Return the direction in which symbols change at these rates."""
        return GraphDirection(self, rates)


class GraphDirection(Direction):
    """A direction in the space of the symbols of a calculus."""

    def __init__(self, calculus: GraphCalculus, rates: Iterable[tuple[Expression, Operand]]):
        """Take the rates of the symbols that change."""
        super().__init__({symbol: calculus.graph.lift(rate) for symbol, rate in rates})
        self._calculus = calculus

    def derivatives(
        self, values: Iterable[Operand], evaluated: Sequence[Expression] = ()
    ) -> list[Expression]:
        """Return the derivatives of scalars, the symbols `evaluated` at their values."""
        lift, known = self._calculus.graph.lift, self._calculus.values
        slopes = [self.derivative(lift(x)) for x in values]
        if not evaluated:
            return slopes
        return substitute(slopes, {symbol: known[symbol] for symbol in evaluated})


class Solver:
    """
    Solutions of M x = right by M = L D L^T, from the tips inward, so that trees stay sparse.

    The pivots are added to those of the dynamics.
    """

    def __init__(self, dyn: TracedDynamics, q: list):
        """Factorise the mass matrix at configuration q, (nq,)."""
        self.order = outward_order(dyn.tree)[::-1]
        matrix = dyn.mass_matrix(q)
        block = [[matrix[i][j] for j in self.order] for i in self.order]
        self._factors = SymmetricFactors(block, [0.0] * len(block))
        dyn.pivots += self._factors.pivots

    def solve(self, right: Sequence) -> list:
        """Return x, (nv,)."""
        found = self._factors.solve([right[index] for index in self.order])
        x: list[Any] = [0.0] * len(found)
        for index, value in zip(self.order, found):
            x[index] = value
        return x

    def inverse(self, graph: Graph) -> Rows:
        """Return M^-1, (nv, nv), exactly symmetric."""
        count = len(self.order)
        rows = [[graph.zero] * count for _ in range(count)]
        for column, j in enumerate(self.order):
            unit = [graph.one if k == column else graph.zero for k in range(count)]
            found = self._factors.solve(unit)
            for i, value in zip(self.order[column:], found[column:]):
                rows[i][j] = rows[j][i] = graph.lift(value)
        return rows


def _along(directions: list[Direction], values: Sequence, graph: Graph) -> Rows:
    """Return the derivatives of values, one row each, along directions."""
    return [[each.derivative(graph.lift(value)) for each in directions] for value in values]


def _gathered(
    drivers: list[Drivers], values: dict[Expression, Expression], rows: list, count: int,
    graph: Graph,
) -> Rows:
    """Return derivatives of axes by axes as those of coordinates by coordinates."""
    entries: dict[tuple[int, int], list[Expression]] = {}
    for row_drivers, row in zip(drivers, rows):
        found = substitute(map(graph.lift, row), values)
        for column_drivers, value in zip(drivers, found):
            for i, first in row_drivers:
                for j, second in column_drivers:
                    entries.setdefault((i, j), []).append(first * second * value)
    return [[graph.sum(entries.get((i, j), ())) for j in range(count)] for i in range(count)]


def _sum(first: Rows, second: Rows) -> Rows:
    return [[a + b for a, b in zip(*rows)] for rows in zip(first, second)]
