# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of one robot: `python -m flexdyn_ros.demo.pictures ROBOT DIR`."""

from __future__ import annotations

import json
from pathlib import Path
import sys
from typing import Any, Callable, Sequence

from flexdyn_ros.demo.arm_picture import draw_arm
from flexdyn_ros.demo.plan import CONTROLS, DemoRobot, ROBOTS
from flexdyn_ros.figures import COLOURS, grid, legend, line, MEASURED, save
import numpy as np

CONTROL_COLOURS = {'pd': MEASURED, 'rigid': COLOURS[4], 'flexible': COLOURS[0]}
MOST_ROWS = 800
NO_ERROR = 1e-12  # drawn in place of zero on a logarithmic axis [rad]
DEPTH = 0.1  # lower end of a logarithmic axis, of the best control's largest error [1]
SMALL = 0.01  # of the largest deflection of its unit: smaller ones are left out [1]


class Results:
    """
    The recorded data of one robot.

    Attributes:
        robot: The robot.
        data: For each kind of control, the columns of data.npz, about MOST_ROWS rows.
        rms: For each kind of control, the tracking error [rad].
        folder: The folder of the robot.
    """

    def __init__(self, folder: Path, robot: DemoRobot):
        self.robot = robot
        self.folder = folder / robot.key
        self.data: dict[str, dict[str, np.ndarray]] = {}
        self.rms: dict[str, float] = {}
        for control in CONTROLS:
            file = self.folder / control / 'data.npz'
            if file.exists():
                with np.load(file) as columns:
                    step = max(1, len(columns['time']) // MOST_ROWS)
                    self.data[control] = {key: columns[key][::step] for key in columns}
                report = json.loads(file.with_name('report.json').read_text(encoding='utf-8'))
                self.rms[control] = report['tracking_error_rad']['rms']
        self.best = list(self.data)[-1]


def draw_motion(results: Results) -> Any:
    """Draw the joint motion of the best control over the desired one."""
    data = results.data[results.best]
    figure, ((axes,),) = grid(1, 1, (9.0, 4.5))
    for k, name in enumerate(results.robot.joints):
        axes.plot(data['time'], data[f'position/{name}'], label=name,
                  **{**line(k), 'linewidth': 1.8})
        axes.plot(data['time'], data[f'reference/{name}'], 'k--', lw=0.8)
    axes.plot([], [], 'k--', lw=0.8, label='desired')
    axes.set(xlabel='simulated time [s]', ylabel='joint position [rad]')
    legend(axes)
    figure.suptitle(
        f'Motion, {CONTROLS[results.best]}\n{results.robot.title}', fontsize='large')
    return figure


def draw_torques(results: Results) -> Any:
    """Draw the feed-forward torques, and those of the controller alone."""
    def curve(control: str, name: str) -> tuple[np.ndarray, str]:
        if control == 'pd':
            label = 'torque of the controller under PD alone'
            return results.data[control][f'effort/{name}'], label
        return (results.data[control][f'feed_forward/{name}'],
                CONTROLS[control].replace('PD + ', ''))

    figure, _ = _panels(results, results.robot.joints, curve, 'Torques of the joints',
                        'torque [N m]')
    return figure


def draw_deflections(results: Results) -> Any:
    """Draw the modal coordinates under each kind of control, as far as one can see them."""
    columns = [key for key in results.data[results.best] if key.startswith('mode/')]
    largest = {
        key.partition('/')[2]: max(
            float(np.nanmax(np.abs(data[key]))) for data in results.data.values())
        for key in columns
    }
    modes = large_ones(largest)

    def curve(control: str, name: str) -> tuple[np.ndarray, str]:
        return 1e3 * results.data[control][f'mode/{name}'], CONTROLS[control]

    title = 'Deflections'
    if len(modes) < len(largest):
        title += f' ({len(largest) - len(modes)} more stay below a hundredth of the largest)'
    figure, panels = _panels(results, modes, curve, title, 'deflection at its tip [mm]')
    for axes, name in zip(panels, modes):
        if is_angle(name):
            axes.set_ylabel('deflection [mrad]')
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
    def curve(control: str, name: str) -> tuple[np.ndarray, str]:
        error = np.abs(results.data[control][f'tracking_error/{name}'])
        rms = 1e3 * results.rms[control]
        return 1e3 * np.maximum(error, NO_ERROR), f'{CONTROLS[control]}: {rms:.3g} mrad rms'

    joints = results.robot.joints
    title = 'Tracking error (feed-forward with the exact model of the arm)'
    figure, panels = _panels(results, joints, curve, title, '|error| [mrad]', sharey=True)
    # At a change of sign, the curve of an error falls without end, which carries no information.
    smallest = min(curve(results.best, name)[0].max() for name in joints)
    panels[0].set(yscale='log', ylim=(max(smallest * DEPTH, 1e3 * NO_ERROR), None))
    return figure


def _panels(
    results: Results, names: Sequence[str], curve: Callable[[str, str], tuple[np.ndarray, str]],
    title: str, unit: str, **share: Any,
) -> tuple[Any, list[Any]]:
    """Draw a panel a name, with a line a control; return the figure and the panels."""
    columns = 2 if len(names) in (2, 4) else min(3, len(names))
    rows = -(-len(names) // columns)
    figure, every = grid(
        rows, columns, (4.0 + 3.6 * columns, 1.3 + 2.5 * rows), sharex=True, **share)
    panels = list(every.ravel())
    for axes in panels[len(names):]:
        axes.set_visible(False)
    for axes, name in zip(panels, names):
        for control, data in results.data.items():
            values, label = curve(control, name)
            # A line that another may hide is wide.
            width = 2.6 if control == 'rigid' else 1.2
            axes.plot(data['time'], values, color=CONTROL_COLOURS[control], lw=width, label=label)
        axes.set_title(name, fontsize='medium')
        axes.set_ylabel(unit)
    for axes in panels[:len(names)][-columns:]:
        axes.set_xlabel('simulated time [s]')
    ends = [data['time'][-1] for data in results.data.values()]
    if min(ends) < 0.9 * max(ends):
        title += f'; runs of other controls end at {min(ends):.2g} s'
    figure.suptitle(f'{title}\n{results.robot.title}', fontsize='large')
    legend(panels[columns - 1])
    return figure, panels[:len(names)]


PICTURES: dict[str, Callable[[Results], Any]] = {
    'motion': draw_motion,
    'torques': draw_torques,
    'deflections': draw_deflections,
    'tracking_error': draw_tracking_error,
    'arm': lambda results: draw_arm(
        results.robot, results.data[results.best], results.folder / results.best / 'run.json'),
}


def main() -> int:
    """Draw, and print the names of the pictures, relative to the folder."""
    folder = Path(sys.argv[2])
    results = Results(folder, ROBOTS[sys.argv[1]])
    for name, draw in PICTURES.items():
        figure = draw(results)
        file = save(figure, results.folder / f'{name}.png')
        print(file.relative_to(folder))
    return 0


if __name__ == '__main__':
    sys.exit(main())
