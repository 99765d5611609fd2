# SPDX-License-Identifier: Apache-2.0
"""The drawn arm: surfaces of all links, bent for a state, with a number for colours at a point."""

from __future__ import annotations

from dataclasses import dataclass
import logging
import math
from pathlib import Path
from types import MappingProxyType
from typing import Mapping, Optional, Sequence, Union

from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.dynamics.internal_forces import elastic_energy
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.visualization.centre_lines import nodes_of
from flexdyn_ros.visualization.cross_sections import bending_points, BendingPoints
from flexdyn_ros.visualization.surfaces import fitted, Surface, tube
from flexdyn_ros.visualization.visuals import Colour, GREY, mesh_file, read_visuals, Visual
import numpy as np
from numpy.typing import ArrayLike

QUANTITIES = MappingProxyType({'deflection': 'm', 'strain': 'm/m', 'energy': 'J'})
SLENDERNESS = 60.0  # length over radius of a tube where the beam gives no area
_LOGGER = logging.getLogger('flexdyn_ros')


@dataclass(frozen=True, eq=False)
class BendingPart:
    """
    Vertices of a drawn link that ride on one beam, segments or modes of a file.

    Attributes:
        link: The link, or the piece of one, that they ride on.
        vertices: Their indices.
        points: The same in that link's frame.
        modes: Places of its modes among the robot's.
    """

    link: str
    vertices: np.ndarray
    points: BendingPoints
    modes: slice


@dataclass(frozen=True, eq=False)
class SceneShape:
    """
    A shape of a link: one of its visuals, or their replacement.

    Attributes:
        name: Unique among the shapes.
        link: Name of the link.
        surface: In the shape's frame; of a shape that bends in the link frame, undeformed.
        pose: Of the shape's frame in the link frame, shape (4, 4).
        colour: Red, green, blue and opacity in 0 ... 1.
        visual: The <visual>; None for a tube or nodes that replace missing ones.
        pieces: How it bends; empty for a rigid shape.
    """

    name: str
    link: str
    surface: Surface
    pose: np.ndarray
    colour: Colour
    visual: Optional[Visual] = None
    pieces: tuple[BendingPart, ...] = ()


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
    The shapes of a robot, and where they are for a state.

    Attributes:
        dyn: The dynamics, whose kinematics place the links.
        shapes: The drawn quantity.
        missing: Each mesh that is not drawn, and why.
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
            visuals: Whether to draw the visuals, or what replaces missing ones for all links.
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
                    shapes.append(_shape(robot, name, visual, surface, budget))
            except ValueError as error:
                self.missing[visual.address] = str(error)
        drawn = {shape.link for shape in shapes}
        for link in robot.links:
            if (link.part_of or link.name) not in drawn:
                shapes += _replacements(robot, link, radius)
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
                beam [m/m] is known where modes are those of beams. Energy is what the modes of
                the link store [J]. Strain and energy count from the undeformed arm.

        Raises:
            ArgumentError: The quantity is unknown, or a vector has the wrong length.
        """
        if quantity not in QUANTITIES:
            raise ArgumentError('quantity', f'must be one of {", ".join(QUANTITIES)}')
        given = np.array(q, dtype=float)
        modes = given[self._first_mode:].copy()
        start = np.zeros_like(modes) if reference is None else np.array(reference, dtype=float)
        if given.shape != (self.dyn.robot.nq,) or start.shape != modes.shape:
            raise ArgumentError('q', f'and reference must be ({self.dyn.robot.nq},) and '
                                f'({self.dyn.robot.n_modes},)')
        given[self._first_mode:] = start + factor * (modes - start)
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
            found_by_ros = package and package not in packages
            self.resources[visual.address] = (
                visual.address if found_by_ros else path.resolve().as_uri())
            if not (rigid_meshes or bends(self.dyn.robot, visual.link)):
                return Surface(np.zeros((0, 3)), np.zeros((0, 3), dtype=int))
        return visual.surface(path)


def bends(robot: Robot, link: str) -> bool:
    """Return whether a link of the description has modes of its own, or pieces that do."""
    carriers = robot.pieces(link) or (robot.link(link),)
    return any(carrier.mode_names for carrier in carriers)


def _shape(robot: Robot, name: str, visual: Visual, surface: Surface, budget: int) -> SceneShape:
    link = visual.link
    if not bends(robot, link):
        return SceneShape(name, link, surface, visual.pose, visual.colour, visual)
    surface = surface.placed(visual.pose)
    carriers = robot.pieces(link) or (robot.link(link),)
    beam = max((c.undeformed_beam for c in carriers if c.undeformed_beam),
               key=lambda each: each.length, default=None)
    if visual.shape == 'mesh' and beam is not None:
        surface = fitted(surface, np.array(beam.direction), beam.length, budget)
    pieces = _pieces(robot, link, surface.vertices)
    return SceneShape(name, link, surface, np.eye(4), visual.colour, visual, pieces)


def _pieces(robot: Robot, link: str, vertices: np.ndarray) -> tuple[BendingPart, ...]:
    """Return what carries vertices of a link, (n, 3) in its frame [m]."""
    if not robot.pieces(link):
        return (_piece(robot, robot.link(link), np.arange(len(vertices)), vertices),)
    held: dict[str, list[int]] = {}
    places: dict[str, list[Sequence[float]]] = {}
    for number, vertex in enumerate(vertices.tolist()):
        name, place = robot.holder(link, tuple(vertex))
        held.setdefault(name, []).append(number)
        places.setdefault(name, []).append(place)
    return tuple(
        _piece(robot, robot.link(name), np.array(numbers), np.array(places[name]))
        for name, numbers in held.items())


def _piece(robot: Robot, link: Link, vertices: np.ndarray, places: np.ndarray) -> BendingPart:
    first = robot.mode_names.index(link.mode_names[0]) if link.mode_names else 0
    modes = slice(first, first + len(link.mode_names))
    return BendingPart(link.name, vertices, bending_points(link, places), modes)


def _replacements(robot: Robot, link: Link, radius: float) -> list[SceneShape]:
    """Return a tube along a link's beam, the nodes of its modes, or bars to its joints."""
    beam, name = link.undeformed_beam, f'{link.name}:beam'
    if link.mode_names and beam is not None:
        size = math.sqrt(beam.area / math.pi) if beam.area else beam.length / SLENDERNESS
        surface = tube(np.array(beam.axes), beam.length, radius or size)
    elif link.mode_names:
        surface = Surface(nodes_of(link), np.zeros((0, 3), dtype=int))
    else:
        return [
            SceneShape(f'{link.name}:{joint.name}', link.name, bar, np.eye(4), GREY)
            for joint in robot.joints if joint.parent == link.name
            for bar in _bars(np.array(joint.origin.position))
        ]
    every = np.arange(len(surface.vertices))
    pieces = (_piece(robot, link, every, surface.vertices),)
    return [SceneShape(name, link.name, surface, np.eye(4), GREY, None, pieces)]


def _bars(end: np.ndarray) -> list[Surface]:
    """Return a thin tube from the origin to a point, (3,) [m], none where they are one."""
    length = float(np.linalg.norm(end))
    if length < 1e-9:
        return []
    axis = end / length
    other = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    other /= np.linalg.norm(other)
    axes = np.stack([axis, other, np.cross(axis, other)], axis=1)
    return [tube(axes, length, length / SLENDERNESS, 2)]
