# SPDX-License-Identifier: Apache-2.0
"""Bodies under construction: what is collected for each while the tree is assembled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Optional, Sequence

from flexdyn_ros.dynamics.joints import JointMotion
from flexdyn_ros.dynamics.multibody import AxialInertia, Body, BodyNode, Entry, ModalInertia
from flexdyn_ros.dynamics.spatial import (
    add,
    add_matrices,
    apply,
    congruence,
    IDENTITY,
    is_zero,
    Matrix,
    outer,
    scale,
    scale_matrix,
    second_moment_of,
    Vector,
    ZERO,
)
from flexdyn_ros.model.modal.body import ModalBody
from flexdyn_ros.model.modal.foreshortening import Foreshortening
from flexdyn_ros.model.records.inertia import Inertia
import numpy as np


@dataclass
class Attachment:
    """Where a frame sits: on which body, on which of its cross-sections, and how."""

    body: int
    node: Optional[BodyNode]
    position: Vector
    rotation: Matrix


@dataclass
class BodyBuilder:
    """A body in the making."""

    attachment: Attachment
    joint: JointMotion
    links: list[str]
    flexible: Optional[ModalBody] = None
    linear: bool = False
    mass: Any = 0.0
    first_moment: Vector = ZERO
    second_moment: Matrix = (ZERO, ZERO, ZERO)
    modes: tuple[int, int] = (0, 0)

    def add_point_mass(self, inertia: Inertia) -> None:
        """Add a point mass on the flexible body's axis to its integrals."""
        at = np.array(inertia.com)
        self.flexible = self.flexible.with_point_mass(inertia.mass, self.flexible.node_at(at))
        self.add_inertia(inertia, ZERO, IDENTITY)

    def add_inertia(self, inertia: Inertia, position: Vector, rotation: Matrix) -> None:
        """Add a rigid body whose frame stands at position and rotation in this body."""
        com = add(position, apply(rotation, inertia.com))
        about_com = congruence(rotation, second_moment_of(inertia.matrix))
        self.mass = self.mass + inertia.mass
        self.first_moment = add(self.first_moment, scale(inertia.mass, com))
        spread = add_matrices(about_com, scale_matrix(inertia.mass, outer(com, com)))
        self.second_moment = add_matrices(self.second_moment, spread)


def built_body(builder: BodyBuilder) -> Body:
    """Return the body that a builder has become."""
    attachment = builder.attachment
    return Body(
        links=tuple(builder.links),
        parent=attachment.body,
        node=attachment.node,
        position=attachment.position,
        rotation=attachment.rotation,
        joint=builder.joint,
        mass=builder.mass,
        first_moment=builder.first_moment,
        second_moment=builder.second_moment,
        modal=_modal_inertia(builder.flexible) if builder.flexible else ModalInertia(),
        position_modes=builder.modes[0],
        velocity_modes=builder.modes[1],
    )


def _modal_inertia(flexible: ModalBody) -> ModalInertia:
    return ModalInertia(
        first=rows(flexible.modal_first_moment),
        second=tuple(entries(m) for m in flexible.modal_second_moment),
        product=tuple(tuple(entries(m) for m in row) for row in flexible.modal_product),
        rotary=rows(flexible.rotary_coupling),
        rotary_mass=rows(flexible.rotary_mass),
        mass=rows(flexible.modal_mass),
        stiffness=rows(flexible.stiffness),
        damping=rows(flexible.damping),
        axial=_axial_inertia(flexible.foreshortening),
    )


def _axial_inertia(drawn: Optional[Foreshortening]) -> AxialInertia:
    if drawn is None:
        return AxialInertia()
    of_modes = np.swapaxes(drawn.coupling, 0, 1)
    return AxialInertia(
        direction=floats(drawn.direction),
        terms=drawn.terms,
        first=floats(drawn.first),
        second=floats(drawn.second),
        coupling=tuple(entries(of_mode) for of_mode in of_modes),
        product=rows(drawn.product),
    )


def without_own_stiffness(flexible: ModalBody, modes: Sequence[str]) -> ModalBody:
    """Return a flexible body without the own stiffness of some modes, named in full."""
    kept = [mode.name not in modes for mode in flexible.modes]
    stiffness = np.where(np.eye(len(kept)) * ~np.array(kept), 0.0, flexible.stiffness)
    return flexible if all(kept) else replace(flexible, stiffness=stiffness)


def is_point(inertia: Inertia) -> bool:
    """Return whether a body is a point mass with a number for its mass."""
    return isinstance(inertia.mass, float) and all(
        is_zero(x) for row in inertia.matrix for x in row
    )


def entries(values: np.ndarray) -> tuple[Entry, ...]:
    """Return the entries of a matrix that are not zero."""
    return tuple((int(i), int(j), float(values[i, j])) for i, j in np.argwhere(values))


def floats(values: np.ndarray) -> Any:
    """Return an array of one dimension as a tuple."""
    return tuple(float(value) for value in values)


def rows(values: np.ndarray) -> Any:
    """Return a matrix as a tuple of its rows."""
    return tuple(floats(row) for row in values)
