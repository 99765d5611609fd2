# SPDX-License-Identifier: Apache-2.0
"""The recursions of the DeNOC form on matrices: GIM, its factors, bias, accelerations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from validation.mohan_saha.denoc import Moving


def complement(moving: Moving) -> np.ndarray:
    """Return N = N_l N_d, which gives all twists from the rates (eqs. 12 to 15)."""
    rows: list[np.ndarray] = []
    for i, (carry, joint) in enumerate(zip(moving.carry, moving.joint)):
        above = carry @ rows[-1] if i else np.zeros((len(joint), 0))
        rows.append(np.hstack((above, joint)))
    width = rows[-1].shape[1]
    return np.vstack([np.pad(row, ((0, 0), (0, width - row.shape[1]))) for row in rows])


def inertia_by_complement(moving: Moving) -> np.ndarray:
    """Return the GIM as N^T M N (eq. 31)."""
    twists = complement(moving)
    sizes = np.cumsum([0, *(len(mass) for mass in moving.mass)])
    return sum(
        twists[a:b].T @ mass @ twists[a:b]
        for a, b, mass in zip(sizes[:-1], sizes[1:], moving.mass)
    )


def inertia_by_blocks(moving: Moving) -> np.ndarray:
    """Return the GIM block by block, I_ij = P_i^T Mt_i A_ij P_j (eq. 32, corrected)."""
    places = _places(moving)
    matrix = np.zeros((places[-1].stop,) * 2)
    composite: list[np.ndarray] = list(moving.mass)
    for i in reversed(range(len(composite))):
        if i + 1 < len(composite):
            carry = moving.carry[i + 1]
            composite[i] = composite[i] + carry.T @ composite[i + 1] @ carry
    for i, mass in enumerate(composite):
        row = moving.joint[i].T @ mass
        for j in reversed(range(i + 1)):
            block = row @ moving.joint[j]
            matrix[places[i], places[j]] = block
            matrix[places[j], places[i]] = block.T
            row = row @ moving.carry[j]
    return matrix


def bias(moving: Moving, gravity: np.ndarray, with_gamma: bool = True) -> np.ndarray:
    """Return forces for velocities, gravity and springs, -phi without tau (eq. 33, corrected)."""
    twist_rate = np.zeros(0)
    wrenches = []
    for i, (carry, own, mass) in enumerate(zip(moving.carry, moving.own, moving.mass)):
        carried = carry @ twist_rate if i else np.concatenate((-gravity, np.zeros(len(own) - 3)))
        twist_rate = carried + own
        wrenches.append(mass @ twist_rate + (moving.gamma[i] if with_gamma else 0.0))
    forces = []
    wrench = np.zeros(0)
    for i in reversed(range(len(wrenches))):
        wrench = wrenches[i] + (moving.carry[i + 1].T @ wrench if len(wrench) else 0.0)
        forces.append(moving.joint[i].T @ wrench + moving.springs[i])
    return np.concatenate(forces[::-1])


@dataclass
class BlockFactors:
    """
    The block factors of the elimination of links from the tip on (eqs. 34 to 38, corrected).

    Attributes:
        pivots: Ihat_i, the diagonal blocks of D.
        columns: Psi_i = Psihat_i Ihat_i^-1.
    """

    pivots: list[np.ndarray]
    columns: list[np.ndarray]


def block_factors(moving: Moving) -> BlockFactors:
    """Return the factors of the GIM, without forming it."""
    pivots, columns = [], []
    articulated = np.zeros((0, 0))
    for i in reversed(range(len(moving.mass))):
        mass = moving.mass[i]
        if len(articulated):
            carry = moving.carry[i + 1]
            mass = mass + carry.T @ articulated @ carry
        momenta = mass @ moving.joint[i]
        pivot = moving.joint[i].T @ momenta
        column = np.linalg.solve(pivot, momenta.T).T
        articulated = mass - momenta @ column.T
        pivots.append(pivot)
        columns.append(column)
    return BlockFactors(pivots[::-1], columns[::-1])


def multiplied(moving: Moving, factors: BlockFactors) -> np.ndarray:
    """Return U D U^T with U_ij = P_i^T A_ji^T Psi_j (eq. 36, corrected)."""
    places = _places(moving)
    upper, diagonal = np.eye(places[-1].stop), np.zeros((places[-1].stop,) * 2)
    for j, column in enumerate(factors.columns):
        diagonal[places[j], places[j]] = factors.pivots[j]
        for i in reversed(range(j)):
            column = moving.carry[i + 1].T @ column
            upper[places[i], places[j]] = moving.joint[i].T @ column
    return upper @ diagonal @ upper.T


def accelerations(moving: Moving, factors: BlockFactors, phi: np.ndarray) -> np.ndarray:
    """Return q'' with I q'' = phi by the recursions (39) to (42), corrected."""
    places = _places(moving)
    known: list[np.ndarray] = [np.zeros(0)] * len(places)
    eta = np.zeros(0)
    for i in reversed(range(len(places))):
        bar = moving.carry[i + 1].T @ eta if len(eta) else np.zeros(len(moving.mass[i]))
        hat = phi[places[i]] - moving.joint[i].T @ bar
        eta = factors.columns[i] @ hat + bar
        known[i] = np.linalg.solve(factors.pivots[i], hat)
    result = np.zeros(len(phi))
    mu = np.zeros(0)
    for i, place in enumerate(places):
        bar = moving.carry[i] @ mu if i else np.zeros(len(moving.mass[0]))
        result[place] = known[i] - factors.columns[i].T @ bar
        mu = moving.joint[i] @ result[place] + bar
    return result


def _places(moving: Moving) -> list[slice]:
    ends = np.cumsum([0, *(joint.shape[1] for joint in moving.joint)])
    return [slice(int(a), int(b)) for a, b in zip(ends[:-1], ends[1:])]
