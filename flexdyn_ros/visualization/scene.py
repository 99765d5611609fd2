# SPDX-License-Identifier: Apache-2.0
"""The drawn arm: its shapes in a state, with a number for colours at each point that bends."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
import logging
import math
from pathlib import Path
from types import MappingProxyType
from typing import Mapping, Optional, Union

from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.dynamics.internal_forces import elastic_energy
from flexdyn_ros.errors import ArgumentError, LoopsCannotClose
from flexdyn_ros.model.urdf.document import find_package
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.visualization.shapes import bends, replacements, SceneShape, shape_of
from flexdyn_ros.visualization.shown_states import closed
from flexdyn_ros.visualization.surfaces import Surface
from flexdyn_ros.visualization.visuals import mesh_file, read_visuals, Visual
import numpy as np
from numpy.typing import ArrayLike

QUANTITIES = MappingProxyType({'deflection': 'm', 'strain': 'm/m', 'energy': 'J'})
_LOGGER = logging.getLogger('flexdyn_ros')


@dataclass(frozen=True, eq=False)
class Drawn:
    """
    A shape in one state.

    Attributes:
        shape: The shape.
        pose: Of the vertices' frame in the root frame, shape (4, 4); identity where it bends.
        vertices: In that frame, shape (n, 3) [m].
        values: The quantity at each vertex, shape (n,), NaN where it is not defined; None for
            rigid shapes.
    """

    shape: SceneShape
    pose: np.ndarray
    vertices: np.ndarray
    values: Optional[np.ndarray]


class Scene:
    """
    The shapes of a robot, and their poses in a state.

    Attributes:
        dyn: The dynamics, whose kinematics place the links.
        shapes: The drawn quantity.
        missing: Each mesh that is not drawn, and the reason.
        resources: URI of each mesh that is, by its address in the description.
    """

    def __init__(
        self,
        dyn: Dynamics,
        base_dir: Optional[Union[str, Path]] = None,
        packages: Mapping[str, Path] = MappingProxyType({}),
        triangles: int = 5000,
        radius: float = 0.0,
        visuals: bool = True,
        rigid_meshes: bool = True,
    ):
        """
        Read the visuals of a robot.

        A link without any that can be drawn is replaced by a tube along its beam or by the nodes
        of its modes. A rigid one has bars to the joints that it carries. One warning names all
        missing meshes.

        Args:
            dyn: The dynamics.
            base_dir: Folder that relative names of meshes start from; that of the description
                when None.
            packages: Folders of ROS packages by name, before those that ROS finds.
            triangles: Largest number of triangles of all shapes that bend.
            radius: Of tubes [m]; 0 takes that of a round bar of the beam's area.
            visuals: Whether to draw the visuals, or for all links the shapes that replace missing
                ones.
            rigid_meshes: Whether to read the meshes of rigid shapes; else their surfaces are
                empty where a file exists.

        Raises:
            ModelError: A <visual> is wrong.
        """
        self.dyn = dyn
        self.missing: dict[str, str] = {}
        self.resources: dict[str, str] = {}
        robot = dyn.robot
        self._tree = assemble(robot, {})
        self._first_mode = robot.nq - robot.n_modes
        own = read_visuals(robot) if visuals else []
        bending = sum(bends(robot, visual.link) for visual in own)
        budget = triangles // max(bending, 1)
        shapes: list[SceneShape] = []
        folder = None if base_dir is None else Path(base_dir)
        for number, visual in enumerate(own):
            try:
                if visual.address not in self.missing:
                    surface = self._surface(visual, folder, packages, rigid_meshes)
                    name = f'{visual.link}:{number}'
                    shapes.append(shape_of(robot, name, visual, surface, budget))
            except ValueError as error:
                self.missing[visual.address] = str(error)
        drawn = {shape.link for shape in shapes}
        for link in robot.links:
            if (link.part_of or link.name) not in drawn:
                shapes += replacements(robot, link, radius)
        self.shapes = tuple(shapes)
        if self.missing:
            listed = '; '.join(f'"{name}" {why}' for name, why in self.missing.items())
            _LOGGER.warning(
                'Beams replace meshes that are not drawn: %s. Correct their files.', listed)

    def at(
        self,
        q: ArrayLike,
        factor: float = 1.0,
        reference: Optional[ArrayLike] = None,
        quantity: str = 'deflection',
    ) -> list[Drawn]:
        """
        Return all shapes at a configuration.

        Args:
            q: Joint coordinates, then modal coordinates, (nq,).
            factor: On the deflection from the reference, as drawn.
            reference: Modal coordinates that the deflection counts from, (n_modes,); zero when
                None. They are drawn without the factor.
            quantity: "deflection", "strain" or "energy", each without the factor. Deflection is
                the way of a point in its link's frame from the reference [m]. Strain along the
                beam [m/m] is known where modes are those of beams. Energy is that stored in the
                modes of the link [J]. Strain and energy count from the undeformed arm.

        Raises:
            ArgumentError: The quantity is unknown, or a vector has the wrong length.
        """
        if quantity not in QUANTITIES:
            raise ArgumentError('quantity', f'must be one of {", ".join(QUANTITIES)}')
        given = self.shown(q, factor, reference)
        modes = np.array(q, dtype=float)[self._first_mode:]
        start = np.zeros_like(modes) if reference is None else np.array(reference, dtype=float)
        poses: dict[str, np.ndarray] = {}
        for shape in self.shapes:
            for name in (shape.link, *(piece.link for piece in shape.pieces)):
                if name not in poses:
                    poses[name] = self.dyn.frame_pose(given, name)
        shown = given[self._first_mode:]
        return [
            self._bent(shape, poses, shown, modes, start, quantity) if shape.pieces else
            Drawn(shape, poses[shape.link] @ shape.pose, shape.surface.vertices, None)
            for shape in self.shapes
        ]

    def shown(
        self, q: ArrayLike, factor: float = 1.0, reference: Optional[ArrayLike] = None
    ) -> np.ndarray:
        """
        Return the configuration that is drawn, (nq,): the deflection times the factor.

        Passive joints follow, so that loops stay closed. Where the loops cannot close with that
        deflection, the nearest deflection is drawn with which they do; failing that, open loops.

        Args:
            q: Joint coordinates, then modal coordinates, (nq,).
            factor: On the deflection from the reference.
            reference: Modal coordinates that the deflection counts from, (n_modes,).

        Raises:
            ArgumentError: A vector has the wrong length.
        """
        given, robot = np.array(q, dtype=float), self.dyn.robot
        modes = given[self._first_mode:].copy()
        start = np.zeros_like(modes) if reference is None else np.array(reference, dtype=float)
        if given.shape != (robot.nq,) or start.shape != modes.shape:
            raise ArgumentError(
                'q', f'and reference must be ({robot.nq},) and ({robot.n_modes},)')
        given[self._first_mode:] = start + factor * (modes - start)
        if robot.loops and not np.array_equal(given[self._first_mode:], modes):
            with suppress(LoopsCannotClose):
                return closed(self.dyn, given)
        return given

    def _bent(
        self, shape: SceneShape, poses: Mapping[str, np.ndarray], shown: np.ndarray,
        modes: np.ndarray, start: np.ndarray, quantity: str,
    ) -> Drawn:
        vertices = np.empty_like(shape.surface.vertices)
        values = np.full(len(vertices), math.nan)
        for piece in shape.pieces:
            bent = piece.points.bent(shown[piece.modes])
            pose = poses[piece.link]
            vertices[piece.vertices] = bent @ pose[:3, :3].T + pose[:3, 3]
            own = modes[piece.modes]
            if quantity == 'deflection':
                same = np.array_equal(own, shown[piece.modes])
                true = bent if same else piece.points.bent(own)
                way = true - piece.points.bent(start[piece.modes])
                values[piece.vertices] = np.linalg.norm(way, axis=1)
            elif quantity == 'energy':
                values[piece.vertices] = self._energy(piece.modes, own)
            elif piece.points.strain is not None:
                values[piece.vertices] = own @ piece.points.strain
        return Drawn(shape, np.eye(4), vertices, values)

    def _energy(self, modes: slice, own: np.ndarray) -> float:
        """Return the energy that some modes store alone [J]."""
        q = self.dyn.robot.neutral_configuration()
        q[self._first_mode:][modes] = own
        return float(elastic_energy(self._tree, q.tolist()))

    def _surface(
        self, visual: Visual, base_dir: Optional[Path], packages: Mapping[str, Path],
        rigid_meshes: bool,
    ) -> Surface:
        """Return the triangles of a visual; raise ValueError where they are missing."""
        path = Path()
        if visual.shape == 'mesh':
            path = mesh_file(self.dyn.robot, visual.address, base_dir, packages)
            package = visual.address.partition('package://')[2].partition('/')[0]
            found_by_ros = package and package not in packages and find_package(package)
            self.resources[visual.address] = (
                visual.address if found_by_ros else path.resolve().as_uri())
            if not (rigid_meshes or bends(self.dyn.robot, visual.link)):
                return Surface(np.zeros((0, 3)), np.zeros((0, 3), dtype=int))
        return visual.surface(path)
