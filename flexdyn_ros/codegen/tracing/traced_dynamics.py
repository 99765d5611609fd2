# SPDX-License-Identifier: Apache-2.0
"""The reference algorithms run on symbols, with the ways to solve for accelerations open."""

from __future__ import annotations

from typing import Callable, Sequence

from flexdyn_ros.dynamics.accelerations import solved_accelerations
from flexdyn_ros.dynamics.articulated_body import articulated_inertia, mass_matrix_factors
from flexdyn_ros.dynamics.mass_matrix import (
    mass_matrix,
    mass_matrix_by_columns,
    mass_matrix_by_first_columns,
    mass_matrix_by_outer_links,
)
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.reference import ReferenceBackend
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.symbolic.differentiate import Direction
from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.program import substitute

RECURSIVE = 'articulated bodies'
DENSE = 'mass matrix and LDL^T'
# Walker and Orin's methods 1 to 3, and a mixture of 1 and 3 that may be cheaper on flexible arms.
COMPOSITE = 'composite bodies'
MIXED = 'composite bodies and inverse dynamics'
MASS_MATRIX_METHODS = {
    'inverse dynamics': mass_matrix_by_columns,
    'outer links': mass_matrix_by_outer_links,
    COMPOSITE: mass_matrix,
    MIXED: mass_matrix_by_first_columns,
}


class TracedDynamics(ReferenceBackend):
    """
    The reference backend over symbols.

    Attributes:
        tree: The bodies.
        method: Method that solves for accelerations, RECURSIVE or DENSE. Or that of the mass
            matrix, one of MASS_MATRIX_METHODS; of derivatives, one of DERIVATIVE_METHODS; or one
            of CLOSED_FORMS for all of it.
        pivots: Pivots met while solving, which must be positive.
    """

    name = 'traced'

    def __init__(
        self, tree: Multibody, n_joints: int, gravity: Vector, method: str, graph: Graph
    ):
        """Take a tree of bodies whose numbers may be symbols of a graph."""
        self._graph = graph
        self._tree = tree
        self._gravity = gravity
        self._zero = [0.0] * tree.nv
        self._n_joints = n_joints
        self.method = method
        self.pivots: list[Scalar] = []

    def mass_matrix(self, q) -> list[list[Scalar]]:
        """Return the mass matrix, (nv, nv)."""
        return MASS_MATRIX_METHODS.get(self.method, mass_matrix)(self._tree, q)

    def mass_matrix_factors(self, q) -> tuple[list[list[Scalar]], list[Scalar]]:
        """Return U, (nv, nv), and the diagonal of D, (nv,), in `factor_order`."""
        upper, diagonal = mass_matrix_factors(self._tree, q)
        self.pivots += diagonal
        return upper, diagonal

    def articulated_inertia(self, q, frame) -> list[list[Scalar]]:
        """Return the articulated inertia of a frame's body, (6, 6)."""
        self._need_whole_bodies('articulated_inertia')
        found, pivots = articulated_inertia(self._tree, q, self._tree.frames[frame])
        self.pivots += pivots
        return found

    def hybrid_dynamics(self, q, qd, joint_qdd, wrenches=()) -> tuple[list, list]:
        """
        Return joint torques (n_joints,) and modal accelerations (n_modes,).

        With the mass matrix known, its off-diagonal block gives the torques of the modes'
        accelerations; otherwise a second inverse dynamics does.
        """
        first, count = self._n_joints, self._tree.nv
        at_rest = self.inverse_dynamics(q, qd, joint_qdd + [0.0] * (count - first), wrenches)
        free = range(first, count)
        modal = self._solve(q, [-force for force in at_rest], free)[first:]
        if self.method == RECURSIVE:
            return self.inverse_dynamics(q, qd, joint_qdd + modal, wrenches)[:first], modal
        matrix = self.mass_matrix(q)
        tau = []
        for force, row in zip(at_rest[:first], matrix):
            for mass, acceleration in zip(row[first:], modal):
                force = force + mass * acceleration
            tau.append(force)
        return tau, modal

    def derivative_at(
        self, function: Callable[[list], Sequence[Scalar]], at: Sequence[Scalar]
    ) -> list[list[Scalar]]:
        """Return the derivative of a vector by its argument at some place, by rows."""
        graph = self._graph
        symbols = [graph.symbol(f'@at {k}') for k in range(len(at))]
        directions = [Direction({symbol: graph.one}) for symbol in symbols]
        values = dict(zip(symbols, map(graph.lift, at)))
        return [
            substitute([each.derivative(graph.lift(x)) for each in directions], values)
            for x in function(symbols)
        ]

    def _solve(self, q, forces, free, method='') -> list[Scalar]:
        if not free:
            return list(self._zero)
        found, pivots = solved_accelerations(
            self._tree, self.mass_matrix, q, forces, free, self.method == RECURSIVE)
        self.pivots += pivots
        return found
