# SPDX-License-Identifier: Apache-2.0
"""
One self-contained HTML page of a moving arm: played, scrubbed, its deflection drawn larger.

The page carries three.js, taken from the installed trimesh, and loads nothing else. Every factor
on the deflection and every frame has the poses of the shapes. Displacements of vertices in their
link's frame, and the quantities that colour them, are sums of few fields times weights. These come
from a singular value decomposition, cut where the rest has no visible effect.
"""

from __future__ import annotations

import base64
from html import escape
from importlib.resources import files
import json
from pathlib import Path
from typing import Any, Sequence

from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.output_files import write_text
from flexdyn_ros.simulation.record import PathLike, Trajectory
from flexdyn_ros.visualization.colours import Legend, legend
from flexdyn_ros.visualization.scene import Drawn, QUANTITIES, Scene
import numpy as np

FACTORS = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
LARGEST_DRAWN = 0.3  # of the arm's radius: deflection by the largest of the factors
# Part left out by the fields, of the largest; the most of them; rows that they are made from.
TOLERANCE, MOST_FIELDS, MOST_ROWS = 1e-3, 16, 64
LARGEST_SHORT = 32767  # of 16 bits
COLOURS = 64  # of a colour map
_LIBRARY_END = 'var camera,controls,scene'


def save_page(
    trajectory: Trajectory, scene: Scene, path: PathLike, factor: float = 1.0
) -> Path:
    """
    Write a motion as one HTML page that shows the arm moving in 3-D; return the path.

    Args:
        trajectory: The motion; 30 of its samples a second are shown, at most 600.
        scene: Appearance of its robot.
        path: The file.
        factor: Factor on the deflection that the page starts with [1].

    Raises:
        ArgumentError: The factor is negative.
        FlexdynError: trimesh, whose copy of three.js the page carries, is not installed.
        FileNotWritten: The file cannot be written.
    """
    if not 0.0 <= factor < np.inf:
        raise ArgumentError('factor', f'must be zero or positive, got {factor:g}')
    template = files('flexdyn_ros.visualization').joinpath('page.html').read_text('utf-8')
    content = json.dumps(_content(trajectory, scene, factor), allow_nan=False)
    title = f'{trajectory.robot_name}: {trajectory.t[-1] - trajectory.t[0]:g} s'
    page = template.replace('$TITLE', escape(title)).replace('$LIBRARY', three_js())
    return write_text(path, page.replace('$DATA', content))


def three_js() -> str:
    """
    Return three.js with its trackball controls, of the page that trimesh carries.

    Raises:
        FlexdynError: trimesh is not installed, or is one without this page.
    """
    try:
        from trimesh import resources, util

        zipped = resources.get_bytes('templates/viewer.zip')
        archive: Any = util.decompress(zipped, 'zip')
        text = archive['viewer.html.template'].read().decode('utf-8')
        start = text.index('<script>') + len('<script>')
        return str(text[start:text.index(_LIBRARY_END, start)])
    except (ImportError, KeyError, OSError, ValueError):
        raise FlexdynError(
            'The HTML page carries three.js from the library trimesh, which is not installed or '
            'comes without it. Install it with: pip install trimesh.'
        ) from None


def _content(trajectory: Trajectory, scene: Scene, factor: float) -> dict[str, Any]:
    """Return the data that the page's script reads."""
    rows = trajectory.frames()
    q = trajectory.q[rows]
    frames = {name: [scene.at(row, quantity=name) for row in q] for name in QUANTITIES}
    true = frames['deflection']
    legends = [legend([d for drawn in frames[name] for d in drawn], name) for name in QUANTITIES]
    corners = np.concatenate([_corners(d) for drawn in true for d in drawn])
    low, high = corners.min(axis=0), corners.max(axis=0)
    radius = float(np.linalg.norm(high - low)) / 2.0
    room = LARGEST_DRAWN * radius / (legends[0].high or np.inf)
    factors = sorted({f for f in FACTORS if f <= max(1.0, room)} | {factor})
    states = [true if f == 1.0 else [scene.at(row, f) for row in q] for f in factors]
    shapes = [
        _shape(scene, q, factors, [[drawn[number] for drawn in each] for each in states],
               [[drawn[number] for drawn in frames[name]] for name in QUANTITIES])
        for number in range(len(scene.shapes))
    ]
    return {
        'times': _text(trajectory.t[rows], np.float32),
        'shapes': shapes,
        'factors': factors,
        'drawn': factors.index(factor),
        'legends': [_legend(each) for each in legends if each.high],
        'radius': radius,
        'floor': float(low[2]),
        'centre': ((low + high) / 2.0).tolist(),
    }


def _shape(
    scene: Scene, q: np.ndarray, factors: Sequence[float], states: Sequence[Sequence[Drawn]],
    values: Sequence[Sequence[Drawn]],
) -> dict[str, Any]:
    """Return a shape's triangles, poses (factors, frames, 3, 4), displacements and colours."""
    shape = states[0][0].shape
    poses = np.array([[d.pose for d in frames] for frames in states])
    fields, rest = [], shape.surface.vertices
    if shape.pieces:
        moved = []
        for f, own, frames in zip(factors, poses, states):
            own[:] = [scene.dyn.frame_pose(scene.shown(row, f), shape.link) for row in q]
            moved += [(d.vertices - pose[:3, 3]) @ pose[:3, :3] - rest
                      for d, pose in zip(frames, own)]
        fields = [_fields(np.array(moved, dtype=np.float32)),
                  *(_fields(np.array([d.values for d in each])) for each in values)]
    return {
        'vertices': _text(rest, np.float32),
        'triangles': _text(shape.surface.triangles, np.uint32),
        'poses': _text(poses[:, :, :3], np.float32),
        'fields': fields,
        'colour': list(shape.colour[:3]),
    }


def _fields(values: np.ndarray) -> dict[str, Any]:
    """Return rows of values, (rows, n ...), as fields (rank, n ...) and weights (rows, rank)."""
    table = np.nan_to_num(values.reshape(len(values), -1))
    some = table[np.unique(np.linspace(0, len(table) - 1, MOST_ROWS).astype(int))]
    _, sizes, fields = np.linalg.svd(some, full_matrices=False)
    rank = min(int(np.count_nonzero(sizes > TOLERANCE * sizes[0])), MOST_FIELDS)
    fields = fields[:rank]
    scales = np.abs(fields).max(axis=1, initial=0.0) / LARGEST_SHORT
    return {
        'fields': _text(np.rint(fields / scales[:, None]), np.int16),
        'weights': _text(table @ fields.T * scales, np.float32),
        'rank': rank,
    }


def _legend(own: Legend) -> dict[str, Any]:
    colours = own.colours(np.linspace(own.low, own.high, COLOURS))[:, :3]
    return {'title': own.title, 'number': list(QUANTITIES).index(own.quantity), 'low': own.low,
            'high': own.high, 'ticks': [text for _, text in own.ticks(3)],
            'colours': colours.round(3).tolist()}


def _corners(drawn: Drawn) -> np.ndarray:
    """Return the corners of the box around a shape, (8, 3) [m], in the root frame."""
    if not len(drawn.vertices):
        return np.zeros((0, 3))
    ends = drawn.vertices.min(axis=0), drawn.vertices.max(axis=0)
    corners = np.array(np.meshgrid(*np.transpose(ends))).reshape(3, -1).T
    return np.asarray(corners @ drawn.pose[:3, :3].T + drawn.pose[:3, 3])


def _text(values: np.ndarray, kind: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()
