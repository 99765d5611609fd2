# SPDX-License-Identifier: Apache-2.0
"""Beams, bodies on them and their families of modes: frozen records in SI units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Union

from flexdyn_ros.model.records.base import Matrix3, Record, Vector3, ZERO


@dataclass(frozen=True, repr=False)
class ModeFamily(Record):
    """
    Modes of one kind on a beam.

    Attributes:
        kind: bending_y, bending_z, torsion or axial (bending_y deflects along the beam's y axis).
        count: Number of modes, from the lowest frequency up.
        damping_ratio: Of each mode, against its own stiffness and modal mass: one number for
            all, or one for each of `names`.
        boundary: Boundary conditions of the shapes, root then tip.
        basis: "eigen" (natural modes) or "polynomial".
        static_modes: Number of residual-static modes besides: for a tip force, and for a tip
            moment.
        shear_correction: Timoshenko's shear coefficient; None where shear does not deform.
    """

    kind: str
    count: int
    damping_ratio: Union[float, tuple[float, ...]] = 0.0
    boundary: str = 'clamped-free'
    basis: str = 'eigen'
    static_modes: int = 0
    shear_correction: Optional[float] = None

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self.count + self.static_modes

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the modes: bending_y1, bending_y2, bending_y_static1."""
        static = (f'{self.kind}_static{k + 1}' for k in range(self.static_modes))
        return (*(f'{self.kind}{k + 1}' for k in range(self.count)), *static)

    @property
    def damping_ratios(self) -> tuple[float, ...]:
        """Damping ratio of each mode."""
        if isinstance(self.damping_ratio, tuple):
            return self.damping_ratio
        return (self.damping_ratio,) * self.size


@dataclass(frozen=True, repr=False)
class PointMass(Record):
    """
    A mass that rides on a beam's cross-section.

    Attributes:
        at: Fraction of the beam's length.
        mass: [kg].
        inertia: Moments ixx, iyy, izz about its own centre in beam axes [kg m^2].
    """

    at: float
    mass: float
    inertia: Vector3 = ZERO


@dataclass(frozen=True, repr=False, kw_only=True)
class SectionProperties(Record):
    """
    Properties of a cross-section; those that no mode uses may be None.

    Attributes:
        young: Young's modulus [Pa].
        shear: Shear modulus [Pa].
        area: Cross-section area [m^2].
        iy: Second moment of area about the beam's y axis [m^4]; bends along z.
        iz: Second moment of area about the beam's z axis [m^4]; bends along y.
        j: Torsion constant [m^4].
        polar: Polar second moment of area [m^4].
        iyz: Product of inertia of the area, int y z dA [m^4].
    """

    young: Optional[float] = None
    shear: Optional[float] = None
    area: Optional[float] = None
    iy: Optional[float] = None
    iz: Optional[float] = None
    j: Optional[float] = None
    polar: Optional[float] = None
    iyz: Optional[float] = None


@dataclass(frozen=True, repr=False)
class Station(SectionProperties):
    """
    The cross-section at one place of a beam that is not uniform.

    Attributes:
        at: Fraction of the beam's length.
        linear_density: Mass per length [kg/m].
    """

    at: float
    linear_density: float


@dataclass(frozen=True, repr=False)
class CarriedBody(Record):
    """
    A rigid body that a beam's cross-section carries, as its loaded modes see it.

    Attributes:
        at: Fraction of the beam's length.
        mass: [kg].
        ahead: First moment along the beam, from the cross-section on [kg m].
        inertia: Moments of inertia about the beam axes through the cross-section's centre
            [kg m^2].
    """

    at: float
    mass: float
    ahead: float = 0.0
    inertia: Vector3 = ZERO


@dataclass(frozen=True, repr=False)
class Beam(SectionProperties):
    """
    A beam from the link frame's origin to its tip; the section is that of a uniform one.

    Attributes:
        tip: The tip as the description names it.
        axes: Rotation from beam axes (x along the beam) to link axes.
        length: [m].
        mass: [kg].
        rotary_inertia: Whether cross-sections have rotary inertia in bending too.
        families: Its modes, in the order bending_y, bending_z, torsion, axial.
        point_masses: Masses on the beam.
        stations: Cross-sections from root to tip; empty for a uniform beam. Two at one place
            are a step.
        interpolation: Between stations, "linear" or "conical" (similar sections on a cone).
        loaded: Whether the shapes are those of the beam with all that it carries.
        carried: The bodies that loaded modes carry.
        loss_factor: Of the material.
        rayleigh_mass: Factor of the modal mass in the damping [1/s].
        rayleigh_stiffness: Factor of the stiffness in the damping [s].
        shear_centre: Place of the shear centre from the axis, on which the centroids lie, along y
            and z [m].
        share: Largest share of the mass of `<inertial>` that the beam can take, in 0 ... 1; None
            where it has a mass of its own. The mass is that share of it, or zero where the share
            is small.
    """

    tip: str
    axes: Matrix3
    length: float
    mass: float
    rotary_inertia: bool = False
    families: tuple[ModeFamily, ...] = ()
    point_masses: tuple[PointMass, ...] = ()
    stations: tuple[Station, ...] = ()
    interpolation: str = 'linear'
    loaded: bool = False
    carried: tuple[CarriedBody, ...] = ()
    loss_factor: float = 0.0
    rayleigh_mass: float = 0.0
    rayleigh_stiffness: float = 0.0
    share: Optional[float] = None
    shear_centre: tuple[float, float] = (0.0, 0.0)

    @property
    def direction(self) -> Vector3:
        """Unit vector along the beam in link axes."""
        (x, _, _), (y, _, _), (z, _, _) = self.axes
        return x, y, z

    @property
    def tip_place(self) -> Vector3:
        """The end of the undeformed beam in the link frame [m]."""
        x, y, z = self.direction
        return self.length * x, self.length * y, self.length * z

    @property
    def mode_names(self) -> tuple[str, ...]:
        """Mode names without the link: bending_y1, bending_y2, bending_z1, torsion1."""
        return tuple(name for family in self.families for name in family.names)
