# SPDX-License-Identifier: Apache-2.0
"""From the data of a uniform beam to a flexible body: modes, nodes and inertia integrals."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace
import math
from typing import Optional

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.foreshortening import axial_shapes
from flexdyn_ros.model.foreshortening import AxialShapes
from flexdyn_ros.model.foreshortening import massless
from flexdyn_ros.model.link import Beam
from flexdyn_ros.model.link import Link
from flexdyn_ros.model.link import ModeFamily
from flexdyn_ros.model.modal_body import ModalBody
from flexdyn_ros.model.modal_body import Mode
from flexdyn_ros.model.modal_body import Node
from flexdyn_ros.model.mode_shapes import clamped_free_bending
from flexdyn_ros.model.mode_shapes import clamped_free_torsion
from flexdyn_ros.model.mode_shapes import Shape
import numpy as np

# Integrals below this fraction of the largest of their kind are zero by symmetry.
ROUND_OFF = 1e-13


@dataclass(frozen=True)
class BeamField:
    """
    The displacement field of a beam's modes at n points, in beam axes.

    Attributes:
        translation: Displacement for unit modes, shape (m, n, 3) [m].
        rotation: Rotation of the cross-section for unit modes, shape (m, n, 3) [rad].
        strain: Twist per length and curvatures for unit modes, shape (m, n, 3) [rad/m].
        slope: Derivative of the displacement along the beam, shape (m, n, 3) [m/m].
    """

    translation: np.ndarray
    rotation: np.ndarray
    strain: np.ndarray
    slope: np.ndarray


def modal_body(link: Link) -> ModalBody:
    """
    Return the flexible body of a link that has a beam with modes.

    The beam is an Euler-Bernoulli beam: line mass mass / length on its axis; cross-sections
    turn with polar inertia about the undeformed axis and, with `rotary_inertia`, with their
    bending inertia too.

    Raises:
        ModelError: If a mode carries no inertia.
    """
    beam = link.beam
    assert beam is not None
    x, weight = _quadrature(beam)
    field = beam_field(beam, x)
    axes = np.array(beam.axes)
    line = weight * beam.mass
    position = np.outer(x * beam.length, axes[:, 0])
    translation, rotation = field.translation @ axes.T, field.rotation @ axes.T
    shapes, drawn = link_axial_shapes(link), None
    if shapes is not None:
        drawn = massless(shapes, axes[:, 0], len(translation)).with_mass(
            line, x * beam.length, shapes.at(x), translation
        )
        drawn = replace(drawn, coupling=_clean(drawn.coupling))
    section = axes @ np.diag(section_inertia(beam)) @ axes.T
    spread = weight * beam.length
    section_moment = 0.5 * np.trace(section) * np.eye(3) - section

    rotary_mass = _clean(np.einsum('n,kna,ab,lnb->kl', spread, rotation, section, rotation))
    product = _clean(np.einsum('n,kna,lnb->klab', line, translation, translation))
    modal_mass = _clean(np.trace(product, axis1=2, axis2=3) + rotary_mass)
    stiffness = _stiffness(beam, field, spread)
    modes = _modes(link, modal_mass, stiffness)
    ratio = np.array([mode.damping_ratio for mode in modes])
    frequency = np.array([mode.frequency for mode in modes])
    return ModalBody(
        modes=modes,
        mass=beam.mass,
        first_moment=_clean(line @ position),
        second_moment=_clean(np.einsum('n,na,nb->ab', line, position, position))
        + section_moment * beam.length,
        modal_first_moment=_clean(np.einsum('n,kna->ka', line, translation)),
        modal_second_moment=_clean(np.einsum('n,na,knb->kab', line, position, translation)),
        modal_product=product,
        rotary_coupling=_clean(np.einsum('n,ab,knb->ka', spread, section, rotation)),
        rotary_mass=rotary_mass,
        modal_mass=modal_mass,
        stiffness=stiffness,
        damping=np.diag(2.0 * ratio * frequency * np.diag(modal_mass)),
        node_at=lambda point: beam_node(beam, point, shapes),
        centre_line=lambda fraction: fraction * beam.length * axes[:, 0],
        foreshortening=drawn,
    )


def link_axial_shapes(link: Link) -> Optional[AxialShapes]:
    """Return the axial shapes of a beam that geometric stiffening acts on, or None."""
    beam = link.beam
    if beam is None or not link.stiffens:
        return None
    return axial_shapes(lambda at: beam_field(beam, at).slope, beam.length, _order(beam))


def beam_field(beam: Beam, x: np.ndarray) -> BeamField:
    """
    Return the field of a beam's modes at fractions x of its length, in beam axes.

    A deflection along y turns the cross-section by +phi' about z, one along z by -phi' about y.
    """
    length = beam.length
    translation, rotation, strain, slope = [], [], [], []
    for family in beam.families:
        for order in range(1, family.count + 1):
            shape = _shape(family, order, x)
            move, turn, bend, tilt = np.zeros((4, len(x), 3))
            if family.kind == 'torsion':
                turn[:, 0], bend[:, 0] = shape.value, shape.slope / length
            else:
                along, about, sign = (1, 2, 1.0) if family.kind == 'bending_y' else (2, 1, -1.0)
                move[:, along] = shape.value
                tilt[:, along] = shape.slope / length
                turn[:, about] = sign * shape.slope / length
                bend[:, about] = sign * shape.curvature / length**2
            translation.append(move)
            rotation.append(turn)
            strain.append(bend)
            slope.append(tilt)
    size = (len(translation), len(x), 3)
    return BeamField(
        np.array(translation).reshape(size),
        np.array(rotation).reshape(size),
        np.array(strain).reshape(size),
        np.array(slope).reshape(size),
    )


def beam_node(beam: Beam, point: np.ndarray, shapes: Optional[AxialShapes] = None) -> Node:
    """
    Return the node at the projection of a point on the beam's axis.

    Args:
        beam: The beam.
        point: In the link frame, shape (3,) [m].
        shapes: Axial shapes of the beam; None where bending draws nothing in.
    """
    axes = np.array(beam.axes)
    point = np.asarray(point, dtype=float)
    fraction = min(max(float(axes[:, 0] @ point) / beam.length, 0.0), 1.0)
    if fraction < ROUND_OFF:
        fraction = 0.0
    position = fraction * beam.length * axes[:, 0]
    field = beam_field(beam, np.array([fraction]))
    translation, rotation = field.translation[:, 0] @ axes.T, field.rotation[:, 0] @ axes.T
    if fraction == 0.0:
        translation, rotation = np.zeros_like(translation), np.zeros_like(rotation)
    offset = point - position
    # A point on the axis must not seem to stand beside it for round-off.
    offset = np.where(np.abs(offset) < ROUND_OFF * beam.length, 0.0, offset)
    drawn = np.zeros(0) if shapes is None else shapes.at(np.array([fraction]))[:, 0]
    return Node(position, offset, _clean(translation), _clean(rotation), drawn)


def section_inertia(beam: Beam) -> np.ndarray:
    """Return the rotary inertia of the cross-sections per length in beam axes, (3,) [kg m]."""
    polar = beam.polar if beam.polar is not None else beam.j
    bending = (beam.iy or 0.0, beam.iz or 0.0) if beam.rotary_inertia else (0.0, 0.0)
    if not polar and not any(bending):
        return np.zeros(3)
    density = beam.mass / ((beam.area or math.inf) * beam.length)
    return density * np.array([polar or 0.0, *bending])


def _shape(family: ModeFamily, order: int, x: np.ndarray) -> Shape:
    if family.kind == 'torsion':
        return clamped_free_torsion(order, x)
    return clamped_free_bending(order, x)


def _quadrature(beam: Beam) -> tuple[np.ndarray, np.ndarray]:
    """Return Gauss points and weights on (0, 1), enough for products of the highest modes."""
    x, weight = np.polynomial.legendre.leggauss(_order(beam))
    return 0.5 * (x + 1.0), 0.5 * weight


def _order(beam: Beam) -> int:
    """Return the number of Gauss points that resolve products of the highest modes."""
    return 40 + 8 * max(family.count for family in beam.families)


def _stiffness(beam: Beam, field: BeamField, spread: np.ndarray) -> np.ndarray:
    """Return int (GJ twist^2 + EI_y curvature_y^2 + EI_z curvature_z^2) dx for the modes."""
    young, shear = beam.young or 0.0, beam.shear or 0.0
    rigidity = np.array(
        [shear * (beam.j or 0.0), young * (beam.iy or 0.0), young * (beam.iz or 0.0)]
    )
    return _clean(
        np.einsum('n,kna,a,lna->kl', spread, field.strain, rigidity, field.strain), 1e-10
    )


def _modes(link: Link, modal_mass: np.ndarray, stiffness: np.ndarray) -> tuple[Mode, ...]:
    beam = link.beam
    assert beam is not None
    families = [family for family in beam.families for _ in range(family.count)]
    modes = []
    for k, (name, family) in enumerate(zip(link.mode_names, families)):
        if not modal_mass[k, k] > 0.0:
            raise ModelError(
                f'mode "{name}" carries no inertia',
                element='beam',
                name=link.name,
                advice='Give the beam a mass, and for torsion an area and "polar" or "j"',
            )
        frequency = math.sqrt(stiffness[k, k] / modal_mass[k, k])
        modes.append(Mode(name, family.kind, frequency, family.damping_ratio))
    return tuple(modes)


def _clean(values: np.ndarray, tolerance: float = ROUND_OFF) -> np.ndarray:
    """Return the values with those that are zero but for round-off set to zero."""
    if values.size == 0:
        return values
    return np.where(np.abs(values) < tolerance * np.abs(values).max(), 0.0, values)
