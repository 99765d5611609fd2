# SPDX-License-Identifier: Apache-2.0
"""
Flexible arms by 4 x 4 transformation matrices: Book's recursive Lagrangian formulation.

W. J. Book, Recursive Lagrangian dynamics of flexible manipulator arms, Int. J. Robotics Research
3(3), 1984, which Mackay's generator FLXDYN is based on. A point of link i is W_i h. There h is c_0
+ sum d_k c_k and W_i the product of joint matrices A and link matrices E = E_0 + sum d_k M_k.
Lagrange's equations are traces of derivatives of W. It shares no recursion of this package: no
velocity of a body, no inertia about a centre of mass, no rotation matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, Iterable, Sequence

import numpy as np
from validation.el_rayyes.flexible_programs import bending
from validation.studies import rk4, ROOTS


@dataclass
class Rod:
    """
    A uniform flexible link along x, behind a revolute joint about z.

    Attributes:
        length: [m].
        mass: [kg].
        rigidity: Bending stiffness EI, the same in both planes [N m^2].
        modes: Kinds of its modes, one of each number from the lowest up: "y", "z" or "x".
        polar: Polar inertia about its axis [kg m^2].
        torsional: Torsional stiffness GJ [N m^2].
        hub: Mass at its joint [kg], and moment of inertia about every axis [kg m^2].
        tip_mass: Point mass at its end [kg].
    """

    length: float
    mass: float
    rigidity: float
    modes: Sequence[str] = ()
    polar: float = 0.0
    torsional: float = 0.0
    hub: tuple[float, float] = (0.0, 0.0)
    tip_mass: float = 0.0
    moments: np.ndarray = field(init=False)
    ends: np.ndarray = field(init=False)
    stiffness: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        count = 1 + len(self.modes)
        self.moments = np.zeros((count, count, 4, 4))  # integrals of c_k c_l^T over the mass
        self.ends = np.zeros((count, 4, 4))            # E_0, then M_k
        self.stiffness = np.zeros(count - 1)
        self._rigid()
        for k, kind in enumerate(self.modes, 1):
            number = list(self.modes[:k - 1]).count(kind)
            (self._torsion if kind == 'x' else self._bending)(k, kind, number)
        tips = np.array([self.ends[0, :, 3], *self.ends[1:, :, 3]])
        self.moments += self.tip_mass * np.einsum('ka,lb->klab', tips, tips)

    def _rigid(self) -> None:
        m, length = self.mass, self.length
        self.ends[0] = np.eye(4)
        self.ends[0, 0, 3] = length
        body = self.moments[0, 0]
        mass, inertia = self.hub
        # Only the axis has the section's inertia: x loses the gain of y and z.
        half, own = 0.5 * self.polar, 0.5 * inertia
        body[:3, :3] = np.diag([m * length**2 / 3.0 - half + own, half + own, half + own])
        body[0, 3] = body[3, 0] = 0.5 * m * length
        body[3, 3] = m + mass

    def _bending(self, k: int, kind: str, number: int) -> None:
        slope, mean, moment = bending(number)
        m, length = self.mass, self.length
        axis = 'xyz'.index(kind)
        self.moments[0, k, 0, axis] = self.moments[k, 0, axis, 0] = m * length * moment
        self.moments[0, k, 3, axis] = self.moments[k, 0, axis, 3] = m * mean
        for other, kind2 in enumerate(self.modes[:k], 1):
            same = list(self.modes[:other - 1]).count(kind2) == number
            if kind2 in 'yz' and same:
                second = 'xyz'.index(kind2)
                self.moments[k, other, axis, second] = 0.25 * m
                self.moments[other, k, second, axis] = 0.25 * m
        self.ends[k, axis, 3] = 1.0
        self.ends[k, axis, 0], self.ends[k, 0, axis] = slope / length, -slope / length
        self.stiffness[k - 1] = self.rigidity * ROOTS[number]**4 / (4.0 * length**3)

    def _torsion(self, k: int, kind: str, number: int) -> None:
        wave, half = (2 * number + 1) * np.pi / 2.0, 0.5 * self.polar
        # The mean of a sine with unit tip; sections turn by it about x.
        mean = (-1.0) ** number / wave
        self.moments[0, k, 1, 2], self.moments[0, k, 2, 1] = half * mean, -half * mean
        self.moments[k, 0] = self.moments[0, k].T
        self.moments[k, k] = 0.5 * half * np.diag([0.0, 1.0, 1.0, 0.0])
        self.ends[k, 1, 2], self.ends[k, 2, 1] = -1.0, 1.0
        self.stiffness[k - 1] = self.torsional * wave**2 / (2.0 * self.length)


class RodArm:
    """An arm of rods; coordinates are the joints, then the modes link by link."""

    def __init__(self, rods: Sequence[Rod], gravity: Sequence[float] = (0.0, 0.0, 0.0)):
        self.rods = list(rods)
        self.pull = np.zeros((4, 4))
        self.pull[:3, 3] = -np.asarray(gravity)
        places = np.cumsum([len(rods), *(len(rod.modes) for rod in rods)])
        self.places = [slice(a, b) for a, b in zip(places[:-1], places[1:])]
        self.size = int(places[-1])

    def inverse_dynamics(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Return forces (b, n) for accelerations (b, n)."""
        one, rate, change = np.eye(4), np.zeros((4, 4)), self.pull + np.zeros((len(qdd), 4, 4))
        kept = []
        for number, (rod, place) in enumerate(zip(self.rods, self.places)):
            joint, joint_q, joint_qq = joint_matrices(q[number])
            speed = joint_q * qd[number]
            speedup = joint_qq * (qd[number] * qd[number]) + joint_q * qdd[:, number, None, None]
            before = one
            one, rate, change = one @ joint, rate @ joint + one @ speed, (
                change @ joint + 2.0 * rate @ speed + one @ speedup
            )
            z, zd = [1.0, *q[place]], [0.0, *qd[place]]
            zdd = [0.0, *qdd[:, place].T[:, :, None, None]]
            # Integrals of c_k times the acceleration of the point.
            c = [
                _mix(z, own) @ change.swapaxes(-1, -2)
                + 2.0 * _mix(zd, own) @ rate.T + _mix(zdd, own) @ one.T for own in rod.moments
            ]
            end, end_d, end_dd = (_mix(v, rod.ends) for v in (z, zd, zdd))
            kept.append((before, one, joint, joint_q, c, end, _mix(z, c)))
            one, rate, change = one @ end, rate @ end + one @ end_d, (
                change @ end + 2.0 * rate @ end_d + one @ end_dd
            )
        return self._backward(kept, q, len(qdd))

    def _backward(self, kept: list, q: np.ndarray, count: int) -> np.ndarray:
        forces = np.zeros((count, self.size), q.dtype)
        outer = np.zeros((count, 4, 4), q.dtype)
        for number in reversed(range(len(self.rods))):
            before, one, joint, joint_q, c, end, own = kept[number]
            rod, place = self.rods[number], self.places[number]
            for k in range(len(rod.modes)):
                forces[:, place.start + k] = _trace(one @ (rod.ends[k + 1] @ outer + c[k + 1]))
            forces[:, place] += rod.stiffness * q[place]
            inner = own + end @ outer
            forces[:, number] = _trace(before @ joint_q @ inner)
            outer = joint @ inner
        return forces

    def accelerations(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the accelerations without joint torques, (n,)."""
        given = np.vstack((np.zeros(self.size), np.eye(self.size)))
        bias, *columns = self.inverse_dynamics(q, qd, given)
        return np.linalg.solve((np.array(columns) - bias).T, -bias)

    def run(self, q: np.ndarray, dt: float, t_end: float) -> np.ndarray:
        """Return the coordinates (T, n) from rest, by RK4."""
        return rk4(self.accelerations, q, dt, t_end)


def joint_matrices(angle: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a rotation about z, and its first and second derivative."""
    c, s = np.cos(angle), np.sin(angle)

    def matrix(x: Any, y: Any, rest: float) -> np.ndarray:
        return np.array([[x, -y, 0.0, 0.0], [y, x, 0.0, 0.0], [0.0, 0.0, rest, 0.0],
                         [0.0, 0.0, 0.0, rest]])

    return matrix(c, s, 1.0), matrix(-s, c, 0.0), matrix(-c, -s, 0.0)


def _mix(weights: Sequence[Any], blocks: Iterable[np.ndarray]) -> np.ndarray:
    """Return the sum of blocks times their weights."""
    return reduce(add, (weight * block for weight, block in zip(weights, blocks)))


def _trace(matrices: np.ndarray) -> np.ndarray:
    return np.trace(matrices, axis1=-2, axis2=-1)
