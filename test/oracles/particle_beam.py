# SPDX-License-Identifier: Apache-2.0
"""
Rigid bodies and beams as particles, with the beams' stiffness and damping.

Shapes in beam axes: bending_y moves the centre line along y and turns cross-sections by +phi'
about z; bending_z moves it along z and turns them by -phi' about y; torsion turns them about x.
Where the beam stiffens geometrically, a point at x moves along the beam by -1/2 int_0^x |w'|^2
besides, w the deflection in both planes.
"""

from __future__ import annotations

from dataclasses import replace

from flexdyn_ros.model.link import Beam
from flexdyn_ros.model.link import Inertia
import numpy as np
from oracles.jets import as_jet
from oracles.jets import axis_rotation
from oracles.jets import Jet
from oracles.jets import moved_points
from oracles.jets import rotation_exponential
from oracles.jets import transform
from oracles.textbook_shapes import bending_shape
from oracles.textbook_shapes import torsion_shape

QUADRATURE_POINTS = 40


def gauss_points(length: float) -> tuple[np.ndarray, np.ndarray]:
    """Return Gauss-Legendre stations on [0, length] and their weights [m]."""
    x, w = np.polynomial.legendre.leggauss(QUADRATURE_POINTS)
    return 0.5 * length * (x + 1.0), 0.5 * length * w


def star(mass: float, com, second_moment, reach: float | None = None):
    """
    Return seven particles with a given mass, centre and second moment of mass about it.

    Args:
        mass: [kg].
        com: Centre [m].
        second_moment: Integral of r r^T dm about the centre (3, 3) [kg m^2]; any symmetric one.
        reach: Distance of the outer particles [m]; from the data where None.

    Returns:
        Masses (7,), some negative where the body is not physical, and points (7, 3).
    """
    values, vectors = np.linalg.eigh(np.asarray(second_moment, float))
    if reach is None:
        ratio = np.max(np.abs(values)) / abs(mass) if mass else 1.0
        reach = np.sqrt(ratio) if ratio > 0.0 else 1.0
    masses, points = [], []
    for value, vector in zip(values, vectors.T, strict=True):
        masses += [0.5 * value / reach**2] * 2
        points += [com + reach * vector, com - reach * vector]
    return np.array([*masses, mass - sum(masses)]), np.array([*points, com])


def rigid_particles(inertia: Inertia):
    """Return particles equivalent to a rigid body given in its link's axes."""
    matrix = np.asarray(inertia.matrix, float)
    second = 0.5 * np.trace(matrix) * np.eye(3) - matrix
    return star(inertia.mass, np.asarray(inertia.com, float), second)


def _shapes(beam: Beam, x, derivative: int = 0) -> list[tuple[str, np.ndarray]]:
    """Return (kind, shape at x) of every mode, in the order of the coordinates."""
    result = []
    for family in beam.families:
        shape = torsion_shape if family.kind == 'torsion' else bending_shape
        for k in range(1, family.count + 1):
            result.append((family.kind, shape(k, x, beam.length, derivative)))
    return result


def _drawn_in(beam: Beam, deltas: Jet, x) -> Jet:
    """Return -1/2 int_0^x |w'|^2 at x (P,) by integration of the bent line's slopes: (B, P)."""
    station, weight = gauss_points(1.0)
    inside = np.outer(x, station)
    slope = {'bending_y': as_jet(np.zeros(inside.shape)), 'bending_z': as_jet(0.0 * inside)}
    for k, (kind, value) in enumerate(_shapes(beam, inside, 1)):
        if kind in slope:
            slope[kind] = slope[kind] + deltas[:, k, None, None] * value
    squares = slope['bending_y'] * slope['bending_y'] + slope['bending_z'] * slope['bending_z']
    total = squares * (-0.5 * x[:, None] * weight)
    return Jet(*(part.sum(axis=-1) for part in (total.value, total.rate, total.accel)))


def _deformation(beam: Beam, deltas: Jet, x, stiffens: bool) -> tuple[Jet, Jet]:
    """Return deflection and cross-section rotation vector in beam axes at x (P,): (B, P, 3)."""
    x = np.atleast_1d(np.asarray(x, float))
    shift = as_jet(np.zeros((len(deltas.value), len(x), 3)))
    turn = as_jet(np.zeros((len(deltas.value), len(x), 3)))
    unit = np.eye(3)
    shapes, slopes = _shapes(beam, x), _shapes(beam, x, 1)
    for k, ((kind, shape), (_, slope)) in enumerate(zip(shapes, slopes, strict=True)):
        delta = deltas[:, k, None, None]
        if kind == 'bending_y':
            shift = shift + delta * (shape[:, None] * unit[1])
            turn = turn + delta * (slope[:, None] * unit[2])
        elif kind == 'bending_z':
            shift = shift + delta * (shape[:, None] * unit[2])
            turn = turn + delta * (-slope[:, None] * unit[1])
        elif kind == 'torsion':
            turn = turn + delta * (shape[:, None] * unit[0])
        else:
            raise ValueError(f'unknown mode family {kind}')
    if stiffens:
        shift = shift + _drawn_in(beam, deltas, x)[..., None] * unit[0]
    return shift, turn


def node_transform(beam: Beam, deltas: Jet, point, stiffens: bool = False) -> Jet:
    """
    Return the displacement of whatever rides on the cross-section nearest to a point.

    Args:
        beam: The beam.
        deltas: Its modal coordinates (B, n).
        point: Any point of the undeformed link, link axes [m]; its projection on the beam axis,
            held within the beam, chooses the cross-section.
        stiffens: Whether bending draws the beam in along its axis.

    Returns:
        Transform (B, 4, 4) that carries undeformed points of the link to their places.
    """
    axes = np.asarray(beam.axes, float)
    x = float(np.clip(axes[:, 0] @ np.asarray(point, float), 0.0, beam.length))
    shift, turn = _deformation(beam, deltas, x, stiffens)
    shift, turn = shift[:, 0], turn[:, 0]
    rotation = axes @ rotation_exponential(turn[:, 0], turn[:, 1], turn[:, 2]) @ axes.T
    centre = np.array([x, 0.0, 0.0])
    place = moved_points(transform(axes, np.zeros(3)), (shift + centre)[:, None])[:, 0]
    return transform(rotation, place) @ transform(np.eye(3), -axes[:, 0] * x)


def beam_particles(beam: Beam, deltas: Jet, stiffens: bool = False):
    """Yield (masses, points in link axes) of the centre line, line inertias, point masses."""
    axes = transform(np.asarray(beam.axes, float), np.zeros(3))
    x, weights = gauss_points(beam.length)
    shift, turn = _deformation(beam, deltas, x, stiffens)
    line = np.stack((x, 0.0 * x, 0.0 * x), axis=1)
    yield beam.mass / beam.length * weights, moved_points(axes, shift + line)
    for axis, moment in _line_inertias(beam):
        yield _spinning_stars(axis, moment * weights, turn[..., axis], axes)
    for mass in beam.point_masses:
        place = np.asarray(beam.axes, float)[:, 0] * (mass.at * beam.length)
        node = node_transform(beam, deltas, place, stiffens)
        matrix = np.asarray(beam.axes) @ np.diag(mass.inertia) @ np.asarray(beam.axes).T
        masses, points = rigid_particles(Inertia(mass.mass, tuple(place), matrix))
        yield masses, moved_points(node, points)


def _line_inertias(beam: Beam) -> list[tuple[int, float]]:
    """Return (beam axis, line inertia about it [kg m]) of the cross-sections."""
    if beam.area is None:
        return []
    density = beam.mass / (beam.area * beam.length)
    result = [(0, density * (beam.polar or 0.0))]
    if beam.rotary_inertia:
        result += [(1, density * (beam.iy or 0.0)), (2, density * (beam.iz or 0.0))]
    return [(axis, inertia) for axis, inertia in result if inertia]


def _spinning_stars(axis: int, inertias, angles: Jet, axes: Jet):
    """
    Return massless stars whose kinetic energy is 1/2 c (w + theta')^2 about one beam axis.

    Second moments c/2, c/2 across the axis and -c/2 along it have the inertia c about the axis
    and none about any other; the star turns by theta about the axis.
    """
    unit = np.eye(3)[axis]
    masses, points = star(0.0, np.zeros(3), 0.5 * np.eye(3) - np.outer(unit, unit), reach=1.0)
    turned = axis_rotation(unit, angles)
    parts = [np.moveaxis(part, -1, -2) for part in (turned.value, turned.rate, turned.accel)]
    stars = as_jet(points) @ Jet(*parts)
    shape = (len(angles.value), -1, 3)
    flat = Jet(*(part.reshape(shape) for part in (stars.value, stars.rate, stars.accel)))
    return np.outer(inertias, masses).ravel(), moved_points(axes, flat)


def beam_stiffness(beam: Beam) -> np.ndarray:
    """Return the stiffness matrix of the modes, integrals of EI phi'' phi'' and GJ psi' psi'."""
    x, weights = gauss_points(beam.length)
    modes = []
    for kind, slope in _shapes(beam, x, 1):
        modes.append((kind, slope))
    count = 0
    for family in beam.families:
        for k in range(1, family.count + 1):
            if family.kind != 'torsion':
                modes[count] = (family.kind, bending_shape(k, x, beam.length, 2))
            count += 1
    rigidity = {
        'bending_y': lambda: beam.young * beam.iz,
        'bending_z': lambda: beam.young * beam.iy,
        'torsion': lambda: beam.shear * beam.j,
    }
    matrix = np.zeros((len(modes), len(modes)))
    for i, (kind_i, curve_i) in enumerate(modes):
        for j, (kind_j, curve_j) in enumerate(modes):
            if kind_i == kind_j:
                matrix[i, j] = rigidity[kind_i]() * np.sum(weights * curve_i * curve_j)
    return matrix


def beam_modal_masses(beam: Beam) -> np.ndarray:
    """Return each mode's own kinetic coefficient, link frame held, point masses apart (n,)."""
    beam = replace(beam, point_masses=())
    count = len(beam.mode_names)
    still = np.zeros((count, count))
    deltas = Jet(still, np.eye(count), still)
    masses = np.zeros(count)
    for cloud, points in beam_particles(beam, deltas):
        speed = np.broadcast_to(points.rate, (count, len(cloud), 3))
        masses += np.einsum('p,ipk->i', cloud, speed**2)
    return masses


def beam_damping(beam: Beam) -> np.ndarray:
    """Return each mode's damping 2 zeta sqrt(k m), from its own stiffness and modal mass (n,)."""
    ratios = np.concatenate([np.full(f.count, f.damping_ratio) for f in beam.families])
    return 2.0 * ratios * np.sqrt(np.diag(beam_stiffness(beam)) * beam_modal_masses(beam))
