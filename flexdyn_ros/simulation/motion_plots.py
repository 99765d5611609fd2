# SPDX-License-Identifier: Apache-2.0
"""Plots of a trajectory that need the dynamics: torques by terms, spectra of vibrations."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from flexdyn_ros.errors import ArgumentError, require_known
from flexdyn_ros.figures import COLOURS, column, legend, line
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.record import Trajectory
from flexdyn_ros.simulation.vibrations import analyse
import numpy as np

# Samples at which the terms are computed.
_SAMPLES = 800
_LOWEST_SHOWN = 1e-4  # of the largest amplitude in a spectrum
TERMS = ('inertia', 'Coriolis and centrifugal', 'gravity', 'friction', 'elastic')


def require_same_robot(trajectory: Trajectory, dyn: Dynamics) -> None:
    """Raise ArgumentError unless a motion has the coordinates of a robot."""
    if trajectory.velocity_names != dyn.robot.coordinate_names:
        raise ArgumentError(
            'trajectory', f'is of "{trajectory.robot_name}", with other coordinates, expected '
            f'those of "{dyn.robot.name}"')


def torque_terms(
    trajectory: Trajectory, dyn: Dynamics
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """
    Return the terms of the equations of motion along a motion.

    Args:
        trajectory: The motion.
        dyn: The dynamics that it was simulated with.

    Returns:
        Times, (S,) [s], and terms by name, each (S, nv) [N m | N]. Their sum is the generalised
        force; with loops "loops" holds the constraint forces that it lacks.

    Raises:
        ArgumentError: The motion is that of another robot.
    """
    require_same_robot(trajectory, dyn)
    rows = np.unique(np.linspace(0, len(trajectory) - 1, _SAMPLES).astype(int))
    # Quasi-static modes do not follow the forces.
    dynamic = np.all(np.isfinite(trajectory.work))
    slopes = None if dynamic else np.gradient(trajectory.qd, trajectory.t, axis=0)
    found = np.zeros((len(TERMS) + 1, len(rows), dyn.robot.nv))
    for k, row in enumerate(rows):
        q, qd, tau = trajectory.q[row], trajectory.qd[row], trajectory.tau[row]
        qdd = dyn.forward_dynamics(q, qd, tau) if slopes is None else slopes[row]
        found[:-1, k] = (
            dyn.inertia_vector(q, qdd), dyn.coriolis_vector(q, qd), dyn.gravity_vector(q),
            dyn.friction_vector(qd), dyn.elastic_vector(q, qd))
        found[-1, k] = tau - found[:-1, k].sum(axis=0)
    terms = dict(zip(TERMS, found))
    if dyn.robot.loops:
        terms['loops'] = found[-1]
    return trajectory.t[rows], terms


def plot_torque_terms(trajectory: Trajectory, dyn: Dynamics) -> Any:
    """
    Return a Figure with the torque of each joint as a stack of its terms.

    Positive terms are stacked upward from zero, negative ones downward; a line is their sum.

    Raises:
        ArgumentError: The motion is that of another robot, or the robot has no joints.
    """
    t, terms = torque_terms(trajectory, dyn)
    count = dyn.robot.n_joints
    if not count:
        raise ArgumentError('trajectory', 'is of a robot without joints, expected one with joints')
    figure, panels = column(count)
    for j, axes in enumerate(panels):
        parts = np.array([values[:, j] for values in terms.values()])
        for sign in (1.0, -1.0):
            axes.stackplot(
                t, sign * np.maximum(sign * parts, 0.0), colors=COLOURS[:len(parts)], alpha=0.75,
                labels=tuple(terms) if sign > 0.0 else (), linewidth=0.0)
        axes.plot(t, parts.sum(axis=0), color='black', linewidth=1.0, label='sum')
        effort = trajectory.effort_units[j]
        quantity = 'torque' if effort == 'N m' else 'force'
        axes.set_ylabel(f'{dyn.robot.joint_names[j]}\n{quantity} [{effort}]')
    legend(panels[0])
    panels[-1].set_xlabel('time [s]')
    figure.suptitle(f'{trajectory.robot_name}: torques by terms', fontsize='large')
    return figure


def amplitude_spectrum(t: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the one-sided amplitude spectrum of signals.

    The trend is taken out, and a Hann window keeps neighbours apart. A sine of amplitude a that
    lasts whole periods is a peak of height a (Heinzel, Ruediger and Schilling, Spectrum and
    Spectral Density Estimation by the DFT, 2002, section 9).

    Args:
        t: Times, rising, (T,) [s]; signals are interpolated at equal distances.
        values: The signals, (T, n).

    Returns:
        Frequencies, (F,) [Hz], and amplitudes, (F, n).
    """
    from scipy.signal import detrend, get_window

    even = np.linspace(t[0], t[-1], len(t))
    signals = np.stack([np.interp(even, t, each) for each in values.T], axis=1)
    window = get_window('hann', len(t))
    lines = np.fft.rfft(window[:, None] * detrend(signals, axis=0), axis=0)
    frequencies = np.fft.rfftfreq(len(t), even[1] - even[0])
    return frequencies, 2.0 * np.abs(lines) / window.sum()


def plot_spectrum(
    trajectory: Trajectory, dyn: Dynamics, signals: Sequence[str] = ()
) -> Optional[Any]:
    """
    Return a Figure of the amplitude spectra of a motion, with the arm's natural frequencies.

    Args:
        trajectory: The motion, such as a part of one (`Trajectory.between`).
        dyn: The dynamics of its robot, whose frequencies at the mean configuration are marked.
        signals: Names of coordinates or tip deflections; all tip deflections when empty, or all
            coordinates where there are none.

    Raises:
        UnknownName: The motion has no signal of that name.
        ArgumentError: The motion has fewer than 8 samples.
    """
    require_same_robot(trajectory, dyn)
    if len(trajectory) < 8:
        raise ArgumentError('trajectory', 'has fewer than 8 samples. Simulate longer')
    known = dict(zip(trajectory.names, zip(trajectory.q.T, trajectory.units)))
    known.update(zip(trajectory.tip_names, zip(trajectory.tips.T, trajectory.tip_units)))
    require_known('signal', signals, known)
    chosen = tuple(signals) or trajectory.tip_names or trajectory.names
    units = tuple(dict.fromkeys(known[name][1] for name in chosen))
    figure, panels = column(len(units), 3.0)
    for axes, unit in zip(panels, units):
        names = [name for name in chosen if known[name][1] == unit]
        frequencies, amplitudes = amplitude_spectrum(
            trajectory.t, np.stack([known[name][0] for name in names], axis=1))
        for k, name in enumerate(names):
            axes.plot(frequencies[1:], amplitudes[1:, k], label=name, **line(k))
        top = float(amplitudes[1:].max(initial=0.0))
        if top:
            axes.set(yscale='log', ylim=(_LOWEST_SHOWN * top, 2.0 * top))
        axes.set_ylabel(f'amplitude [{unit}]')
        _mark_frequencies(axes, trajectory, dyn, frequencies[-1])
        legend(axes)
    panels[-1].set_xlabel('frequency [Hz]')
    figure.suptitle(f'{trajectory.robot_name}: amplitude spectrum', fontsize='large')
    return figure


def _mark_frequencies(axes: Any, trajectory: Trajectory, dyn: Dynamics, highest: float) -> None:
    """Draw the natural frequencies below the highest one of a spectrum [Hz]."""
    middle = trajectory.q[len(trajectory) // 2]
    found = analyse(dyn.robot, middle)
    top = 0.0
    for kind, dashes in (('locked', '--'), ('free', ':')):
        own = [each['frequency'] for each in found[kind] if 1e-3 < each['frequency'] < highest]
        for k, frequency in enumerate(own):
            label = f'natural, joints {kind}' if k == 0 else None
            axes.axvline(frequency, color='0.5', linestyle=dashes, linewidth=0.9, label=label)
        top = max([top, *own])
    axes.set_xlim(0.0, min(highest, 1.2 * top) if top else highest)
