# SPDX-License-Identifier: Apache-2.0
"""
Rigid bodies and beams as particles, with the beams' stiffness and damping.

Shapes in beam axes: bending_y moves the centre line along y and turns cross-sections by +phi'
about z. bending_z moves it along z and turns them by -phi' about y. Torsion turns them about x.
Where the beam stiffens geometrically, a point at x moves along the beam by -1/2 int_0^x |w'|^2
besides, w the deflection in both planes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from flexdyn_ros.model.records.beam import Beam, ModeFamily
from flexdyn_ros.model.records.inertia import Inertia
import numpy as np
from oracles.beam_states import (
    carried_mass,
    family_matrices,
    family_samplers,
    piece_at,
    pieces,
    quadrature,
)
from oracles.jets import as_jet, axis_rotation, Jet, moved_points, rotation_exponential, transform
from oracles.textbook_shapes import bending_shape, torsion_shape
from scipy.linalg import block_diag, eigh

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
    """
    Return (kind, shape at x) of every mode, in the order of the coordinates.

    Args:
        beam: The beam.
        x: Places [m], of any shape.
        derivative: 0, 1 or 2; 2 is that of the section's rotation.
    """
    return _fields(beam, x, ('value', 'slope', 'curvature')[derivative])


def _is_plain(beam: Beam, family: ModeFamily) -> bool:
    """Return whether textbooks print the family's shapes: a uniform beam without options."""
    plain = ModeFamily(family.kind, family.count, family.damping_ratio)
    return family == plain and family.kind != 'axial' and not (beam.stations or beam.carried)


def _fields(beam: Beam, x, field: str) -> list[tuple[str, np.ndarray]]:
    x = np.asarray(x, float)
    return _fields_at(beam, x.tobytes(), x.shape, field)


@lru_cache(maxsize=256)
def _fields_at(
    beam: Beam, places: bytes, shape_of_x: tuple[int, ...], field: str
) -> list[tuple[str, np.ndarray]]:
    """Return a field of every mode; a motion reads the same places again and again."""
    x = np.frombuffer(places).reshape(shape_of_x)
    result = []
    for family in beam.families:
        if _is_plain(beam, family) and field != 'curvature':
            shape = bending_shape if family.kind.startswith('bending') else torsion_shape
            order = 0 if field == 'value' else 1
            values = [shape(k, x, beam.length, order) for k in range(1, family.count + 1)]
        else:
            flat = np.ravel(x)
            values = [
                np.reshape(sample(flat, field), np.shape(x))
                for sample in family_samplers(beam, family)
            ]
        result += [(family.kind, value) for value in values]
    return result


def _drawn_in(beam: Beam, deltas: Jet, x) -> Jet:
    """Return -1/2 int_0^x |w'|^2 at x (P,) by integration of the bent line's slopes: (B, P)."""
    station, weight = gauss_points(1.0)
    drawn = as_jet(np.zeros((len(deltas.value), len(x))))
    for piece in pieces(beam):
        reach = np.clip(np.minimum(x, piece.end) - piece.start, 0.0, None)[:, None]
        inside = piece.start + reach * station
        slope = {'bending_y': as_jet(0.0 * inside), 'bending_z': as_jet(0.0 * inside)}
        for k, (kind, value) in enumerate(_shapes(beam, inside, 1)):
            if kind in slope:
                slope[kind] = slope[kind] + deltas[:, k, None, None] * value
        squares = slope['bending_y'] * slope['bending_y'] + slope['bending_z'] * slope['bending_z']
        total = squares * (-0.5 * reach * weight)
        drawn = drawn + Jet(*(part.sum(axis=-1) for part in (
            total.value, total.rate, total.accel)))
    return drawn


def _deformation(beam: Beam, deltas: Jet, x, stiffens: bool) -> tuple[Jet, Jet]:
    """Return deflection and cross-section rotation vector in beam axes at x (P,): (B, P, 3)."""
    x = np.atleast_1d(np.asarray(x, float))
    shift = as_jet(np.zeros((len(deltas.value), len(x), 3)))
    turn = as_jet(np.zeros((len(deltas.value), len(x), 3)))
    unit = np.eye(3)
    shapes, turns = _shapes(beam, x), _fields(beam, x, 'turn')
    for k, ((kind, shape), (_, slope)) in enumerate(zip(shapes, turns, strict=True)):
        delta = deltas[:, k, None, None]
        if kind == 'bending_y':
            shift = shift + delta * (shape[:, None] * unit[1])
            turn = turn + delta * (slope[:, None] * unit[2])
        elif kind == 'bending_z':
            shift = shift + delta * (shape[:, None] * unit[2])
            turn = turn + delta * (-slope[:, None] * unit[1])
        elif kind == 'torsion':
            turn = turn + delta * (shape[:, None] * unit[0])
        elif kind == 'axial':
            shift = shift + delta * (shape[:, None] * unit[0])
        else:
            raise ValueError(f'unknown mode family {kind}')
    if stiffens:
        shift = shift + _drawn_in(beam, deltas, x)[..., None] * unit[0]
    return shift, turn


def node_transform(beam: Beam, deltas: Jet, point, stiffens: bool = False) -> Jet:
    """
    Return the displacement of a body on the cross-section nearest to a point.

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
    x, weights = quadrature(beam)
    shift, turn = _deformation(beam, deltas, x, stiffens)
    line = np.stack((x, 0.0 * x, 0.0 * x), axis=1)
    density = np.array([piece_at(beam, z).line for z in x])
    yield density * weights, moved_points(axes, shift + line)
    for axis, moment in _line_inertias(beam, x):
        yield _spinning_stars(axis, moment * weights, turn[..., axis], axes)
    for mass in beam.point_masses:
        place = np.asarray(beam.axes, float)[:, 0] * (mass.at * beam.length)
        node = node_transform(beam, deltas, place, stiffens)
        matrix = np.asarray(beam.axes) @ np.diag(mass.inertia) @ np.asarray(beam.axes).T
        masses, points = rigid_particles(Inertia(mass.mass, tuple(place), matrix))
        yield masses, moved_points(node, points)


def _line_inertias(beam: Beam, x) -> list[tuple[int, np.ndarray]]:
    """Return (beam axis, line inertia about it at x [kg m]) of the cross-sections."""
    found = [piece_at(beam, z) for z in x]
    names = ('polar', 'iy', 'iz') if beam.rotary_inertia else ('polar',)
    rows = [[p.line / p.area * getattr(p, n) if p.area else 0.0 for p in found] for n in names]
    return [(axis, np.array(row)) for axis, row in enumerate(rows) if any(row)]


def _spinning_stars(axis: int, inertias, angles: Jet, axes: Jet):
    """
    Return massless stars whose kinetic energy is 1/2 c (w + theta')^2 about one beam axis.

    Second moments c/2, c/2 across the axis and -c/2 along it have the inertia c about the axis and
    none about any other. The star turns by theta about the axis.
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
    """Return the stiffness matrix of the modes, family by family: families do not couple."""
    return block_diag(*(_family_stiffness(beam, family) for family in beam.families))


def _family_stiffness(beam: Beam, family: ModeFamily) -> np.ndarray:
    if not _is_plain(beam, family):
        return family_matrices(beam, family, family_samplers(beam, family))[0]
    x, weights = gauss_points(beam.length)
    numbers = range(1, family.count + 1)
    if family.kind == 'torsion':
        rigidity = beam.shear * beam.j
        strains = [torsion_shape(k, x, beam.length, 1) for k in numbers]
    else:
        rigidity = beam.young * (beam.iz if family.kind == 'bending_y' else beam.iy)
        strains = [bending_shape(k, x, beam.length, 2) for k in numbers]
    return rigidity * np.einsum('n,in,jn->ij', weights, strains, strains)


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
    """Return the damping matrix: modal ratios, Rayleigh and loss factor, (n, n)."""
    ratios = np.concatenate([np.broadcast_to(f.damping_ratio, f.size) for f in beam.families])
    stiffness = beam_stiffness(beam)
    mass = np.diag(beam_modal_masses(beam))
    if beam.carried or beam.rayleigh_mass or beam.loss_factor:
        mass = _own_mass(beam)
    damping = np.diag(2.0 * ratios * np.sqrt(np.diag(stiffness) * np.diag(mass)))
    damping += beam.rayleigh_mass * mass + beam.rayleigh_stiffness * stiffness
    if beam.loss_factor:
        squares, vectors = eigh(stiffness, mass)
        for square, vector in zip(squares, vectors.T):
            momentum = mass @ vector
            damping += beam.loss_factor * np.sqrt(square) * np.outer(momentum, momentum)
    return damping


def _own_mass(beam: Beam) -> np.ndarray:
    """Return the modal mass of the beam and of the bodies on its loaded modes, (n, n)."""
    bare = replace(beam, point_masses=())
    count = len(beam.mode_names)
    still = np.zeros((count, count))
    mass = np.zeros((count, count))
    for cloud, points in beam_particles(bare, Jet(still, np.eye(count), still)):
        speed = np.broadcast_to(points.rate, (count, len(cloud), 3))
        mass += np.einsum('p,ipk,jpk->ij', cloud, speed, speed)
    carried = [carried_mass(beam, f, family_samplers(beam, f)) for f in beam.families]
    return mass + block_diag(*carried)
