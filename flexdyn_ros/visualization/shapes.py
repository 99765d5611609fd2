# SPDX-License-Identifier: Apache-2.0
"""Drawn shapes of each link: visuals or their replacements, which ride on its modes."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Optional, Sequence

from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.visualization.centre_lines import nodes_of
from flexdyn_ros.visualization.cross_sections import bending_points, BendingPoints
from flexdyn_ros.visualization.surfaces import fitted, Surface, tube
from flexdyn_ros.visualization.visuals import Colour, GREY, Visual
import numpy as np

SLENDERNESS = 60.0  # length over radius of a tube where the beam gives no area


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
    Drawn shape of a link: one of its visuals, or a replacement of them.

    Attributes:
        name: Unique among the shapes.
        link: Name of the link.
        surface: In the shape's frame; of a shape that bends in the link frame, undeformed.
        pose: Of the shape's frame in the link frame, shape (4, 4).
        colour: Red, green, blue and opacity in 0 ... 1.
        visual: The <visual>; None for a tube or nodes that replace missing ones.
        pieces: Its bending; empty for a rigid shape.
    """

    name: str
    link: str
    surface: Surface
    pose: np.ndarray
    colour: Colour
    visual: Optional[Visual] = None
    pieces: tuple[BendingPart, ...] = ()


def bends(robot: Robot, link: str) -> bool:
    """Return whether a link of the description has modes of its own, or pieces that do."""
    carriers = robot.pieces(link) or (robot.link(link),)
    return any(carrier.mode_names for carrier in carriers)


def shape_of(
    robot: Robot, name: str, visual: Visual, surface: Surface, budget: int
) -> SceneShape:
    """
    Return a visual as it is drawn, cut along the beams of a link that bends.

    Args:
        robot: The robot.
        name: Of the shape.
        visual: The visual.
        surface: Its triangles in its own frame.
        budget: Largest number of triangles where it bends.
    """
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
    """Return the parts of a link that carry its vertices, (n, 3) in its frame [m]."""
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


def replacements(robot: Robot, link: Link, radius: float) -> list[SceneShape]:
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
