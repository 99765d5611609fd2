# SPDX-License-Identifier: Apache-2.0
"""
The DeNOC matrices of a flexible arm, written out from the paper, in plain numpy.

Mohan and Saha, sections 3 to 5, for revolute joints and bending in both planes. Twists are
t = (v, w, d') of each link's joint origin. N = N_l N_d gives the generalised inertia matrix (GIM)
and its U D U^T. Corrections, each with the equation:

- The mass of a composite link is carried by A_(i+1,i) on both sides (32).
- gamma belongs to the bias (33).
- A point that moves by u = S d has the Coriolis acceleration 2 w x S d', not once that (24b).
- U's columns are Psi_i (36), and phihat needs etabar (39).

A cross-section turns by the exponential of its rotation vector, and the integrals over a link are
by quadrature: both are more exact than printed. All vectors are in root axes. The module shares no
code with the package's own algorithms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Sequence

import numpy as np
from validation.studies import clamped_free, ROOTS

_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(30)


@dataclass(frozen=True)
class BeamLink:
    """
    A uniform link along its x axis, behind a joint about its z axis.

    Attributes:
        length: [m].
        mass: [kg].
        rigidity: Bending stiffness in both planes [N m^2].
        modes: Number in each plane, those along y first.
        twist: Angle about x by which the joint axis is turned against the link before [rad].
        payload: Point mass at its tip [kg].
    """

    length: float
    mass: float
    rigidity: float
    modes: tuple[int, int]
    twist: float = 0.0
    payload: float = 0.0

    @property
    def n(self) -> int:
        """Number of modes."""
        return sum(self.modes)

    def shape(self, x: float) -> np.ndarray:
        """Return S(x), (3, n): displacement for unit modes, whose tips move by 1."""
        return self._planes(clamped_free(x / self.length, max(self.modes))[0], (1, 2))

    def turn(self) -> np.ndarray:
        """Return Delta, (3, n): rotation vector of the tip for unit modes (eq. 11, corrected)."""
        slopes = clamped_free(1.0, max(self.modes))[1] / self.length
        return self._planes(slopes, (2, 1)) * np.array([1.0, -1.0, 1.0])[:, None]

    def stiffness(self) -> np.ndarray:
        """Return the modal stiffness, (n,): EI b^4 / L^3 times the mean square of the shape."""
        values = [0.25 * self.rigidity * b**4 / self.length**3 for b in ROOTS]
        return np.array([*values[: self.modes[0]], *values[: self.modes[1]]])

    def points(self) -> list[tuple[float, float]]:
        """Return place along the link and mass of the points that stand for it, payload last."""
        spread = [(0.5 * self.length * (1.0 + x), 0.5 * self.mass * weight)
                  for x, weight in zip(_PLACES, _WEIGHTS)]
        return [*spread, (self.length, self.payload)]

    def _planes(self, values: np.ndarray, rows: tuple[int, int]) -> np.ndarray:
        columns = np.zeros((3, self.n))
        first = self.modes[0]
        columns[rows[0], :first] = values[:first]
        columns[rows[1], first:] = values[: self.modes[1]]
        return columns


@dataclass
class Moving:
    """
    The links in one state: the terms of each that the recursions need.

    Attributes:
        carry: A_(i,i-1), (6 + n_i, 6 + n_(i-1)); an empty array for the first link.
        joint: P_i, (6 + n_i, 1 + n_i).
        mass: M_i, (6 + n_i, 6 + n_i).
        gamma: gamma_i, (6 + n_i,), with the given Coriolis factor.
        own: Part of t'_i that is neither A t'_(i-1) nor P q'', (6 + n_i,).
        springs: Stiffness force of each coordinate, (1 + n_i,).
        origins: Place of each joint, (3,).
        tips: Rotation vector's rate and displacement rate at the tip, (6, n_i), root axes.
    """

    carry: list[np.ndarray] = field(default_factory=list)
    joint: list[np.ndarray] = field(default_factory=list)
    mass: list[np.ndarray] = field(default_factory=list)
    gamma: list[np.ndarray] = field(default_factory=list)
    own: list[np.ndarray] = field(default_factory=list)
    springs: list[np.ndarray] = field(default_factory=list)
    origins: list[np.ndarray] = field(default_factory=list)
    tips: list[np.ndarray] = field(default_factory=list)


def move(
    links: Sequence[BeamLink], q: np.ndarray, qd: np.ndarray, coriolis: float = 2.0
) -> Moving:
    """
    Return the links' matrices in a state.

    Args:
        links: The links, from the base.
        q: Joint angle, then modes, link by link.
        qd: Its rates.
        coriolis: Factor of w x S d' in gamma: 2; the paper prints 1 (24b).
    """
    moving = Moving()
    axes, origin, spin = np.eye(3), np.zeros(3), np.zeros(3)
    start = 0
    before: Optional[tuple[BeamLink, np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = None
    for link in links:
        here = slice(start, start + 1 + link.n)
        (angle, *modes), (rate, *rates) = q[here], qd[here]
        d, d_rate = np.array(modes), np.array(rates)
        own = np.zeros(6 + link.n)
        if before is not None:
            last, last_axes, last_origin, last_d, last_rate = before
            origin, axes, spin_node, carry, extra = _across(
                last, last_axes, last_origin, spin, last_d, last_rate, link.n
            )
            moving.tips.append(carry[:6, 6:])
            moving.carry.append(carry)
            own[:6] += extra
        else:
            moving.carry.append(np.zeros((6 + link.n, 0)))
            spin_node = spin
        axes = axes @ _about(0, link.twist)
        axis = axes[:, 2]
        axes = axes @ _about(2, angle)
        spin = spin_node + axis * rate
        own[3:6] += np.cross(spin_node, axis) * rate
        joint = np.zeros((6 + link.n, 1 + link.n))
        joint[3:6, 0] = axis
        joint[6:, 1:] = np.eye(link.n)
        mass, gamma = _inertia(link, axes, spin, d, d_rate, coriolis)
        moving.joint.append(joint)
        moving.mass.append(mass)
        moving.gamma.append(gamma)
        moving.own.append(own)
        moving.springs.append(np.concatenate(([0.0], link.stiffness() * d)))
        moving.origins.append(origin)
        before = (link, axes, origin, d, d_rate)
        start += 1 + link.n
    return moving


def _across(
    link: BeamLink, axes: np.ndarray, origin: np.ndarray, spin: np.ndarray, d: np.ndarray,
    d_rate: np.ndarray, n_next: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the next joint's place, axes before its twist, spin there, A, and bias (eq. 8)."""
    shape, turn = link.shape(link.length), link.turn()
    arm = axes @ (np.array([link.length, 0.0, 0.0]) + shape @ d)
    vector, vector_rate = turn @ d, turn @ d_rate
    turning = axes @ _left_jacobian(vector) @ turn
    # Complex step: the derivative of the Jacobian along the rate, to rounding.
    step = 1e-30
    changing = np.imag(_left_jacobian(vector + 1j * step * vector_rate)) / step
    carry = np.zeros((6 + n_next, 6 + link.n))
    carry[:3, :3] = carry[3:6, 3:6] = np.eye(3)
    carry[:3, 3:6] = -cross_matrix(arm)
    carry[:3, 6:] = axes @ shape
    carry[3:6, 6:] = turning
    slide = axes @ shape @ d_rate
    linear = np.cross(spin, np.cross(spin, arm)) + 2.0 * np.cross(spin, slide)
    angular = axes @ changing @ vector_rate + np.cross(spin, turning @ d_rate)
    return (
        origin + arm, axes @ _exponential(vector), spin + turning @ d_rate, carry,
        np.concatenate((linear, angular)),
    )


def _inertia(
    link: BeamLink, axes: np.ndarray, spin: np.ndarray, d: np.ndarray, d_rate: np.ndarray,
    coriolis: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return M_i and gamma_i (eq. 24)."""
    mass, gamma = np.zeros((6 + link.n, 6 + link.n)), np.zeros(6 + link.n)
    for x, dm in link.points():
        shape = axes @ link.shape(x)
        arm = axes @ np.array([x, 0.0, 0.0]) + shape @ d
        point = np.hstack((np.eye(3), -cross_matrix(arm), shape))
        bias = np.cross(spin, np.cross(spin, arm)) + coriolis * np.cross(spin, shape @ d_rate)
        mass += dm * point.T @ point
        gamma += dm * point.T @ bias
    return mass, gamma


def cross_matrix(v: np.ndarray) -> np.ndarray:
    """Return [v]x, with [v]x u = v x u."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]], dtype=v.dtype)


def _about(axis: int, angle: float) -> np.ndarray:
    vector = np.zeros(3)
    vector[axis] = angle
    return _exponential(vector)


def _exponential(vector: np.ndarray) -> np.ndarray:
    angle = np.sqrt(vector @ vector)
    cross = cross_matrix(vector)
    return np.eye(3) + np.sinc(angle / np.pi) * cross + (
        0.5 * np.sinc(0.5 * angle / np.pi) ** 2 * cross @ cross
    )


def _left_jacobian(vector: np.ndarray) -> np.ndarray:
    """Return J with w = J phi' for a rotation exp([phi]x), by its series."""
    cross = cross_matrix(vector)
    total = term = np.eye(3, dtype=vector.dtype)
    for k in range(2, 24):
        term = term @ cross / k
        total = total + term
    return total
