# SPDX-License-Identifier: Apache-2.0
"""Frequencies of a rotating beam and of a loaded column, and a beam that spins up."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Callable

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from validation.case import Finding, Picture, Progress, Row
from validation.case_file import inputs, make_rows
from validation.registry import Code
from validation.robots import example_robot
from validation.studies import COLOURS, frequencies_hz, new_figure, save_figure

_SPIN_UP = 'rb_spin_up'

_BEAM = (
    '<flexible_link link="beam" geometric_stiffening="{stiffening}"><beam tip="{tip}" '
    'y_axis="0 1 0" mass="1" young="1" iy="1" iz="1"><bending axis="y" modes="{modes}"/>'
    '<bending axis="z" modes="{modes}"/></beam></flexible_link>'
)
_SPIN = (
    '<link name="hub"/><joint name="spin" type="continuous"><parent link="hub"/>'
    '<child link="beam"/><axis xyz="0 0 1"/></joint>'
)


def rotor(modes: int, stiffening: bool = True) -> Robot:
    """Return a beam along x, its length, mass and rigidity one, that turns about z."""
    return _robot('1 0 0', modes, stiffening, _SPIN)


def column(modes: int) -> Robot:
    """Return the same beam clamped upright."""
    return _robot('0 0 1', modes, True, '')


def _robot(tip: str, modes: int, stiffening: bool, joint: str) -> Robot:
    beam = _BEAM.format(tip=tip, modes=modes, stiffening=str(stiffening).lower())
    return load_robot(
        f'<robot name="beam"><link name="beam"/>{joint}<flexdyn version="1.0">'
        f'<gravity xyz="0 0 0"/>{beam}</flexdyn></robot>'
    )


def rotor_squares(robot: Robot, speed: float) -> tuple[float, float]:
    """Return the squares of the first lagging and flapping frequencies at a hub speed."""
    dyn = Dynamics(robot, backend='reference')
    velocity = np.zeros(robot.nv)
    velocity[0] = speed
    squares = _squares(dyn, lambda q: dyn.bias_vector(q, velocity))
    return squares[0], squares[1]


def column_square(robot: Robot, weight: float) -> float:
    """Return the square of a column's first frequency under its weight per length."""
    dyn = Dynamics(robot, backend='reference')
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


def rotating_beam(progress: Progress) -> list[Row]:
    """Return the rows of the rotating beam, by number of modes."""
    speeds = inputs('rb_rotating_beam')['speeds']
    squares = {
        modes: np.array([rotor_squares(rotor(modes), speed) for speed in speeds])
        for modes in (3, 5)
    }
    found = {f'modes_{modes}': np.sqrt(values[:, 1]) for modes, values in squares.items()}
    in_plane = squares[5][:, 0] - (squares[5][:, 1] - np.array(speeds) ** 2)
    soft = rotor_squares(rotor(3, stiffening=False), 4.0)[0]
    return make_rows('rb_rotating_beam', {
        **found, 'in_plane': np.max(np.abs(in_plane)),
        'without': Finding(soft < 0.0, f'square of its frequency at speed 4: {soft:.2f}'),
    })


def buckling_column(progress: Progress) -> list[Row]:
    """Return the rows of the column."""
    upright = column(8)
    weight = brentq(lambda weight: column_square(upright, weight), 7.0, 8.5, xtol=1e-6)
    return make_rows('rb_column', {'weight': weight})


def spin_up(progress: Progress) -> list[Row]:
    """Return the rows of the beam that spins up."""
    t, tip = spun_up(True)
    end, _ = spun_up(False)
    robot = example_robot('spinning_beam')
    first = frequencies_hz(robot, lambda name: 'bending_y' in name)[0]
    return make_rows(_SPIN_UP, {
        'first': 2.0 * np.pi * first, 'lag': np.min(tip),
        'straight': Finding(
            bool(np.max(np.abs(tip[t > 16.0])) < 0.05),
            f'at most {1e3 * np.max(np.abs(tip[t > 16.0])):.0f} mm from the sixteenth second on',
        ),
        'breaks': Finding(bool(end[-1] < 15.0), f'its tip is a length away at {end[-1]:.1f} s'),
    })


@lru_cache(maxsize=None)
def spun_up(stiffening: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return times and tip deflections in the plane, the hub's motion prescribed."""
    data = inputs(_SPIN_UP)
    robot = example_robot(
        'spinning_beam', modes='2', modes_z='0', geometric_stiffening=str(stiffening).lower()
    )
    dyn = Dynamics(robot, backend='python')

    def rates(t: float, state: np.ndarray) -> list[float]:
        turn, done = 2.0 * np.pi / data['duration'], min(t, data['duration'])
        speed = data['speed'] / data['duration'] * (done - np.sin(turn * done) / turn)
        acceleration = data['speed'] / data['duration'] * (1.0 - np.cos(turn * done))
        q, qd = [0.0, *state[:2]], [speed, *state[2:]]
        return [*state[2:], *dyn.hybrid_dynamics(q, qd, [acceleration])[1]]

    def broken(t: float, state: np.ndarray) -> float:
        return abs(state[0]) - data['length']

    broken.terminal = True  # type: ignore[attr-defined]
    found = solve_ivp(rates, (0.0, 20.0), np.zeros(4), rtol=1e-6, atol=1e-8, events=broken)
    return found.t, found.y[0] + found.y[1]


def draw_spin_up(folder: Path) -> list[Picture]:
    """Draw the deflection of the tip with and without stiffening."""
    figure = new_figure(7.0)
    axes = figure.subplots()
    for k, (stiffening, word) in enumerate(((True, 'drawn in as it bends'), (False, 'without'))):
        t, tip = spun_up(stiffening)
        axes.plot(t, tip, color=COLOURS[k], label=word)
    axes.set(xlabel='time [s]', ylabel='deflection of the tip [m]', ylim=(-2.0, 0.3),
             title='A beam of 10 m that spins up to 6 rad/s')
    axes.legend(frameon=False)
    save_figure(figure, folder, f'{_SPIN_UP}.png')
    return [Picture(
        f'{_SPIN_UP}.png', 'The spin-up of Kane, Ryan and Banerjee: the tip lags and comes back; '
        'without geometric stiffening the beam gives way.',
    )]


CODE = {
    'rb_rotating_beam': Code(rotating_beam),
    'rb_column': Code(buckling_column),
    _SPIN_UP: Code(spin_up, draw_spin_up),
}
