# SPDX-License-Identifier: Apache-2.0
"""The linear program below every program without cancellation; see the package for the proof."""

from __future__ import annotations

from fractions import Fraction
import math
from typing import Callable, Iterable, Optional, Sequence

from validation.bounds.formula import Branch, Formula, TOP
from validation.bounds.linear_program import LinearProgram
from validation.bounds.polynomials import input_support, Monomial, ONE, Support, Unsuitable
from validation.bounds.sharing import shareable

MOST_VARIABLES = 400_000
Ways = dict[Branch, int]


class Relaxation:
    """
    The linear program of a set of outputs.

    Attributes:
        program: The linear program.
        nodes: The nodes that it decides on, outputs last.
    """

    def __init__(self, outputs: Sequence[Support]) -> None:
        """Build the program; raises Unsuitable where it becomes too large."""
        self.program = LinearProgram()
        names = sorted({name for output in outputs for m in output for name in m})
        shared = [support for support in shareable(outputs) if support not in outputs]
        self.nodes = [*shared, *outputs]
        supports = [*map(input_support, names), *self.nodes]
        self._formulas = {node: Formula(node, supports) for node in self.nodes}
        # Whether a node is formed: its formula has one step fewer than leaves. Outputs are.
        self._formed = {node: self.program.variable(-1) for node in shared}
        self.program.constant -= len(outputs)
        self._ways: dict[tuple[Support, Monomial], Ways] = {}
        for node in self.nodes:
            self._add_node(node)
        for output in outputs:
            for monomial in output:
                self._add_descent(output, monomial)

    def _add_node(self, node: Support) -> None:
        """Add the leaves of a node's formula and its monomials' ways through them."""
        formula = self._formulas[node]
        leaves = {leaf: self.program.variable(1) for leaf in formula.leaves}
        for monomial in node:
            branches = formula.branches(monomial)
            ways = {branch: self.program.variable() for branch in branches}
            self._ways[node, monomial] = ways
            self._conserve(ways, self._formed.get(node))
            by_leaf: dict = {}
            for branch, flow in ways.items():
                by_leaf.setdefault(branch.leaf, []).append(flow)
            for leaf, flows in by_leaf.items():
                self.program.at_most(flows, leaves[leaf])
        self._check_size()

    def _conserve(self, ways: Ways, amount: Optional[int]) -> None:
        """Let a flow of an amount, 1 where it is None, start at the top and end in terms."""
        leaving: dict = {(TOP, ONE): []}
        arriving: dict = {}
        for branch, flow in ways.items():
            leaving.setdefault(branch.start, []).append(flow)
            if branch.end is not None:
                arriving.setdefault(branch.end, []).append(flow)
        for place in {**leaving, **arriving}:
            given = arriving.get(place, [])
            if place != (TOP, ONE):
                self.program.equal(leaving.get(place, []), given)
            elif amount is None:
                self.program.equal(leaving[place], [], 1)
            else:
                self.program.equal(leaving[place], [amount])

    def _add_descent(self, output: Support, monomial: Monomial) -> None:
        """Add the flow of an output's monomial from node to node."""
        arriving: dict[tuple[Support, Monomial], list[int]] = {}
        self._arrive(self._ways[output, monomial], arriving)
        # A node's leaves have less of the monomial, or fewer monomials, than the node.
        for node, part in self._below(output, monomial):
            amount = self.program.variable()
            self.program.equal(arriving[node, part], [amount])
            if node in self._formed:
                self.program.at_most([amount], self._formed[node])
            own = self._ways[node, part]
            ways = {branch: self.program.variable() for branch in own}
            for branch, flow in ways.items():
                self.program.at_most([flow], own[branch])
            self._conserve(ways, amount)
            self._arrive(ways, arriving)
        self._check_size()

    def _arrive(self, ways: Ways, arriving: dict[tuple[Support, Monomial], list[int]]) -> None:
        for branch, flow in ways.items():
            if branch.leaf.support in self._formulas:
                arriving.setdefault((branch.leaf.support, branch.part), []).append(flow)

    def _below(self, output: Support, monomial: Monomial) -> list[tuple[Support, Monomial]]:
        """Return the nodes that a monomial may come through, the higher ones first."""
        found, todo = set(), [(output, monomial)]
        while todo:
            for branch in self._ways[todo.pop()]:
                state = (branch.leaf.support, branch.part)
                if state[0] in self._formulas and state not in found:
                    found.add(state)
                    todo.append(state)
        return sorted(found, key=lambda state: (-len(state[1]), -len(state[0])))

    def _check_size(self) -> None:
        if len(self.program) > MOST_VARIABLES:
            raise Unsuitable(f'too large: a linear program of over {MOST_VARIABLES} variables')


def least_operations(
    outputs: Iterable[Support], progress: Callable[[str], None] = lambda text: None
) -> int:
    """
    Return a proved lower bound of the operations that form outputs without cancellation.

    Args:
        outputs: Supports of the outputs, see `polynomials.supports`.
        progress: Receives the name of each step.

    Raises:
        Unsuitable: If the linear program becomes too large.
    """
    outputs = list(outputs)
    if not outputs:
        return 0
    relaxation = Relaxation(outputs)
    progress(
        f'{len(relaxation.nodes) - len(outputs)} supports that may be shared, a linear program '
        f'of {len(relaxation.program)} variables'
    )
    bound: Fraction = relaxation.program.bound()
    progress(f'multipliers prove {float(bound):.6f}')
    return math.ceil(bound)
