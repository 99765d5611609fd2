# SPDX-License-Identifier: Apache-2.0
"""
The robot as the algorithms see it: a tree of bodies, and the forces between them.

A body has its place on its parent, its inertia, and the integrals of its modes. Links behind fixed
joints are merged into the body that carries them. A fixed link on a bending cross-section stays a
body of its own, without joint coordinates. So do the point masses and payloads of a flexible link.
So every algorithm has one kind of body and one way for it to hang on its parent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from flexdyn_ros.dynamics.joints import AxisTerm, JointMotion, total
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import IDENTITY, Matrix, Vector, ZERO
from flexdyn_ros.dynamics.spring_law import SpringLaw
from flexdyn_ros.model.records.robot import Loop

# Row, column and value of a matrix entry.
Entry = tuple[int, int, float]


@dataclass(frozen=True)
class BodyNode:
    """
    The cross-section of the parent that a body hangs on.

    Attributes:
        position: Its undeformed place in the parent's frame [m].
        translation: Displacement for each unit mode of the parent.
        rotation: Rotation vector for each unit mode of the parent.
        linear: Whether its rotation is King's first-order one instead of the exponential.
        shortening: Value there of each of the parent's axial shapes.
    """

    position: Vector
    translation: tuple[Vector, ...]
    rotation: tuple[Vector, ...]
    linear: bool = False
    shortening: tuple[float, ...] = ()

    @property
    def axis(self) -> Optional[int]:
        """Number of the one frame axis that all modes turn it about, or None."""
        axes = {k for column in self.rotation for k, x in enumerate(column) if x != 0.0}
        return axes.pop() if len(axes) == 1 else None


@dataclass(frozen=True)
class AxialInertia:
    """
    Integrals of the axial shapes by which bending draws a body's points in, as scalars.

    See model.foreshortening.Foreshortening. The default is a body that is not drawn in.

    Attributes:
        direction: Unit vector along the beam.
        terms: For each axial shape the (k, l, factor) whose sum is its amplitude: factor times
            delta_k delta_l, or delta_k^2 / 2 where k = l.
        first: int f_j dm.
        second: int x f_j dm, x along the beam.
        coupling: Entries (j, axis, value) of int f_j phi_k dm that are not zero, for each mode k.
        product: int f_i f_j dm, indexed [i][j].
    """

    direction: Vector = ZERO
    terms: tuple[tuple[tuple[int, int, float], ...], ...] = ()
    first: tuple[float, ...] = ()
    second: tuple[float, ...] = ()
    coupling: tuple[tuple[Entry, ...], ...] = ()
    product: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class ModalInertia:
    """
    The inertia integrals of a body's modes as scalars; see model.modal_body.ModalBody.

    Attributes:
        first: int phi_k dm.
        second: Entries (row, column, value) of int r phi_k^T dm that are not zero.
        product: The same of int phi_l phi_k^T dm, indexed [l][k].
        rotary: Angular momentum of the cross-sections for unit mode rates.
        rotary_mass: The cross-sections' part of the generalised mass, indexed [k][l].
        mass: Generalised mass, indexed [k][l].
        stiffness: Generalised stiffness, indexed [k][l].
        damping: Generalised damping, indexed [k][l].
        axial: Integrals of the axial shapes.
    """

    first: tuple[Vector, ...] = ()
    second: tuple[tuple[Entry, ...], ...] = ()
    product: tuple[tuple[tuple[Entry, ...], ...], ...] = ()
    rotary: tuple[Vector, ...] = ()
    rotary_mass: tuple[tuple[float, ...], ...] = ()
    mass: tuple[tuple[float, ...], ...] = ()
    stiffness: tuple[tuple[float, ...], ...] = ()
    damping: tuple[tuple[float, ...], ...] = ()
    axial: AxialInertia = AxialInertia()


@dataclass(frozen=True)
class Body:
    """
    A body of the tree; vectors in its own frame, which is the frame of its first link.

    Attributes:
        links: Names of the links that move with it.
        parent: Index of the parent body, -1 for the root body, which does not move.
        node: Cross-section of the parent that it hangs on; None where that is rigid.
        position: Joint frame's origin from the node, or from the parent's origin [m].
        rotation: Joint frame's axes in the node's, or in the parent's.
        joint: Its motion against the joint frame.
        mass: [kg].
        first_moment: int r dm [kg m].
        second_moment: int r r^T dm [kg m^2].
        polar_inertia: Moment of inertia about the joint axis where all else of the body is counted
            with the parent, as of an axisymmetric body [kg m^2].
        modal: Integrals of its modes.
        position_modes: Place of its first mode in q.
        velocity_modes: Place of its first mode in qd.
    """

    links: tuple[str, ...]
    parent: int = -1
    node: Optional[BodyNode] = None
    position: Vector = ZERO
    rotation: Matrix = IDENTITY
    joint: JointMotion = JointMotion()
    mass: Scalar = 0.0
    first_moment: Vector = ZERO
    second_moment: Matrix = (ZERO, ZERO, ZERO)
    polar_inertia: Scalar = 0.0
    modal: ModalInertia = ModalInertia()
    position_modes: int = 0
    velocity_modes: int = 0

    @property
    def n_modes(self) -> int:
        """Number of modes of the body."""
        return len(self.modal.first)

    @property
    def modal_coordinates(self) -> range:
        """Places in qd of the body's modes."""
        return range(self.velocity_modes, self.velocity_modes + self.n_modes)

    def mode_values(self, q: list) -> list:
        """Return the body's modal coordinates out of the configuration q (nq,)."""
        return q[self.position_modes : self.position_modes + self.n_modes]

    def mode_rates(self, qd: list) -> list:
        """Return the body's modal entries out of a velocity-like vector (nv,)."""
        return qd[self.velocity_modes : self.velocity_modes + self.n_modes]


@dataclass(frozen=True)
class FrictionTerm:
    """
    Losses of a joint that moves at `multiplier * qd[index]` [rad/s | m/s].

    Attributes:
        index: Place of the coordinate in qd.
        multiplier: Velocity of the joint for a unit of it.
        viscous: [N m s/rad | N s/m].
        coulomb: Level at speed [N m | N].
        stribeck: Level at break-away [N m | N].
        stribeck_velocity: [rad/s | m/s].
        smoothing_velocity: Width of the smoothed sign [rad/s | m/s].
    """

    index: int
    multiplier: float
    viscous: float
    coulomb: float
    stribeck: float
    stribeck_velocity: float
    smoothing_velocity: float


@dataclass(frozen=True)
class SpringTerm:
    """
    A spring and damper on one coordinate, such as an elastic joint's, or on a sum of several.

    Attributes:
        terms: The coordinates, each with its factor; a nonlinear law is on one of factor 1.
        stiffness: [N m/rad | N/m].
        damping: [N m s/rad | N s/m].
        law: A nonlinear force beside that of the stiffness, or None.
        rest: Sum of the coordinates at which the spring is at rest [rad | m].
    """

    terms: tuple[AxisTerm, ...]
    stiffness: float = 0.0
    damping: float = 0.0
    law: Optional[SpringLaw] = None
    rest: float = 0.0

    def stretch(self, q: list) -> Scalar:
        """Return its deflection in a configuration [rad | m]."""
        value = total(term.multiplier * q[term.position_index] for term in self.terms)
        return value if self.rest == 0.0 else value - self.rest

    def rate(self, qd: list) -> Scalar:
        """Return the rate of its deflection [rad/s | m/s]."""
        return total(term.multiplier * qd[term.velocity_index] for term in self.terms)


@dataclass(frozen=True)
class CouplingTerm:
    """
    A potential energy c x^a y^b ... of several modal coordinates.

    Attributes:
        terms: The coordinates, each once; factors do not count.
        powers: Power of each, 1 or more.
        energy: c [J over the units of the coordinates].
    """

    terms: tuple[AxisTerm, ...]
    powers: tuple[int, ...]
    energy: float


@dataclass(frozen=True)
class Frame:
    """
    A link's frame: its body, and its placement there.

    Attributes:
        body: Index of the body.
        position: Its origin in the body's frame [m].
        rotation: Its axes in the body's.
    """

    body: int
    position: Vector
    rotation: Matrix


@dataclass(frozen=True)
class Multibody:
    """
    A tree of bodies with everything that acts inside it.

    Attributes:
        bodies: Parents before children; the first is the root and does not move.
        coordinate_names: Names of the velocity coordinates, (nv,).
        nq: Number of configuration coordinates.
        frames: Frame of each link by name.
        rotors: Velocity index, and inertia seen there, of each geared rotor [kg m^2 | kg].
        friction: Losses of the joints.
        springs: Springs of the elastic joints, in their order, then those of links.
        couplings: Energies that several modes share.
        loops: Loops between frames.
        linearised: Places in q and in qd of the modal coordinates in which the equations are
            expanded, see reduced_forms.py.
        undeformed: The same of those that leave the kinetic energy unchanged, see there.
    """

    bodies: tuple[Body, ...]
    coordinate_names: tuple[str, ...]
    nq: int
    frames: dict[str, Frame]
    rotors: tuple[tuple[int, float], ...] = ()
    friction: tuple[FrictionTerm, ...] = ()
    springs: tuple[SpringTerm, ...] = ()
    couplings: tuple[CouplingTerm, ...] = ()
    loops: tuple[Loop, ...] = ()
    linearised: tuple[tuple[int, int], ...] = ()
    undeformed: tuple[tuple[int, int], ...] = ()

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return len(self.coordinate_names)

    @property
    def shares_coordinates(self) -> bool:
        """Whether some coordinate moves several bodies directly, as mimic joints do."""
        owners: list[int] = []
        for body in self.bodies:
            owners += set(body.joint.coordinates)
        return len(owners) != len(set(owners))

    @property
    def is_recursive(self) -> bool:
        """
        Whether accelerations can be found body by body.

        A coordinate that moves several bodies breaks the recursion. So do linearised deflections.
        The action of a body on its parent is a fraction then, which does not end with the degree
        of the mass matrix.
        """
        return not self.shares_coordinates and not self.linearised
