# SPDX-License-Identifier: Apache-2.0
"""
Derivatives of traced dynamics.

Those of inverse dynamics are found in one of two ways: direction by direction over the whole
graph, or by rows and columns of composite bodies (composite_derivatives.py). Those of forward
dynamics follow from them: M qdd + h = tau gives d qdd / dx = -M^-1 d ID / dx at these qdd, so
that nothing is differentiated through the solution, and one factorisation serves all (Carpentier
and Mansard, Analytical derivatives of rigid body dynamics algorithms, 2018, section III).
"""

from __future__ import annotations

from typing import Any, Iterable, Protocol, Sequence

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
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.symbolic.differentiate import Direction
from flexdyn_ros.symbolic.graph import Expression, Graph, Operand
from flexdyn_ros.symbolic.program import substitute

STRUCTURED = 'rows and columns'
DIRECTIONS = 'directions'
DERIVATIVE_METHODS = (STRUCTURED, DIRECTIONS)

Rows = list[list[Expression]]


class Traced(Protocol):
    """What is differentiated: dynamics over symbols."""

    method: str
    pivots: list

    @property
    def tree(self) -> Multibody:
        """The bodies."""

    @property
    def gravity(self) -> Vector:
        """Acceleration of gravity in the root frame [m/s^2]."""

    def inverse_dynamics(self, q: list, qd: list, qdd: list, wrenches: Sequence = ()) -> list:
        """Return forces, (nv,)."""

    def external_force_vector(self, q: list, wrenches: Sequence) -> list:
        """Return the forces that wrenches ask for, (nv,)."""

    def mass_matrix(self, q: list) -> list[list]:
        """Return the mass matrix, (nv, nv)."""


def displaced(dyn: Traced, graph: Graph, q: list) -> list[Direction]:
    """Return the directions in which positions are displaced, one a velocity coordinate."""
    return [
        Direction({q[place]: graph.lift(rate) for place, rate in moved})
        for moved in displacements(dyn.tree, q)
    ]


def inverse_derivatives(
    dyn: Traced, graph: Graph, q: list, qd: list, qdd: list, wrenches: Sequence
) -> tuple[Rows, Rows]:
    """Return the derivatives of inverse dynamics by displacements and by rates, (nv, nv) each."""
    positions = displaced(dyn, graph, q)
    rates = [Direction({symbol: graph.one}) for symbol in qd]
    if dyn.method != STRUCTURED:
        forces = dyn.inverse_dynamics(q, qd, qdd, wrenches)
        return along(positions, forces, graph), along(rates, forces, graph)
    rest = [friction_forces(dyn.tree, qd), elastic_forces(dyn.tree, q, qd)]
    if wrenches:
        rest.append(dyn.external_force_vector(q, wrenches))
    forces = [graph.sum(map(graph.lift, parts)) for parts in zip(*rest)]
    calculus = GraphCalculus(graph)
    axes = independent_axes(dyn.tree, q, qd, list(map(graph.lift, qdd)), calculus)
    values = dict(calculus.values)
    found = CompositeDerivatives(axes, dyn.gravity, calculus)
    by_position, by_rate = (
        _gathered(axes.drivers, values, found.by[kind], dyn.tree.nv, graph)
        for kind in (POSITION, VELOCITY)
    )
    return (
        _sum(by_position, along(positions, forces, graph)),
        _sum(by_rate, along(rates, forces, graph)),
    )


def forward_derivatives(
    dyn: Traced, graph: Graph, q: list, qd: list, tau: list, wrenches: Sequence
) -> tuple[Rows, Rows, Rows]:
    """Return the derivatives of forward dynamics by displacements, rates and forces."""
    solver = Solver(dyn, q)
    accelerations, values = _accelerations(dyn, graph, solver, q, qd, tau, wrenches)
    inverse = solver.inverse(graph)
    found = []
    for rows in inverse_derivatives(dyn, graph, q, qd, accelerations, wrenches):
        columns = [substitute(column, values) for column in zip(*rows)]
        found.append([
            [
                -graph.sum(a * b for a, b in zip(row, column))
                for column in columns
            ]
            for row in inverse
        ])
    return found[0], found[1], inverse


def inverse_parameter_derivatives(
    dyn: Traced, graph: Graph, q: list, qd: list, qdd: list, parameters: list, wrenches: Sequence
) -> Rows:
    """Return the derivatives of inverse dynamics by parameters, (nv, n)."""
    forces = dyn.inverse_dynamics(q, qd, qdd, wrenches)
    return along([Direction({symbol: graph.one}) for symbol in parameters], forces, graph)


def forward_parameter_derivatives(
    dyn: Traced, graph: Graph, q: list, qd: list, tau: list, parameters: list, wrenches: Sequence
) -> Rows:
    """Return the derivatives of forward dynamics by parameters, (nv, n)."""
    solver = Solver(dyn, q)
    accelerations, values = _accelerations(dyn, graph, solver, q, qd, tau, wrenches)
    rows = inverse_parameter_derivatives(dyn, graph, q, qd, accelerations, parameters, wrenches)
    columns = [solver.solve(substitute(column, values)) for column in zip(*rows)]
    return [[graph.negate(graph.lift(x)) for x in row] for row in zip(*columns)]


class GraphCalculus:
    """
    Differentiation on the graph, for the algorithms of `dynamics.derivatives`.

    Attributes:
        graph: The graph.
        values: What the variables that it has made stand for.
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


class GraphDirection:
    """A direction in the space of the symbols."""

    def __init__(self, calculus: GraphCalculus, rates: Iterable[tuple[Expression, Operand]]):
        """Take the rates of the symbols that change."""
        lift = calculus.graph.lift
        self._calculus = calculus
        self._direction = Direction({symbol: lift(rate) for symbol, rate in rates})

    def derivatives(
        self, values: Iterable[Operand], evaluated: Sequence[Expression] = ()
    ) -> list[Expression]:
        """Return the derivatives of scalars, the symbols `evaluated` at their values."""
        lift, known = self._calculus.graph.lift, self._calculus.values
        slopes = [self._direction.derivative(lift(x)) for x in values]
        if not evaluated:
            return slopes
        return substitute(slopes, {symbol: known[symbol] for symbol in evaluated})


class Solver:
    """
    Solutions of M x = right by M = L D L^T, from the tips inward, so that trees stay sparse.

    The pivots are added to those of the dynamics.
    """

    def __init__(self, dyn: Traced, q: list):
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
        """Return M^-1, (nv, nv), symmetric to the letter."""
        count = len(self.order)
        rows = [[graph.zero] * count for _ in range(count)]
        for column, j in enumerate(self.order):
            unit = [graph.one if k == column else graph.zero for k in range(count)]
            found = self._factors.solve(unit)
            for i, value in zip(self.order[column:], found[column:]):
                rows[i][j] = rows[j][i] = graph.lift(value)
        return rows


def _accelerations(
    dyn: Traced, graph: Graph, solver: Solver, q: list, qd: list, tau: list, wrenches: Sequence
) -> tuple[list[Expression], dict[Expression, Expression]]:
    """Return symbols for the accelerations that forces cause, and what they stand for."""
    bias = dyn.inverse_dynamics(q, qd, [0.0] * len(qd), wrenches)
    found = solver.solve([force - own for force, own in zip(tau, bias)])
    symbols = [graph.symbol(f'@qdd {k}') for k in range(len(found))]
    return symbols, {symbol: graph.lift(x) for symbol, x in zip(symbols, found)}


def along(directions: list[Direction], values: Sequence, graph: Graph) -> Rows:
    """Return the derivatives of values, one row each, along directions."""
    return [[each.derivative(graph.lift(value)) for each in directions] for value in values]


def _gathered(
    drivers: list[Drivers], values: dict[Expression, Expression], rows: list, count: int,
    graph: Graph,
) -> Rows:
    """Return derivatives of axes by axes as those of coordinates by coordinates."""
    entries: dict[tuple[int, int], list[Expression]] = {}
    for own, row in zip(drivers, rows):
        found = substitute(map(graph.lift, row), values)
        for others, value in zip(drivers, found):
            for i, first in own:
                for j, second in others:
                    entries.setdefault((i, j), []).append(first * second * value)
    return [[graph.sum(entries.get((i, j), ())) for j in range(count)] for i in range(count)]


def _sum(first: Rows, second: Rows) -> Rows:
    return [[a + b for a, b in zip(*rows)] for rows in zip(first, second)]
