# SPDX-License-Identifier: Apache-2.0
"""
Meshes of solid links: hollow bars by their dimensions, files of surfaces and of tetrahedra.

Meshes are those of scikit-fem. A closed surface is filled with tetrahedra by gmsh. Files of
surfaces are read by trimesh, files of elements (gmsh's and others) by meshio.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from pathlib import Path
from typing import Any, Optional

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.model.modal.foreign_files import foreign_arrays
import numpy as np

_SURFACES = ('.stl', '.obj', '.ply', '.off', '.glb', '.3mf')
# Bytes of a file of a mesh.
LARGEST = 2**27
_AROUND = 16
_INSTALL = 'pip install scikit-fem meshio trimesh gmsh'
# Of X11, for gmsh's wheel.
_LIBRARIES = ('. Its wheel also needs: apt install libgl1 libglu1-mesa libxcursor1 libxft2 '
              'libxinerama1. Or give a mesh of tetrahedra')


def library(name: str) -> Any:
    """Return a module that only geometry needs; raise FlexdynError where it is missing."""
    from importlib import import_module

    try:
        return import_module(name)
    except (ImportError, OSError) as error:
        raise FlexdynError(
            f'Finite elements of a solid need {name} ({error}): {_INSTALL}'
            + (_LIBRARIES if name == 'gmsh' else '')) from None


@dataclass(frozen=True)
class HollowBar:
    """
    A straight tube or box along x from the origin, whose size changes linearly.

    Attributes:
        length: [m].
        width: Along y at the root, or the diameter [m].
        height: Along z at the root [m]; None for a tube.
        wall: Thickness, constant along the bar [m].
        taper: Size at the end over that at the root.
    """

    length: float
    width: float
    height: Optional[float]
    wall: float
    taper: float = 1.0

    def mesh(self, element: Optional[float] = None, coarser: int = 1) -> Any:
        """
        Return hexahedra of second order, one through the wall.

        Args:
            element: Length of an element [m]; without it, the width.
            coarser: Divides the number of elements along and around.

        Raises:
            ValueError: The wall leaves no hole.
        """
        smaller = min(self.width, self.height or self.width) * min(1.0, self.taper)
        if self.wall > 0.49 * smaller:
            raise ValueError(f'has a wall of {self.wall:g} m, which leaves no hole in '
                             f'{smaller:g} m; give a mesh of a solid link')
        fem = library('skfem')
        # Not above 120: a slender bar needs no element of its own size.
        count = math.ceil(self.length / (element or self.width))
        along = max(6, min(count, 120) // coarser)
        around = _AROUND // coarser
        grid = fem.MeshHex.init_tensor(np.arange(around + 1.0), np.array([0.0, 1.0]),
                                       np.linspace(0.0, 1.0, along + 1))
        # The seam at the last column is the first one: its points are taken out.
        seam = grid.p[0] == around
        order = np.lexsort(grid.p[:, ~seam])
        kept = np.flatnonzero(~seam)[order]
        first = {tuple(point): k for k, point in enumerate(grid.p[:, kept].T)}
        number = np.array([first[(x % around, y, z)] for x, y, z in grid.p.T])
        place = grid.p[:, kept]
        turn = 2.0 * np.pi * place[0] / around
        round_points = np.stack([(1.0 + place[1]) * np.cos(turn),
                                 (1.0 + place[1]) * np.sin(turn), place[2]])
        whole = fem.MeshHex2.from_mesh(fem.MeshHex(round_points, number[grid.t]))
        return replace(whole, doflocs=self._placed(whole.doflocs, around))

    def _placed(self, points: np.ndarray, around: int) -> np.ndarray:
        """Return points of the bar by those of the tube of radii 1 and 2 made of chords."""
        y, z, x = points
        corner = np.arctan2(z, y) * around / (2.0 * np.pi)
        middle = np.abs(corner - np.round(corner)) > 0.25
        radius = np.hypot(y, z) / np.where(middle, np.cos(np.pi / around), 1.0)
        turn, through = corner * 2.0 * np.pi / around, radius - 1.0
        size = 1.0 + (self.taper - 1.0) * x
        if self.height is None:
            across = 0.5 * self.width * size - self.wall * (1.0 - through)
            return np.stack([self.length * x, across * np.cos(turn), across * np.sin(turn)])
        eighth = turn / (0.25 * np.pi)  # position along a square, 8 halves of its sides
        half = [0.5 * size * side - self.wall * (1.0 - through)
                for side in (self.width, self.height)]
        ramp = [np.clip(np.abs((eighth + shift) % 8.0 - 4.0) - 2.0, -1.0, 1.0)
                for shift in (4.0, 2.0)]
        return np.stack([self.length * x, half[0] * ramp[0], half[1] * ramp[1]])


def read_mesh(path: Path, scale: float, element: Optional[float]) -> Any:
    """
    Return the tetrahedra of a file, or those that fill its surface.

    Args:
        path: The file.
        scale: Length of its unit [m].
        element: Size of the tetrahedra in a surface [m]; without it, a 20th of its diagonal.

    Raises:
        ValueError: It holds no body; the text continues `file="path"`.
        FlexdynError: A library is missing.
    """
    if not path.is_file():
        raise ValueError('is no file')
    if path.stat().st_size > LARGEST:
        raise ValueError(f'is larger than {LARGEST} bytes')
    surface = path.suffix.lower() in _SURFACES
    library('trimesh' if surface else 'meshio')
    found = foreign_arrays(str(path), 'surface' if surface else 'volume')
    points, cells = scale * found['points'], found['corners']
    if not np.all(np.isfinite(points)):
        raise ValueError('holds points that are not finite')
    if len(cells) and (cells.min() < 0 or cells.max() >= len(points)):
        raise ValueError('holds elements with points that it lacks')
    if np.shape(cells)[1] == 3:
        points, cells = _filled(points, cells, element)
    if not len(cells):
        raise ValueError('holds no tetrahedra; write a mesh of the volume')
    used, numbers = np.unique(cells, return_inverse=True)
    points, cells = points[used].T, numbers.reshape(np.shape(cells)).T
    a, b, c, d = (points[:, row].T for row in cells)
    volume = np.abs(np.einsum('na,na->n', np.cross(b - a, c - a), d - a))
    if volume.min() < 1e-9 * volume.mean():
        raise ValueError('holds flat tetrahedra')
    fem = library('skfem')
    return fem.MeshTet(np.ascontiguousarray(points), np.ascontiguousarray(cells))


def _filled(
    points: np.ndarray, faces: np.ndarray, element: Optional[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the tetrahedra inside a closed surface."""
    if not len(faces):
        raise ValueError('holds no closed surface; repair it, or write a mesh of the volume')
    gmsh = library('gmsh')
    size = element or float(np.linalg.norm(np.ptp(points, axis=0))) / 20.0
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber('General.Terminal', 0)
        gmsh.option.setNumber('Mesh.MeshSizeMax', size)
        gmsh.option.setNumber('Mesh.MeshSizeExtendFromBoundary', 0)
        gmsh.model.add('surface')
        sheet = gmsh.model.addDiscreteEntity(2)
        gmsh.model.mesh.addNodes(2, sheet, np.arange(1, len(points) + 1), points.ravel())
        gmsh.model.mesh.addElementsByType(sheet, 2, [], 1 + faces.ravel())
        gmsh.model.mesh.classifySurfaces(math.radians(40.0), True, True)
        gmsh.model.mesh.createGeometry()
        loop = gmsh.model.geo.addSurfaceLoop([tag for _, tag in gmsh.model.getEntities(2)])
        gmsh.model.geo.addVolume([loop])
        gmsh.model.geo.synchronize()
        gmsh.model.mesh.generate(3)
        tags, found, _ = gmsh.model.mesh.getNodes()
        _, corners = gmsh.model.mesh.getElementsByType(4)
    except Exception as error:  # gmsh raises plain exceptions
        raise ValueError(f'could not be filled with tetrahedra by gmsh: {error}') from None
    finally:
        gmsh.finalize()
    place = np.zeros(int(tags.max()) + 1, dtype=int)
    place[tags.astype(int)] = np.arange(len(tags))
    return found.reshape(-1, 3), place[corners.astype(int)].reshape(-1, 4)
