# SPDX-License-Identifier: Apache-2.0
"""Friction and viscous damping of the joints."""

from flexdyn_ros.dynamics.multibody import FrictionTerm
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.scalar import exp
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.scalar import tanh


def friction_forces(tree: Multibody, qd: list) -> list[Scalar]:
    """Return the generalised forces that overcome the joints' losses at velocity qd, (nv,)."""
    forces: list[Scalar] = [0.0] * tree.nv
    for term in tree.friction:
        force = _friction(term, term.multiplier * qd[term.index])
        forces[term.index] = forces[term.index] + term.multiplier * force
    return forces


def _friction(term: FrictionTerm, velocity: Scalar) -> Scalar:
    """
    Return viscous + (coulomb + (stribeck - coulomb) exp(-(v / v_s)^2)) tanh(v / v_0).

    The Stribeck curve (Armstrong-Helouvry, Control of Machines with Friction, 1991) with the
    sign smoothed, so that the law is odd, zero at rest and differentiable.
    """
    force = term.viscous * velocity
    if term.coulomb == 0.0 and term.stribeck == 0.0:
        return force
    level: Scalar = term.coulomb
    if term.stribeck != term.coulomb:
        ratio = velocity / term.stribeck_velocity
        level = level + (term.stribeck - term.coulomb) * exp(-(ratio * ratio))
    return force + level * tanh(velocity / term.smoothing_velocity)
