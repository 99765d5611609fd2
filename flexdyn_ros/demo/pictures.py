# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of one robot: `python -m flexdyn_ros.demo.pictures DIR ROBOT`."""

from __future__ import annotations

import json
from pathlib import Path
import sys
from typing import Any
from typing import Callable
from typing import Sequence

from flexdyn_ros.demo import plan
from flexdyn_ros.demo.arm_picture import draw_arm
from flexdyn_ros.demo.robots import DemoRobot
from flexdyn_ros.demo.robots import ROBOTS
import matplotlib.pyplot as plt
import numpy as np

COLOURS = {'pd': '#8c8c8c', 'rigid': '#d98200', 'flexible': '#1f5fbf'}
MOST_ROWS = 800
RESOLUTION = 130  # [dots per inch]
NO_ERROR = 1e-12  # what is drawn for zero on a logarithmic axis [rad]
DEPTH = 0.1  # how far below the best control's largest error a logarithmic axis reaches [1]
SMALL = 0.01  # of the largest deflection of its unit: what is smaller is left out [1]


class Results:
    """
    The recorded data of one robot.

    Attributes:
        robot: The robot.
        data: For each kind of control, the columns of data.npz.
        reports: For each kind of control, the report.
        folder: The folder of the robot.
    """

    def __init__(self, folder: Path, robot: DemoRobot):
        self.robot = robot
        self.folder = folder / robot.key
        self.data: dict[str, dict[str, np.ndarray]] = {}
        self.reports: dict[str, Any] = {}
        for control in plan.CONTROLS:
            file = self.folder / control / 'data.npz'
            if file.exists():
                with np.load(file) as columns:
                    self.data[control] = thinned(dict(columns))
                report = self.folder / control / 'report.json'
                self.reports[control] = json.loads(report.read_text(encoding='utf-8'))

    @property
    def best(self) -> str:
        """The most capable kind of control that was run."""
        return list(self.data)[-1]

    @property
    def shorter_runs(self) -> str:
        """What to add to a title where some runs are shorter than the longest."""
        ends = {control: data['time'][-1] for control, data in self.data.items()}
        short = [plan.CONTROLS[c] for c, end in ends.items() if end < max(ends.values()) - 0.1]
        if not short:
            return ''
        return f'; {" and ".join(short)}: the first {min(ends.values()):.0f} s'

    def names(self, label: str) -> list[str]:
        """Return the names of the columns "label/name"."""
        columns = self.data[self.best]
        return [key.split('/', 1)[1] for key in columns if key.startswith(f'{label}/')]


def thinned(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return every so many rows, so that about MOST_ROWS are left; more do not show."""
    step = max(1, len(columns['time']) // MOST_ROWS)
    return {name: values[::step] for name, values in columns.items()}


def draw_motion(results: Results) -> Any:
    """Draw the joint motion of the best control over the desired one."""
    data = results.data[results.best]
    figure, axes = plt.subplots(figsize=(9, 4.5))
    for k, name in enumerate(results.robot.joints):
        axes.plot(data['time'], data[f'position/{name}'], color=f'C{k}', label=name, lw=1.8)
        axes.plot(data['time'], data[f'reference/{name}'], 'k--', lw=0.8)
    axes.plot([], [], 'k--', lw=0.8, label='desired')
    axes.set(xlabel='simulated time [s]', ylabel='joint position [rad]')
    axes.legend(loc='upper left', bbox_to_anchor=(1.0, 1.0), frameon=False)
    axes.set_title(
        f'Motion, {plan.CONTROLS[results.best]}\n{results.robot.title}', fontsize=11)
    axes.grid(True, alpha=0.25)
    figure.tight_layout()
    return figure


def draw_torques(results: Results) -> Any:
    """Draw the feed-forward torques, and those of the controller alone."""
    joints = results.robot.joints
    figure, grid = _grid(len(joints))
    for axes, name in zip(grid, joints):
        for control, data in results.data.items():
            label = 'feed_forward' if control != 'pd' else 'effort'
            text = plan.CONTROLS[control].replace('PD + ', '')
            axes.plot(data['time'], data[f'{label}/{name}'], **_style(control),
                      label='torque of the controller under PD alone' if control == 'pd' else text)
        axes.set(title=name, ylabel='torque [N m]')
    _finish_grid(figure, grid, results, 'Torques of the joints')
    return figure


def draw_deflections(results: Results) -> Any:
    """Draw the modal coordinates under each kind of control, as far as one can see them."""
    largest = {
        name: max(float(np.abs(data[f'mode/{name}']).max()) for data in results.data.values())
        for name in results.names('mode')
    }
    modes = large_ones(largest)
    figure, grid = _grid(len(modes))
    for axes, name in zip(grid, modes):
        for control, data in results.data.items():
            axes.plot(data['time'], 1e3 * data[f'mode/{name}'], **_style(control),
                      label=plan.CONTROLS[control])
        unit = 'deflection [mrad]' if is_angle(name) else 'deflection at its tip [mm]'
        axes.set(title=name, ylabel=unit)
    title = 'Deflections'
    if len(modes) < len(largest):
        title += f' ({len(largest) - len(modes)} more stay below a hundredth of the largest)'
    _finish_grid(figure, grid, results, title)
    return figure


def is_angle(mode: str) -> bool:
    """Return whether a mode's coordinate is an angle, not a length."""
    return mode.endswith('/elastic') or 'torsion' in mode


def large_ones(largest: dict[str, float]) -> list[str]:
    """
    Return the modes that reach at least SMALL of the largest of their unit.

    Args:
        largest: Largest deflection of each mode [m | rad].
    """
    top = {
        kind: max((size for name, size in largest.items() if is_angle(name) == kind), default=0.0)
        for kind in (False, True)
    }
    return [name for name, size in largest.items() if size >= SMALL * top[is_angle(name)]]


def draw_tracking_error(results: Results) -> Any:
    """Draw the tracking error of each joint under each kind of control."""
    joints = results.robot.joints
    figure, grid = _grid(len(joints), share_heights=True)
    best = results.data[results.best]
    smallest = np.inf
    for axes, name in zip(grid, joints):
        for control, data in results.data.items():
            error = np.abs(data[f'tracking_error/{name}'])
            rms = results.reports[control]['tracking_error_rad']['rms']
            axes.semilogy(data['time'], 1e3 * np.maximum(error, NO_ERROR), **_style(control),
                          label=f'{plan.CONTROLS[control]}: {angle(rms)} rms')
        smallest = min(smallest, float(np.abs(best[f'tracking_error/{name}']).max()))
        axes.set(title=name, ylabel='|error| [mrad]')
    # Where an error changes its sign the curve falls without end; that says nothing.
    grid[0].set_ylim(bottom=1e3 * max(smallest * DEPTH, NO_ERROR))
    _finish_grid(figure, grid, results, 'Tracking error (the feed-forward knows the arm exactly)')
    return figure


def angle(value: float) -> str:
    """Return an angle [rad] as text."""
    units = ((1.0, 'rad'), (1e-3, 'mrad'), (1e-6, '\N{GREEK SMALL LETTER MU}rad'))
    size, unit = next((pair for pair in units if value >= pair[0]), units[-1])
    return f'{value / size:.3g} {unit}'


PICTURES: dict[str, Callable[[Results], Any]] = {
    'motion': draw_motion,
    'torques': draw_torques,
    'deflections': draw_deflections,
    'tracking_error': draw_tracking_error,
    'arm': lambda results: draw_arm(
        results.robot, results.data[results.best],
        results.folder / results.best, results.robot.title,
    ),
}


def columns_of(count: int) -> int:
    """Return the number of columns that leaves few cells of a grid empty."""
    return 2 if count in (2, 4) else min(3, count)


def _style(control: str) -> dict[str, Any]:
    """Return how a kind of control is drawn: what may hide behind another is wide."""
    return {'color': COLOURS[control], 'lw': 2.6 if control == 'rigid' else 1.2}


def _grid(count: int, share_heights: bool = False) -> tuple[Any, Sequence[Any]]:
    columns = columns_of(count)
    rows = -(-count // columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=(1.0 + 3.6 * columns, 1.3 + 2.5 * rows), squeeze=False,
        sharex=True, sharey=share_heights,
    )
    cells = grid.ravel()
    for axes in cells[count:]:
        axes.set_visible(False)
    return figure, list(cells[:count])


def _finish_grid(figure: Any, grid: Sequence[Any], results: Results, title: str) -> None:
    for axes in grid:
        axes.grid(True, alpha=0.25)
        axes.title.set_fontsize(10)
    for axes in grid[-columns_of(len(grid)):]:
        axes.set_xlabel('simulated time [s]')
    handles, labels = grid[0].get_legend_handles_labels()
    figure.suptitle(f'{title}\n{results.robot.title}{results.shorter_runs}', fontsize=11)
    figure.legend(handles, labels, loc='lower center', ncol=3, frameon=False)
    # Room for title and legend, in parts of the height.
    inch = 1.0 / figure.get_figheight()
    figure.tight_layout(rect=(0.0, 0.3 * inch, 1.0, 1.0 - 0.05 * inch))


def draw_all(folder: Path, robot: DemoRobot) -> list[str]:
    """
    Draw all pictures of a robot.

    Args:
        folder: Folder of the demonstration.
        robot: The robot.

    Returns:
        Their names, relative to the folder.
    """
    results = Results(folder, robot)
    names = []
    for name, draw in PICTURES.items():
        figure = draw(results)
        file = results.folder / f'{name}.png'
        figure.savefig(file, dpi=RESOLUTION, bbox_inches='tight')
        plt.close(figure)
        names.append(str(file.relative_to(folder)))
    return names


def main() -> int:
    """Draw, and print the names of the pictures."""
    for name in draw_all(Path(sys.argv[1]), ROBOTS[sys.argv[2]]):
        print(name)
    return 0


if __name__ == '__main__':
    sys.exit(main())
