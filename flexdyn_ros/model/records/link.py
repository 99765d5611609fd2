# SPDX-License-Identifier: Apache-2.0
"""Links, nonlinear springs of their modes, and payloads: frozen records in SI units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from flexdyn_ros.model.records.base import Record
from flexdyn_ros.model.records.beam import Beam
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.modal import ModalData
from flexdyn_ros.model.records.segments import PseudoRigidSegments


@dataclass(frozen=True, repr=False)
class ModeSpring(Record):
    """
    A force of one mode's own coordinate x, beside the forces of the linear stiffness matrix.

    Attributes:
        mode: Name of the mode without the link.
        points: A table of deflection and force [m, N | rad, N m], deflections rising; () where
            the polynomial is given.
        polynomial: k_1, k_2, ... of the force k_1 x + k_2 x^2 + ... [N/m, N/m^2, ... |
            N m/rad, N m/rad^2, ...]; () where the table is given.
        replaces: Whether the mode's own entry of the stiffness matrix is left out.
    """

    mode: str
    points: tuple[tuple[float, float], ...] = ()
    polynomial: tuple[float, ...] = ()
    replaces: bool = False


@dataclass(frozen=True, repr=False)
class Link(Record):
    """
    A URDF link.

    Attributes:
        name: Its name.
        inertia: Inertia of the rigid part: all of a rigid link, the hub of a link with a beam
            or segments; None where there is none.
        beam: The beam that the link bends as, or None.
        rotation: Node rotations by the modes: "exact" (exponential) or "linear" (King's
            first-order form).
        geometric_stiffening: Whether bending draws the points of the beam in along its axis. Axial
            loads then stiffen or soften it. King's equations have none of that.
        segments: The pseudo-rigid segments that the link is cut into, or None.
        mode_springs: Nonlinear springs of its modes.
        modal: Modes from a file, or None.
        tip_inertia: A rigid body at the tip of the beam, which rides on its last cross-section;
            None where there is none. It is given undeformed, in link axes about the link frame.
        deflection: "exact"; "linearised" for the small-deflection model, in which the equations
            are expanded in the link's modes; or "undeformed_kinetic_energy", whose inertia does
            not depend on them. See docs/reduced_forms.md.
        part_of: The link of the URDF whose beam or segments this link is a piece of; empty for a
            link of the URDF. Its frame is parallel to that link's, at the start of the beam.
        number: Number of the piece among several, outward from 1; 0 for one alone.
    """

    name: str
    inertia: Optional[Inertia] = None
    beam: Optional[Beam] = None
    rotation: str = 'exact'
    geometric_stiffening: bool = True
    segments: Optional[PseudoRigidSegments] = None
    mode_springs: tuple[ModeSpring, ...] = ()
    modal: Optional[ModalData] = None
    deflection: str = 'exact'
    tip_inertia: Optional[Inertia] = None
    part_of: str = ''
    number: int = 0

    def full_name(self, mode: str) -> str:
        """Return `<link>/<mode>` of a mode, in the second of several `<link>/beam2_<mode>`."""
        stem = f'beam{self.number}_' if self.number else ''
        return f'{self.part_of or self.name}/{stem}{mode}'

    @property
    def is_linearised(self) -> bool:
        """Whether the equations are expanded in the link's modes."""
        return self.deflection == 'linearised' and bool(self.mode_names)

    @property
    def reduced_form(self) -> str:
        """Terms that the equations of the link drop, as it is written; empty for nothing."""
        if self.mode_names and self.rotation == 'linear':
            return 'rotation="linear"'
        exact = self.deflection == 'exact' or not self.mode_names
        return '' if exact else f'deflection="{self.deflection}"'

    @property
    def mode_names(self) -> tuple[str, ...]:
        """Full names of the link's modes, `<link>/<mode>`."""
        return tuple(map(self.full_name, self.short_mode_names))

    @property
    def short_mode_names(self) -> tuple[str, ...]:
        """Names of the modes as its beam, segments or file has them."""
        bends = self.segments or self.modal or self.beam
        return () if bends is None else bends.mode_names

    @property
    def replaced_modes(self) -> tuple[str, ...]:
        """Full names of the modes whose own linear stiffness a nonlinear spring replaces."""
        return tuple(self.full_name(s.mode) for s in self.mode_springs if s.replaces)

    @property
    def undeformed_beam(self) -> Optional[Beam]:
        """The beam, or the one that the segments are cut from; None where there is neither."""
        return self.beam if self.segments is None else self.segments.beam

    @property
    def stiffens(self) -> bool:
        """Whether geometric stiffening acts: it is on, for modes that have it, exact rotations."""
        families = self.beam.families if self.beam is not None else ()
        bends = any(family.kind.startswith('bending') for family in families)
        if self.modal is not None and self.modal.arrays is not None:
            bends = self.modal.arrays.stiffening is not None
        return bends and self.geometric_stiffening and self.rotation == 'exact'

    @property
    def mass(self) -> float:
        """Mass of the rigid parts, the beam and its point masses, or the file's body [kg]."""
        bodies, beam = (self.inertia, self.tip_inertia), self.undeformed_beam
        mass = sum(body.mass for body in bodies if body is not None)
        if beam is not None:
            mass += beam.mass + sum(p.mass for p in beam.point_masses)
        return mass + (self.modal.inertia.mass if self.modal is not None else 0.0)


@dataclass(frozen=True, repr=False)
class Payload(Record):
    """A rigid body carried by a link: centre of mass and inertia in the link's axes."""

    link: str
    inertia: Inertia
