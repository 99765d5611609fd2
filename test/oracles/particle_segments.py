# SPDX-License-Identifier: Apache-2.0
"""Links in segments as particles: rods between hinges, each hinge a turn about a fixed point."""

from __future__ import annotations

import re

from flexdyn_ros.model.records.inertia import Inertia
import numpy as np
from oracles.jets import as_jet, axis_rotation, Jet, moved_points, transform
from oracles.particle_beam import rigid_particles, star
from scipy.linalg import eigh


def hinges(segments) -> np.ndarray:
    """Return the distances of the passive joints along the beam [m]."""
    length, n = segments.beam.length, segments.count
    if segments.placement == 'centred':
        return (np.arange(n - 1) + 0.5) * length / (n - 1)
    return np.arange(1, n) * length / n


def holder(segments, point) -> int:
    """Return the number of the body that holds a point of the link."""
    distance = np.asarray(segments.beam.axes)[:, 0] @ np.asarray(point, float)
    return int(np.sum(hinges(segments) < distance - 1e-12 * segments.beam.length))


def carriers(segments, deltas: Jet) -> list[Jet]:
    """Return transforms (B, 4, 4) of undeformed points of each body, in link axes."""
    axes = np.asarray(segments.beam.axes, float)
    found, carrier, k = [as_jet(np.eye(4))], as_jet(np.eye(4)), 0
    for distance in hinges(segments):
        pivot = axes[:, 0] * distance
        for name in segments.directions:
            turn = axis_rotation(axes[:, 'xyz'.index(name)], deltas[:, k])
            carrier = carrier @ transform(np.eye(3), pivot) @ transform(turn, np.zeros(3))
            carrier = carrier @ transform(np.eye(3), -pivot)
            k += 1
        found.append(carrier)
    return found


def node_transform(segments, deltas: Jet, point) -> Jet:
    """Return the transform of the body that holds a point."""
    return carriers(segments, deltas)[holder(segments, point)]


def segment_particles(segments, deltas: Jet, point_masses: bool = True):
    """Yield (masses, points in link axes) of the rods and of the point masses."""
    beam = segments.beam
    axes = np.asarray(beam.axes, float)
    ends = np.array([0.0, *hinges(segments), beam.length])
    moved = carriers(segments, deltas)
    x, w = np.polynomial.legendre.leggauss(3)
    polar = 0.0
    if beam.area:
        polar = beam.mass / (beam.area * beam.length) * (beam.polar or 0.0)
    along = np.outer(axes[:, 0], axes[:, 0])
    for low, high, carrier in zip(ends[:-1], ends[1:], moved, strict=True):
        length = high - low
        at = low + 0.5 * length * (x + 1.0)
        line = 0.5 * length * w * beam.mass / beam.length
        yield line, moved_points(carrier, np.outer(at, axes[:, 0]))
        inertia = polar * length
        masses, points = star(
            0.0, 0.5 * (low + high) * axes[:, 0], inertia * (0.5 * np.eye(3) - along), reach=1.0
        )
        yield masses, moved_points(carrier, points)
    if not point_masses:
        return
    for mass in beam.point_masses:
        place = axes[:, 0] * (mass.at * beam.length)
        matrix = axes @ np.diag(mass.inertia) @ axes.T
        masses, points = rigid_particles(Inertia(mass.mass, tuple(place), matrix))
        yield masses, moved_points(moved[holder(segments, place)], points)


def stiffness_and_damping(segments) -> tuple[np.ndarray, np.ndarray]:
    """Return the stiffness and damping of each passive coordinate, in their order, (m,)."""
    beam, n = segments.beam, len(segments.mode_names)
    s = beam.length / (segments.count - (segments.placement == 'centred'))
    rigidity = {
        'x': lambda: beam.shear * beam.j, 'y': lambda: beam.young * beam.iy,
        'z': lambda: beam.young * beam.iz,
    }
    axis = np.array(list(segments.directions) * (segments.count - 1))
    stiffness = np.array([rigidity[name]() / s for name in axis])
    still = np.zeros((n, n))
    deltas, mass = Jet(still, np.eye(n), still), np.zeros((n, n))
    for cloud, points in segment_particles(segments, deltas, point_masses=False):
        rate = np.broadcast_to(points.rate, (n, len(cloud), 3))
        mass += np.einsum('ipk,p,jpk->ij', rate, cloud, rate)
    damping = np.zeros(n)
    for name in segments.directions:
        own = np.flatnonzero(axis == name)
        first = eigh(np.diag(stiffness[own]), mass[np.ix_(own, own)], eigvals_only=True)[0]
        damping[own] = 2.0 * segments.damping_ratio / np.sqrt(first) * stiffness[own]
    return stiffness, damping


def in_segments(text: str, counts, every: int = 1) -> str:
    """
    Return a random robot's URDF with some of its beams cut into segments.

    Args:
        text: Text of `random_robot_urdf`.
        counts: (count, directions, placement) of one link after the other, over and over.
        every: Only each such beam, counted from the first.
    """
    number = -1

    def cut(match):
        nonlocal number
        number += 1
        if number % every:
            return match[0]
        count, directions, placement = counts[number // every % len(counts)]
        head = match[1].replace(' geometric_stiffening="false"', '')
        data = re.sub(r' rotary_inertia="\w+"', '', match[2])
        masses = ''.join(re.findall(r'<point_mass [^>]*/>', match[3]))
        friction = '<friction viscous="0.3" coulomb="0.2" smoothing_velocity="0.1"/>'
        return (
            f'{head}<segments count="{count}" directions="{directions}" placement="{placement}" '
            f'damping_ratio="0.03"{data}>{masses}{friction if number == 0 else ""}</segments>'
            '</flexible_link>'
        )

    pattern = r'(<flexible_link [^>]*>)<beam( [^>]*)>(.*?)</beam></flexible_link>'
    return re.sub(pattern, cut, text)
