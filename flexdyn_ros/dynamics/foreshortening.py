# SPDX-License-Identifier: Apache-2.0
"""
What a bent beam's points drawn in along its axis add to a body's inertia and to its wrench.

The displacement gains s e, s = sum_j f_j a_j, with e the direction of the beam, f_j its axial
shapes and a_j amplitudes that are quadratic in the modes (model/foreshortening.py):
a_j = delta^T C_j delta / 2. So a_j' = D_j . delta' and a_j'' = D_j . delta'' + b_j with the
gradient D_j = C_j delta and the bias b_j = delta'^T C_j delta'. Nothing is dropped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable
from typing import NamedTuple
from typing import Sequence
from typing import TYPE_CHECKING

from flexdyn_ros.dynamics.multibody import AxialInertia
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import add_matrices
from flexdyn_ros.dynamics.spatial import apply
from flexdyn_ros.dynamics.spatial import apply_transposed
from flexdyn_ros.dynamics.spatial import combine
from flexdyn_ros.dynamics.spatial import cross
from flexdyn_ros.dynamics.spatial import dot
from flexdyn_ros.dynamics.spatial import outer
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import subtract
from flexdyn_ros.dynamics.spatial import transpose
from flexdyn_ros.dynamics.spatial import Vector

if TYPE_CHECKING:
    from flexdyn_ros.dynamics.flexible_body import BodyMotion
    from flexdyn_ros.dynamics.flexible_body import DeflectedBody

# Derivative of each amplitude by each mode, indexed [j][k].
Gradients = list[list[Scalar]]


def amplitudes(axial: AxialInertia, modes: Sequence[Scalar]) -> list[Scalar]:
    """Return the amplitudes a_j at modal coordinates `modes`."""
    return [0.5 * square for square in amplitude_biases(axial, modes)]


def amplitude_gradients(axial: AxialInertia, modes: Sequence[Scalar]) -> Gradients:
    """Return the derivatives D_jk of the amplitudes by the modes."""
    gradients = []
    for terms in axial.terms:
        row: list[Scalar] = [0.0] * len(modes)
        for k, other, factor in terms:
            row[k] = row[k] + factor * modes[other]
            if k != other:
                row[other] = row[other] + factor * modes[k]
        gradients.append(row)
    return gradients


def amplitude_biases(axial: AxialInertia, rates: Sequence[Scalar]) -> list[Scalar]:
    """Return the accelerations b_j of the amplitudes at modal rates without accelerations."""
    biases = []
    for terms in axial.terms:
        total: Scalar = 0.0
        for k, other, factor in terms:
            total = total + (factor if k == other else 2.0 * factor) * (rates[k] * rates[other])
        biases.append(total)
    return biases


def weighted(weights: Iterable[Scalar], values: Iterable[Scalar]) -> Scalar:
    """Return the sum of weight * value."""
    total: Scalar = 0.0
    for weight, value in zip(weights, values):
        total = total + weight * value
    return total


def along_modes(weights: Sequence[Scalar], gradients: Gradients) -> list[Scalar]:
    """Return sum_j weight_j D_jk for each mode k."""
    return [weighted(weights, column) for column in zip(*gradients)]


def drawn_in(state: DeflectedBody, modes: list) -> DeflectedBody:
    """
    Return a deflected body's inertia integrals with its points drawn in along the axis.

    Args:
        state: The integrals without that.
        modes: Modal coordinates of the body.
    """
    axial = state.body.modal.axial
    e = axial.direction
    a, gradients = amplitudes(axial, modes), amplitude_gradients(axial, modes)
    coupled = [combine(a, row) for row in axial.coupling]  # int s phi_k dm
    lateral = combine(modes, coupled)  # int s u dm
    product = [weighted(row, a) for row in axial.product]  # int f_j s dm
    along = weighted(axial.second, a)
    # int rho f_j dm
    reach = [
        add(scale(x + own, e), combine(modes, [row[j] for row in axial.coupling]))
        for j, (x, own) in enumerate(zip(axial.second, product))
    ]
    half = add(lateral, scale(along + 0.5 * weighted(a, product), e))
    spread = outer(e, half)
    moments = []
    for k, moment in enumerate(state.modal_moments):
        drawn = combine([row[k] for row in gradients], reach)
        moments.append(add_matrices(add_matrices(moment, outer(e, coupled[k])), outer(drawn, e)))
    firsts = along_modes(axial.first, gradients)
    return replace(
        state,
        first_moment=add(state.first_moment, scale(weighted(axial.first, a), e)),
        second_moment=add_matrices(state.second_moment, add_matrices(spread, transpose(spread))),
        modal_moments=moments,
        modal_first=[add(first, scale(x, e)) for first, x in zip(state.modal_first, firsts)],
        modal_mass=_modal_mass(axial, gradients, state.modal_mass),
    )


def _modal_mass(
    axial: AxialInertia, gradients: Gradients, mass: list[list[Scalar]]
) -> list[list[Scalar]]:
    """Return the generalised mass of the modes, each with the shape sum_j f_j D_jk e besides."""
    columns = list(zip(*gradients))
    along = [
        [weighted(column, [dot(axial.direction, p) for p in row]) for column in columns]
        for row in axial.coupling
    ]
    matrix = [list(row) for row in mass]
    for k, column in enumerate(columns):
        inertia = [weighted(row, column) for row in axial.product]
        for other in range(k + 1):
            shared = weighted(columns[other], inertia) + along[k][other] + along[other][k]
            matrix[k][other] = matrix[k][other] + shared
            if other != k:
                matrix[other][k] = matrix[other][k] + shared
    return matrix


class AxialWrench(NamedTuple):
    """Force, moment about the origin, and modal forces."""

    force: Vector
    moment: Vector
    modal: list[Scalar]


def axial_wrench(
    axial: AxialInertia, motion: BodyMotion, modes: list, rates: list, accelerations: list
) -> AxialWrench:
    """
    Return what points drawn in along the axis add to the wrench that a motion takes.

    With U the acceleration matrix and w the spin of the frame, a point at r + u + s e accelerates
    by b + c, where b is the acceleration without s, and c = s U e + 2 s' w x e + s'' e. Added
    are the force int c dm, the moment int (r + u) x c + s e x (b + c) dm, and the modal forces
    int phi_k . c dm + sum_j D_jk int f_j e . (b + c) dm.

    Args:
        axial: Integrals of the axial shapes.
        motion: Motion of the body's frame.
        modes: Modal coordinates.
        rates: Their rates.
        accelerations: Their accelerations.
    """
    e, start = axial.direction, motion.acceleration
    gradients = amplitude_gradients(axial, modes)
    a = amplitudes(axial, modes)
    a_rate = [weighted(row, rates) for row in gradients]
    bias = amplitude_biases(axial, rates)
    a_rate2 = [weighted(row, accelerations) + b for row, b in zip(gradients, bias)]
    pull, sweep = apply(motion.matrix, e), scale(2.0, cross(motion.spin, e))  # U e, 2 w x e

    def carried(weights: Sequence[Scalar]) -> Vector:
        """Return the integral of c over masses that weigh the shapes."""
        lateral = add(scale(weighted(weights, a), pull), scale(weighted(weights, a_rate), sweep))
        return add(lateral, scale(weighted(weights, a_rate2), e))

    held = [combine(a, row) for row in axial.coupling]  # int s phi_k dm
    held_rate = [combine(a_rate, row) for row in axial.coupling]
    held_rate2 = [combine(a_rate2, row) for row in axial.coupling]
    lateral = combine(modes, held)  # int s u dm
    product = [weighted(row, a) for row in axial.product]
    # int s b dm but for the part of U r, which is along pull.
    beside = add(scale(weighted(axial.first, a), start), apply(motion.matrix, lateral))
    beside = add(beside, scale(2.0, cross(motion.spin, combine(rates, held))))
    beside = add(beside, combine(accelerations, held))
    beside = add(beside, scale(2.0 * weighted(axial.second, a) + weighted(a, product), pull))
    turning = weighted(axial.second, a_rate) + weighted(a_rate, product)
    moment = cross(e, add(beside, scale(turning, sweep)))
    moment = add(moment, cross(lateral, pull))
    moment = add(moment, cross(combine(modes, held_rate), sweep))
    moment = add(moment, cross(combine(modes, held_rate2), e))

    forces = [
        dot(s, pull) + dot(s_rate, sweep) + dot(s_rate2, e)
        for s, s_rate, s_rate2 in zip(held, held_rate, held_rate2)
    ]
    felt = _felt_along(axial, motion, (pull, sweep), (a, a_rate2), (modes, rates, accelerations))
    drawn = along_modes(felt, gradients)
    return AxialWrench(
        carried(axial.first), moment, [force + more for force, more in zip(forces, drawn)]
    )


def _felt_along(
    axial: AxialInertia,
    motion: BodyMotion,
    along: tuple[Vector, Vector],
    amplitude: tuple[list, list],
    modal: tuple[list, list, list],
) -> list[Scalar]:
    """Return int f_j e . (b + c) dm for each axial shape."""
    e, (pull, sweep) = axial.direction, along
    start, stretch = dot(e, motion.acceleration), dot(e, pull)
    back = apply_transposed(motion.matrix, e)
    moved = [
        add(subtract(scale(value, back), scale(rate, sweep)), scale(acceleration, e))
        for value, rate, acceleration in zip(*modal)
    ]
    own = [value * stretch + rate2 for value, rate2 in zip(*amplitude)]
    felt = []
    for j, (mass, x) in enumerate(zip(axial.first, axial.second)):
        total = mass * start + x * stretch + weighted(axial.product[j], own)
        for row, motion_of_mode in zip(axial.coupling, moved):
            total = total + dot(row[j], motion_of_mode)
        felt.append(total)
    return felt
