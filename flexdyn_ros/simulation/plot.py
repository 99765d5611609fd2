# SPDX-License-Identifier: Apache-2.0
"""Plots of a trajectory: joints, modes, tip deflections, energy."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any, Mapping, Optional

from flexdyn_ros.figures import column, legend, line, save
from flexdyn_ros.simulation.record import PathLike, Trajectory
import numpy as np

_QUANTITY = {'rad': 'angle', 'm': 'position', '1': 'quaternion'}
_RATE = {'rad/s': 'angular rate', 'm/s': 'velocity'}
_EFFORT = {'N m': 'torque', 'N': 'force'}
_DEFLECTION = {'m': 'deflection', 'rad': 'rotation'}


References = Mapping[str, np.ndarray]


def save_plots(
    trajectory: Trajectory, folder: PathLike, references: Optional[References] = None,
    frames: Optional[References] = None,
) -> tuple[Path, ...]:
    """
    Write joints, modes, tip_deflection, energy and frames.png, those that have content.

    Args:
        trajectory: The motion.
        folder: Existing folder to write into.
        references: By joint, positions that it should have, (T,) [rad | m]; drawn beside it.
        frames: By link, positions of its origin, (T, 3) [m].

    Returns:
        Paths of the files written.

    Raises:
        FlexdynError: matplotlib is not installed.
    """
    figures = {
        'joints.png': plot_joints(trajectory, references),
        'modes.png': plot_modes(trajectory),
        'tip_deflection.png': plot_tips(trajectory),
        'energy.png': plot_energy(trajectory),
        'frames.png': plot_frames(trajectory, frames or {}),
    }
    paths = []
    for name, figure in figures.items():
        if figure is not None:
            paths.append(save(figure, Path(folder) / name))
    return tuple(paths)


def plot_joints(
    trajectory: Trajectory, references: Optional[References] = None
) -> Optional[Any]:
    """Return a matplotlib Figure of joint positions, rates and nonzero torques, or None."""
    n_modes = len(trajectory.mode_names)
    nq, nv = len(trajectory.names) - n_modes, len(trajectory.velocity_names) - n_modes
    panels = [
        *_panels(_QUANTITY, trajectory.q, trajectory.names[:nq], trajectory.units[:nq]),
        *_panels(_RATE, trajectory.qd, trajectory.velocity_names[:nv],
                 trajectory.velocity_units[:nv]),
    ]
    if trajectory.tau.any():
        panels += _panels(
            _EFFORT, trajectory.tau, trajectory.velocity_names[:nv], trajectory.effort_units[:nv])
    return _figure(trajectory, 'joints', panels, references or {})


def plot_modes(trajectory: Trajectory) -> Optional[Any]:
    """Return a Figure of the modal coordinates; None for a rigid robot."""
    first = len(trajectory.names) - len(trajectory.mode_names)
    panels = _panels(_DEFLECTION, trajectory.q[:, first:], trajectory.names[first:],
                     trajectory.units[first:], 'modal ')
    return _figure(trajectory, 'modal coordinates', panels)


def plot_tips(trajectory: Trajectory) -> Optional[Any]:
    """Return a Figure of the tip deflections of flexible links; None without any."""
    panels = _panels(_DEFLECTION, trajectory.tips, trajectory.tip_names, trajectory.tip_units,
                     'tip ')
    return _figure(trajectory, 'tip deflections', panels)


def plot_energy(trajectory: Trajectory) -> Optional[Any]:
    """Return a Figure of the energies and of the change of the total."""
    energies = np.column_stack((trajectory.kinetic, trajectory.potential, trajectory.energy))
    change = (trajectory.energy - trajectory.energy[0])[:, None]
    panels = [
        ('energy [J]', energies, ('kinetic', 'potential', 'total')),
        ('change of the total [J]', change, ('total - start',)),
    ]
    return _figure(trajectory, 'energy', panels)


def plot_frames(trajectory: Trajectory, frames: References) -> Optional[Any]:
    """Return a Figure of the positions of links, (T, 3) [m]; None without any."""
    axes: tuple[str, ...] = ('x', 'y', 'z')
    panels = [(f'{name} [m]', places, axes) for name, places in frames.items()]
    return _figure(trajectory, 'positions in the root frame', panels)


def _panels(
    quantities: dict[str, str],
    values: np.ndarray,
    names: tuple[str, ...],
    units: tuple[str, ...],
    prefix: str = '',
) -> list[tuple[str, np.ndarray, tuple[str, ...]]]:
    """Group columns of one unit into a panel: axis label, columns, names."""
    panels = []
    for unit, quantity in quantities.items():
        chosen = [k for k, own in enumerate(units) if own == unit]
        if chosen:
            label = f'{prefix}{quantity}' + (f' [{unit}]' if unit != '1' else ' [-]')
            panels.append((label, values[:, chosen], tuple(names[k] for k in chosen)))
    return panels


def _figure(
    trajectory: Trajectory,
    title: str,
    panels: list[tuple[str, np.ndarray, tuple[str, ...]]],
    references: References = MappingProxyType({}),
) -> Optional[Any]:
    """Draw panels below each other over one time axis; references of positions are broad."""
    if not panels:
        return None
    figure, axes = column(len(panels))
    for axis, (label, columns, names) in zip(axes, panels):
        for k, name in enumerate(names):
            if name in references and label.startswith(tuple(_QUANTITY.values())):
                broad = {**line(k), 'linewidth': 4.0, 'linestyle': '-', 'alpha': 0.3}
                axis.plot(trajectory.t, references[name], **broad)
            axis.plot(trajectory.t, columns[:, k], label=name, **line(k))
        axis.set_ylabel(label)
        axis.ticklabel_format(axis='y', scilimits=(-3, 4), useMathText=True)
        legend(axis)
    figure.align_ylabels(axes)
    axes[-1].set_xlabel('time [s]')
    figure.suptitle(f'{trajectory.robot_name}: {title}', fontsize='large')
    return figure
