# SPDX-License-Identifier: Apache-2.0
"""Frequencies of a rotating beam and of a loaded column, from the equations of motion."""

from __future__ import annotations

from typing import Any
from typing import Callable

import flexdyn_ros as fd
import numpy as np

# First flapping frequency at hub speeds, both over sqrt(EI / rho A L^4), hub radius 0: A. D.
# Wright, C. E. Smith, R. W. Thresher and J. L. C. Wang, Vibration modes of centrifugally
# stiffened beams, Journal of Applied Mechanics 49, 1982.
WRIGHT = {
    0: 3.5160, 1: 3.6817, 2: 4.1373, 3: 4.7973, 4: 5.5850, 5: 6.4495, 6: 7.3604, 7: 8.2996,
    8: 9.2568, 9: 10.2257, 10: 11.2023,
}
# Weight per length that buckles a clamped column, over EI / L^3: A. G. Greenhill, 1881.
GREENHILL = 7.837

_BEAM = (
    '<flexible_link link="beam" geometric_stiffening="{stiffening}"><beam tip="{tip}" '
    'y_axis="0 1 0" mass="1" young="1" iy="1" iz="1"><bending axis="y" modes="{modes}"/>'
    '<bending axis="z" modes="{modes}"/></beam></flexible_link>'
)
_SPIN = (
    '<link name="hub"/><joint name="spin" type="continuous"><parent link="hub"/>'
    '<child link="beam"/><axis xyz="0 0 1"/></joint>'
)


def rotor(modes: int, stiffening: bool = True) -> Any:
    """Return a beam along x, its length, mass and rigidity one, that turns about z."""
    return _robot('1 0 0', modes, stiffening, _SPIN)


def column(modes: int) -> Any:
    """Return the same beam clamped upright."""
    return _robot('0 0 1', modes, True, '')


def _robot(tip: str, modes: int, stiffening: bool, joint: str) -> Any:
    beam = _BEAM.format(tip=tip, modes=modes, stiffening=str(stiffening).lower())
    return fd.load_robot(
        f'<robot name="beam"><link name="beam"/>{joint}<flexdyn version="1.0">'
        f'<gravity xyz="0 0 0"/>{beam}</flexdyn></robot>'
    )


def rotor_squares(robot: Any, speed: float) -> tuple[float, float]:
    """Return the squares of the first lagging and flapping frequencies at a hub speed."""
    dyn = fd.Dynamics(robot, backend='reference')
    velocity = np.zeros(robot.nv)
    velocity[0] = speed
    squares = _squares(dyn, lambda q: dyn.bias_vector(q, velocity))
    return squares[0], squares[1]


def column_square(robot: Any, weight: float) -> float:
    """Return the square of a column's first frequency under its weight per length."""
    dyn = fd.Dynamics(robot, backend='reference')
    dyn.set_gravity((0.0, 0.0, -weight))
    rest = np.zeros(robot.nv)
    return _squares(dyn, lambda q: dyn.bias_vector(q, rest))[0]


def _squares(dyn: Any, force: Callable[[np.ndarray], np.ndarray]) -> list[float]:
    """Return the lowest square of a frequency in bending y and z, about the straight beam."""
    robot, step = dyn.robot, 1e-6
    start, half = robot.n_joints, robot.n_modes // 2
    columns = []
    for unit in step * np.eye(robot.nv)[start:]:
        columns.append((force(unit) - force(-unit))[start:] / (2.0 * step))
    stiffness = np.array(columns)
    mass = dyn.mass_matrix(np.zeros(robot.nv))[start:, start:]
    planes = (slice(0, half), slice(half, None))
    return [
        float(np.min(np.linalg.eigvals(np.linalg.solve(mass[p, p], stiffness[p, p])).real))
        for p in planes
    ]
