# SPDX-License-Identifier: Apache-2.0
"""
Modes along a given motion of the joints: their static deflection, and one step of vibration.

Both are straight-line code over scalars of any kind: the numbers of iterations are fixed, and the
small linear systems are solved by elimination.
"""

from __future__ import annotations

from typing import Any, Callable, Protocol, Sequence

from flexdyn_ros.dynamics.internal_forces import elastic_forces, friction_forces
from flexdyn_ros.dynamics.linear_algebra import solve_dense, SymmetricFactors
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.spatial import is_zero

# Newton steps to the static deflection. The loads' derivative is that at the undeformed arm. After
# k steps the error is therefore of order r^k, r the deflection over that of buckling.
STATIC_ITERATIONS = 6
# Newton steps of one time step; its matrix leaves out parts small against mass or stiffness.
STEP_ITERATIONS = 3

Vector = list
Forces = Callable[[Vector, Vector, Vector], Vector]


class Trees(Protocol):
    """Dynamics of a tree of bodies whose last coordinates are modes."""

    @property
    def tree(self) -> Multibody:
        """The bodies."""

    def inverse_dynamics(self, q: Vector, qd: Vector, qdd: Vector, wrenches: Sequence) -> Vector:
        """Return joint torques and modal forces, (nv,)."""

    def mass_matrix(self, q: Vector) -> list[Vector]:
        """Return the mass matrix, (nv, nv)."""

    def derivative_at(self, function: Callable[[Vector], Vector], at: Vector) -> list[Vector]:
        """Return the derivative of a vector by its argument, rows."""


def quasi_static_torque(
    dyn: Trees, joint_q: Vector, joint_qd: Vector, joint_qdd: Vector, wrenches: Sequence
) -> tuple[Vector, Vector, Vector]:
    """
    Return torques, the deflection with them, and the last step of the iteration.

    The deflection delta balances springs and loads, f_mode(q, q', q'', delta, 0, 0) = 0, f the
    inverse dynamics (Siciliano and Book, A singular perturbation approach to control of
    lightweight flexible manipulators, 1988, zeroth order). STATIC_ITERATIONS steps of Newton's
    method find it. Springs have their slope at each step, loads have theirs at delta = 0
    (Kantorovich's modified method).

    Args:
        dyn: The dynamics.
        joint_q: Joint positions.
        joint_qd: Joint velocities, (n_joints,).
        joint_qdd: Joint accelerations, (n_joints,).
        wrenches: Wrenches on frames.
    """
    n = len(joint_qd)
    still = [0.0] * (dyn.tree.nv - n)

    def forces(delta: Vector) -> Vector:
        return dyn.inverse_dynamics(
            joint_q + delta, joint_qd + still, joint_qdd + still, wrenches)

    delta, change = still, still
    start = dyn.derivative_at(lambda delta: forces(delta)[n:], still)
    undeformed = _stiffness(dyn, joint_q, still)
    for _ in range(STATIC_ITERATIONS):
        matrix = [
            [x + (a - b) for x, a, b in zip(*rows)]
            for rows in zip(start, _stiffness(dyn, joint_q, delta), undeformed)
        ]
        change = solve_dense(matrix, forces(delta)[n:])
        delta = [x - d for x, d in zip(delta, change)]
    return forces(delta)[:n], delta, change


def hybrid_step(
    dyn: Trees, joint_q: Vector, joint_qd: Vector, joint_qdd: Vector, modal_state: Vector,
    step: Vector, wrenches: Sequence,
) -> tuple[Vector, Vector]:
    """
    Return torques and the modal state after one time step, see `alpha_step`.

    Args:
        dyn: The dynamics.
        joint_q: Joint positions at the end of the step.
        joint_qd: Joint velocities at its end, (n_joints,).
        joint_qdd: Joint accelerations at its end, (n_joints,).
        modal_state: Deflections, rates, accelerations and averages at its begin, (4 n_modes,).
        step: Its size [s], and the spectral radius.
        wrenches: Wrenches on frames.
    """
    n, tree = len(joint_qd), dyn.tree
    count = tree.nv - n
    still, rest = [0.0] * count, [0.0] * tree.nv

    def forces(delta: Vector, rate: Vector, acceleration: Vector) -> Vector:
        return dyn.inverse_dynamics(
            joint_q + delta, joint_qd + rate, joint_qdd + acceleration, wrenches)

    def losses(rate: Vector) -> Vector:
        qd = rest[:n] + rate
        parts = elastic_forces(tree, joint_q + still, qd)[n:], friction_forces(tree, qd)[n:]
        return [a + b for a, b in zip(*parts)]

    delta, *rest_of_state = (modal_state[k * count : (k + 1) * count] for k in range(4))
    mass = [row[n:] for row in dyn.mass_matrix(joint_q + delta)[n:]]
    stiffness = _stiffness(dyn, joint_q, delta)
    # Dry friction is steepest at rest, where the iteration is slowest and never diverges.
    damping = dyn.derivative_at(losses, still)
    state = alpha_step(
        lambda *motion: forces(*motion)[n:], (mass, damping, stiffness), (delta, *rest_of_state),
        step, STEP_ITERATIONS,
    )
    torques = forces(*state[:3])[:n]
    return torques, [x for part in state for x in part]


def _stiffness(dyn: Trees, joint_q: Vector, delta: Vector) -> list[Vector]:
    """Return the derivative of the elastic forces of modes by their deflections, (m, m)."""
    rest, first = [0.0] * dyn.tree.nv, dyn.tree.nv - len(delta)
    return dyn.derivative_at(lambda x: elastic_forces(dyn.tree, joint_q + x, rest)[first:], delta)


def alpha_weights(radius: Any) -> tuple[Any, Any, Any]:
    """
    Return (1 - alpha_f) / (1 - alpha_m), beta and gamma of the generalised-alpha method.

    alpha_m = (2 rho - 1) / (rho + 1) and alpha_f = rho / (rho + 1) with the spectral radius rho
    (Chung and Hulbert 1993, equations 17, 20 and 25).
    """
    share, beta = 1.0 / (2.0 - radius), 1.0 / ((radius + 1.0) * (radius + 1.0))
    return share, beta, 0.5 + (1.0 - radius) / (1.0 + radius)


def alpha_step(
    forces: Forces, matrices: Sequence[list[Vector]], state: Sequence[Vector], step: Sequence,
    iterations: int,
) -> tuple[Vector, Vector, Vector, Vector]:
    """
    Return the state after one step of the generalised-alpha method.

    It is stable at any step size and of second order. It damps vibrations too fast for the step by
    the spectral radius rho, see `alpha_weights`. The form of Arnold and Bruels (2007) meets the
    equations of motion at the end of every step.

    Args:
        forces: From deflections, rates and accelerations to the forces that are to vanish, (m,).
        matrices: Mass, damping and stiffness of the Newton iteration, (m, m) each.
        state: Deflections, rates, accelerations, and the method's averaged accelerations, (m,).
        step: Its size h [s], and rho, from 0 to 1.
        iterations: Number of Newton steps.
    """
    h, radius = step
    delta, rate, acceleration, averaged = state
    share, beta, gamma = alpha_weights(radius)
    known = [
        share * (radius * a - (2.0 * radius - 1.0) * b) for a, b in zip(acceleration, averaged)
    ]
    drift = [
        x + h * (v + h * ((0.5 - beta) * b)) for x, v, b in zip(delta, rate, averaged)
    ]
    pace = [v + h * ((1.0 - gamma) * b) for v, b in zip(rate, averaged)]
    by_delta, by_rate = h * h * beta, h * gamma

    def after(new: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        mean = [a + share * b for a, b in zip(known, new)]
        return (
            [x + by_delta * a for x, a in zip(drift, mean)],
            [v + by_rate * a for v, a in zip(pace, mean)], new, mean,
        )

    weights = 1.0, by_rate * share, by_delta * share
    rows = [
        [sum((w * x for w, x in zip(weights, entries) if not is_zero(x)), 0.0)
         for entries in zip(*parts)]
        for parts in zip(*matrices)
    ]
    factors = SymmetricFactors(rows, [0.0] * len(rows))
    for _ in range(iterations):
        change = factors.solve(forces(*after(acceleration)[:3]))
        acceleration = [a - d for a, d in zip(acceleration, change)]
    return after(acceleration)
