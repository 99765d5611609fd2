# SPDX-License-Identifier: Apache-2.0
"""
Foreshortening: the inertia and the wrench of a bent beam's points drawn in along its axis.

The displacement gains s e, s = sum_j f_j a_j. The direction of the beam is e, its axial shapes are
f_j. The amplitudes a_j are quadratic in the modes (model/modal/foreshortening.py): a_j = delta^T
C_j delta / 2. So a_j' = D_j . delta' and a_j'' = D_j . delta'' + b_j with the gradient D_j = C_j
delta and the bias b_j = delta'^T C_j delta'. No term is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Iterable, Sequence

from flexdyn_ros.dynamics.multibody import AxialInertia, Body, Entry
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import (
    add,
    add_matrices,
    apply,
    apply_transposed,
    axial as axial_part,
    BodyMotion,
    BodyWrench,
    combine,
    cross,
    dot,
    inertia_of,
    is_zero,
    Matrix,
    outer,
    scale,
    subtract,
    transpose,
    Vector,
)

# For each mode k the j and D_jk of the amplitudes that change with it.
Gradients = list[list[tuple[int, Scalar]]]


def amplitudes(axial: AxialInertia, modes: Sequence[Scalar]) -> list[Scalar]:
    """Return the amplitudes a_j at modal coordinates `modes`."""
    return [0.5 * square for square in amplitude_biases(axial, modes)]


def amplitude_gradients(axial: AxialInertia, modes: Sequence[Scalar]) -> Gradients:
    """Return the derivatives D_jk of the amplitudes by the modes."""
    gradients: Gradients = [[] for _ in modes]
    for j, terms in enumerate(axial.terms):
        for k, other, factor in terms:
            gradients[k].append((j, factor * modes[other]))
            if k != other:
                gradients[other].append((j, factor * modes[k]))
    return gradients


def amplitude_rates(axial: AxialInertia, gradients: Gradients, rates: list) -> list[Scalar]:
    """Return D_j . delta' for each amplitude."""
    result: list[Scalar] = [0.0] * len(axial.terms)
    for column, rate in zip(gradients, rates):
        for j, slope in column:
            result[j] = result[j] + slope * rate
    return result


def amplitude_biases(axial: AxialInertia, rates: Sequence[Scalar]) -> list[Scalar]:
    """Return the accelerations b_j of the amplitudes at modal rates without accelerations."""
    return [
        _sum(
            (factor if k == other else 2.0 * factor) * (rates[k] * rates[other])
            for k, other, factor in terms
        )
        for terms in axial.terms
    ]


def weighted(weights: Iterable[Scalar], values: Iterable[Scalar]) -> Scalar:
    """Return the sum of weight * value."""
    return _sum(weight * value for weight, value in zip(weights, values))


def along_modes(weights: Sequence[Scalar], gradients: Gradients) -> list[Scalar]:
    """Return sum_j weight_j D_jk for each mode k."""
    return [_sum(weights[j] * slope for j, slope in column) for column in gradients]


@dataclass
class DeflectedBody:
    """
    A body at one deflection; integrals are about its frame's origin in its axes.

    Attributes:
        first_moment: int rho dm, rho = r + u.
        second_moment: int rho rho^T dm.
        modal_moments: int rho phi_k^T dm for each mode k.
        modal_first: int phi_k dm.
        modal_mass: Generalised mass, indexed [k][l].
        body: The body.
    """

    first_moment: Vector
    second_moment: Matrix
    modal_moments: list[Matrix]
    modal_first: Sequence[Vector]
    modal_mass: Sequence[Sequence[Scalar]]
    body: Body

    @property
    def inertia(self) -> Matrix:
        """Inertia matrix about the frame's origin."""
        return inertia_of(self.second_moment)

    @property
    def angular_coupling(self) -> list[Vector]:
        """Angular momentum about the origin for each unit mode rate."""
        rotary = self.body.modal.rotary
        return [add(axial_part(m), momentum) for m, momentum in zip(self.modal_moments, rotary)]


def drawn_in(axial: AxialInertia, modes: list, deflected: DeflectedBody) -> DeflectedBody:
    """
    Return a body's inertia integrals with its points drawn in along the axis.

    Args:
        axial: Integrals of the axial shapes.
        modes: Modal coordinates of the body.
        deflected: The integrals without the drawing in.
    """
    e = axial.direction
    a, gradients = amplitudes(axial, modes), amplitude_gradients(axial, modes)
    held = [_held(couplings, a) for couplings in axial.coupling]  # int s phi_k dm
    product = [weighted(row, a) for row in axial.product]  # int f_j s dm
    along = weighted(axial.second, a) + 0.5 * weighted(a, product)
    spread = outer(e, add(combine(modes, held), scale(along, e)))
    reach = [x + coupled for x, coupled in zip(axial.second, product)]  # int f_j (x + s) dm
    beside = moments_beside(axial, modes)
    moments = []
    for moment, coupled, column in zip(deflected.modal_moments, held, gradients):
        drawn = scale(_sum(reach[j] * slope for j, slope in column), e)
        for j, slope in column:
            drawn = add(drawn, scale(slope, beside[j]))
        moments.append(add_matrices(add_matrices(moment, outer(e, coupled)), outer(drawn, e)))
    firsts = along_modes(axial.first, gradients)
    spread = add_matrices(spread, transpose(spread))
    return replace(
        deflected,
        first_moment=add(deflected.first_moment, scale(weighted(axial.first, a), e)),
        second_moment=add_matrices(deflected.second_moment, spread),
        modal_moments=moments,
        modal_first=[add(first, scale(x, e)) for first, x in zip(deflected.modal_first, firsts)],
        modal_mass=_modal_mass(axial, gradients, deflected.modal_mass),
    )


def _held(couplings: Iterable[Entry], weights: Sequence[Scalar]) -> Vector:
    """Return the sum of weight_j int f_j phi dm for one mode."""
    total: list[Scalar] = [0.0, 0.0, 0.0]
    for j, axis, value in couplings:
        total[axis] = total[axis] + value * weights[j]
    return (total[0], total[1], total[2])


def moments_beside(axial: AxialInertia, modes: Sequence[Scalar]) -> list[Vector]:
    """Return int f_j u dm for each axial shape, u without the drawing in."""
    totals: list[list[Scalar]] = [[0.0, 0.0, 0.0] for _ in axial.terms]
    for couplings, amplitude in zip(axial.coupling, modes):
        for j, axis, value in couplings:
            totals[j][axis] = totals[j][axis] + value * amplitude
    return [(x, y, z) for x, y, z in totals]


def coupled_with_gradients(
    axial: AxialInertia, modes: Sequence[Scalar]
) -> list[list[Vector]]:
    """Return int phi_l sum_j f_j D_jk dm, phi_l without the drawing in, indexed [l][k]."""
    slopes = []
    for column in amplitude_gradients(axial, modes):
        slope: list[Scalar] = [0.0] * len(axial.terms)
        for j, value in column:
            slope[j] = slope[j] + value
        slopes.append(slope)
    return [[_held(couplings, slope) for slope in slopes] for couplings in axial.coupling]


def held_by(axial: AxialInertia, modes: Sequence[Scalar]) -> list[list[Scalar]]:
    """Return e . int f_j phi_k dm, phi_k with the drawing in, indexed [k][j]."""
    held = []
    for couplings, column in zip(axial.coupling, amplitude_gradients(axial, modes)):
        along: list[Scalar] = [0.0] * len(axial.terms)
        for j, axis, value in couplings:
            along[j] = along[j] + value * axial.direction[axis]
        for i, slope in column:
            for j, mass in enumerate(axial.product[i]):
                along[j] = along[j] + slope * mass
        held.append(along)
    return held


def _modal_mass(
    axial: AxialInertia, gradients: Gradients, mass: Sequence[Sequence[Scalar]]
) -> list[list[Scalar]]:
    """Return the generalised mass of the modes, each with the shape sum_j f_j D_jk e besides."""
    matrix = [list(row) for row in mass]
    # int f_j phi_k . e dm, which only modes that stretch the beam have.
    stretch = [
        [(j, value * axial.direction[axis]) for j, axis, value in couplings
         if not is_zero(axial.direction[axis])]
        for couplings in axial.coupling
    ]
    for k, column in enumerate(gradients):
        slopes = dict.fromkeys(range(len(axial.terms)), 0.0)
        for j, slope in column:
            slopes[j] = slopes[j] + slope
        inertia = [
            _sum(row[j] * slope for j, slope in column) for row in axial.product
        ] if column else []
        for other in range(len(matrix)):
            crossed = _sum(value * slopes[j] for j, value in stretch[other]) if column else 0.0
            matrix[k][other] = matrix[k][other] + crossed
            matrix[other][k] = matrix[other][k] + crossed
        for other in range(k + 1):
            if not (column and gradients[other]):
                continue
            shared = _sum(inertia[j] * slope for j, slope in gradients[other])
            matrix[k][other] = matrix[k][other] + shared
            if other != k:
                matrix[other][k] = matrix[other][k] + shared
    return matrix


def _sum(values: Iterable[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for value in values:
        total = total + value
    return total


def axial_wrench(
    axial: AxialInertia, motion: BodyMotion, modes: list, rates: list, accelerations: list
) -> BodyWrench:
    """
    Return the share of points drawn in along the axis in the wrench that a motion takes.

    With U the acceleration matrix and w the angular velocity of the frame, a point at r + u + s e
    accelerates by b + c. Here b is the acceleration without s, and c = s U e + 2 s' w x e + s'' e.
    Added are the force int c dm, and the moment int (r + u) x c + s e x (b + c) dm. The modal
    forces are int phi_k . c dm + sum_j D_jk int f_j e . (b + c) dm.

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
    a_rate = amplitude_rates(axial, gradients, rates)
    driven = amplitude_rates(axial, gradients, accelerations)
    a_rate2 = [x + bias for x, bias in zip(driven, amplitude_biases(axial, rates))]
    pull = apply(motion.matrix, e)  # U e
    sweep = scale(2.0, cross(motion.angular_velocity, e))  # 2 w x e

    def force_over(weights: Sequence[Scalar]) -> Vector:
        """Return the integral of c over masses that weigh the shapes."""
        lateral = add(scale(weighted(weights, a), pull), scale(weighted(weights, a_rate), sweep))
        return add(lateral, scale(weighted(weights, a_rate2), e))

    held, held_rate, held_rate2 = (
        [_held(couplings, weights) for couplings in axial.coupling]  # int s phi_k dm
        for weights in (a, a_rate, a_rate2)
    )
    lateral = combine(modes, held)  # int s u dm
    product = [weighted(row, a) for row in axial.product]
    # int s b dm but for the part of U r, which is along pull.
    beside = add(scale(weighted(axial.first, a), start), apply(motion.matrix, lateral))
    beside = add(beside, scale(2.0, cross(motion.angular_velocity, combine(rates, held))))
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
    return BodyWrench(
        force_over(axial.first), moment, [force + more for force, more in zip(forces, drawn)]
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
    along_axis = [value * stretch + rate2 for value, rate2 in zip(*amplitude)]
    felt = [
        mass * start + x * stretch + weighted(row, along_axis)
        for mass, x, row in zip(axial.first, axial.second, axial.product)
    ]
    for couplings, motion_of_mode in zip(axial.coupling, moved):
        for j, axis, value in couplings:
            felt[j] = felt[j] + value * motion_of_mode[axis]
    return felt
