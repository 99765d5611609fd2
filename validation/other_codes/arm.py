# SPDX-License-Identifier: Apache-2.0
"""Arms of square solid bars, as numbers that every program is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional

import numpy as np
from validation.studies import turn

# Torsion constant of a solid square over side^4 (Timoshenko and Goodier, section 109).
_SQUARE_TORSION = 0.1406


@dataclass(frozen=True)
class Bar:
    """
    A straight solid bar of square section along x of its frame, on a revolute joint at its root.

    Attributes:
        name: Of the link.
        axis: Of its joint: y or z of the parent's frame.
        length: [m].
        mass: Spread evenly [kg].
        side: Of the section [m].
        young: [N/m^2].
        shear: [N/m^2]; half of young makes Poisson's ratio zero.
    """

    name: str
    axis: str
    length: float
    mass: float
    side: float
    young: float
    shear: float

    @property
    def area(self) -> float:
        """Area of the section [m^2]."""
        return self.side**2

    @property
    def second_moment(self) -> float:
        """Second moment of area about either axis [m^4]."""
        return self.side**4 / 12.0

    @property
    def torsion_constant(self) -> float:
        """Saint-Venant's, of a square [m^4]."""
        return _SQUARE_TORSION * self.side**4

    @property
    def bending_stiffness(self) -> float:
        """E I [N m^2]."""
        return self.young * self.second_moment

    @property
    def polar_inertia(self) -> float:
        """Moment of inertia about the bar's axis, of a unit length [kg m]."""
        return 2.0 * self.second_moment * self.mass / (self.length * self.area)

    @property
    def axis_vector(self) -> np.ndarray:
        """The joint's axis (3,)."""
        return np.eye(3)['xyz'.index(self.axis)]


@dataclass(frozen=True)
class LumpedMass:
    """
    A rigid body of an arm beside its bars.

    Attributes:
        mass: [kg].
        moments: Principal moments about its centre of mass, in its frame's axes (3,) [kg m^2].
    """

    mass: float
    moments: tuple[float, ...]


@dataclass(frozen=True)
class Arm:
    """
    Bars one behind the other, on the ground or a satellite, and loads that move them from rest.

    Attributes:
        bars: From the root on.
        angles: Of the joints at the start [rad].
        torques: At the joints, constant [N m].
        tip_force: At the end of the last bar, constant, in the axes of the ground (3,) [N].
        t_end: Duration [s].
        directions: Rotation axes of segments: "z" of a planar arm, "x y z" in space.
        satellite: The free body that carries the arm, its frame at its centre of mass at the
            origin; None stands for the ground.
        mount: Place of the first joint in the satellite [m].
        tool: A body at the end of the last bar, its centre of mass there, or None.
    """

    bars: tuple[Bar, ...]
    angles: np.ndarray
    torques: np.ndarray
    tip_force: np.ndarray
    t_end: float
    directions: str = 'z'
    satellite: Optional[LumpedMass] = None
    mount: tuple[float, ...] = (0.0, 0.0, 0.0)
    tool: Optional[LumpedMass] = None

    @property
    def root(self) -> np.ndarray:
        """Place of the first joint at the start, from the ground or the satellite (3,) [m]."""
        return np.array(self.mount)

    def places(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the place (3,) and rotation (3, 3) of each bar at the start."""
        place, axes, found = self.root, np.eye(3), []
        for bar, angle in zip(self.bars, self.angles):
            axes = axes @ turn('xyz'.index(bar.axis), angle)
            found.append((place, axes))
            place = place + axes[:, 0] * bar.length
        return found


def read_arm(inputs: Mapping[str, Any]) -> Arm:
    """Return the arm of a case's inputs."""
    bars = tuple(
        Bar(f'link{k}', axis, float(length), float(mass), float(side), float(young),
            float(young) / 2.0)
        for k, (axis, length, mass, side, young) in enumerate(zip(
            inputs['axes'].split(), inputs['lengths'], inputs['masses'], inputs['sides'],
            inputs['young'], strict=True), 1)
    )
    return Arm(
        bars=bars,
        angles=np.array(inputs['angles'], dtype=float),
        torques=np.array(inputs.get('torques', [0.0] * len(bars)), dtype=float),
        tip_force=np.array(inputs.get('tip_force', [0.0, 0.0, 0.0]), dtype=float),
        t_end=float(inputs['t_end']),
        directions=inputs.get('directions', 'z'),
        satellite=_lump(inputs.get('satellite')),
        mount=tuple(map(float, inputs.get('mount', (0.0, 0.0, 0.0)))),
        tool=_lump(inputs.get('tool')),
    )


def _lump(entry: Optional[Mapping[str, Any]]) -> Optional[LumpedMass]:
    if entry is None:
        return None
    return LumpedMass(float(entry['mass']), tuple(map(float, entry['moments'])))
