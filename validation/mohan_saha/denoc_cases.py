# SPDX-License-Identifier: Apache-2.0
"""The DeNOC form beside this package: inertia, its factors, bias, accelerations."""

from __future__ import annotations

from typing import Any

from flexdyn_ros.dynamics.articulated_body import factor_order, mass_matrix_factors
from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np
from validation.beam_arms import beam_arm_urdf
from validation.case import Progress, Row
from validation.case_file import inputs, make_rows
from validation.mohan_saha.denoc import BeamLink, cross_matrix, move, Moving
from validation.mohan_saha.denoc_recursions import (
    accelerations,
    bias,
    block_factors,
    inertia_by_blocks,
    inertia_by_complement,
    multiplied,
)
from validation.registry import Code
from validation.studies import apart, reference


class _Arm:
    """
    The arm of the case: as DeNOC links, and as a robot.

    Attributes:
        links: Its links.
        dyn: Its dynamics by this package.
        order: Places in this package's order of the coordinates in the order of DeNOC.
        gravity: [m/s^2].
    """

    def __init__(self, given: dict[str, Any]):
        """Make the arm from the numbers of the case."""
        counts = tuple(given['modes'])
        parts = list(zip(given['lengths'], given['masses'], given['rigidity'], given['twists']))
        payloads = [0.0] * (len(parts) - 1) + [given['payload']]
        self.links = [
            BeamLink(length, mass, rigidity, counts, twist, payload)
            for (length, mass, rigidity, twist), payload in zip(parts, payloads)
        ]
        self.gravity = np.array(given['gravity'])
        self.dyn = reference(load_robot(beam_arm_urdf(
            given['lengths'], given['masses'], given['rigidity'], given['modes'][0],
            out_of_plane_modes=given['modes'][1], gravity=given['gravity'],
            tip_mass=given['payload'], twists=given['twists'],
        )))
        n, m = len(parts), sum(counts)
        self.order = [k for i in range(n) for k in (i, *range(n + m * i, n + m * (i + 1)))]

    def moving(self, q: np.ndarray, qd: np.ndarray, coriolis: float = 2.0) -> Moving:
        """Return the DeNOC matrices in a state in this package's order."""
        return move(self.links, q[self.order], qd[self.order], coriolis)


def rows(progress: Progress) -> list[Row]:
    """Return the rows about identities in a random state of a twisted arm with a payload."""
    given = inputs('ms_denoc')
    arm = _Arm(given)
    dyn, order = arm.dyn, arm.order
    generator = np.random.default_rng(given['seed'])
    n, nv = len(arm.links), dyn.robot.nv
    q = np.concatenate((generator.normal(size=n), 0.1 * generator.normal(size=nv - n)))
    qd, tau = generator.normal(size=nv), 100.0 * generator.normal(size=nv)
    moving = arm.moving(q, qd)
    inertia = inertia_by_blocks(moving)
    factors, ours = block_factors(moving), dyn.mass_matrix(q)
    wanted = bias(moving, arm.gravity)
    solved = accelerations(moving, factors, tau[order] - wanted)
    tree = assemble(dyn.robot, {})
    upper, diagonal = mass_matrix_factors(tree, list(q))
    own = np.ix_(factor_order(tree), factor_order(tree))
    product = np.array(upper) @ np.diag(diagonal) @ np.array(upper).T
    printed = arm.moving(q, qd, coriolis=1.0)
    return make_rows('ms_denoc', {
        'complement': apart(inertia_by_complement(moving), inertia),
        'inertia': apart(ours[np.ix_(order, order)], inertia),
        'carried_twice': _carried_twice(moving),
        'block_factors': apart(multiplied(moving, factors), inertia),
        'our_factors': apart(product, ours[own]),
        'bias': apart(dyn.bias_vector(q, qd)[order], wanted),
        'lagrange': apart(_lagrange_bias(dyn, q, qd), dyn.bias_vector(q, qd)),
        'without_gamma': apart(bias(moving, arm.gravity, with_gamma=False), wanted),
        'coriolis_once': apart(bias(printed, arm.gravity), wanted),
        'recursive_solution': apart(solved, np.linalg.solve(inertia, tau[order] - wanted)),
        'accelerations': apart(dyn.forward_dynamics(q, qd, tau)[order], solved),
        'our_dense_solution': apart(
            dyn.forward_dynamics(q, qd, tau, method='cholesky')[order], solved
        ),
    })


def _carried_twice(moving: Moving) -> float:
    """Return the error of A_32 A_21 from A_31 put together from the links' places."""
    twice = moving.carry[2] @ moving.carry[1]
    # Motion of the joint of link 3 by a twist of link 1: link 2 turns with its root, undeformed.
    between = moving.origins[2] - moving.origins[1]
    direct = np.zeros_like(twice)
    direct[:3, :3] = direct[3:6, 3:6] = np.eye(3)
    arm = moving.origins[2] - moving.origins[0]
    direct[:3, 3:6] = cross_matrix(-arm)
    slide, turn = moving.tips[0][:3], moving.tips[0][3:]
    direct[:3, 6:] = slide + np.cross(turn.T, between).T
    direct[3:6, 6:] = turn
    return apart(twice, direct)


def _lagrange_bias(dyn: Dynamics, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """
    Return the bias by Lagrange's equations from energies alone, by differences of fourth order.

    M' q' - 1/2 d(q'.M q')/dq + dV/dq, with M' along q'.
    """
    step = 1e-3

    def slope(function: Any, direction: np.ndarray) -> Any:
        near = function(q + step * direction) - function(q - step * direction)
        far = function(q + 2.0 * step * direction) - function(q - 2.0 * step * direction)
        return (8.0 * near - far) / (12.0 * step)

    def lagrangian(place: np.ndarray) -> float:
        return dyn.kinetic_energy(place, qd) - dyn.potential_energy(place)

    size = np.linalg.norm(qd)
    changing = size * slope(dyn.mass_matrix, qd / size)
    pulls = np.array([slope(lagrangian, unit) for unit in np.eye(len(q))])
    return changing @ qd - pulls


CODE = {'ms_denoc': Code(rows)}
