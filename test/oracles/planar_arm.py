# SPDX-License-Identifier: Apache-2.0
"""URDF text of planar arms of uniform beams: joints about z, links along x, bending along y."""

from __future__ import annotations

import numpy as np
from oracles.random_robots import inertial_xml
from oracles.random_robots import numbers


def planar_arm_urdf(
    lengths, masses, rigidity, modes: int, gravity=(0, 0, 0), tip_mass: float = 0.0,
    locked: bool = False,
) -> str:
    """
    Return the URDF of a planar arm.

    Args:
        lengths: Link lengths [m].
        masses: Link masses, spread evenly [kg].
        rigidity: Bending stiffness EI of each link [N m^2].
        modes: Modes a link; 0 gives a rigid arm.
        gravity: In the root frame [m/s^2].
        tip_mass: Point mass at the end of the last link [kg].
        locked: Whether the joints are fixed.
    """
    kind = 'fixed' if locked else 'continuous'
    text = ['<robot name="planar"><link name="base"/>']
    inside = [f'<gravity xyz="{numbers(gravity)}"/>']
    previous, place = 'base', 0.0
    for k, (length, mass, stiffness) in enumerate(zip(lengths, masses, rigidity, strict=True), 1):
        text.append(
            f'<link name="link{k}"/><joint name="joint{k}" type="{kind}">'
            f'<origin xyz="{numbers(place)} 0 0"/><parent link="{previous}"/>'
            f'<child link="link{k}"/><axis xyz="0 0 1"/></joint>'
        )
        bending = f'<bending axis="y" modes="{modes}"/>' if modes else ''
        inside.append(
            f'<flexible_link link="link{k}" geometric_stiffening="false">'
            f'<beam tip="{numbers(length)} 0 0" young="{numbers(stiffness * 1e6)}" area="1e-3" '
            f'iz="1e-6" mass="{numbers(mass)}">{bending}</beam></flexible_link>'
        )
        previous, place = f'link{k}', length
    body = inertial_xml(tip_mass, np.zeros(3), np.zeros((3, 3))) if tip_mass else ''
    text.append(
        f'<link name="tip">{body}</link><joint name="tip_joint" type="fixed">'
        f'<origin xyz="{numbers(place)} 0 0"/><parent link="{previous}"/>'
        '<child link="tip"/></joint>'
    )
    text.append(f'<flexdyn version="1.0">{"".join(inside)}</flexdyn></robot>')
    return '\n'.join(text)


def stiffness_matrix(dyn) -> np.ndarray:
    """Return dK/dq of the elastic vector (nv, nv), for robots whose nq is nv."""
    robot = dyn.robot
    unit, zero = np.eye(robot.nv), np.zeros(robot.nv)
    return np.array([dyn.elastic_vector(e, zero) for e in unit]).T


def frequencies_hz(dyn, q=None) -> np.ndarray:
    """Return the linear undamped frequencies at q (zero by default), ascending [Hz]."""
    q = np.zeros(dyn.robot.nq) if q is None else q
    values = np.linalg.eigvals(np.linalg.solve(dyn.mass_matrix(q), stiffness_matrix(dyn)))
    return np.sqrt(np.maximum(np.sort(values.real), 0.0)) / (2.0 * np.pi)


def runge_kutta_4(acceleration, q, qd, t_end: float, steps: int):
    """Return q, qd at `t_end` of qdd = acceleration(t, q, qd) by the classical method."""
    dt = t_end / steps
    y = np.array([q, qd], float)

    def slope(t, state):
        return np.array([state[1], acceleration(t, *state)])

    for k in range(steps):
        t = k * dt
        k1 = slope(t, y)
        k2 = slope(t + 0.5 * dt, y + 0.5 * dt * k1)
        k3 = slope(t + 0.5 * dt, y + 0.5 * dt * k2)
        k4 = slope(t + dt, y + dt * k3)
        y = y + dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y
