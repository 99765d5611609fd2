# SPDX-License-Identifier: Apache-2.0
"""What several cases compute: frequencies, static deflections, plots that look alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Optional, Sequence

from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.frequencies import natural_modes, stiffness_matrix
import numpy as np

# Colours that remain distinct under colour blindness (Okabe and Ito 2008).
COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#000000')


def reference(robot: Robot) -> Dynamics:
    """Return the dynamics by the readable algorithms: nothing is generated for one call."""
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


def new_figure(width: float = 10.0, height: float = 4.0) -> Any:
    """Return a matplotlib Figure."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), constrained_layout=True)


def save_figure(figure: Any, folder: Path, file: str) -> None:
    """Write a figure, without the frames at its right and top."""
    for axes in figure.axes:
        axes.spines[['top', 'right']].set_visible(False)
    figure.savefig(folder / file, dpi=110)
