# SPDX-License-Identifier: Apache-2.0
"""The flexible body of a link, of a beam or a file: modes, nodes, inertia integrals."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
import math
from typing import Optional
from weakref import WeakKeyDictionary

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.beam.family_shapes import bends_statically, family_shapes
from flexdyn_ros.model.beam.ritz import carried_mass
from flexdyn_ros.model.modal.body import file_body, ModalBody, ModalNode, Mode
from flexdyn_ros.model.modal.foreshortening import axial_shapes, AxialShapes, massless
from flexdyn_ros.model.modal.matrices import damping_matrix
from flexdyn_ros.model.records.beam import Beam, ModeFamily
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.section import knots, quadrature, Section, section_at
import numpy as np

# Bodies of the links in use; they hold beams and arrays, and no links.
_BODIES: WeakKeyDictionary[Link, ModalBody] = WeakKeyDictionary()
# Integrals below this fraction of the largest of their kind are zero by symmetry.
ROUND_OFF = 1e-13


@dataclass(frozen=True)
class BeamField:
    """
    The displacement field of a beam's modes at n points, in beam axes.

    Attributes:
        translation: Displacement for unit modes, shape (m, n, 3) [m].
        rotation: Rotation of the cross-section for unit modes, shape (m, n, 3) [rad].
        strain: Stretch, shear angles along y and z, twist per length and curvatures about y and z.
            They are those of unit modes, shape (m, n, 6) [m/m, rad, rad/m].
        slope: Derivative of the displacement along the beam, shape (m, n, 3) [m/m].
    """

    translation: np.ndarray
    rotation: np.ndarray
    strain: np.ndarray
    slope: np.ndarray


def modal_body(link: Link) -> ModalBody:
    """
    Return the flexible body of a link that has a beam with modes.

    Line mass lies on the beam's axis; cross-sections turn with polar inertia about the undeformed
    axis and, with `rotary_inertia`, with their bending inertia too.

    Raises:
        ModelError: If a mode carries no inertia.
    """
    beam = link.beam
    assert beam is not None
    x, weight = quadrature(beam, quadrature_order(beam))
    field, section = beam_field(beam, x), section_at(beam, x)
    axes = np.array(beam.axes)
    line = weight * (section.linear_density * beam.length if beam.stations else beam.mass)
    position = np.outer(x * beam.length, axes[:, 0])
    translation, rotation = field.translation @ axes.T, field.rotation @ axes.T
    shapes, drawn = link_axial_shapes(link), None
    if shapes is not None:
        drawn = massless(shapes, axes[:, 0], len(translation)).with_mass(
            line, x * beam.length, shapes.at(x), translation
        )
        drawn = replace(drawn, coupling=_clean(drawn.coupling))
    spread = weight * beam.length
    rotary = np.einsum('n,ni,ai,bi->nab', spread, section.rotary, axes, axes)
    if section.rotary_yz.any():
        product = np.outer(axes[:, 1], axes[:, 2])
        rotary += np.einsum('n,n,ab->nab', spread, section.rotary_yz, product + product.T)
    section_moment = np.sum(rotary, axis=0)

    rotary_mass = _clean(np.einsum('kna,nab,lnb->kl', rotation, rotary, rotation))
    product = _clean(np.einsum('n,kna,lnb->klab', line, translation, translation))
    modal_mass = _clean(np.trace(product, axis1=2, axis2=3) + rotary_mass)
    stiffness = _stiffness(beam, field, section, spread)
    own_mass = _clean(modal_mass + _mass_of_carried_bodies(beam))
    damping = _damping(beam, own_mass, stiffness)
    return ModalBody(
        modes=_modes(link, own_mass, stiffness, damping),
        mass=beam.mass,
        first_moment=_clean(line @ position),
        second_moment=_clean(np.einsum('n,na,nb->ab', line, position, position))
        + 0.5 * np.trace(section_moment) * np.eye(3)
        - section_moment,
        modal_first_moment=_clean(np.einsum('n,kna->ka', line, translation)),
        modal_second_moment=_clean(np.einsum('n,na,knb->kab', line, position, translation)),
        modal_product=product,
        rotary_coupling=_clean(np.einsum('nab,knb->ka', rotary, rotation)),
        rotary_mass=rotary_mass,
        modal_mass=modal_mass,
        stiffness=stiffness,
        damping=damping,
        node_at=lambda point: beam_node(beam, point, shapes),
        centre_line=lambda fraction: fraction * beam.length * axes[:, 0],
        foreshortening=drawn,
    )


def link_axial_shapes(link: Link) -> Optional[AxialShapes]:
    """Return the axial shapes of a beam that geometric stiffening acts on, or None."""
    beam = link.beam
    if beam is None or not link.stiffens:
        return None
    order = quadrature_order(beam)
    return axial_shapes(
        lambda at: beam_field(beam, at).slope, beam.length, order, knots(beam)
    )


def beam_field(beam: Beam, x: np.ndarray) -> BeamField:
    """
    Return the field of a beam's modes at fractions x of its length, in beam axes.

    A deflection along y turns the cross-section about z, one along z about -y. Torsion turns it
    about the shear centre, so that the axis of centroids moves by psi x times the arm from there
    (Timoshenko, Young and Weaver, Vibration Problems in Engineering, 1974, section 5.19).
    """
    length, size, (y, z) = beam.length, len(beam.mode_names), beam.shear_centre
    translation, rotation, slope = np.zeros((3, size, len(x), 3))
    strain = np.zeros((size, len(x), 6))
    first = 0
    for family in beam.families:
        rows = slice(first, first + family.size)
        first += family.size
        shape = family_shapes(beam, family).sample(x)
        if family.kind == 'torsion':
            rotation[rows, :, 0], strain[rows, :, 3] = shape.value, shape.slope / length
            for along, arm in ((1, z), (2, -y)):
                translation[rows, :, along] = arm * shape.value
                slope[rows, :, along] = arm * shape.slope / length
        elif family.kind == 'axial':
            translation[rows, :, 0], strain[rows, :, 0] = shape.value, shape.slope / length
            slope[rows, :, 0] = shape.slope / length
        else:
            along, about, sign = (1, 2, 1.0) if family.kind == 'bending_y' else (2, 1, -1.0)
            translation[rows, :, along] = shape.value
            slope[rows, :, along] = shape.slope / length
            rotation[rows, :, about] = sign * shape.rotation / length
            strain[rows, :, along] = (shape.slope - shape.rotation) / length
            strain[rows, :, 3 + about] = sign * shape.curvature / length**2
    return BeamField(translation, rotation, strain, slope)


def beam_node(beam: Beam, point: np.ndarray, shapes: Optional[AxialShapes] = None) -> ModalNode:
    """
    Return the node at the projection of a point on the beam's axis.

    Args:
        beam: The beam.
        point: In the link frame, shape (3,) [m].
        shapes: Axial shapes of the beam; None where bending draws nothing in.
    """
    axes = np.array(beam.axes)
    point = np.asarray(point, dtype=float)
    fraction = beam_fraction(beam, point)
    position = fraction * beam.length * axes[:, 0]
    field = beam_field(beam, np.array([fraction]))
    translation, rotation = field.translation[:, 0] @ axes.T, field.rotation[:, 0] @ axes.T
    if fraction == 0.0:
        translation, rotation = np.zeros_like(translation), np.zeros_like(rotation)
    offset = point - position
    # A point on the axis must have no offset by round-off.
    offset = np.where(np.abs(offset) < ROUND_OFF * beam.length, 0.0, offset)
    drawn = np.zeros(0) if shapes is None else shapes.at(np.array([fraction]))[:, 0]
    return ModalNode(position, offset, _clean(translation), _clean(rotation), drawn)


def beam_fraction(beam: Beam, point: np.ndarray) -> float:
    """Return the fraction of the length where a point of the link frame [m] projects."""
    along = float(np.array(beam.axes)[:, 0] @ np.asarray(point, dtype=float)) / beam.length
    return min(along, 1.0) if along > ROUND_OFF else 0.0


def quadrature_order(beam: Beam) -> int:
    """Return the number of Gauss points between two knots that resolve products of shapes."""
    return max(family_shapes(beam, family).order for family in beam.families)


def _stiffness(
    beam: Beam, field: BeamField, section: Section, spread: np.ndarray
) -> np.ndarray:
    """Return the integral over the length of strains times forces of the modes, (m, m)."""
    rigidity = np.zeros((len(spread), 6))
    rigidity[:, 0] = section.axial
    for family in beam.families:
        if family.shear_correction is not None:
            along = 1 if family.kind == 'bending_y' else 2
            rigidity[:, along] = family.shear_correction * section.shear
    rigidity[:, 3:] = np.stack((section.torsion, section.bending_z, section.bending_y), axis=1)
    matrix = np.einsum('n,kna,na,lna->kl', spread, field.strain, rigidity, field.strain)
    if section.bending_yz.any():
        # 1/2 int E int (y k_z - z k_y)^2 dA dx, k_y and k_z the curvatures about y and z.
        shared = np.einsum(
            'n,kn,ln->kl', spread * section.bending_yz, field.strain[..., 4], field.strain[..., 5])
        matrix -= shared + shared.T
    return _clean(matrix, 1e-10)


def _mass_of_carried_bodies(beam: Beam) -> np.ndarray:
    """Return the modal mass of bodies that loaded modes carry, families apart, (m, m)."""
    mass = np.zeros((len(beam.mode_names), len(beam.mode_names)))
    first = 0
    for family in beam.families:
        rows = slice(first, first + family.size)
        first += family.size
        for body in beam.carried:
            shape = family_shapes(beam, family).sample(np.array([body.at]))
            mass[rows, rows] += carried_mass(body, family.kind, beam.length, shape, shape)
    return mass


def _damping(beam: Beam, mass: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    ratios = [ratio for family in beam.families for ratio in family.damping_ratios]
    rayleigh = beam.rayleigh_mass, beam.rayleigh_stiffness
    if not np.all(np.diag(mass) > 0.0):
        return np.zeros_like(mass)
    return _clean(damping_matrix(mass, stiffness, ratios, rayleigh, beam.loss_factor))


def _modes(
    link: Link, mass: np.ndarray, stiffness: np.ndarray, damping: np.ndarray
) -> tuple[Mode, ...]:
    beam = link.beam
    assert beam is not None
    sources = [
        (family.kind, _shape_words(beam, family, k))
        for family in beam.families
        for k in range(family.size)
    ]
    modes = []
    for k, (name, (kind, words)) in enumerate(zip(link.mode_names, sources)):
        if not mass[k, k] > 0.0:
            raise ModelError(
                f'mode "{name}" carries no inertia',
                element='beam',
                name=link.name,
                advice='Give the beam a mass, and for torsion an area and "polar" or "j"',
            )
        frequency = math.sqrt(stiffness[k, k] / mass[k, k])
        ratio = damping[k, k] / (2.0 * mass[k, k] * frequency) if frequency else 0.0
        modes.append(Mode(name, kind, frequency, ratio, words))
    return tuple(modes)


def _shape_words(beam: Beam, family: ModeFamily, number: int) -> str:
    """Return a sentence on the origin of mode `number` (0, 1, ...) of a family."""
    words = ['polynomial'] if family.basis == 'polynomial' else []
    words = ['static'] if bends_statically(beam, family) else words
    words += [family.boundary] if family.boundary != 'clamped-free' or not words else []
    if number >= family.count:
        words = ['residual static']
    words += ['shear'] if family.shear_correction is not None else []
    return ', '.join(words + (['loaded'] if beam.carried else []))


def _clean(values: np.ndarray, tolerance: float = ROUND_OFF) -> np.ndarray:
    """Return the values with those that are zero but for round-off set to zero."""
    if values.size == 0:
        return values
    return np.where(np.abs(values) < tolerance * np.abs(values).max(), 0.0, values)


def link_body(link: Link) -> ModalBody:
    """
    Return the flexible body of a link that has modes of a beam or of a file.

    The modes are analysed once for a link; the body is kept as long as the link is. Its arrays
    are read-only.
    """
    body = _BODIES.get(link)
    if body is None:
        modal = link.modal
        body = modal_body(link) if modal is None else file_body(link.name, modal, link.stiffens)
        for item in fields(body):
            value = getattr(body, item.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        _BODIES[link] = body
    return body
