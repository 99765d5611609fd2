# SPDX-License-Identifier: Apache-2.0
"""
Surfaces of triangles: the primitives of URDF, files of meshes, and their bending.

A surface that bends gets few triangles (fast-simplification), and edges across the beam that are
close enough to each other (trimesh).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
import math
from pathlib import Path
from typing import Any, Optional

from flexdyn_ros.model.records.base import Vector3
import numpy as np

SIDES = 16  # of a round cross-section
RINGS = 25  # cross-sections along a bending shape
# Numbers of pieces that a mesh is cut into along its beam, as the budget of triangles allows.
_PIECES = (24, 16, 12, 8, 4)
INSTALL = 'pip install trimesh pycollada fast-simplification'
# Of fast-simplification: its default, 7, moves surfaces of vendors' links by centimetres.
AGGRESSION = 3


@dataclass(frozen=True)
class Surface:
    """
    Triangles, or points alone where it has none.

    Attributes:
        vertices: Shape (n, 3) [m].
        triangles: Indices of corners, counterclockwise seen from outside, shape (t, 3).
    """

    vertices: np.ndarray
    triangles: np.ndarray

    def placed(self, pose: np.ndarray) -> Surface:
        """Return the surface of a frame whose pose is (4, 4) in another, in the latter."""
        return Surface(self.vertices @ pose[:3, :3].T + pose[:3, 3], self.triangles)


def swept(across: np.ndarray, along: np.ndarray, sizes: Optional[np.ndarray] = None) -> Surface:
    """
    Return a closed surface along x whose cross-sections are scaled copies of one polygon.

    Args:
        across: Corners of the polygon in the plane of y and z, from y to z, shape (s, 2) [m].
        along: Places of the ends and the cross-sections between or at them, rising, (n + 2,) [m].
        sizes: Factor on each cross-section, shape (n,); 1 when None.
    """
    sides, count = len(across), len(along) - 2
    factors = np.ones(count) if sizes is None else sizes
    rings = np.zeros((count, sides, 3))
    rings[..., 0] = along[1:-1, None]
    rings[..., 1:] = factors[:, None, None] * across
    ends = [[along[0], 0.0, 0.0], [along[-1], 0.0, 0.0]]
    s = np.arange(sides)
    t = (s + 1) % sides
    first = sides * np.arange(count - 1)[:, None]
    last = sides * (count - 1)
    start, end = np.full(sides, last + sides), np.full(sides, last + sides + 1)
    parts = [
        np.stack([first + s, first + sides + t, first + sides + s], axis=-1),
        np.stack([first + s, first + t, first + sides + t], axis=-1),
        np.stack([start, t, s], axis=-1),
        np.stack([end, last + s, last + t], axis=-1),
    ]
    triangles = np.concatenate([part.reshape(-1, 3) for part in parts])
    return Surface(np.concatenate([rings.reshape(-1, 3), ends]), triangles)


def box(size: Vector3) -> Surface:
    """Return a box about the origin, with cross-sections along its longest side [m]."""
    axis = int(np.argmax(size))
    y, z = 0.5 * size[(axis + 1) % 3], 0.5 * size[(axis + 2) % 3]
    corners = np.array([[y, -z], [y, z], [-y, z], [-y, -z]])
    return _turned(swept(corners, _stretch(-0.5 * size[axis], 0.5 * size[axis])), axis)


def cylinder(radius: float, length: float) -> Surface:
    """Return a cylinder along z about the origin [m]."""
    return _turned(swept(radius * _circle(), _stretch(-0.5 * length, 0.5 * length)), 2)


def sphere(radius: float) -> Surface:
    """Return a sphere about the origin [m]."""
    angles = np.linspace(0.0, math.pi, SIDES + 1)
    return swept(radius * _circle(), -radius * np.cos(angles), np.sin(angles[1:-1]))


def tube(axes: np.ndarray, length: float, radius: float, rings: int = RINGS) -> Surface:
    """Return a round bar from the origin along the first column of axes, (3, 3) [m]."""
    straight = swept(radius * _circle(), _stretch(0.0, length, rings))
    return Surface(straight.vertices @ axes.T, straight.triangles)


def _circle() -> np.ndarray:
    angles = np.linspace(0.0, 2.0 * math.pi, SIDES, endpoint=False)
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def _stretch(start: float, end: float, rings: int = RINGS) -> np.ndarray:
    """Return the places of flat ends and cross-sections between them."""
    return np.concatenate([[start], np.linspace(start, end, rings), [end]])


def _turned(surface: Surface, axis: int) -> Surface:
    """Return a surface along x as one along another axis."""
    return Surface(np.roll(surface.vertices, axis, axis=1), surface.triangles)


def read_surface(path: Path) -> Surface:
    """
    Return the triangles of a file that trimesh reads: STL, DAE, OBJ and others, in metres.

    Lengths in a DAE file are in its own unit, those of others in metres, as RViz takes them.

    Raises:
        ValueError: The file holds no surface, or a library that reads it is missing; the text
            continues the file's name.
    """
    trimesh = _trimesh()
    if path.suffix.lower() == '.dae' and find_spec('collada') is None:
        raise ValueError(f'needs pycollada ({INSTALL})')
    try:
        found: Any = trimesh.load(str(path), force='mesh')
        found.merge_vertices(merge_tex=True, merge_norm=True)
        vertices, faces = np.array(found.vertices, float), np.array(found.faces, int)
        unit = str(found.metadata.get('units', '')) if path.suffix.lower() == '.dae' else ''
    except Exception as error:  # of many kinds, in all readers
        raise ValueError(f'cannot be read: {error}') from None
    if not len(faces) or not np.all(np.isfinite(vertices)):
        raise ValueError('holds no triangles')
    scale = float(unit.partition('*')[0]) if '*' in unit else 1.0
    return Surface(scale * vertices, faces)


def fitted(surface: Surface, direction: np.ndarray, length: float, budget: int) -> Surface:
    """
    Return a mesh with few triangles whose edges are short enough along a beam.

    Args:
        surface: The mesh.
        direction: Unit vector along the beam, shape (3,).
        length: Of the beam [m].
        budget: Largest number of triangles.
    """
    reduced = _reduced(surface, budget)
    x = reduced.vertices @ direction
    longest = float(np.ptp(x[reduced.triangles], axis=1).max())
    if longest <= 1.5 * length / _PIECES[-2]:
        return reduced
    coarse = _reduced(surface, budget // 2)
    for pieces in _PIECES:
        cut = _cut(coarse, direction, length, pieces)
        if len(cut.triangles) <= budget:
            return cut
    return reduced


def _reduced(surface: Surface, budget: int) -> Surface:
    """Return a mesh with no more triangles than the budget."""
    cell = 0.0
    size = float(np.linalg.norm(np.ptp(surface.vertices, axis=0)))
    while len(surface.triangles) > budget:
        try:
            from fast_simplification import simplify
        except ImportError:
            raise ValueError(f'has more than {budget} triangles, and fast-simplification is '
                             f'missing ({INSTALL})') from None
        vertices, triangles = simplify(
            surface.vertices, surface.triangles, target_count=budget, agg=AGGRESSION)
        surface = Surface(np.array(vertices, float), np.array(triangles, int))
        if cell:  # the library stops early at needles, which vertices of one cell have not
            surface = _merged(surface, cell)
        cell = 1.5 * cell or size / 200.0
    return surface


def _merged(surface: Surface, cell: float) -> Surface:
    """Return a mesh with one vertex in each cell of a grid [m]."""
    _, first, number = np.unique(
        np.round(surface.vertices / cell), axis=0, return_index=True, return_inverse=True)
    return _proper(surface.vertices[first], number.ravel()[surface.triangles])


def _proper(vertices: np.ndarray, triangles: np.ndarray) -> Surface:
    """Return a mesh without triangles that have a corner twice."""
    corner = np.sort(triangles, axis=1)
    kept = (corner[:, 0] != corner[:, 1]) & (corner[:, 1] != corner[:, 2])
    return Surface(np.array(vertices, float), np.array(triangles[kept], int))


def _cut(surface: Surface, direction: np.ndarray, length: float, pieces: int) -> Surface:
    """
    Return a mesh whose triangles are cut at equal distances along a beam.

    A triangle has corners A, B, C in their order along the beam. Between two cuts it leaves a
    polygon. This has two points of the edge AC, two of the edges ABC, and B if it lies there.
    """
    corners = surface.vertices[surface.triangles]
    x = corners @ direction
    order = np.argsort(x, axis=1, kind='stable')
    flipped = (order[:, 1] - order[:, 0]) % 3 == 2
    corners = np.take_along_axis(corners, order[..., None], axis=1)
    x = np.take_along_axis(x, order, axis=1)
    across = x[:, 0] == x[:, 2]
    found, turned = [corners[across]], [flipped[across]]
    places = [-np.inf, *(length * np.arange(1, pieces) / pieces), np.inf]
    for start, end in zip(places, places[1:]):
        inside = (x[:, 2] > start) & (x[:, 0] < end) & ~across
        own, at = corners[inside], x[inside]
        low, high = np.maximum(start, at[:, 0]), np.minimum(end, at[:, 2])
        straight = [_between(own[:, 0], own[:, 2], at[:, 0], at[:, 2], t) for t in (low, high)]
        chain = [
            np.where((t < at[:, 1])[:, None],
                     _between(own[:, 0], own[:, 1], at[:, 0], at[:, 1], t),
                     _between(own[:, 1], own[:, 2], at[:, 1], at[:, 2], t))
            for t in (low, high)]
        middle = np.where(((low < at[:, 1]) & (at[:, 1] < high))[:, None], own[:, 1], chain[0])
        for three in ((chain[1], straight[1], straight[0]), (middle, chain[1], straight[0]),
                      (chain[0], middle, straight[0])):
            found.append(np.stack(three, axis=1))
            turned.append(flipped[inside])
    triangles = np.concatenate(found)
    odd = np.concatenate(turned)
    triangles[odd] = triangles[odd, ::-1]
    mesh = _trimesh().Trimesh(triangles.reshape(-1, 3), np.arange(3 * len(odd)).reshape(-1, 3))
    return _proper(mesh.vertices, mesh.faces)


def _between(
    start: np.ndarray, end: np.ndarray, low: np.ndarray, high: np.ndarray, at: np.ndarray
) -> np.ndarray:
    """Return the points `at` of edges that run from low to high; the starts of those across."""
    span = np.where(high > low, high - low, 1.0)
    share = np.where(high > low, (at - low) / span, 0.0)
    return start + share[:, None] * (end - start)


def _trimesh() -> Any:
    try:
        import trimesh
    except ImportError:
        raise ValueError(f'needs trimesh ({INSTALL})') from None
    return trimesh
