# SPDX-License-Identifier: Apache-2.0
"""Inertias of bodies while the tree is assembled, and arrays as tuples of scalars."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Optional, Sequence

from flexdyn_ros.dynamics.multibody import AxialInertia, Body, Entry, ModalInertia
from flexdyn_ros.dynamics.spatial import (
    add,
    add_matrices,
    apply,
    congruence,
    is_zero,
    Matrix,
    outer,
    scale,
    scale_matrix,
    second_moment_of,
    Vector,
)
from flexdyn_ros.model.modal.body import ModalBody
from flexdyn_ros.model.modal.foreshortening import Foreshortening
from flexdyn_ros.model.records.inertia import Inertia
import numpy as np


def with_inertia(body: Body, inertia: Inertia, position: Vector, rotation: Matrix) -> Body:
    """Return a body with a rigid one more, whose frame stands at position and rotation in it."""
    com = add(position, apply(rotation, inertia.com))
    about_com = congruence(rotation, second_moment_of(inertia.matrix))
    spread = add_matrices(about_com, scale_matrix(inertia.mass, outer(com, com)))
    return replace(
        body,
        mass=body.mass + inertia.mass,
        first_moment=add(body.first_moment, scale(inertia.mass, com)),
        second_moment=add_matrices(body.second_moment, spread),
    )


def modal_inertia(flexible: ModalBody) -> ModalInertia:
    """Return the integrals of a flexible body's modes as scalars."""
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
