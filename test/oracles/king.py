# SPDX-License-Identifier: Apache-2.0
"""
King's recursive inverse dynamics of a serial chain of revolute flexible links.

Written from the formulas of King (1988) as El-Rayyes (1990, equations 2.13 to 2.56) restates them,
in standard Denavit-Hartenberg frames at the distal end of each link. Modal quantities of link i
are components in its "rigid" distal frame. The node rotation at the tip is the matrix E = I +
[phi]x, used as E^T forward and as E backward.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from oracles.textbook_shapes import bending_shape, torsion_shape


@dataclass
class KingLink:
    """
    A uniform link of a chain with revolute joints.

    Attributes:
        alpha: Twist [rad].
        length: DH length a, the beam's length [m].
        offset: DH offset d [m].
        mass: [kg].
        polar_line: Density times polar second moment of area [kg m].
        rigidity: EI for deflection along y, EI along z [N m^2] and GJ [N m^2].
        modes: Number of modes along y, along z and in torsion.
        tip_mass: Point mass at the tip [kg], a particle of the link's mass integrals.
        coupled: Whether torsion rates and the rotation about x share the polar inertia; King's
            energy leaves their product out.
    """

    alpha: float
    length: float
    mass: float
    offset: float = 0.0
    polar_line: float = 0.0
    rigidity: tuple[float, float, float] = (1.0, 1.0, 1.0)
    modes: tuple[int, int, int] = (0, 0, 0)
    tip_mass: float = 0.0
    coupled: bool = False

    def __post_init__(self):
        a = self.length
        x, w = np.polynomial.legendre.leggauss(40)
        self.eta = np.append(0.5 * a * (x + 1.0), a)
        self.line = np.append(0.5 * a * w, 0.0)
        self.dm = self.line * self.mass / a
        self.dm[-1] = self.tip_mass
        unit = np.eye(3)
        self.field, self.turn, self.stiffness, self.torsion = [], [], [], []
        for axis, (count, sign) in enumerate(zip(self.modes[:2], (1.0, -1.0), strict=True)):
            for k in range(1, count + 1):
                shape = bending_shape(k, self.eta, a)
                self.field.append(shape[:, None] * unit[1 + axis])
                self.turn.append(sign * bending_shape(k, a, a, 1) * unit[2 - axis])
                curve = bending_shape(k, self.eta, a, 2)
                self.stiffness.append(self.rigidity[axis] * self.line @ curve**2)
                self.torsion.append(np.zeros_like(self.eta))
        for k in range(1, self.modes[2] + 1):
            self.field.append(np.zeros((len(self.eta), 3)))
            self.turn.append(unit[0])
            curve = torsion_shape(k, self.eta, a, 1)
            self.stiffness.append(self.rigidity[2] * self.line @ curve**2)
            self.torsion.append(torsion_shape(k, self.eta, a))
        n = sum(self.modes)
        self.field = np.reshape(self.field, (n, len(self.eta), 3))
        self.turn = np.reshape(self.turn, (n, 3))
        self.torsion = np.reshape(self.torsion, (n, len(self.eta)))
        self.total = self.dm.sum()
        self.com_x = self.dm @ (self.eta - a) / self.total
        self.tip = self.field[:, -1]


def _sum(dm, vectors) -> np.ndarray:
    return np.einsum('p,p...->...', dm, vectors)


def _second_moment_inertia(dm, left, right) -> np.ndarray:
    """Return tr(J) 1 - J of J = integral of left right^T dm."""
    moment = np.einsum('p,pi,pj->ij', dm, left, right)
    return np.trace(moment) * np.eye(3) - moment


def _distal_rotation(theta: float, alpha: float) -> np.ndarray:
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[c, -ca * s, sa * s], [s, ca * c, -sa * c], [0.0, sa, ca]])


def _loads(link: KingLink, wr, wrd, vgd, d, dd, ddd):
    """Return F (2.49), N (2.50) and sigma (2.48) of one link, in its rigid distal frame."""
    dm = link.dm
    r = np.zeros((len(dm), 3))
    r[:, 0] = link.eta - link.length - link.com_x
    w, wv, wa = (np.tensordot(rate, link.field, 1) for rate in (d, dd, ddd))
    c, cv, ca = _sum(dm, w), _sum(dm, wv), _sum(dm, wa)
    inertia_r = _second_moment_inertia(dm, r, r)
    inertia_r[0, 0] += link.polar_line * link.length
    cross = _second_moment_inertia(dm, r, w)
    inertia = inertia_r + cross + cross.T + _second_moment_inertia(dm, w, w)
    cross_v = _second_moment_inertia(dm, r, wv) + _second_moment_inertia(dm, w, wv)
    inertia_v = cross_v + cross_v.T
    ha = _sum(dm, np.cross(r + w, wv))
    hav = _sum(dm, np.cross(r + w, wa))
    force = link.total * vgd + np.cross(wrd, c) + np.cross(wr, np.cross(wr, c))
    force = force + 2 * np.cross(wr, cv) + ca
    moment = inertia @ wrd + inertia_v @ wr + np.cross(wr, inertia @ wr) + np.cross(c, vgd)
    moment = moment + np.cross(wr, ha) + hav
    polar = link.polar_line * link.line
    sigma = np.zeros(len(d))
    for k, shape in enumerate(link.field):
        growth = _second_moment_inertia(dm, r + w, shape)
        sigma[k] = (
            vgd @ _sum(dm, shape)
            + wrd @ _sum(dm, np.cross(r + w, shape))
            + 2 * wr @ _sum(dm, np.cross(wv, shape))
            + _sum(dm, np.sum(shape * wa, axis=1))
            - wr @ growth @ wr
            + polar @ (link.torsion[k] * (link.torsion.T @ ddd))
            + link.stiffness[k] * d[k]
        )
        if link.coupled:
            sigma[k] += polar @ link.torsion[k] * wrd[0]
    if link.coupled:
        x = np.array([1.0, 0.0, 0.0])
        spin, spin_rate = (polar @ (link.torsion.T @ rate) for rate in (dd, ddd))
        moment = moment + x * spin_rate + np.cross(wr, x * spin)
    return force, moment, sigma


def king_inverse_dynamics(links, theta, rate, accel, deltas, delta_rates, delta_accels, gravity):
    """
    Return joint torques [N m] and the list of modal forces of each link.

    Args:
        links: The KingLinks, base first.
        theta: Joint angles (n,) [rad].
        rate: Their rates.
        accel: Their accelerations.
        deltas: Modal amplitudes of each link.
        delta_rates: Their rates.
        delta_accels: Their accelerations.
        gravity: Gravity in the base frame (3,) [m/s^2].
    """
    z = np.array([0.0, 0.0, 1.0])
    omega, alpha, v = np.zeros(3), np.zeros(3), -np.asarray(gravity, float)
    forward = []
    for i, link in enumerate(links):
        d, dd, ddd = deltas[i], delta_rates[i], delta_accels[i]
        a = _distal_rotation(theta[i], link.alpha)
        p = np.array([
            link.length, link.offset * np.sin(link.alpha), link.offset * np.cos(link.alpha)
        ])
        s = np.array([link.com_x, 0.0, 0.0])
        wr = a.T @ (omega + z * rate[i])
        wrd = a.T @ (alpha + z * accel[i] + np.cross(omega, z * rate[i]))
        vrd = a.T @ v + np.cross(wrd, p) + np.cross(wr, np.cross(wr, p))
        vgd = vrd + np.cross(wrd, s) + np.cross(wr, np.cross(wr, s))
        phi, phi_v, phi_a = (link.turn.T @ value for value in (d, dd, ddd))
        w, wv, wa = (link.tip.T @ value for value in (d, dd, ddd))
        e = np.eye(3) + np.cross(np.eye(3), phi)
        loads = _loads(link, wr, wrd, vgd, d, dd, ddd)
        omega = e.T @ (wr + phi_v)
        alpha = e.T @ (wrd + np.cross(wr, phi_v) + phi_a)
        v = e.T @ (
            vrd + np.cross(wrd, w) + np.cross(wr, np.cross(wr, w)) + 2 * np.cross(wr, wv) + wa
        )
        forward.append((a, e, p, s, w, loads))
    torques, modal = np.zeros(len(links)), [None] * len(links)
    f_next, n_next = np.zeros(3), np.zeros(3)
    for i in reversed(range(len(links))):
        a, e, p, s, w, (force, moment, sigma) = forward[i]
        f_tip, n_tip = e @ f_next, e @ n_next
        modal[i] = sigma + links[i].turn @ n_tip + links[i].tip @ f_tip
        f = f_tip + force
        n = n_tip + np.cross(p + w, f_tip) + np.cross(p + s, force) + moment
        f_next, n_next = a @ f, a @ n
        torques[i] = z @ n_next
    return torques, modal
