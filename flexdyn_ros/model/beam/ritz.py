# SPDX-License-Identifier: Apache-2.0
"""
Vibration problem of one family of modes: stiffness, mass and tip conditions of trial shapes.

Euler-Bernoulli: V = 1/2 int EI w''^2, T = 1/2 int rho A w'^2 dx. Timoshenko, with the section's
rotation t besides: V = 1/2 int EI t'^2 + k G A (w' - t)^2, T = 1/2 int rho A w'^2 + rho I t'^2
(Timoshenko 1921; rho I only with `rotary_inertia`). Torsion and stretch: V = 1/2 int GJ psi'^2 or
EA u'^2. A loaded beam's T has that of the rigid bodies it carries. Minimising over trial shapes is
the method of Rayleigh and Ritz.
"""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.model.beam.shapes import Shape, StrainSpace
from flexdyn_ros.model.records.beam import Beam, CarriedBody, ModeFamily
from flexdyn_ros.model.records.section import knots, quadrature, section_at
import numpy as np

# Beam axis that the cross-sections rotate about in each kind of modes.
ROTATION_AXIS = {'torsion': 0, 'bending_z': 1, 'bending_y': 2}


@dataclass(frozen=True)
class RitzProblem:
    """
    A family's problem in n trial shapes.

    Attributes:
        space: The trial shapes.
        stiffness: Shape (n, n).
        mass: With the bodies that a loaded beam carries, shape (n, n).
        rigid_coupling: Mass between trial shapes and a rigid rotation about the root, (n,).
        rigid_mass: Moment of inertia of that rotation over length^2 [kg].
        tip: Deflection of the tip, shape (n,).
        tip_rotation: Rotation of the tip times the length, shape (n,).
    """

    space: StrainSpace
    stiffness: np.ndarray
    mass: np.ndarray
    rigid_coupling: np.ndarray
    rigid_mass: float
    tip: np.ndarray
    tip_rotation: np.ndarray


def ritz_problem(beam: Beam, family: ModeFamily, order: int) -> RitzProblem:
    """
    Return the problem with strains of about the given order over the whole length.

    Args:
        beam: The beam, with the bodies that it carries where the modes are loaded.
        family: The family.
        order: Degree of the strains on a beam of one piece; shorter pieces need less.
    """
    ends = knots(beam)
    degrees = tuple(4 + int(np.ceil(order * (b - a))) for a, b in zip(ends, ends[1:]))
    bends = family.kind.startswith('bending')
    space = StrainSpace(ends, degrees, bends, family.shear_correction is not None)
    x, weight = quadrature(beam, max(degrees) + 10)
    section, shape = section_at(beam, x), space.sample(x)
    length, tip = beam.length, space.sample(np.ones(1))
    rigid = Shape(x, np.ones_like(x), np.ones_like(x), np.zeros_like(x))
    line = section.linear_density * length
    if family.kind == 'torsion':
        # About the shear centre.
        arm = beam.shear_centre[0] ** 2 + beam.shear_centre[1] ** 2
        line = (section.rotary[:, 0] + arm * section.linear_density) * length
    stiffness, rotary = np.zeros((2, len(x)))
    if bends:
        rigidity = section.bending_y if family.kind == 'bending_y' else section.bending_z
        stiffness = _gram(shape.curvature, weight * rigidity / length**3)
    else:
        rigidity = section.torsion if family.kind == 'torsion' else section.axial
        stiffness = _gram(shape.slope, weight * rigidity / length)
    if family.shear_correction is not None:
        shear = family.shear_correction * section.shear / length
        stiffness = stiffness + _gram(shape.slope - shape.rotation, weight * shear)
        rotary = section.rotary[:, ROTATION_AXIS[family.kind]] / length
    mass = _gram(shape.value, weight * line) + _gram(shape.rotation, weight * rotary)
    coupling = shape.value @ (weight * line * x) + shape.rotation @ (weight * rotary)
    rigid_mass = float(np.sum(weight * (line * x * x + rotary)))
    for body in beam.carried:
        at = np.array([body.at])
        own = space.sample(at)
        rigid_at = Shape(at, rigid.slope[:1], rigid.rotation[:1], rigid.curvature[:1])
        mass = mass + carried_mass(body, family.kind, length, own, own)
        coupling = coupling + carried_mass(body, family.kind, length, own, rigid_at)
        rigid_mass += float(carried_mass(body, family.kind, length, rigid_at, rigid_at))
    return RitzProblem(
        space, stiffness, mass, coupling, rigid_mass, tip.value[:, 0], tip.rotation[:, 0]
    )


def carried_mass(
    body: CarriedBody, kind: str, length: float, left: Shape, right: Shape
) -> np.ndarray:
    """
    Return the mass that a carried body gives to shapes sampled at its cross-section.

    In bending m w^2 + 2 (m d) w t + J t^2 over two. d goes from the section to the centre of mass
    along the beam, t is the section's rotation.

    Args:
        body: The body.
        kind: The family's kind.
        length: Of the beam [m].
        left: k shapes (or one) at the body's place, arrays (k, 1) or (1,).
        right: Other shapes there.

    Returns:
        Shape (k, l), without the axes of single shapes.
    """
    if kind == 'torsion':
        return body.inertia[0] * _products(left.value, right.value)
    total = body.mass * _products(left.value, right.value)
    if kind == 'axial':
        return total
    ahead, inertia = body.ahead / length, body.inertia[ROTATION_AXIS[kind]] / length**2
    total = total + inertia * _products(left.rotation, right.rotation)
    return total + ahead * (
        _products(left.value, right.rotation) + _products(left.rotation, right.value)
    )


def _products(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return left @ right.T


def _gram(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return sum_n weight_n values_kn values_ln."""
    return (values * weight) @ values.T
