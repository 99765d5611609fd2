# SPDX-License-Identifier: Apache-2.0
"""Forces inside the robot: stiffness and damping of modes and elastic joints, joint losses."""

from typing import Sequence

from flexdyn_ros.dynamics.multibody import CouplingTerm, FrictionTerm, Multibody, SpringTerm
from flexdyn_ros.dynamics.scalar import exp, Scalar, tanh


def elastic_forces(tree: Multibody, q: list, qd: list) -> list[Scalar]:
    """
    Return the forces of all modes and springs in joint-and-mode space, (nv,).

    K delta + D delta', and for nonlinear springs and couplings the derivative of their energy.
    """
    forces: list[Scalar] = [0.0] * tree.nv
    for body in tree.bodies:
        modes, rates = body.mode_values(q), body.mode_rates(qd)
        for k in range(body.n_modes):
            forces[body.velocity_modes + k] = _row(body.modal.stiffness[k], modes) + _row(
                body.modal.damping[k], rates
            )
    for spring in tree.springs:
        force = _spring_force(spring, spring.stretch(q)) + spring.damping * spring.rate(qd)
        for term in spring.terms:
            k = term.velocity_index
            forces[k] = forces[k] + term.multiplier * force
    for coupling in tree.couplings:
        for place, term in enumerate(coupling.terms):
            k = term.velocity_index
            forces[k] = forces[k] + _coupling_slope(coupling, q, place)
    return forces


def _monomial(coupling: CouplingTerm, q: list, powers: Sequence[int]) -> Scalar:
    value: Scalar = coupling.energy
    for term, power in zip(coupling.terms, powers):
        for _ in range(power):
            value = value * q[term.position_index]
    return value


def _coupling_slope(coupling: CouplingTerm, q: list, place: int) -> Scalar:
    """Return the derivative of a coupling's energy by one of its coordinates."""
    power = coupling.powers[place]
    powers = [n - (k == place) for k, n in enumerate(coupling.powers)]
    return float(power) * _monomial(coupling, q, powers)


def _spring_force(spring: SpringTerm, stretch: Scalar) -> Scalar:
    force = spring.stiffness * stretch
    return force if spring.law is None else force + spring.law.force(stretch)


def elastic_energy(tree: Multibody, q: list) -> Scalar:
    """Return the energy stored in modes and springs [J]."""
    energy: Scalar = 0.0
    for body in tree.bodies:
        modes = body.mode_values(q)
        for amplitude, row in zip(modes, body.modal.stiffness):
            energy = energy + 0.5 * amplitude * _row(row, modes)
    for spring in tree.springs:
        stretch = spring.stretch(q)
        energy = energy + 0.5 * spring.stiffness * stretch * stretch
        if spring.law is not None:
            energy = energy + spring.law.energy(stretch)
    for coupling in tree.couplings:
        energy = energy + _monomial(coupling, q, coupling.powers)
    return energy


def _row(factors: tuple[float, ...], values: list) -> Scalar:
    """Return the scalar product over the factors that are not zero: matrices here are sparse."""
    total: Scalar = 0.0
    for factor, value in zip(factors, values):
        if factor != 0.0:
            total = total + factor * value
    return total


def friction_forces(tree: Multibody, qd: list) -> list[Scalar]:
    """Return the generalised forces that overcome the joints' losses at velocity qd, (nv,)."""
    forces: list[Scalar] = [0.0] * tree.nv
    for term in tree.friction:
        force = _friction(term, term.multiplier * qd[term.index])
        forces[term.index] = forces[term.index] + term.multiplier * force
    return forces


def dissipated_power(tree: Multibody, qd: list) -> Scalar:
    """Return the power that joints' losses and the damping of modes and springs take [W]."""
    power: Scalar = 0.0
    for rate, loss in zip(qd, friction_forces(tree, qd)):
        power = power + rate * loss
    for body in tree.bodies:
        rates = body.mode_rates(qd)
        for rate, row in zip(rates, body.modal.damping if rates else ()):
            power = power + rate * _row(row, rates)
    for spring in tree.springs:
        rate = spring.rate(qd)
        power = power + spring.damping * rate * rate
    return power


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
