# SPDX-License-Identifier: Apache-2.0
"""
A body as the algorithms see it: where it hangs, its inertia, and the integrals of its modes.

Links behind fixed joints are merged into the body that carries them; a fixed link on a
bending cross-section stays a body of its own, without joint coordinates, as do the point
masses and payloads of a flexible link. So every algorithm knows one kind of body and one way
for it to hang on its parent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from flexdyn_ros.dynamics.joint_motion import JointMotion
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import IDENTITY
from flexdyn_ros.dynamics.spatial import Matrix
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.dynamics.spatial import ZERO

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
        turned = {k for column in self.rotation for k, x in enumerate(column) if x != 0.0}
        return turned.pop() if len(turned) == 1 else None


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
        joint: How it moves against the joint frame.
        mass: [kg].
        first_moment: int r dm [kg m].
        second_moment: int r r^T dm [kg m^2].
        spin_inertia: Moment of inertia about the joint axis of what is otherwise counted with the
            parent, as an axisymmetric body may be [kg m^2].
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
    spin_inertia: Scalar = 0.0
    modal: ModalInertia = ModalInertia()
    position_modes: int = 0
    velocity_modes: int = 0

    @property
    def n_modes(self) -> int:
        """Number of modes of the body."""
        return len(self.modal.first)

    def mode_values(self, q: list) -> list:
        """Return the body's modal coordinates out of the configuration q (nq,)."""
        return q[self.position_modes : self.position_modes + self.n_modes]

    def mode_rates(self, qd: list) -> list:
        """Return the body's modal entries out of a velocity-like vector (nv,)."""
        return qd[self.velocity_modes : self.velocity_modes + self.n_modes]
