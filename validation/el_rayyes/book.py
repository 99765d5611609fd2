# SPDX-License-Identifier: Apache-2.0
"""
Book's direct dynamics, equation by equation, and the operations of such a program.

Symbols are those of transforms.py. Rates W' and W'' are without joint and modal accelerations.
F_jh is the sum over links i from h outwards of (W_j^-1 W_i) G_i (W_h^-1 W_i)^T. Every entry of the
mass matrix is a trace of products with it.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, Iterable, Optional, Sequence

import numpy as np
from validation.el_rayyes.transforms import joint_matrices, Rod, RodArm


class Matrices:
    """Sums and products of matrices; each is counted with its zeros and ones, sums from zero."""

    def __init__(self) -> None:
        self.products = self.sums = 0

    def times(self, *factors: np.ndarray) -> np.ndarray:
        """Return the product, from left to right; rows and columns of 4 may be vectors."""
        product = factors[0]
        for factor in factors[1:]:
            count = 4 * (product.size // 4) * (factor.size // 4)
            self.products += count
            self.sums += count
            product = product @ factor
        return product

    def plus(self, *terms: Any) -> Any:
        """Return the sum of terms of one shape."""
        self.sums += (len(terms) - 1) * np.size(terms[0])
        return reduce(np.add, terms)

    def scaled(self, factor: float, term: Any) -> Any:
        """Return a number times a matrix."""
        self.products += np.size(term)
        return factor * term

    def mix(self, start: np.ndarray, weights: Iterable, terms: Iterable) -> np.ndarray:
        """Return the start and the sum of terms times their weights."""
        return self.plus(start, *map(self.scaled, weights, terms))

    def trace(self, *factors: np.ndarray) -> float:
        """Return the trace of a product of 4 x 4 matrices."""
        self.sums += 4
        return float(np.trace(self.times(*factors)))


class MovingRod:
    """
    The quantities that depend on a link's coordinates alone.

    Attributes:
        rod: The link.
        rates: Rates of its modes.
        joint: A, and its derivatives by the angle and by time, the second without acceleration.
        end: E and its first derivative by time.
        shapes: Integrals of h c_k^T, of each mode.
        body: G, the integral of h h^T.
        first: The integral of h.
        turned, w, wd, wdd: dW / dq, W, W' and W'', once `outward` has found them.
    """

    def __init__(self, m: Matrices, rod: Rod, q: float, qd: float, z: Any, zd: Any) -> None:
        self.rod, self.rates = rod, zd
        self.joint, self.joint_q, joint_qq = joint_matrices(q)
        m.products += 1
        self.joint_d, self.joint_dd = m.scaled(qd, self.joint_q), m.scaled(qd * qd, joint_qq)
        c, nothing = rod.moments, np.zeros((4, 4))
        self.end = m.mix(rod.ends[0], z, rod.ends[1:])
        self.end_d = m.mix(nothing, zd, rod.ends[1:])
        modes = range(1, len(z) + 1)
        self.shapes = [m.mix(c[0, k], z, c[1:, k]) for k in modes]
        self.body = m.mix(c[0, 0], z, [
            m.mix(m.plus(c[k, 0], c[0, k]), z, c[k, 1:]) for k in modes
        ])
        self.first = m.mix(c[0, 0, :, 3], z, c[1:, 0, :, 3])
        self.turned = self.w = self.wd = self.wdd = nothing


def direct_dynamics(
    arm: RodArm, q: np.ndarray, qd: np.ndarray, gravity: Sequence[float]
) -> tuple[np.ndarray, np.ndarray, Matrices]:
    """Return the mass matrix (n, n), the bias (n,), and their counted operations."""
    m = Matrices()
    links = [
        MovingRod(m, rod, q[number], qd[number], q[place], qd[place])
        for number, (rod, place) in enumerate(zip(arm.rods, arm.places))
    ]
    outward(m, links)
    joints, modes = bias(m, links, np.array([*gravity, 0.0]))
    forces = np.array(joints + modes)
    for link, place in zip(links, arm.places):
        forces[place] += link.rod.stiffness * q[place]
        m.products += len(link.rates) ** 2
        m.sums += len(link.rates) ** 2
    return mass_matrix(m, arm, links), forces, m


def outward(m: Matrices, links: Sequence[MovingRod]) -> None:
    """Find W of each link and its rates."""
    w, wd, wdd = np.eye(4), np.zeros((4, 4)), np.zeros((4, 4))
    for link in links:
        link.turned = m.times(w, link.joint_q)
        wdd = m.plus(
            m.times(wdd, link.joint), m.scaled(2.0, m.times(wd, link.joint_d)),
            m.times(w, link.joint_dd),
        )
        wd = m.plus(m.times(wd, link.joint), m.times(w, link.joint_d))
        w = m.times(w, link.joint)
        link.w, link.wd, link.wdd = w, wd, wdd
        wdd = m.plus(m.times(wdd, link.end), m.scaled(2.0, m.times(wd, link.end_d)))
        wd = m.plus(m.times(wd, link.end), m.times(w, link.end_d))
        w = m.times(w, link.end)


def bias(
    m: Matrices, links: Sequence[MovingRod], gravity: np.ndarray
) -> tuple[list[float], list[float]]:
    """Return the forces of joints and of modes without accelerations and springs."""
    joints: list[float] = []
    modes: list[float] = []
    force, weight = np.zeros((4, 4)), np.zeros(4)  # Q and P of the links outwards
    joint: Optional[np.ndarray] = None
    for link in reversed(links):
        own = []
        for k, shape in enumerate(link.shapes, 1):
            c = link.rod.moments[k]
            rate = m.mix(np.zeros((4, 4)), link.rates, c[1:])
            inner = m.plus(
                m.times(shape.T, link.wdd.T), m.scaled(2.0, m.times(rate, link.wd.T))
            )
            pull = m.times(gravity, m.times(link.w, c[0, :, 3]))
            value = m.plus(m.trace(link.w, inner), -pull)
            if joint is not None:
                outer = m.times(link.w, link.rod.ends[k], joint)
                value = m.plus(value, m.trace(outer, force), -m.times(gravity, outer, weight))
            own.append(value)
        modes[:0] = own
        rate = m.mix(np.zeros((4, 4)), link.rates, link.shapes)
        moved = m.plus(
            m.times(link.body, link.wdd.T), m.scaled(2.0, m.times(rate, link.wd.T))
        )
        if joint is None:
            force, weight = moved, link.first
        else:
            step = m.times(link.end, joint)
            force = m.plus(moved, m.times(step, force))
            weight = m.plus(link.first, m.times(step, weight))
        joints.insert(0, m.plus(
            m.trace(link.turned, force), -m.times(gravity, link.turned, weight)
        ))
        joint = link.joint
    return joints, modes


def mass_matrix(m: Matrices, arm: RodArm, links: Sequence[MovingRod]) -> np.ndarray:
    """Return the mass matrix (n, n), each pair of coordinates once, the rest mirrored."""
    integrals = _Integrals(m, links)
    owners: list[tuple[int, Optional[int]]] = [(j, None) for j in range(len(links))]
    owners += [(j, k) for j, link in enumerate(links) for k in range(len(link.rates))]
    mass = np.zeros((arm.size, arm.size))
    for row, (j, f) in enumerate(owners):
        for column, (h, k) in enumerate(owners):
            if h < j or h == j and column < row:
                continue
            if f is None:
                entry = m.trace(links[j].turned, *integrals.of(j, h, k))
            elif j < h:
                near = links[j].w, links[j].rod.ends[f + 1], links[j + 1].joint
                entry = m.trace(*near, *integrals.of(j + 1, h, k))
            else:
                assert k is not None
                entry = m.trace(links[j].w, integrals.of_two_modes(j, f, k), links[j].w.T)
            mass[row, column] = mass[column, row] = entry
    return mass


class _Integrals:
    """Integrals over the links outwards, which the entries of the mass matrix are traces of."""

    def __init__(self, m: Matrices, links: Sequence[MovingRod]) -> None:
        self._m, self._links, last = m, links, len(links) - 1
        step = [m.times(near.end, far.joint) for near, far in zip(links, links[1:])]
        self._body: dict[tuple[int, int], np.ndarray] = {}   # F_jh
        self._reach: dict[tuple[int, int], np.ndarray] = {}  # from link h to link j
        for h in reversed(range(len(links))):
            self._body[h, h] = links[h].body
            if h < last:
                outer = m.times(step[h], self._body[h + 1, h + 1], step[h].T)
                self._body[h, h] = m.plus(links[h].body, outer)
            for j in reversed(range(h)):
                self._body[j, h] = m.times(step[j], self._body[j + 1, h])
                self._reach[j, h] = (
                    step[j] if j + 1 == h else m.times(step[j], self._reach[j + 1, h])
                )

    def of(self, j: int, h: int, k: Optional[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return the integral of points in axes of link j, for a coordinate of link h."""
        m, link = self._m, self._links[h]
        if k is None:
            return self._body[j, h], link.turned.T
        own = link.shapes[k] if j == h else m.times(self._reach[j, h], link.shapes[k])
        if link is not self._links[-1]:
            next_joint = self._links[h + 1].joint
            own = m.plus(own, m.times(self._body[j, h + 1], next_joint.T, link.rod.ends[k + 1].T))
        return own, link.w.T

    def of_two_modes(self, j: int, f: int, k: int) -> np.ndarray:
        """Return the integral for two modes of link j."""
        link = self._links[j]
        own = link.rod.moments[f + 1, k + 1]
        if link is self._links[-1]:
            return own
        joint, ends = self._links[j + 1].joint, link.rod.ends
        return self._m.plus(own, self._m.times(
            ends[f + 1], joint, self._body[j + 1, j + 1], joint.T, ends[k + 1].T
        ))
