# SPDX-License-Identifier: Apache-2.0
"""
The starting line: the published generator's own form of the inverse dynamics.

El-Rayyes 1990, NEDYN: recursive Newton-Euler in Denavit-Hartenberg frames at the links' far ends,
one matrix U = [wd]x + [w]x[w]x a link. Every scalar is zero or a signed product of atoms (tables
3.2 and 3.3). A result with an addition, or with more than six multiplications, becomes a statement
Z with one binary sum at most (the layering rule). No term is shared but by such statements.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Sequence

from validation.counts.dh_chain import DhRow
from validation.counts.vector_arithmetic import VectorArithmetic

# Products of more factors than this become a statement of their own.
FACTOR_LIMIT = 7


@dataclass(frozen=True)
class Term:
    """A signed product of atoms; zero where sign is 0, one where there is no atom."""

    sign: int
    atoms: tuple[str, ...] = ()

    def __neg__(self) -> Term:
        return Term(-self.sign, self.atoms)


ZERO = Term(0)
ONE = Term(1)
Vector = tuple[Term, ...]
Matrix = tuple[Vector, ...]


def atom(name: str) -> Term:
    """Return the term of one named quantity."""
    return Term(1, (name,))


@dataclass(frozen=True)
class PublishedStatement:
    """An assignment: a name and one or two terms that add up to it."""

    name: str
    terms: tuple[Term, ...]

    @property
    def operations(self) -> tuple[int, int]:
        """Multiplications and additions."""
        products = sum(max(len(term.atoms) - 1, 0) for term in self.terms)
        return products, len(self.terms) - 1


@dataclass
class Listing:
    """
    The statements of a generated subroutine, in order, and its results.

    Attributes:
        statements: Assignments of intermediate results.
        results: Assignments of the outputs.
    """

    statements: list[PublishedStatement] = field(default_factory=list)
    results: list[PublishedStatement] = field(default_factory=list)

    def multiply(self, *factors: Term) -> Term:
        """Return a product by the rules of table 3.2."""
        sign = 1
        atoms: tuple[str, ...] = ()
        for factor in factors:
            sign *= factor.sign
            atoms += factor.atoms
        if sign == 0:
            return ZERO
        if len(atoms) > FACTOR_LIMIT:
            return self._named((Term(sign, atoms),))
        return Term(sign, atoms)

    def add(self, *terms: Term) -> Term:
        """Return a sum by the rules of table 3.3, two terms at a time."""
        total = ZERO
        for term in terms:
            if total.sign == 0:
                total = term
            elif term.sign and term.atoms == total.atoms and term.sign == -total.sign:
                total = ZERO
            elif term.sign:
                total = self._named((total, term))
        return total

    def _named(self, terms: tuple[Term, ...]) -> Term:
        name = f'Z{len(self.statements) + 1:04d}'
        self.statements.append(PublishedStatement(name, terms))
        return atom(name)

    def result(self, name: str, value: Term) -> None:
        """Declare an output."""
        self.results.append(PublishedStatement(name, (value,)))

    @property
    def operations(self) -> tuple[int, int]:
        """Multiplications and additions of all statements and results."""
        counts = [each.operations for each in (*self.statements, *self.results)]
        return sum(mul for mul, _ in counts), sum(add for _, add in counts)


def inverse_dynamics(
    rows: Sequence[DhRow], rates: bool = True, accelerations: bool = True, gravity: bool = True,
    payload: bool = False,
) -> Listing:
    """
    Return NEDYN's listing for an arm of rigid links; gravity along the first axis.

    Args:
        rows: The links.
        rates: Whether the joints have rates; without them, and so on, it is one term of several.
        accelerations: Whether they have accelerations.
        gravity: Whether there is gravity.
        payload: Whether force and moment act on the last frame, in its axes.
    """
    out = Listing()
    links = [_Link(out, number, row) for number, row in enumerate(rows, start=1)]
    spin: Vector = (ZERO, ZERO, ZERO)
    spin_rate: Vector = (ZERO, ZERO, ZERO)
    start: Vector = (ZERO, ZERO, atom('g') if gravity else ZERO)
    for link in links:
        spin, spin_rate, start = link.move(
            spin, spin_rate, start, atom(f'QD{link.number}') if rates else ZERO,
            atom(f'QF{link.number}') if accelerations else ZERO,
        )
    force: Vector = (ZERO, ZERO, ZERO)
    moment: Vector = (ZERO, ZERO, ZERO)
    if payload:
        force, moment = (
            tuple(atom(f'LD{k}') for k in numbers) for numbers in ((1, 2, 3), (4, 5, 6))
        )
    torques = []
    for number in reversed(range(len(links))):
        outer = links[number + 1] if number + 1 < len(links) else None
        force, moment = links[number].carry(outer, force, moment)
        torques.append(links[number].along_axis(force, moment))
    for number, torque in enumerate(reversed(torques), start=1):
        out.result(f'RES{number}', torque)
    return out


class _Link:
    """One link: its constants, and the recursion's steps in the listing."""

    def __init__(self, out: Listing, number: int, row: DhRow):
        self.out, self.vectors = out, VectorArithmetic(out, ZERO, ONE, atom('2'))
        self.number = number
        self.prismatic = row.prismatic
        c, s = {0.0: (ONE, ZERO), 90.0: (ZERO, ONE), -90.0: (ZERO, -ONE)}[row.alpha]
        cos, sin = (ONE, ZERO) if row.prismatic else (atom(f'C{number}'), atom(f'S{number}'))
        mul = out.multiply
        self.rotation: Matrix = (
            (cos, mul(-c, sin), mul(s, sin)), (sin, mul(c, cos), mul(-s, cos)), (ZERO, s, c)
        )
        self.position, self.com, self.arm = self._points(row, c, s)
        self.moments = tuple(atom(f'j{k}{number}') for k in '123')
        self.mass = atom(f'm{number}')
        self.force: Vector = (ZERO, ZERO, ZERO)
        self.moment: Vector = (ZERO, ZERO, ZERO)

    def _points(self, row: DhRow, c: Term, s: Term) -> tuple[Vector, Vector, Vector]:
        """Return p*, s and p* + s, which is a constant unless the joint slides."""
        number, mul = self.number, self.out.multiply
        com = tuple(
            atom(f's{axis}{number}') if x else ZERO for axis, x in zip('xyz', row.com)
        )
        if row.prismatic:
            along = atom(f'TH{number}')
            position = (ZERO, mul(along, s), mul(along, c))
            return position, com, tuple(self.out.add(a, b) for a, b in zip(position, com))
        offset = atom(f'dl{number}') if row.d else ZERO
        length = atom(f'a{number}') if row.a else ZERO
        position = (length, mul(offset, s), mul(offset, c))
        arm = tuple(
            atom(f'sp{axis}{number}') if a.sign or b.sign else ZERO
            for axis, a, b in zip('xyz', position, com)
        )
        return position, com, arm

    def move(
        self, spin: Vector, spin_rate: Vector, start: Vector, rate: Term, acceleration: Term
    ) -> tuple:
        """Return this link's motion from the one before; keep its force and moment."""
        v, mul, add = self.vectors, self.out.multiply, self.out.add
        new_spin, new_rate = spin, spin_rate
        if not self.prismatic:
            gyro = (mul(spin[1], rate), mul(-spin[0], rate), ZERO)
            new_rate = v.plus(spin_rate, (ZERO, ZERO, acceleration), gyro)
            new_spin = (spin[0], spin[1], add(spin[2], rate))
        w, wd = self._back(new_spin), self._back(new_rate)
        u = self._acceleration_matrix(w, wd)
        carried = (start[0], start[1], add(start[2], acceleration)) if self.prismatic else start
        turned = self._back(carried)
        start = v.plus(v.apply(u, self.position), turned)
        if self.prismatic:
            slide = self._back((ZERO, ZERO, rate))
            start = v.plus(start, v.times(v.two, v.cross(w, slide)))
        self.force = v.times(self.mass, v.plus(v.apply(u, self.com), start))
        momentum = tuple(mul(j, x) for j, x in zip(self.moments, w))
        spinning = v.cross(w, momentum)
        self.moment = tuple(add(mul(j, x), y) for j, x, y in zip(self.moments, wd, spinning))
        return w, wd, start

    def carry(self, outer: Optional[_Link], force: Vector, moment: Vector) -> tuple:
        """Return force and moment on this link from those on the next."""
        v = self.vectors
        if outer is None:
            shifted = v.plus(moment, v.cross(self.position, force))
        else:
            turned = v.cross(outer._back(self.position), force)
            shifted = v.apply(outer.rotation, v.plus(moment, turned))
            force = v.apply(outer.rotation, force)
        # Figure 3.2: Z0195 is the link's own moment about the joint, Z0197 adds the next link's.
        own = v.plus(self.moment, v.cross(self.arm, self.force))
        return v.plus(force, self.force), v.plus(own, shifted)

    def along_axis(self, force: Vector, moment: Vector) -> Term:
        """Return the joint's torque or force."""
        along = self._back((ZERO, ZERO, ONE))
        return self.vectors.dot(force if self.prismatic else moment, along)

    def _back(self, v: Vector) -> Vector:
        return self.vectors.apply(self.vectors.turned(self.rotation), v)

    def _acceleration_matrix(self, w: Vector, wd: Vector) -> Matrix:
        mul, add = self.out.multiply, self.out.add
        x, y, z = w
        xx, yy, zz = (mul(k, k) for k in w)
        diagonal = add(-yy, -zz), add(-xx, -zz), add(-xx, -yy)
        return (
            (diagonal[0], add(mul(x, y), -wd[2]), add(mul(x, z), wd[1])),
            (add(mul(x, y), wd[2]), diagonal[1], add(mul(y, z), -wd[0])),
            (add(mul(x, z), -wd[1]), add(mul(y, z), wd[0]), diagonal[2]),
        )
