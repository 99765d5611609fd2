# SPDX-License-Identifier: Apache-2.0
"""
A program as a network of polynomials over one another, with its exact cost.

Each polynomial is a node that several others use, or a result. Its monomials are products of
symbols, calls and other polynomials. So all shared parts are explicit: products, sums and
multiples of them. Each rewriting changes a few polynomials, whose operations are counted exactly.
These are Boolean networks (R. K. Brayton and C. McMullen, The decomposition and factorization of
Boolean expressions, 1982) over numbers.
"""

from __future__ import annotations

from typing import Optional

from flexdyn_ros.symbolic.graph import (
    CALL,
    CONSTANT,
    Expression,
    PRODUCT,
    QUOTIENT,
    split_sign,
    SUM,
    SYMBOL,
)
from flexdyn_ros.symbolic.passes.factoring import single_use_nodes
from flexdyn_ros.symbolic.polynomial import expand
from flexdyn_ros.symbolic.program import Program, remake
from flexdyn_ros.symbolic.rounding import accumulate
from flexdyn_ros.symbolic.search.divisors import cost, DivisorIndex, Monomial, Polynomial, rounded

# Polynomials are multiplied out up to this many terms when a network is made.
TERM_LIMIT = 24
# And up to this many when one is put into its users.
INLINE_LIMIT = 20


class Network:
    """
    Polynomials over one another.

    Attributes:
        polynomials: By atom: an atom is the number of a polynomial, a symbol or a call.
        users: For each atom, the polynomials that it is in.
        roots: Atoms that results or calls need.
        index: The common divisors of several polynomials.
        total: Multiplications and additions of all polynomials.
        partners: Atoms of cosines by those of sines of the same angles, and the other way.
    """

    def __init__(self, program: Program):
        """Take a program apart: single-use nodes and products are multiplied out."""
        self._program = program
        self._nodes: list[Optional[Expression]] = []
        self._atoms: dict[Expression, int] = {}
        self._numbers: dict[float, float] = {1.0: 1.0}
        self._journal: Optional[dict[int, Optional[Polynomial]]] = None
        self.polynomials: dict[int, Polynomial] = {}
        self.users: dict[int, set[int]] = {}
        self.roots: set[int] = set()
        self.index = DivisorIndex()
        self.total = 0
        self.partners: dict[int, int] = {}
        self._read(program)

    def _read(self, program: Program) -> None:
        uses = program.uses()
        products = {node for node in program.needed() if node.kind == PRODUCT}
        stack = [split_sign(output)[1] for output in program.outputs]
        self.roots.update(self._atom(node) for node in stack)
        seen = set()
        while stack:
            node = stack.pop()
            if node in seen or node.kind in (CONSTANT, SYMBOL):
                continue
            seen.add(node)
            if node.kind in (CALL, QUOTIENT):
                inner = [split_sign(operand)[1] for operand in node.operands]
                self.roots.update(self._atom(each) for each in inner)
                stack += inner
                continue
            opened = single_use_nodes(node, uses, (SUM, PRODUCT)) | products
            found = expand(node, opened, TERM_LIMIT)
            if found is None:
                found = expand(node, products | {node}, len(node.operands) + TERM_LIMIT)
            if found is None:
                found = expand(node, {node}, len(node.operands))
            assert found is not None, 'a node has no more terms than operands'
            self.put(self._atom(node), tuple(
                (tuple(sorted(map(self._atom, monomial))), self.canonical(coefficient))
                for monomial, coefficient in found.items()
            ))
            for monomial in found:
                stack += monomial
        for atom in list(self.polynomials):
            self.unify(atom)
        self.partners.update(self._sines_and_cosines())

    def _sines_and_cosines(self) -> dict[int, int]:
        """Return the cosine's atom for that of a sine of the same angle, and the other way."""
        waves = {
            (node.value, split_sign(node.operands[0])[1]): atom
            for node, atom in self._atoms.items()
            if node.kind == CALL and node.value in ('sin', 'cos')
        }
        pairs = {
            atom: waves['cos', angle] for (kind, angle), atom in waves.items()
            if kind == 'sin' and ('cos', angle) in waves
        }
        return {**pairs, **{cosine: sine for sine, cosine in pairs.items()}}

    def _atom(self, node: Expression) -> int:
        if node not in self._atoms:
            self._atoms[node] = self.new_atom(node)
        return self._atoms[node]

    def new_atom(self, node: Optional[Expression] = None) -> int:
        """Return the number of a new atom."""
        self._nodes.append(node)
        self.users[len(self._nodes) - 1] = set()
        return len(self._nodes) - 1

    def canonical(self, number: float) -> float:
        """Return the number, or the one met before that differs by rounding alone."""
        size = self._numbers.setdefault(rounded(abs(number)), abs(number))
        return size if number > 0.0 else -size

    def put(self, atom: int, polynomial: Optional[Polynomial]) -> None:
        """Replace the polynomial of an atom, or remove it."""
        old = self.polynomials.get(atom)
        if self._journal is not None:
            self._journal.setdefault(atom, old)
        if old is not None:
            self.total -= cost(old)
            self.index.leave(atom)
            for monomial, _ in old:
                for factor in monomial:
                    self.users[factor].discard(atom)
        if polynomial is None:
            self.polynomials.pop(atom, None)
            return
        self.polynomials[atom] = polynomial
        self.total += cost(polynomial)
        self.index.enter(atom, polynomial)
        for monomial, _ in polynomial:
            for factor in monomial:
                self.users[factor].add(atom)

    def begin(self) -> None:
        """Start to record the changes."""
        self._journal = {}

    @property
    def changed(self) -> list[int]:
        """Atoms whose polynomials have changed since `begin`."""
        return list(self._journal or ())

    def take_back(self) -> None:
        """Undo all changes since `begin`."""
        journal, self._journal = self._journal, None
        for atom, polynomial in (journal or {}).items():
            if self.polynomials.get(atom) is not polynomial:
                self.put(atom, polynomial)

    def drop_unused(self, atoms: list[int]) -> None:
        """Remove the polynomials that nothing uses any more, and those that only they use."""
        while atoms:
            atom = atoms.pop()
            if atom in self.polynomials and not self.users[atom] and atom not in self.roots:
                atoms += {factor for monomial, _ in self.polynomials[atom] for factor in monomial}
                self.put(atom, None)

    def inline(self, atom: int, users: Optional[list[int]] = None) -> bool:
        """
        Multiply a polynomial out in its users; return whether it was short enough.

        Args:
            atom: The polynomial; it is removed without users.
            users: Its users to change; all when None.
        """
        new = {}
        for user in sorted(self.users[atom]) if users is None else users:
            result = self._opened(atom, user)
            if result is None:
                return False
            new[user] = result
        for user, result in new.items():
            self.put(user, result)
        if not self.users[atom] and atom not in self.roots:
            self.put(atom, None)
        for user in new:
            self.unify(user)
        return True

    def _opened(self, atom: int, user: int) -> Optional[Polynomial]:
        """Return the user's polynomial with the atom's in its place, None if that is too long."""
        result: dict[Monomial, float] = {}
        inner = self.polynomials[atom]
        limit = max(INLINE_LIMIT, len(self.polynomials[user]))
        for monomial, coefficient in self.polynomials[user]:
            terms = {tuple(x for x in monomial if x != atom): coefficient}
            for _ in range(monomial.count(atom)):
                longer: dict[Monomial, float] = {}
                for left, a in terms.items():
                    for right, b in inner:
                        accumulate(longer, tuple(sorted(left + right)), a * b)
                terms = longer
                if len(terms) > limit:
                    return None
            for each, value in terms.items():
                accumulate(result, each, value)
        if len(result) > limit:
            return None
        return tuple((monomial, self.canonical(value)) for monomial, value in result.items())

    def unify(self, atom: int) -> None:
        """Let the users of a polynomial that is a number, or plus or minus an atom, use that."""
        polynomial = self.polynomials.get(atom)
        if polynomial is None or len(polynomial) > 1:
            return
        if all(len(m) == 0 or (len(m) == 1 and abs(value) == 1.0) for m, value in polynomial):
            if self.users[atom]:
                self.inline(atom)
            elif atom not in self.roots:
                self.put(atom, None)

    def program(self) -> Program:
        """Return the network as a program."""
        graph = self._program.graph
        made: dict[int, Expression] = {}

        def below(atom: int) -> list[int]:
            if atom in self.polynomials:
                return [factor for monomial, _ in self.polynomials[atom] for factor in monomial]
            node = self._nodes[atom]
            assert node is not None, 'a new atom has a polynomial'
            inner = (split_sign(operand)[1] for operand in node.operands)
            return [self._atoms[each] for each in inner if each.kind != CONSTANT]

        def signed(node: Expression) -> Expression:
            negative, inner = split_sign(node)
            result = inner if inner.kind == CONSTANT else made[self._atoms[inner]]
            return graph.negate(result) if negative else result

        stack = [*sorted(self.roots)]
        while stack:
            atom = stack[-1]
            missing = [] if atom in made else [each for each in below(atom) if each not in made]
            stack += missing
            if missing:
                continue
            stack.pop()
            if atom in self.polynomials:
                made[atom] = graph.sum([
                    graph.product((*(made[factor] for factor in monomial), graph.constant(value)))
                    for monomial, value in self.polynomials[atom]
                ])
            elif atom not in made:
                node = self._nodes[atom]
                assert node is not None, 'a new atom has a polynomial'
                made[atom] = remake(graph, node, tuple(map(signed, node.operands)))
        return Program(graph, tuple(map(signed, self._program.outputs)))
