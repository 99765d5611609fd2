# SPDX-License-Identifier: Apache-2.0
"""Properties of a beam's cross-section along its length, and the mass that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
import math

from flexdyn_ros.model.records.base import symmetric_matrix3
from flexdyn_ros.model.records.beam import Beam
from flexdyn_ros.model.records.inertia import Inertia
import numpy as np

# Of similar sections on a cone, area and mass follow the square of the size, second moments its
# fourth power. Their roots are linear.
_CONICAL_POWER = {
    'linear_density': 2, 'area': 2, 'iy': 4, 'iz': 4, 'j': 4, 'polar': 4, 'iyz': 4,
}  # fmt: skip
# Fractions of the length closer than this are one place.
SAME_PLACE = 1e-9
# Gauss points between two stations.
_POINTS = 24


@dataclass(frozen=True)
class Section:
    """
    Properties at n points; zero where the beam does not give them.

    Attributes:
        linear_density: [kg/m].
        axial: EA [N].
        bending_y: E iz, of deflection along y [N m^2].
        bending_z: E iy, of deflection along z [N m^2].
        torsion: GJ [N m^2].
        shear: GA, without a shear coefficient [N].
        rotary: Rotary inertia per length about the beam's axes, shape (n, 3) [kg m]: polar
            inertia, and that about y and z with `rotary_inertia`.
        bending_yz: E iyz, which couples both deflections [N m^2].
        rotary_yz: Product of inertia per length, -rho iyz with `rotary_inertia`, (n,) [kg m].
    """

    linear_density: np.ndarray
    axial: np.ndarray
    bending_y: np.ndarray
    bending_z: np.ndarray
    torsion: np.ndarray
    shear: np.ndarray
    rotary: np.ndarray
    bending_yz: np.ndarray
    rotary_yz: np.ndarray


def section_at(beam: Beam, x: np.ndarray) -> Section:
    """
    Return the properties at fractions x of the length, shape (n,).

    Between stations each property runs linearly, or as on a cone.
    """
    values = {
        name: _property(beam, name, x) for name in (
            'linear_density', 'young', 'shear', 'area', 'iy', 'iz', 'j', 'polar', 'iyz')
    }
    young, shear = values['young'], values['shear']
    rotary = np.zeros((len(x), 3))
    density = np.zeros(len(x))
    if np.any(values['area']):
        density = values['linear_density'] / values['area']
    rotary[:, 0] = density * values['polar']
    if beam.rotary_inertia:
        rotary[:, 1], rotary[:, 2] = density * values['iy'], density * values['iz']
    return Section(
        linear_density=values['linear_density'],
        axial=young * values['area'],
        bending_y=young * values['iz'],
        bending_z=young * values['iy'],
        torsion=shear * values['j'],
        shear=shear * values['area'],
        rotary=rotary,
        bending_yz=young * values['iyz'],
        rotary_yz=-density * values['iyz'] * beam.rotary_inertia,
    )


def _property(beam: Beam, name: str, x: np.ndarray) -> np.ndarray:
    """Return one property at fractions x."""
    if not beam.stations:
        value = beam.mass / beam.length if name == 'linear_density' else getattr(beam, name)
        return np.full(len(x), value or 0.0)
    at = np.array([station.at for station in beam.stations])
    given = np.array([getattr(station, name) or 0.0 for station in beam.stations])
    power = _CONICAL_POWER.get(name, 1) if beam.interpolation == 'conical' else 1
    signed = np.interp(x, at, np.sign(given) * np.abs(given) ** (1.0 / power))
    return np.sign(signed) ** (power + 1) * signed**power


def knots(beam: Beam) -> tuple[float, ...]:
    """Return the fractions of the length between which shapes are smooth, from 0 to 1."""
    places = [*(s.at for s in beam.stations), *(body.at for body in beam.carried)]
    found = [0.0]
    for place in sorted(places):
        if found[-1] + SAME_PLACE < place < 1.0 - SAME_PLACE:
            found.append(place)
    return (*found, 1.0)


def quadrature(beam: Beam, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Gauss points and weights on (0, 1), so many between each two knots."""
    x, weight = gauss_legendre(points)
    ends = knots(beam)
    pieces = [(a, b - a) for a, b in zip(ends, ends[1:])]
    return (
        np.concatenate([a + 0.5 * size * (x + 1.0) for a, size in pieces]),
        np.concatenate([0.5 * size * weight for _, size in pieces]),
    )


@lru_cache(maxsize=None)
def gauss_legendre(points: int) -> tuple[np.ndarray, np.ndarray]:
    """
    Return Gauss points and weights on (-1, 1), to the last digit.

    Those of numpy are off by up to 1e-14, by its version, and integrals of mode shapes with them.
    """
    polynomial = np.polynomial.legendre.Legendre.basis(points)
    slope = polynomial.deriv()
    x = np.polynomial.legendre.leggauss(points)[0].astype(np.longdouble)
    x -= polynomial(x) / slope(x)
    return x.astype(float), (2.0 / ((1.0 - x * x) * slope(x) ** 2)).astype(float)


def relative_area(at: list[float], area: list[float], interpolation: str) -> float:
    """Return the mean over (0, 1) of a property that runs as areas do, from values at places."""
    total = 0.0
    for (start, left), (end, right) in zip(zip(at, area), zip(at[1:], area[1:])):
        mean = 0.5 * (left + right)
        if interpolation == 'conical':
            mean = (left + math.sqrt(left * right) + right) / 3.0
        total += (end - start) * mean
    return total


def mean_area(beam: Beam) -> float:
    """Return the mean area of a beam's cross-sections [m^2]; zero where it has none."""
    at = [station.at for station in beam.stations] or [0.0, 1.0]
    area = [station.area or 0.0 for station in beam.stations] or 2 * [beam.area or 0.0]
    return relative_area(at, area, beam.interpolation)


def beam_inertia(beam: Beam) -> Inertia:
    """
    Return the inertia of the undeformed beam, without its point masses, in link axes.

    A slender rod, m L^2 / 12 about its centre across a uniform beam, and the rotary inertia of its
    cross-sections.
    """
    fraction, across = 0.5, beam.mass * beam.length**2 / 12.0
    at, weight = quadrature(beam, _POINTS)
    section = section_at(beam, at)
    if beam.stations and beam.mass:
        line = weight * section.linear_density * beam.length
        fraction = float(line @ at) / beam.mass
        across = float(line @ (at - fraction) ** 2) * beam.length**2
    moments = np.array([0.0, across, across]) + weight @ section.rotary * beam.length
    axes, matrix = np.array(beam.axes), np.diag(moments)
    matrix[1, 2] = matrix[2, 1] = weight @ section.rotary_yz * beam.length
    x, y, z = (fraction * beam.length * axes[:, 0]).tolist()
    return Inertia(beam.mass, (x, y, z), symmetric_matrix3(axes @ matrix @ axes.T))
