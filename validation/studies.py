# SPDX-License-Identifier: Apache-2.0
"""Computations that several cases share: shapes, frequencies, static deflections, runs, plots."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Optional, Sequence

from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.frequencies import natural_modes, stiffness_matrix
import numpy as np

# Colours that remain distinct under colour blindness (Okabe and Ito 2008).
COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#000000')

# Roots of 1 + cos b cosh b = 0.
ROOTS = (1.8751040687119611, 4.694091132974175, 7.854757438237613, 10.995540734875467)


def reference(robot: Robot) -> Dynamics:
    """Return the dynamics by the readable algorithms, which generate no code for one call."""
    return Dynamics(robot, backend='reference')


def frequencies_hz(
    robot: Robot, keep: Callable[[str], bool] = lambda name: True,
    q: Optional[np.ndarray] = None,
) -> np.ndarray:
    """
    Return the natural frequencies that are not zero, ascending [Hz].

    Args:
        robot: A robot whose nq is nv.
        keep: Selects by name the coordinates that move; the others are locked.
        q: The configuration, (nq,); all zero when None.
    """
    dyn = reference(robot)
    at = np.zeros(robot.nq) if q is None else np.asarray(q, dtype=float)
    kept = [k for k, name in enumerate(robot.coordinate_names) if keep(name)]
    where = np.ix_(kept, kept)
    rates, _ = natural_modes(dyn.mass_matrix(at)[where], stiffness_matrix(dyn, at)[where])
    return rates[rates > 0.0] / (2.0 * np.pi)


def static_coordinates(
    robot: Robot, frame: str, wrench: Any, held: Sequence[str] = ()
) -> np.ndarray:
    """Return the coordinates, (nv,), at which stiffness holds a wrench; some of them locked."""
    dyn, zero = reference(robot), np.zeros(robot.nv)
    free = [k for k, name in enumerate(robot.coordinate_names) if name not in held]
    load = -dyn.external_force_vector(zero, {frame: wrench})
    zero[free] = np.linalg.solve(
        stiffness_matrix(dyn, np.zeros(robot.nv))[np.ix_(free, free)], load[free]
    )
    return zero


def frequency_of_samples(samples: np.ndarray, dt: float) -> float:
    """
    Return the frequency [Hz] of samples of one oscillation about a mean.

    From x(t + dt) + x(t - dt) = 2 cos(w dt) x(t) + constant, by least squares.
    """
    system = np.stack((samples[1:-1], np.ones(len(samples) - 2)), axis=1)
    double_cosine, _ = np.linalg.lstsq(system, samples[2:] + samples[:-2], rcond=None)[0]
    return float(np.arccos(0.5 * double_cosine) / (2.0 * np.pi * dt))


def clamped_free(z: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return values at x / L = z of clamped-free shapes, 1 at the tip, and slopes by z."""
    b = np.array(ROOTS[:count])

    def raw(z: float) -> tuple[np.ndarray, np.ndarray]:
        ratio = (np.sin(b) + np.sinh(b)) / (np.cos(b) + np.cosh(b))
        value = np.sin(b * z) - np.sinh(b * z) - ratio * (np.cos(b * z) - np.cosh(b * z))
        slope = np.cos(b * z) - np.cosh(b * z) + ratio * (np.sin(b * z) + np.sinh(b * z))
        return value, b * slope

    tip = raw(1.0)[0]
    value, slope = raw(z)
    return value / tip, slope / tip


def rk4(
    accelerations: Callable[[np.ndarray, np.ndarray], np.ndarray], q: np.ndarray, dt: float,
    t_end: float, qd: Optional[np.ndarray] = None,
) -> np.ndarray:
    """Return the coordinates (T, n) of a run by RK4, from rest unless rates are given."""
    q, qd = np.array(q), np.zeros(len(q)) if qd is None else np.array(qd)
    found = [q]
    for _ in range(round(t_end / dt)):
        slopes: list[tuple[np.ndarray, np.ndarray]] = []
        for part in (0.0, 0.5, 0.5, 1.0):
            v, a = slopes[-1] if slopes else (0.0, 0.0)
            at, rate = q + part * dt * v, qd + part * dt * a
            slopes.append((rate, accelerations(at, rate)))
        q, qd = (
            x + dt / 6.0 * (s[0] + 2.0 * s[1] + 2.0 * s[2] + s[3])
            for x, s in zip((q, qd), zip(*slopes))
        )
        found.append(q)
    return np.array(found)


def turn(axis: int, angle: float) -> np.ndarray:
    """Return the rotation of a frame about its axis number `axis`, to the frame before."""
    c, s = np.cos(angle), np.sin(angle)
    second, third = (axis + 1) % 3, (axis + 2) % 3
    rotation = np.eye(3)
    rotation[second, second] = rotation[third, third] = c
    rotation[third, second], rotation[second, third] = s, -s
    return rotation


def apart(ours: Any, theirs: Any) -> float:
    """Return the largest difference, of the largest of theirs."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    return float(np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)))


def new_figure(width: float = 10.0, height: float = 4.0) -> Any:
    """Return a matplotlib Figure."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), constrained_layout=True)


def save_figure(figure: Any, folder: Path, file: str) -> None:
    """Write a figure, without the frames at its right and top."""
    for axes in figure.axes:
        axes.spines[['top', 'right']].set_visible(False)
    figure.savefig(folder / file, dpi=110)
