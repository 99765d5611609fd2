# SPDX-License-Identifier: Apache-2.0
"""Tests of the mass and inertia of links, and remarks on their units, density and size."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
import math
from pathlib import Path
from typing import Any, Iterator, Optional
from xml.etree.ElementTree import Element, fromstring

from flexdyn_ros.model.beam.inertia import link_moments
from flexdyn_ros.model.check_joints import Remark
from flexdyn_ros.model.records.base import rotation_from_rpy
from flexdyn_ros.model.records.inertia import failed_tests, principal_moments
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.urdf.document import resolve_file
from flexdyn_ros.model.urdf.values import numbers, vector3
import numpy as np

# Bytes of a mesh that is read.
LARGEST = 2**23
# Mass [kg] and sizes of hulls and lengths [m] below which vendors place stand-ins.
_LEAST, _SMALL, _SHORT = 0.01, 0.02, 0.1
# Radius of gyration over half the diagonal of a hull, which no body in it exceeds; geometry for
# collisions may be smaller than its link.
_WIDE = 1.5
# Density of the lightest foam [kg/m^3].
LIGHTEST = 10.0
# Radius of gyration beyond which an inertia is not of a link. It is so many times the robot's
# reach, or a reach of 1 m where it is shorter. Wrong units, mm^2 for m^2, give a thousand times.
FAR = 3.0
# Units that explain an inertia: factors of mass and moments that make them kg and kg m^2.
_UNITS = (
    ('moments are in kg mm^2', 1.0, 1e-6), ('moments are in g mm^2', 1.0, 1e-9),
    ('moments are in kg cm^2', 1.0, 1e-4), ('moments are in g cm^2', 1.0, 1e-7),
    ('the mass is in g', 1e-3, 1.0), ('the mass is in t', 1e3, 1.0),
    ('mass and moments are in g and g m^2', 1e-3, 1e-3),
    ('mass and moments are in g and g mm^2', 1e-3, 1e-9),
)
# Density that no material exceeds, osmium's [kg/m^3].
DENSEST = 22600.0
# Density of steel, which heavy links do not exceed [kg/m^3].
ORDINARY = 7850.0


@dataclass(frozen=True)
class LinkReport:
    """
    A link's row in the table of `flexdyn check`, for its undeformed whole.

    Attributes:
        name: Its name.
        mass: Mass [kg], of hub, beam and point masses.
        principal_moments: About the centre of mass, ascending [kg m^2].
        failed: Tests that failed: "mass", "positive" (a negative principal moment),
            "triangle" (the largest moment exceeds the sum of the others).
        excess: Excess of the worst test, relative to the largest moment.
        beam_share: Largest share of the mass of `<inertial>` that the beam can take. None where
            there is no beam or it has a mass of its own.
    """

    name: str
    mass: float
    principal_moments: tuple[float, float, float]
    failed: tuple[str, ...] = ()
    excess: float = 0.0
    beam_share: Optional[float] = None


def link_report(link: Link) -> LinkReport:
    """Return the link's principal moments and the tests on them that fail."""
    whole = link_moments(link)
    if link.undeformed_beam is None and link.modal is None and link.inertia is not None:
        matrix = np.array(link.inertia.matrix)  # as written, without rounding by shifts
    else:
        matrix = whole.about_com()
    moments = principal_moments(whole.mass, matrix)
    failed = failed_tests(whole.mass, moments)
    beam = link.undeformed_beam
    return LinkReport(
        link.name, whole.mass, moments, tuple(failed), max(failed.values(), default=0.0),
        None if beam is None else beam.share,
    )


def reach(robot: Robot) -> float:
    """Return the largest sum of distances between joints, and to a centre of mass or tip [m]."""
    distance = {robot.root: 0.0}
    for joint in robot.joints:
        length = float(np.linalg.norm(joint.origin.position))
        distance[joint.child] = distance[joint.parent] + length
    found = 0.0
    for link in robot.links:
        beam, inertia = link.undeformed_beam, link.inertia
        length = 0.0 if inertia is None else float(np.linalg.norm(inertia.com))
        length = length if beam is None else max(length, beam.length)
        length = length if link.modal is None else max(length, link.modal.size)
        found = max(found, distance[link.name] + length)
    return found


def is_too_dense(mass: float, moments: float, density: float = DENSEST) -> bool:
    """Return whether a body with this sum of moments is denser than a material."""
    # Of all bodies with a volume a ball has the smallest sum of moments, 6/5 m r^2.
    ball = (3.0 * mass / (4.0 * math.pi * density)) ** (1.0 / 3.0)
    return moments < 1.2 * mass * ball**2


def explaining_units(mass: float, moments: float, size: float) -> str:
    """Return the units with which an inertia is that of a link of the robot, as advice."""
    for units, mass_factor, factor in _UNITS:
        own, sum_of_moments = mass_factor * mass, factor * moments
        radius = (sum_of_moments / (2.0 * own)) ** 0.5
        dense = own < 0.01 or is_too_dense(own, sum_of_moments, ORDINARY)
        if radius < max(size, 0.1) and not dense:
            return (f'Perhaps {units}: multiply <mass> by {mass_factor:g} and <inertia> by '
                    f'{factor:g} for kg and kg m^2')
    return ''


def size_remarks(robot: Robot, base_dir: Optional[Path]) -> Iterator[tuple[str, Remark]]:
    """
    Yield names of links, and remarks on inertia that their geometry or length contradicts.

    Args:
        robot: As it was read from a description.
        base_dir: Folder that relative file names start from.
    """
    hulls = {name: size for name, *size in link_hulls(robot, base_dir)}
    far = FAR * max(reach(robot), 1.0)  # reported by check_links.py
    for link in robot.links:
        report = link_report(link)
        mass, moments = report.mass, sum(report.principal_moments)
        radius = (max(moments, 0.0) / (2.0 * mass)) ** 0.5 if mass > _LEAST else 0.0
        if not radius or report.failed or radius > far:
            continue
        across, volume = hulls.get(link.name, (0.0, 0.0))
        if across > _SMALL:
            wide, what = 0.5 * _WIDE * across, f'a geometry {across:.3g} m across'
            density = mass / volume
        else:
            ends = [j.origin.position for j in robot.joints if j.parent == link.name]
            ends += [] if link.inertia is None else [link.inertia.com]
            across = max((float(np.linalg.norm(end)) for end in ends), default=0.0)
            if across < _SHORT:
                continue
            wide, what = FAR * across, f'a link {across:.3g} m long'
            density = max(mass / (2.0 * across)**3, LIGHTEST)  # it may reach beyond its joints
        if radius > wide:
            yield link.name, (
                'warning', f'a radius of gyration of {radius:.3g} m is too large for {what}',
                explaining_units(mass, moments, across) or
                'Write its <inertia> about the centre of mass in kg m^2')
        if not LIGHTEST <= density < DENSEST:
            factor, unit = (1e-3, 'g') if density > DENSEST else (1e3, 't')
            yield link.name, (
                'warning', f'a mass of {mass:.4g} kg in {what} gives a density of '
                f'{density:.3g} kg/m^3, which no material has',
                f'Write <mass> in kg: {mass:.4g} {unit} are {factor * mass:.4g} kg; and '
                'geometry in m')


def link_hulls(robot: Robot, base_dir: Optional[Path]) -> Iterator[tuple[str, float, float]]:
    """
    Yield names of links and sizes of their geometry: diagonal [m] and volume of its hull [m^3].

    Boxes, cylinders and spheres count by the boxes about them; meshes where trimesh and the file
    are found. Geometry of collisions has precedence over that of visuals.

    Args:
        robot: As it was read from a description.
        base_dir: Folder that relative file names start from.
    """
    for link in fromstring(robot.descriptions[0]).iter('link') if robot.descriptions else ():
        for tag in ('collision', 'visual'):
            found = [_points(element, base_dir) for element in link.findall(tag)]
            points = [each for each in found if each is not None]
            if points and len(points) == len(found):
                # Imported when first needed: descriptions without geometry are checked quickly.
                from scipy.spatial import ConvexHull, QhullError

                whole = np.concatenate(points)
                with suppress(QhullError, ValueError):  # flat
                    yield (link.get('name', ''), float(np.linalg.norm(np.ptp(whole, axis=0))),
                           float(ConvexHull(whole).volume))
                break


def _points(element: Element, base_dir: Optional[Path]) -> Optional[np.ndarray]:
    """Return points around a <collision> or <visual> in link axes, (n, 3) [m], or None."""
    for shape in element.find('geometry') if element.find('geometry') is not None else ():
        with suppress(ValueError, KeyError):
            own = _mesh(shape, base_dir) if shape.tag == 'mesh' else _box(shape)
            origin = element.find('origin')
            place = {} if origin is None else origin.attrib
            turn = rotation_from_rpy(vector3(place.get('rpy', '0 0 0')))
            return own @ np.transpose(turn) + vector3(place.get('xyz', '0 0 0'))
    return None


def _box(shape: Element) -> np.ndarray:
    if shape.tag == 'box':
        size = np.array(vector3(shape.attrib['size']))
    else:
        across = 2.0 * numbers(shape.attrib['radius'], 1)[0]
        along = numbers(shape.attrib['length'], 1)[0] if shape.tag != 'sphere' else across
        size = np.array([across, across, along])
    return 0.5 * size * (2.0 * np.indices((2, 2, 2)).reshape(3, 8).T - 1.0)


def _mesh(shape: Element, base_dir: Optional[Path]) -> np.ndarray:
    """Return the vertices of a mesh; raise ValueError where it cannot be read."""
    path = resolve_file(shape.attrib['filename'], base_dir)
    if path.stat().st_size > LARGEST:
        raise ValueError('is too large')
    try:
        import trimesh

        mesh: Any = trimesh.load(path, force='mesh')
        vertices = np.array(mesh.vertices)
    except Exception:  # of its many readers, or it is not installed
        raise ValueError('cannot be read') from None
    if not len(vertices) or not np.isfinite(vertices).all():
        raise ValueError('has no vertices')
    return vertices * np.array(vector3(shape.get('scale', '1 1 1')))
