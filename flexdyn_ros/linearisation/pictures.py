# SPDX-License-Identifier: Apache-2.0
"""Pictures of linear analysis as PNG or SVG: Bode plots, poles, Campbell diagrams, pose maps."""

from __future__ import annotations

import os
from typing import Any, Union

from flexdyn_ros.figures import COLOURS, grid, legend, line, save
from flexdyn_ros.linearisation.frequency_maps import Campbell, PoseMap
from flexdyn_ros.linearisation.linear_system import LinearSystem
import numpy as np

PathLike = Union[str, os.PathLike[str]]
_HIGHEST_ORDER = 6


def save_bode(system: LinearSystem, frequencies: np.ndarray, path: PathLike) -> None:
    """
    Draw magnitude and phase of each output over each input.

    Args:
        system: The system.
        frequencies: Where, ascending, (n,) [Hz].
        path: The file to write.

    Raises:
        FlexdynError: matplotlib is not installed.
    """
    response = system.response(2.0 * np.pi * frequencies)
    count = len(system.inputs)
    figure, panels = grid(2, count, (3.0 + 3.8 * count, 6.6), sharex=True)
    for u, (name, unit) in enumerate(zip(system.inputs, system.input_units)):
        above, below = panels[0][u], panels[1][u]
        for y, (output, output_unit) in enumerate(zip(system.outputs, system.output_units)):
            values = response[:, y, u]
            if np.any(values):
                above.loglog(frequencies, np.abs(values), label=f'{output} [{output_unit}]',
                             **line(y))
                below.semilogx(frequencies, np.degrees(np.unwrap(np.angle(values))), **line(y))
        above.set_title(f'torque of {name}', fontsize='medium')
        above.set_ylabel(f'magnitude [unit of output / ({unit})]')
        below.set(xlabel='frequency [Hz]', ylabel='phase [deg]')
    if any(axes.lines for axes in panels[0]):
        legend(max(panels[0, ::-1], key=lambda axes: len(axes.lines)))
    save(figure, path)


def save_poles(system: LinearSystem, path: PathLike) -> None:
    """Draw the poles with lines of equal damping ratio; see `save_bode`."""
    poles = system.poles()
    figure, ((axes,),) = grid(1, 1, (6.0, 5.0))
    size = float(np.abs(poles).max(initial=1.0))
    for ratio in (0.01, 0.05, 0.2, 0.5):
        along = size * np.array([-ratio, np.sqrt(1.0 - ratio**2)])
        for sign in (1.0, -1.0):
            axes.plot([0.0, along[0]], [0.0, sign * along[1]], ':', color='0.7', linewidth=0.8)
        axes.annotate(f'{ratio:g}', along, fontsize='x-small', color='0.4')
    axes.plot(poles.real, poles.imag, 'x', color=COLOURS[0])
    axes.axvline(0.0, color='0.5', linewidth=0.8)
    axes.margins(0.05)
    axes.set(xlabel='real part [1/s]', ylabel='imaginary part [rad/s]', title='Poles')
    axes.set_xscale('symlog', linthresh=max(1e-4 * size, 1e-9))
    axes.set_yscale('symlog', linthresh=max(1e-4 * size, 1e-9))
    save(figure, path)


def save_campbell(found: Campbell, path: PathLike) -> None:
    """Draw frequencies over speed, with multiples of the speed; see `save_bode`."""
    figure, ((axes,),) = grid(1, 1, (8.0, 5.0))
    turns = found.speeds / (2.0 * np.pi)
    for k, values in enumerate(found.frequencies.T):
        axes.plot(turns, values, label=f'frequency {k + 1}', **line(k))
    top = 1.1 * float(found.frequencies.max(initial=0.0))
    for order in range(1, _HIGHEST_ORDER + 1):
        axes.plot(turns, order * turns, '--', color='0.6', linewidth=0.8)
        reach = min(turns[-1], top / order)
        axes.annotate(f'{order}x', (reach, order * reach), fontsize='x-small', color='0.4')
    unstable = found.growth > 1e-6 * (1.0 + np.abs(found.frequencies).max(initial=0.0))
    if unstable.any():
        axes.plot(turns[unstable], 0.0 * turns[unstable], 's', color=COLOURS[1],
                  label='unstable')
    legend(axes)
    axes.set(xlabel=f'speed of {found.joint} [rev/s]', ylabel='frequency [Hz]', ylim=(0.0, top),
             title='Campbell diagram')
    save(figure, path)


def save_pose_map(found: PoseMap, path: PathLike) -> None:
    """Draw each frequency over the joints, and over the places of the frame; see `save_bode`."""
    count = found.frequencies.shape[-1]
    drawn = found.places is not None
    figure, panels = grid(
        1 + drawn, count, (1.0 + 3.8 * count, 0.6 + 3.0 * (1 + drawn)))
    for k in range(count):
        values, axes = found.frequencies[..., k], panels[0][k]
        axes.set_title(f'frequency {k + 1} [Hz]', fontsize='medium')
        axes.set_xlabel(f'{found.names[0]} [{found.units[0]}]')
        if len(found.names) == 1:
            axes.plot(found.positions[0], values, **line(0))
            axes.set_ylabel('frequency [Hz]')
        else:
            axes.grid(False)
            mesh = axes.pcolormesh(*found.positions, values.T, shading='nearest')
            axes.set_ylabel(f'{found.names[1]} [{found.units[1]}]')
            figure.colorbar(mesh, ax=axes)
        if drawn:
            _draw_places(figure, panels[1][k], np.asarray(found.places), values)
    save(figure, path)


def _draw_places(figure: Any, axes: Any, places: np.ndarray, values: np.ndarray) -> None:
    """Draw values at places in the coordinate plane where these are most spread."""
    flat = places.reshape(-1, 3)
    one, other = sorted(np.argsort(np.ptp(flat, axis=0))[1:])
    points = axes.scatter(flat[:, one], flat[:, other], c=values.ravel(), s=12)
    figure.colorbar(points, ax=axes)
    axes.set(xlabel=f'{"xyz"[one]} of the frame [m]', ylabel=f'{"xyz"[other]} of the frame [m]')
    axes.margins(0.05)
    axes.set_aspect('equal', adjustable='datalim')
