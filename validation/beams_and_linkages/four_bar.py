# SPDX-License-Identifier: Apache-2.0
"""The four-bar linkage: the textbook's loop equations beside the loops of this package."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

import numpy as np
from validation.case import Picture, Progress, Row
from validation.case_file import inputs, make_rows
from validation.registry import Code
from validation.robots import example_robot
from validation.studies import apart, COLOURS, new_figure, reference, save_figure

NAME = 'four_bar_torque'
CRANK, COUPLER, ROCKER, GROUND, LINE_DENSITY = 0.3, 0.9, 0.7, 1.0, 2.0


def four_bar_angles(crank: float) -> np.ndarray:
    """Return the angles of crank, coupler and rocker from the ground line."""
    pin = CRANK * np.array([np.cos(crank), np.sin(crank)])
    across = np.array([GROUND, 0.0]) - pin
    d = np.hypot(*across)
    coupler = np.arctan2(across[1], across[0]) + np.arccos(
        (COUPLER**2 + d * d - ROCKER**2) / (2 * COUPLER * d))
    end = pin + COUPLER * np.array([np.cos(coupler), np.sin(coupler)]) - [GROUND, 0.0]
    return np.array([crank, coupler, np.arctan2(end[1], end[0])])


def four_bar_state(crank: float, rate: float, acceleration: float) -> tuple:
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


def four_bar_torque(
    crank: float, rate: float, acceleration: float, gravity: float = 9.81
) -> float:
    """Return the crank's torque by the power of inertia and weight of three uniform rods."""
    angles, rates, accelerations = four_bar_state(crank, rate, acceleration)
    lengths = np.array([CRANK, COUPLER, ROCKER])
    pins: tuple = (np.zeros(2), np.zeros(2))

    def moving(k: int, half: float) -> tuple:
        """Return velocity and acceleration along rod k, from its first pin on."""
        n = np.array([np.cos(angles[k]), np.sin(angles[k])])
        t = np.array([-n[1], n[0]])
        length = half * lengths[k]
        return length * rates[k] * t, length * (accelerations[k] * t - rates[k]**2 * n)

    power = 0.0
    starts: tuple[tuple[int, Optional[int]], ...] = ((0, None), (1, 0), (2, None))
    for k, start in starts:
        velocity, acc = moving(k, 0.5)
        if start is not None:
            pins = moving(start, 1.0)
            velocity, acc = velocity + pins[0], acc + pins[1]
        mass = LINE_DENSITY * lengths[k]
        power += mass * (acc + [0.0, gravity]) @ velocity
        power += mass * lengths[k]**2 / 12 * accelerations[k] * rates[k]
    return power / rate


def joint_values(crank: float, rate: float = 0.0, acceleration: float = 0.0) -> tuple:
    """Return our coordinates (crank, coupler against crank, rocker) of a crank's motion."""
    start = four_bar_angles(1.0)
    angles, rates, accelerations = four_bar_state(crank, rate, acceleration)
    relative = np.array([[1, 0, 0], [-1, 1, 0], [0, 0, 1]])
    turned = np.mod(angles - start + np.pi, 2 * np.pi) - np.pi
    return relative @ turned, relative @ rates, relative @ accelerations


def torque_over_a_turn(progress: Progress) -> list[Row]:
    """Return the rows of the crank's torque over a turn, and of the pin's force."""
    turn, ours, theirs = _turn()
    dyn = reference(example_robot('four_bar'))
    tau = inputs(NAME)
    q, qd, qdd = joint_values(2.0, tau['rate'], tau['acceleration'])
    torque = dyn.inverse_dynamics(q, qd, qdd)
    back = dyn.forward_dynamics(q, qd, torque)
    # The pin's force turns the rocker about its ground pin.
    force = -dyn.constraint_forces(q, qd, torque)
    angles, _, accelerations = four_bar_state(2.0, tau['rate'], tau['acceleration'])
    across = np.array([-np.sin(angles[2]), np.cos(angles[2])])
    pose = dyn.frame_pose(q, 'rocker_pin')[np.ix_([0, 2], [0, 2])]
    mass = LINE_DENSITY * ROCKER
    moment = mass * ROCKER**2 / 3 * accelerations[2] + mass * 9.81 * ROCKER / 2 * np.cos(angles[2])
    return make_rows(NAME, {
        'torque': apart(ours, theirs),
        'passive': np.max(np.abs(torque[1:])), 'back': np.max(np.abs(back - qdd)),
        'pin': ROCKER * across @ (pose @ force) - moment,
    })


def _turn() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return crank angles, and the torque on the crank by this package and by the textbook."""
    data, dyn = inputs(NAME), reference(example_robot('four_bar'))
    turn = np.linspace(0.0, 2.0 * np.pi, 73)
    ours, theirs = [], []
    for crank in turn:
        q, qd, qdd = joint_values(crank, data['rate'], data['acceleration'])
        ours.append(dyn.inverse_dynamics(q, qd, qdd)[0])
        theirs.append(four_bar_torque(crank, data['rate'], data['acceleration']))
    return turn, np.array(ours), np.array(theirs)


def draw(folder: Path) -> list[Picture]:
    """Draw the torque over a turn and the difference."""
    turn, ours, theirs = _turn()
    figure = new_figure()
    left, right = figure.subplots(1, 2)
    degrees = np.degrees(turn)
    left.plot(degrees, ours, color=COLOURS[0], label='this package')
    left.plot(degrees[::3], theirs[::3], 'o', color=COLOURS[1], markersize=4, label='closed form')
    left.set(xlabel='angle of the crank [deg]', ylabel='torque on the crank [N m]',
             title='Crank-rocker, constant acceleration')
    left.legend(frameon=False)
    right.plot(degrees, 1e15 * (ours - theirs), '.-', color=COLOURS[0], linewidth=0.5)
    right.set(xlabel='angle of the crank [deg]', ylabel='difference [1e-15 N m]',
              title='Difference')
    save_figure(figure, folder, f'{NAME}.png')
    return [Picture(
        f'{NAME}.png', 'The torque that turns a four-bar linkage, by a loop constraint and by the '
        "textbook's loop equations.",
    )]


CODE = {NAME: Code(torque_over_a_turn, draw)}
