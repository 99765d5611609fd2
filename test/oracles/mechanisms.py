# SPDX-License-Identifier: Apache-2.0
"""Example mechanisms, and the four-bar linkage in closed form."""

from functools import lru_cache
from pathlib import Path

import flexdyn_ros as fd
import numpy as np
import xacro

URDF = Path(__file__).resolve().parents[2] / 'urdf'
CRANK, COUPLER, ROCKER, GROUND, LINE_DENSITY = 0.3, 0.9, 0.7, 1.0, 2.0


@lru_cache(maxsize=None)
def mechanism(name, **arguments):
    """Return the robot of an example mechanism."""
    text = xacro.process_file(str(URDF / f'{name}.urdf.xacro'), mappings=arguments).toprettyxml()
    return fd.load_robot(text)


def four_bar_angles(crank):
    """Return the angles of crank, coupler and rocker from the ground line."""
    pin = CRANK * np.array([np.cos(crank), np.sin(crank)])
    across = np.array([GROUND, 0.0]) - pin
    d = np.hypot(*across)
    coupler = np.arctan2(across[1], across[0]) + np.arccos(
        (COUPLER**2 + d * d - ROCKER**2) / (2 * COUPLER * d))
    end = pin + COUPLER * np.array([np.cos(coupler), np.sin(coupler)]) - [GROUND, 0.0]
    return np.array([crank, coupler, np.arctan2(end[1], end[0])])


def four_bar_state(crank, rate, acceleration):
    """Return absolute angles, rates and accelerations: the textbook's loop equations."""
    angles = four_bar_angles(crank)
    (s2, s3, s4), (c2, c3, c4) = np.sin(angles), np.cos(angles)
    system = np.array([[-COUPLER * s3, ROCKER * s4], [COUPLER * c3, -ROCKER * c4]])
    w3, w4 = np.linalg.solve(system, rate * np.array([CRANK * s2, -CRANK * c2]))
    right = acceleration * np.array([CRANK * s2, -CRANK * c2])
    right += CRANK * rate**2 * np.array([c2, s2]) + COUPLER * w3**2 * np.array([c3, s3])
    right -= ROCKER * w4**2 * np.array([c4, s4])
    a3, a4 = np.linalg.solve(system, right)
    return angles, np.array([rate, w3, w4]), np.array([acceleration, a3, a4])


def four_bar_torque(crank, rate, acceleration, gravity=9.81):
    """Return the crank's torque by the power of inertia and weight of three uniform rods."""
    angles, rates, accelerations = four_bar_state(crank, rate, acceleration)
    lengths = np.array([CRANK, COUPLER, ROCKER])
    pins = [np.zeros(2)] * 2

    def moving(k, half):
        """Return velocity and acceleration along rod k, from its first pin on."""
        n = np.array([np.cos(angles[k]), np.sin(angles[k])])
        t = np.array([-n[1], n[0]])
        length = half * lengths[k]
        return length * rates[k] * t, length * (accelerations[k] * t - rates[k]**2 * n)

    power = 0.0
    for k, start in ((0, None), (1, 0), (2, None)):
        velocity, acc = moving(k, 0.5)
        if start is not None:
            pins = moving(start, 1.0)
            velocity, acc = velocity + pins[0], acc + pins[1]
        mass = LINE_DENSITY * lengths[k]
        power += mass * (acc + [0.0, gravity]) @ velocity
        power += mass * lengths[k]**2 / 12 * accelerations[k] * rates[k]
    return power / rate


def joint_values(crank, rate=0.0, acceleration=0.0):
    """Return our coordinates (crank, coupler against crank, rocker) of a crank's motion."""
    start = four_bar_angles(1.0)
    angles, rates, accelerations = four_bar_state(crank, rate, acceleration)
    relative = np.array([[1, 0, 0], [-1, 1, 0], [0, 0, 1]])
    turned = np.mod(angles - start + np.pi, 2 * np.pi) - np.pi
    return relative @ turned, relative @ rates, relative @ accelerations
