# SPDX-License-Identifier: Apache-2.0
"""Draws the bent arm from the markers that were recorded, beside the unbent one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flexdyn_ros as fd
from flexdyn_ros.demo.plan import Run
from flexdyn_ros.demo.robots import DemoRobot
from flexdyn_ros.nodes.deformed_shape import colour
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap
from matplotlib.colors import Normalize
import matplotlib.pyplot as plt
from matplotlib.ticker import MultipleLocator
from mpl_toolkits.mplot3d.art3d import Line3DCollection
import numpy as np

INSTANTS = 5  # number of instants drawn
UNBENT = {'color': '0.5', 'lw': 0.9, 'ls': '--'}
RIGID = (0.35, 0.35, 0.35)
SHADOW = {'color': '0.86', 'lw': 2.5, 'solid_capstyle': 'round'}


def draw_arm(robot: DemoRobot, data: dict[str, np.ndarray], folder: Path, heading: str) -> Any:
    """
    Draw the arm at some instants, each in a panel of its own on the same axes.

    Args:
        robot: The robot.
        data: Columns of data.npz.
        folder: Folder of the run, with markers.npz.
        heading: First line of the title.
    """
    with np.load(folder / 'markers.npz') as arrays:
        frames = choose(read_frames(dict(arrays)), INSTANTS)
    straight = StraightArm(robot, Run.load(str(folder / 'run.json')), data)
    unbent = [straight.line(frame['time']) for frame in frames]
    space = Space.around(np.vstack([*unbent, *map(points_of, frames)]))
    make = _panels_in_plane if robot.flat else _panels_in_space
    figure, panels, bar = make(space, len(frames))
    for axes, frame, line in zip(panels, frames, unbent):
        if not robot.flat:
            _draw_shadow(axes, frame)
        _draw_frame(axes, robot, frame)
        axes.plot(*(line[:, :2] if robot.flat else line).T, **UNBENT)
        row = int(np.abs(data['time'] - frame['time']).argmin())
        tip = np.array([data[f'tip/{axis}'][row] for axis in 'xyz'])
        off = millimetres(float(np.linalg.norm(tip - line[-1])))
        axes.set_title(f't = {frame["time"]:.1f} s\ntip bent by {off}', fontsize=9)
    _draw_colours(figure, bar, robot)
    figure.suptitle(
        f'{heading}\nas RViz shows it: deflection drawn {robot.exaggeration:g} times its size; '
        'dashed: the arm if it did not bend', fontsize=11,
    )
    return figure


def millimetres(length: float) -> str:
    """Return a length [m] as text with two digits, or all before the point."""
    value = 1e3 * length
    return f'{value:.0f} mm' if value >= 10.0 else f'{value:#.2g} mm'


@dataclass(frozen=True)
class Space:
    """The corners of the drawn space, each of shape (3,) [m]."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def around(cls, points: np.ndarray) -> Space:
        """Return the space that holds points, shape (n, 3) [m], with a margin and the floor."""
        low, high = points.min(axis=0), points.max(axis=0)
        margin = 0.06 * (high - low).max()
        return cls(np.append(low[:2] - margin, min(0.0, low[2])), high + margin)

    @property
    def size(self) -> np.ndarray:
        """Length, width and height, shape (3,) [m]."""
        return self.high - self.low


Panels = tuple[Any, list[Any], Any]
"""A figure, its panels, and the axes of the colour bar."""


def _panels_in_plane(space: Space, count: int) -> Panels:
    width = 2.1
    height = width * space.size[1] / space.size[0]
    figure, grid = plt.subplots(
        1, count + 1, figsize=(width * count + 1.4, height + 1.4),
        gridspec_kw={'width_ratios': [*[1.0] * count, 0.06]},
    )
    panels = list(grid[:count])
    for axes in panels:
        axes.set_xlim(space.low[0], space.high[0])
        axes.set_ylim(space.low[1], space.high[1])
        axes.set_aspect('equal')
        axes.grid(True, alpha=0.25)
        axes.set_xlabel('x [m]')
        axes.tick_params(labelleft=axes is panels[0])
    panels[0].set_ylabel('y [m]')
    figure.subplots_adjust(
        left=0.7 / figure.get_figwidth(), right=1.0 - 0.7 / figure.get_figwidth(), wspace=0.08,
        bottom=0.5 / figure.get_figheight(), top=1.0 - 0.9 / figure.get_figheight(),
    )
    return figure, panels, grid[count]


def _panels_in_space(space: Space, count: int) -> Panels:
    figure = plt.figure(figsize=(2.9 * count + 1.0, 4.1))
    grid = figure.add_gridspec(
        1, count + 1, width_ratios=[*[1.0] * count, 0.04],
        left=0.0, right=0.95, top=0.79, bottom=0.06, wspace=0.09,
    )
    panels = [figure.add_subplot(grid[0, k], projection='3d') for k in range(count)]
    for axes in panels:
        axes.set_xlim(space.low[0], space.high[0])
        axes.set_ylim(space.low[1], space.high[1])
        axes.set_zlim(space.low[2], space.high[2])
        axes.set_box_aspect(space.size, zoom=1.1)
        axes.view_init(elev=16, azim=-60)
        for axis, name in ((axes.xaxis, 'x'), (axes.yaxis, 'y'), (axes.zaxis, '')):
            axis.set_major_locator(MultipleLocator(0.2))
            axis.set_tick_params(pad=-2, labelsize=8)
            axis.labelpad = -4
            axis.set_label_text(f'{name} [m]' if name else '', fontsize=9)
        # Where matplotlib puts this label it lies outside of the panel.
        axes.text2D(0.93, 0.83, 'z [m]', fontsize=9, transform=axes.transAxes)
    return figure, panels, figure.add_subplot(grid[0, count])


def _draw_colours(figure: Any, bar: Any, robot: DemoRobot) -> None:
    """Draw the colour bar: the colours of the markers."""
    scale = Normalize(0.0, 1e3 * robot.colour_range)
    palette = ListedColormap([colour(x) for x in np.linspace(0.0, 1.0, 256)])
    figure.colorbar(
        ScalarMappable(scale, palette), cax=bar, label='deflection of the link [mm]')


def read_frames(arrays: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """
    Return the recorded markers, one dict a message in the order of time.

    Args:
        arrays: Content of markers.npz.
    """
    frames: dict[int, dict[str, Any]] = {}
    for key, value in arrays.items():
        number, _, rest = key.partition('/')
        frame = frames.setdefault(int(number), {'lines': {}})
        if rest == 'time':
            frame['time'] = float(value)
        else:
            marker, _, field = rest.rpartition('/')
            frame['lines'].setdefault(marker, {})[field] = value
    return sorted(
        (frame for frame in frames.values() if 'time' in frame), key=lambda frame: frame['time']
    )


def choose(frames: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return the frames nearest to `count` instants, spread evenly over the time."""
    if not frames:
        return []
    times = np.array([frame['time'] for frame in frames])
    wanted = np.linspace(times[0], times[-1], count)
    picks = sorted({int(np.abs(times - time).argmin()) for time in wanted})
    return [frames[k] for k in picks]


def points_of(frame: dict[str, Any]) -> np.ndarray:
    """Return all points of the drawn lines, shape (n, 3) [m]."""
    return np.vstack([line['points'] for line in frame['lines'].values()])


class StraightArm:
    """The same arm at the same joint positions without deflection."""

    def __init__(self, robot: DemoRobot, run: Run, data: dict[str, np.ndarray]):
        self._robot = fd.load_robot(run.description_file, extension=run.extension_file or None)
        self._dyn = fd.Dynamics(self._robot)
        self._names = robot.joints
        self._data = data
        self._chain = chain(self._robot, robot.tip)

    def line(self, time: float) -> np.ndarray:
        """Return the origins of the links from root to tip, shape (n, 3) [m]."""
        row = int(np.abs(self._data['time'] - time).argmin())
        q = np.zeros(self._robot.nq)
        for name in self._names:
            value = self._data[f'position/{name}'][row]
            q[self._robot.coordinate_names.index(name)] = value
        return np.array([self._dyn.frame_pose(q, link)[:3, 3] for link in self._chain])


def chain(robot: Any, tip: str) -> list[str]:
    """Return the links from the root to the tip."""
    parents = {joint.child: joint.parent for joint in robot.joints}
    links = [tip]
    while links[-1] in parents:
        links.append(parents[links[-1]])
    return links[::-1]


def _pieces(name: str, points: np.ndarray) -> np.ndarray:
    """Return the straight pieces of a marker, shape (k, 2, 3) or (k, 2, 2) [m]."""
    if name.startswith('centre_line'):
        return np.stack((points[:-1], points[1:]), axis=1)
    return points.reshape(-1, 2, points.shape[1])


def _draw_frame(axes: Any, robot: DemoRobot, frame: dict[str, Any]) -> None:
    """Draw the lines of one MarkerArray."""
    kind = LineCollection if robot.flat else Line3DCollection
    for name, line in frame['lines'].items():
        places = line['points'][:, :2] if robot.flat else line['points']
        bends = name.startswith('centre_line')
        axes.add_collection(kind(
            list(_pieces(name, places)),
            colors=line['colours'][:-1, :3] if bends else [RIGID],
            linewidths=4.0 if bends else 2.2,
            capstyle='round',
        ))


def _draw_shadow(axes: Any, frame: dict[str, Any]) -> None:
    """Draw the arm's vertical projection on the floor, which shows where it is in space."""
    for name, line in frame['lines'].items():
        for piece in _pieces(name, line['points'] * (1.0, 1.0, 0.0)):
            axes.plot(*piece.T, **SHADOW)
