# SPDX-License-Identifier: Apache-2.0
"""The <visual> elements of a description: primitives and meshes, their places and colours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, Mapping, Optional
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.records.base import IDENTITY, rotation_from_rpy, Vector3, ZERO
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.urdf.document import resolve_file, TEXT
from flexdyn_ros.model.urdf.values import non_negative, numbers, Place, vector3
from flexdyn_ros.visualization.surfaces import box, cylinder, read_surface, sphere, Surface
import numpy as np
from scipy.spatial.transform import Rotation

Colour = tuple[float, float, float, float]
GREY: Colour = (0.7, 0.7, 0.7, 1.0)


@dataclass(frozen=True, eq=False)
class Visual:
    """
    One <visual> of a link.

    Attributes:
        link: Name of the link.
        shape: mesh, box, cylinder or sphere.
        pose: Of the shape's frame in the link frame, shape (4, 4).
        size: Scale of the mesh [1]; sides of the box, or of the box around the other shapes [m].
        colour: Red, green, blue and opacity in 0 ... 1.
        address: Of the mesh, as the description writes it.
    """

    link: str
    shape: str
    pose: np.ndarray
    size: Vector3
    colour: Colour = GREY
    address: str = ''

    def surface(self, path: Path) -> Surface:
        """
        Return the triangles in the shape's frame.

        Args:
            path: The file of a mesh; unused for the primitives.

        Raises:
            ValueError: The mesh cannot be read; the text continues the file's name.
        """
        if self.shape == 'box':
            return box(self.size)
        if self.shape == 'cylinder':
            return cylinder(0.5 * self.size[0], self.size[2])
        if self.shape == 'sphere':
            return sphere(0.5 * self.size[0])
        found = read_surface(path)
        mirrored = np.prod(self.size) < 0.0
        triangles = found.triangles[:, ::-1] if mirrored else found.triangles
        return Surface(found.vertices * self.size, triangles)


def read_visuals(robot: Robot) -> list[Visual]:
    """
    Return the visuals of the links of a robot, in the order of the description.

    Raises:
        ModelError: A <visual> is wrong; the error names its link.
    """
    found: list[Visual] = []
    for text in robot.descriptions[:1]:
        root = ElementTree.fromstring(text)
        materials = {m.get('name', ''): m for m in root.findall('material')}
        for link in root.findall('link'):
            place = Place(robot.source, 'visual', link.get('name'))
            found += [
                _visual(visual, place, materials)
                for visual in link.findall('visual') if len(visual.find('geometry') or ())
            ]
    return found


def mesh_file(
    robot: Robot, address: str, base_dir: Optional[Path], packages: Mapping[str, Path]
) -> Path:
    """
    Return the file of a mesh.

    Args:
        robot: The robot.
        address: Path, file:// or package:// address.
        base_dir: Folder that relative paths start from; that of the description when None.
        packages: Folders of packages by name, before those that ROS finds.

    Raises:
        ValueError: There is none; the text continues its name.
    """
    if base_dir is None and robot.source != TEXT:
        base_dir = resolve_file(robot.source, Path()).resolve().parent
    return resolve_file(address, base_dir, packages)


def package_folders(words: Iterable[str], argument: str) -> dict[str, Path]:
    """
    Return folders of packages by name, from words NAME=PATH.

    Raises:
        ArgumentError: A word is none, or names no folder.
    """
    found: dict[str, Path] = {}
    for word in words:
        name, separator, path = word.partition('=')
        if not (name and separator):
            raise ArgumentError(argument, f'needs NAME=PATH, not "{word}"')
        if not Path(path).is_dir():
            raise ArgumentError(
                argument, f'names a folder that does not exist: "{path}". Correct it')
        found[name] = Path(path)
    return found


def _visual(visual: Element, place: Place, materials: Mapping[str, Element]) -> Visual:
    geometry = visual.find('geometry')
    assert geometry is not None
    shape = geometry[0]
    if shape.tag not in ('mesh', 'box', 'cylinder', 'sphere'):
        raise place.error(
            f'The geometry <{shape.tag}> is unknown', 'Use mesh, box, cylinder or sphere')
    needed = {'mesh': ('filename',), 'box': ('size',), 'cylinder': ('radius', 'length'),
              'sphere': ('radius',)}[shape.tag]
    for attribute in needed:
        if shape.get(attribute) is None:
            raise place.error(
                f'<{shape.tag}> has no {attribute}', f'Write its {attribute}="..."')
    size: Vector3 = (1.0, 1.0, 1.0)
    if shape.tag == 'mesh':
        size = place.read(shape, 'scale', vector3, size)
    elif shape.tag == 'box':
        size = place.read(shape, 'size', vector3, size)
    else:
        width = 2.0 * place.read(shape, 'radius', non_negative, 1.0)
        size = (width, width, place.read(shape, 'length', non_negative, width))
    return Visual(
        place.name or '', shape.tag, _pose(visual.find('origin'), place), size,
        _colour(visual.find('material'), place, materials), shape.get('filename', ''),
    )


def _pose(origin: Optional[Element], place: Place) -> np.ndarray:
    pose = np.eye(4)
    if origin is None:
        return pose
    pose[:3, 3] = place.read(origin, 'xyz', vector3, ZERO)
    pose[:3, :3] = place.read(origin, 'rpy', lambda t: rotation_from_rpy(vector3(t)), IDENTITY)
    if origin.get('quat_xyzw') is not None:
        pose[:3, :3] = Rotation.from_quat(
            place.read(origin, 'quat_xyzw', _four, GREY)).as_matrix()
    return pose


def _colour(
    material: Optional[Element], place: Place, materials: Mapping[str, Element]
) -> Colour:
    if material is not None and material.find('color') is None:
        material = materials.get(material.get('name', ''))
    colour = None if material is None else material.find('color')
    if colour is None:
        return GREY
    return place.read(colour, 'rgba', _four, GREY)


def _four(text: str) -> Colour:
    a, b, c, d = numbers(text, 4)
    return a, b, c, d
