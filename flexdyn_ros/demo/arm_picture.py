# SPDX-License-Identifier: Apache-2.0
"""Draws the bent arm from the markers that were recorded, beside the unbent one."""

from __future__ import annotations

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
from mpl_toolkits.mplot3d.art3d import Line3DCollection
import numpy as np

POSES = 5  # number of instants drawn
PLATE = {'facecolor': 'white', 'alpha': 0.7, 'linewidth': 0, 'pad': 0.6}  # behind labels
SAME_PLACE = 0.03  # of the distance from the root: labels nearer than this are one


def draw_arm(robot: DemoRobot, data: dict[str, np.ndarray], folder: Path, heading: str) -> Any:
    """
    Draw the arm at some instants.

    Args:
        robot: The robot.
        data: Columns of data.npz.
        folder: Folder of the run, with markers.npz.
        heading: First lines of the title.
    """
    with np.load(folder / 'markers.npz') as arrays:
        frames = read_frames(dict(arrays))
    chosen = choose(frames, POSES)
    straight = StraightArm(robot, Run.load(str(folder / 'run.json')), data)
    figure = plt.figure(figsize=(7.5, 8.0) if robot.flat else (9.0, 7.0))
    axes = figure.add_subplot(projection=None if robot.flat else '3d')
    drawn = []
    labels: list[tuple[np.ndarray, str]] = []
    for frame in chosen:
        drawn.append(_draw_frame(axes, robot, frame))
        line = straight.line(frame['time'])
        drawn.append(line)
        columns = line[:, :2] if robot.flat else line
        axes.plot(*columns.T, color='0.55', lw=0.8, ls='--')
        place = bent_tip(frame, robot.flat)[: columns.shape[1]]
        add_label(labels, place, f'{frame["time"]:.1f} s')
    for place, text in labels:
        axes.text(*place, f' {text}', fontsize=9, va='bottom', zorder=10, bbox=PLATE)
    _set_limits(axes, np.vstack(drawn), robot.flat)
    scale = Normalize(0.0, 1e3 * robot.colour_range)
    palette = ListedColormap([colour(x) for x in np.linspace(0.0, 1.0, 256)])
    figure.colorbar(
        ScalarMappable(scale, palette), ax=axes, shrink=0.7, extend='max',
        pad=0.04 if robot.flat else 0.13,
        label='deflection of the link [mm]',
    )
    axes.set_title(
        f'{heading}bent as the markers draw it, deflection {robot.exaggeration:g} times '
        'exaggerated; dashed: unbent', fontsize=10,
    )
    return figure


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


def add_label(labels: list[tuple[np.ndarray, str]], place: np.ndarray, text: str) -> None:
    """Add a label, to one that stands at nearly the same place where there is one."""
    for k, (other, present) in enumerate(labels):
        if np.linalg.norm(other - place) < SAME_PLACE * np.linalg.norm(place):
            labels[k] = (other, f'{present}, {text}')
            return
    labels.append((place, text))


def bent_tip(frame: dict[str, Any], flat: bool) -> np.ndarray:
    """
    Return where to name the drawn arm, shape (3,) [m].

    Args:
        frame: Its lines.
        flat: Whether to take the end of the last flexible link; else it is the point farthest
            from the root, since the lines of rigid links come in no order.
    """
    lines = frame['lines']
    points = np.vstack([line['points'] for line in lines.values()])
    farthest = points[np.linalg.norm(points, axis=1).argmax()]
    last = max(name for name in lines if name.startswith('centre_line'))
    return lines[last]['points'][-1] if flat else farthest


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


def _draw_frame(axes: Any, robot: DemoRobot, frame: dict[str, Any]) -> np.ndarray:
    """Draw the lines of one MarkerArray; return their points."""
    points = []
    for name, line in frame['lines'].items():
        places = line['points'][:, :2] if robot.flat else line['points']
        points.append(line['points'])
        is_strip = name.startswith('centre_line')
        if is_strip:
            pieces = np.stack((places[:-1], places[1:]), axis=1)
            colours = line['colours'][:-1, :3]
        else:
            pieces = places.reshape(-1, 2, places.shape[1])
            colours = [(0.45, 0.45, 0.45)]
        kind = LineCollection if robot.flat else Line3DCollection
        width = 3.5 if is_strip else 1.8
        axes.add_collection(
            kind(list(pieces), colors=colours, linewidths=width, capstyle='round'))
    return np.vstack(points)


def _set_limits(axes: Any, points: np.ndarray, flat: bool) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    if flat:
        margin = 0.08 * (high - low).max()
        axes.set_xlim(low[0] - margin, high[0] + margin)
        axes.set_ylim(low[1] - margin, high[1] + margin)
        axes.set_aspect('equal')
        axes.grid(True, alpha=0.25)
    else:
        low = np.append(low[:2], min(0.0, low[2]))
        centre, half = (low + high) / 2, 0.5 * (high - low).max()
        axes.set_xlim(centre[0] - half, centre[0] + half)
        axes.set_ylim(centre[1] - half, centre[1] + half)
        axes.set_zlim(low[2], high[2])
        axes.set_box_aspect((2 * half, 2 * half, high[2] - low[2]), zoom=1.15)
        axes.view_init(elev=18, azim=-62)
        axes.set_zlabel('z [m]')
    axes.set_xlabel('x [m]')
    axes.set_ylabel('y [m]')
