# SPDX-License-Identifier: Apache-2.0
"""Links, what they weigh and how they bend: frozen records in SI units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional
from typing import TYPE_CHECKING
from typing import Union

from flexdyn_ros.model.robot.mode_spring import ModeSpring
from flexdyn_ros.model.robot.record import Record
from flexdyn_ros.model.robot.vectors import Matrix3
from flexdyn_ros.model.robot.vectors import Vector3
from flexdyn_ros.model.robot.vectors import ZERO

if TYPE_CHECKING:
    from flexdyn_ros.model.modal.modal_data import ModalData
    from flexdyn_ros.model.segments.segments import Segments


@dataclass(frozen=True, repr=False)
class Inertia(Record):
    """
    Rigid-body inertia in a link's frame.

    Attributes:
        mass: Mass [kg].
        com: Centre of mass in the link frame [m].
        matrix: Inertia about the centre of mass, in link axes [kg m^2].
    """

    mass: float
    com: Vector3
    matrix: Matrix3


@dataclass(frozen=True, repr=False)
class ModeFamily(Record):
    """
    Modes of one kind on a beam.

    Attributes:
        kind: bending_y, bending_z, torsion or axial (bending_y deflects along the beam's y axis).
        count: How many, from the lowest frequency up.
        damping_ratio: Of each mode, against its own stiffness and modal mass: one number for
            all, or one for each of `names`.
        boundary: Boundary conditions of the shapes, root then tip.
        basis: "eigen" (natural modes) or "polynomial".
        static_modes: How many residual-static modes come on top: for a tip force, and for a tip
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


@dataclass(frozen=True, repr=False)
class Station(Record):
    """
    The cross-section at one place of a beam that is not uniform. What no mode uses may be None.

    Attributes:
        at: Fraction of the beam's length.
        linear_density: Mass per length [kg/m].
        young: Young's modulus [Pa].
        shear: Shear modulus [Pa].
        area: Cross-section area [m^2].
        iy: Second moment of area about the beam's y axis [m^4].
        iz: Second moment of area about the beam's z axis [m^4].
        j: Torsion constant [m^4].
        polar: Polar second moment of area [m^4].
    """

    at: float
    linear_density: float
    young: Optional[float] = None
    shear: Optional[float] = None
    area: Optional[float] = None
    iy: Optional[float] = None
    iz: Optional[float] = None
    j: Optional[float] = None
    polar: Optional[float] = None


@dataclass(frozen=True, repr=False)
class SectionLoad(Record):
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
class Beam(Record):
    """
    A beam from the link frame's origin to its tip. Sections no mode uses may be None.

    Attributes:
        tip: What the description named as the tip.
        axes: Rotation from beam axes (x along the beam) to link axes.
        length: [m].
        mass: [kg].
        young: Young's modulus [Pa].
        shear: Shear modulus [Pa].
        area: Cross-section area [m^2].
        iy: Second moment of area about the beam's y axis [m^4]; bends along z.
        iz: Second moment of area about the beam's z axis [m^4]; bends along y.
        j: Torsion constant [m^4].
        polar: Polar second moment of area [m^4].
        rotary_inertia: Whether cross-sections have rotary inertia in bending too.
        families: Its modes, in the order bending_y, bending_z, torsion, axial.
        point_masses: Masses on the beam.
        stations: Cross-sections from root to tip; empty for a uniform beam. Two at one place
            are a step.
        interpolation: Between stations, "linear" or "conical" (similar sections on a cone).
        loaded: Whether the shapes are those of the beam with all that it carries.
        loads: What loaded modes carry.
        loss_factor: Of the material.
        rayleigh_mass: Factor of the modal mass in the damping [1/s].
        rayleigh_stiffness: Factor of the stiffness in the damping [s].
    """

    tip: str
    axes: Matrix3
    length: float
    mass: float
    young: Optional[float] = None
    shear: Optional[float] = None
    area: Optional[float] = None
    iy: Optional[float] = None
    iz: Optional[float] = None
    j: Optional[float] = None
    polar: Optional[float] = None
    rotary_inertia: bool = False
    families: tuple[ModeFamily, ...] = ()
    point_masses: tuple[PointMass, ...] = ()
    stations: tuple[Station, ...] = ()
    interpolation: str = 'linear'
    loaded: bool = False
    loads: tuple[SectionLoad, ...] = ()
    loss_factor: float = 0.0
    rayleigh_mass: float = 0.0
    rayleigh_stiffness: float = 0.0

    @property
    def mode_names(self) -> tuple[str, ...]:
        """Mode names without the link: bending_y1, bending_y2, bending_z1, torsion1."""
        return tuple(name for family in self.families for name in family.names)


@dataclass(frozen=True, repr=False)
class Link(Record):
    """
    A URDF link.

    Attributes:
        name: Its name.
        inertia: Inertia of the rigid part: all of a rigid link, the hub of a link with a beam
            or segments; None where there is none.
        beam: The beam that the link bends as, or None.
        rotation: How node rotations are built from modes: "exact" (exponential) or "linear"
            (King's first-order form).
        geometric_stiffening: Whether bending draws the points of the beam in along its axis, so
            that axial loads stiffen or soften it; King's equations know none of that.
        segments: The pseudo-rigid segments that the link is cut into, or None.
        mode_springs: Nonlinear springs of its modes.
        modal: Modes from a file, or None.
        deflection: "exact", "linearised" for the small-deflection model, in which the equations
            are expanded in the link's modes (dynamics.reduced_forms), or
            "undeformed_kinetic_energy", which does not see them (there, too).
    """

    name: str
    inertia: Optional[Inertia] = None
    beam: Optional[Beam] = None
    rotation: str = 'exact'
    geometric_stiffening: bool = True
    segments: Optional[Segments] = None
    mode_springs: tuple[ModeSpring, ...] = ()
    modal: Optional[ModalData] = None
    deflection: str = 'exact'

    @property
    def is_linearised(self) -> bool:
        """Whether the equations are expanded in the link's modes."""
        return self.deflection == 'linearised' and bool(self.mode_names)

    @property
    def reduced_form(self) -> str:
        """What the link's equations are asked to drop, as it is written; empty for nothing."""
        if self.mode_names and self.rotation == 'linear':
            return 'rotation="linear"'
        exact = self.deflection == 'exact' or not self.mode_names
        return '' if exact else f'deflection="{self.deflection}"'

    @property
    def mode_names(self) -> tuple[str, ...]:
        """Full names of the link's modes, `<link>/<mode>`."""
        bends = self.segments or self.modal or self.beam
        return () if bends is None else tuple(f'{self.name}/{mode}' for mode in bends.mode_names)

    @property
    def replaced_modes(self) -> tuple[str, ...]:
        """Full names of the modes whose own linear stiffness a nonlinear spring replaces."""
        return tuple(f'{self.name}/{s.mode}' for s in self.mode_springs if s.replaces)

    @property
    def undeformed_beam(self) -> Optional[Beam]:
        """The beam, or the one that the segments are cut from; None where there is neither."""
        return self.beam if self.segments is None else self.segments.beam

    @property
    def stiffens(self) -> bool:
        """Whether geometric stiffening acts: it is on, and the beam bends by exact rotations."""
        families = self.beam.families if self.beam is not None else ()
        bends = any(family.kind.startswith('bending') for family in families)
        return bends and self.geometric_stiffening and self.rotation == 'exact'

    @property
    def mass(self) -> float:
        """Mass of the rigid part, the beam and its point masses, or the file's body [kg]."""
        mass, beam = self.inertia.mass if self.inertia else 0.0, self.undeformed_beam
        if beam is not None:
            mass += beam.mass + sum(p.mass for p in beam.point_masses)
        return mass + (self.modal.inertia.mass if self.modal is not None else 0.0)


@dataclass(frozen=True, repr=False)
class Payload(Record):
    """A rigid body carried by a link: centre of mass and inertia in the link's axes."""

    link: str
    inertia: Inertia
