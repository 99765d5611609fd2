# SPDX-License-Identifier: Apache-2.0
"""Draws the bent arm at some instants beside the unbent one, as RViz shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flexdyn_ros as fd
from flexdyn_ros.demo.plan import DemoRobot, DemoRun
from flexdyn_ros.figures import grid
from flexdyn_ros.visualization.centre_lines import centre_lines, rigid_segments
from flexdyn_ros.visualization.colours import Legend
import numpy as np

INSTANTS = 5  # number of instants drawn
POINTS = 30  # of each flexible link's centre line
UNBENT = {'color': '0.5', 'lw': 0.9, 'ls': '--'}
RIGID = {'color': '0.35', 'lw': 2.2, 'solid_capstyle': 'round'}
SHADOW = {'color': '0.86', 'lw': 2.5, 'solid_capstyle': 'round'}


class ArmShape:
    """The arm of a run as lines, at an instant of the recorded data."""

    def __init__(self, robot: DemoRobot, run: DemoRun, data: dict[str, np.ndarray]):
        self._robot = fd.load_robot(run.description_file, extension=run.extension_file or None)
        self._dyn = fd.Dynamics(self._robot)
        self._shapes = centre_lines(self._robot, POINTS)
        self._factor = robot.exaggeration
        self._joints = np.column_stack([data[f'position/{n}'] for n in self._robot.joint_names])
        self._modes = np.column_stack([data[f'mode/{n}'] for n in self._robot.mode_names])

    def bent(self, row: int) -> tuple[list[Any], np.ndarray]:
        """Return the flexible links, and rigid pieces of shape (k, 2, 3) [m], exaggerated."""
        modes = self._modes[row]
        shown = self._factor * modes
        poses = self._poses(row, shown)
        links = [s.deformed(poses[s.link], shown, modes) for s in self._shapes]
        return links, rigid_segments(self._robot, poses).reshape(-1, 2, 3)

    def unbent(self, row: int) -> np.ndarray:
        """Return the pieces between link origins without deflection, (k, 2, 3) [m]."""
        poses = self._poses(row, np.zeros(self._robot.n_modes))
        return np.array([
            (poses[joint.parent][:3, 3], poses[joint.child][:3, 3])
            for joint in self._robot.joints
        ])

    def _poses(self, row: int, modes: np.ndarray) -> dict[str, np.ndarray]:
        q = np.concatenate([self._joints[row], modes])
        return {name: self._dyn.frame_pose(q, name) for name in self._robot.frame_names}


def draw_arm(robot: DemoRobot, data: dict[str, np.ndarray], run_file: Path) -> Any:
    """
    Draw the arm at some instants, each in a panel of its own on the same axes.

    Args:
        robot: The robot.
        data: Columns of data.npz.
        run_file: File that describes the run.
    """
    shape = ArmShape(robot, DemoRun.load(str(run_file)), data)
    valid = np.flatnonzero(np.isfinite(data['tip/x']))
    rows = valid[np.linspace(0, len(valid) - 1, INSTANTS).astype(int)]
    space = 2 if robot.flat else 3
    figure, (panels,) = grid(
        1, INSTANTS, (2.9 * INSTANTS, 4.3), sharex=robot.flat, sharey=robot.flat,
        subplot_kw={'projection': None if robot.flat else '3d'})
    corners, scale = [], Legend('deflection', 0.0, robot.colour_range)
    for axes, row in zip(panels, rows):
        links, rigid = shape.bent(row)
        unbent = shape.unbent(row)
        if not robot.flat:  # the vertical projection on the floor shows the place of the arm
            for line in (*(link.line for link in links), *rigid):
                axes.plot(*(line * (1.0, 1.0, 0.0)).T, **SHADOW)
        for piece in unbent:
            axes.plot(*piece[:, :space].T, **UNBENT)
        for piece in rigid:
            axes.plot(*piece[:, :space].T, **RIGID)
        for link in links:
            colours = scale.colours(link.deflection)
            for k, colour in enumerate(colours[1:]):
                axes.plot(*link.line[k:k + 2, :space].T, color=colour, lw=4.0)
        corners += [*unbent.reshape(-1, 3), *rigid.reshape(-1, 3), *(x.line[-1] for x in links)]
        largest = max((float(link.deflection.max()) for link in links), default=0.0)
        at = f't = {data["time"][row]:.1f} s'
        axes.set_title(f'{at}\nlargest deflection {1e3 * largest:.2g} mm', fontsize=9)
    _set_limits(panels, np.array(corners), robot.flat)
    figure.suptitle(
        f'{robot.title}\ndeflection drawn {robot.exaggeration:g} times its size; blue to red: '
        f'0 to {1e3 * robot.colour_range:g} mm; dashed: the unbent arm',
        fontsize='large')
    return figure


def _set_limits(panels: Any, corners: np.ndarray, flat: bool) -> None:
    """Give all panels the same axes, at one scale, around corners of shape (n, 3) [m]."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    margin = 0.06 * (high - low).max()
    low, high = low - margin, high + margin
    for axes in panels:
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel='x [m]')
        if flat:
            axes.set_aspect('equal')
        else:
            floor = min(0.0, low[2])
            axes.set(zlim=(floor, high[2]), ylabel='y [m]', zlabel='z [m]')
            axes.set_box_aspect((*(high - low)[:2], high[2] - floor), zoom=0.9)
            axes.view_init(elev=16, azim=-60)
            axes.tick_params(labelsize=7, pad=-1)
            axes.locator_params(nbins=4)  # more labels overlap each other
            for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
                axis.labelpad = -4
    if flat:
        panels[0].set_ylabel('y [m]')
