# SPDX-License-Identifier: Apache-2.0
"""
A bar as a chain of rigid pieces behind springs, for programs of rigid bodies.

The same division as `<segments placement="centred">`, written anew from the bar's numbers. There
is half a piece at each end, and a hinge between two pieces. Its stiffness is that of the length
between the middles, EI / s and GJ / s.
"""

from __future__ import annotations

from dataclasses import dataclass

from validation.other_codes.arm import Bar


@dataclass(frozen=True)
class Piece:
    """
    A rigid piece of a bar, from x = 0 of its own frame on.

    Attributes:
        at: Place of its frame along the piece before it [m]; 0 for the first.
        length: [m].
        mass: [kg].
        moments: About its middle, along x, y and z [kg m^2].
    """

    at: float
    length: float
    mass: float
    moments: tuple[float, float, float]


def pieces(bar: Bar, count: int) -> list[Piece]:
    """Return the pieces of a bar from its root on."""
    s = bar.length / (count - 1)
    lengths = [s / 2.0, *[s] * (count - 2), s / 2.0]
    found, at = [], 0.0
    for length in lengths:
        mass = bar.mass * length / bar.length
        across = mass * length**2 / 12.0
        found.append(Piece(at, length, mass, (bar.polar_inertia * length, across, across)))
        at = length
    return found


def hinge_stiffness(bar: Bar, axis: str, count: int) -> float:
    """Return the stiffness of a hinge about an axis [N m/rad]."""
    s = bar.length / (count - 1)
    if axis == 'x':
        return bar.shear * bar.torsion_constant / s
    return bar.bending_stiffness / s
