# SPDX-License-Identifier: Apache-2.0
"""
The equations of motion in closed form: mass matrix, Christoffel symbols, gravity.

For arms of few joints this takes fewer operations than the recursive form. ARM (Neuman and Murray
1987) therefore writes it out for the first three joints of an arm. From the mass matrix M, the
forces of Coriolis are sum_jk c_ijk qd_j qd_k with
c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2.

In multiple angles, polynomials in sines and cosines become sums of sines and cosines of sums of
angles. Rules such as cos a cos b = (cos(a - b) + cos(a + b)) / 2 apply until no product is left.
The entries of the mass matrix need fewer operations so, and their derivatives fewer still, at the
price of more calls of sine and cosine.
"""

from __future__ import annotations

from functools import reduce
from math import gcd
from typing import Optional, Sequence

from flexdyn_ros.codegen.tracing.traced_derivatives import DifferentiatedDynamics
from flexdyn_ros.dynamics.internal_forces import elastic_forces, friction_forces
from flexdyn_ros.dynamics.mass_matrix import mass_matrix
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.newton_euler import generalised_forces
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.symbolic.differentiate import Direction
from flexdyn_ros.symbolic.graph import CALL, Expression, PRODUCT, SUM, SYMBOL
from flexdyn_ros.symbolic.optimise import optimise
from flexdyn_ros.symbolic.polynomial import expand
from flexdyn_ros.symbolic.program import ordered, Program

# Polynomials with more terms are left as they are.
TERM_LIMIT = 80
# Coefficients this far below the largest are round-off.
ROUND_OFF = 1e-13

# Multiples of the angles, whether it is a sine, and the other factors.
Wave = tuple[tuple[int, ...], bool, tuple[Expression, ...]]
Waves = dict[Wave, float]


def multiple_angles(node: Expression, angles: Sequence[Expression]) -> Expression:
    """Return a node as a sum of sines and cosines of sums of the angles where that is possible."""
    parts = ordered((node,))
    opened = {part for part in parts if part.kind in (SUM, PRODUCT)}
    polynomial = expand(node, opened, TERM_LIMIT)
    if polynomial is None or not all(_suits(part, angles) for part in parts):
        return node
    waves: Waves = {}
    for monomial, coefficient in polynomial.items():
        for wave, weight in _waves(monomial, angles).items():
            waves[wave] = waves.get(wave, 0.0) + weight * coefficient
    largest = max((abs(weight) for weight in waves.values()), default=0.0)
    return node.graph.sum(
        weight * _wave(wave, angles, node)
        for wave, weight in waves.items() if abs(weight) > ROUND_OFF * largest
    )


def _suits(node: Expression, angles: Sequence[Expression]) -> bool:
    """Return whether a node is no call, or the sine or cosine of one of the angles."""
    if node.kind != CALL:
        return True
    return node.value in ('sin', 'cos') and node.operands[0] in angles


def _waves(monomial: Sequence[Expression], angles: Sequence[Expression]) -> Waves:
    """Return a product of sines, cosines and other factors as a sum of waves."""
    waves: Waves = {((0,) * len(angles), False, ()): 1.0}
    for factor in monomial:
        if factor.kind != CALL:
            waves = {
                (multiples, sine, (*others, factor)): weight
                for (multiples, sine, others), weight in waves.items()
            }
            continue
        place = list(angles).index(factor.operands[0])
        product: Waves = {}
        for (multiples, sine, others), weight in waves.items():
            for more, is_sine, part in _product(multiples, sine, place, factor.value == 'sin'):
                wave, sign = _positive(more, is_sine)
                key = (wave, is_sine, others)
                product[key] = product.get(key, 0.0) + sign * part * weight
        waves = product
    return waves


def _product(multiples: tuple[int, ...], sine: bool, place: int, by_sine: bool) -> tuple:
    """Return the two waves, with weights, of a wave times the sine or cosine of an angle."""
    up = tuple(n + (k == place) for k, n in enumerate(multiples))
    down = tuple(n - (k == place) for k, n in enumerate(multiples))
    if sine and by_sine:
        return (down, False, 0.5), (up, False, -0.5)
    if by_sine:
        return (up, True, 0.5), (down, True, -0.5)
    return (up, sine, 0.5), (down, sine, 0.5)


def _positive(multiples: tuple[int, ...], sine: bool) -> tuple[tuple[int, ...], float]:
    """Return an angle with a positive first multiple, and the sign that this costs."""
    first = next((n for n in multiples if n), 0)
    if first == 0 and sine:
        return multiples, 0.0
    if first < 0:
        return tuple(-n for n in multiples), -1.0 if sine else 1.0
    return multiples, 1.0


def _wave(wave: Wave, angles: Sequence[Expression], node: Expression) -> Expression:
    """Return the node of a wave; its angle is a whole multiple of the shortest sum."""
    multiples, sine, others = wave
    graph = node.graph
    divisor = reduce(gcd, multiples, 0)
    if divisor == 0:
        return graph.product(others) if others else graph.one
    angle = divisor * graph.sum((n // divisor) * a for n, a in zip(multiples, angles))
    return graph.product((*others, angle.sin() if sine else angle.cos()))


def angle_coordinates(node_list: Sequence[Expression]) -> list[Expression]:
    """Return the symbols whose sines or cosines stand in the nodes."""
    found = [
        node.operands[0] for node in ordered(node_list)
        if node.kind == CALL and node.value in ('sin', 'cos')
    ]
    return sorted({a for a in found if a.kind == SYMBOL}, key=lambda node: node.number)


CLOSED = 'closed form'
ANGLES = 'closed form in multiple angles'
CLOSED_FORMS = (CLOSED, ANGLES)
# The number of Christoffel symbols grows with the cube of the joints.
JOINT_LIMIT = 4
ONE_AXIS = ('revolute', 'continuous', 'prismatic', 'fixed')


def suits_closed_form(robot: Robot) -> bool:
    """Return whether a robot is a small arm of rigid links behind joints of one axis."""
    plain = all(
        joint.type in ONE_AXIS and joint.mimic is None and not joint.pitch
        for joint in robot.joints
    )
    return plain and not robot.n_modes and 0 < robot.nv <= JOINT_LIMIT


class _ClosedForm:
    """
    The equations of motion of a tree of rigid bodies at symbolic positions.

    Attributes:
        mass_matrix: Rows, (nv, nv).
        gravity: Forces that hold the arm against gravity, (nv,).
    """

    def __init__(
        self, tree: Multibody, q: list[Expression], gravity: Sequence[float], angles: bool
    ):
        """
        Set the equations up.

        Args:
            tree: The bodies.
            q: Symbols of the configuration, (nq,).
            gravity: Acceleration of gravity in the root frame [m/s^2].
            angles: Whether products of sines and cosines become sums of multiple angles.
        """
        self._q = q
        rest = [0.0] * tree.nv
        graph = q[0].graph
        x, y, z = gravity
        held = [graph.lift(force) for force in generalised_forces(tree, q, rest, rest, (x, y, z))]
        full = mass_matrix(tree, q)
        lower = [graph.lift(full[i][j]) for i in range(tree.nv) for j in range(i + 1)]
        if angles:
            turning = angle_coordinates([*lower, *held])
            lower = [multiple_angles(node, turning) for node in lower]
            held = [multiple_angles(node, turning) for node in held]
        else:
            lower = list(optimise(Program(graph, tuple(lower)))[0].outputs)
        self.gravity = held
        entries = iter(lower)
        rows = [[next(entries) for _ in range(i + 1)] for i in range(tree.nv)]
        self.mass_matrix = [
            [rows[max(i, j)][min(i, j)] for j in range(tree.nv)] for i in range(tree.nv)
        ]
        self._slopes = self._differentiate()

    def _differentiate(self) -> list[list[list[Expression]]]:
        """Return dM_ij/dq_k, indexed [k][i][j]."""
        slopes = []
        for symbol in self._q:
            along = Direction({symbol: symbol.graph.one})
            slopes.append([[along.derivative(x) for x in row] for row in self.mass_matrix])
        return slopes

    def inertia(self, qdd: Sequence) -> list[Expression]:
        """Return M qdd, (nv,)."""
        graph = self._q[0].graph
        return [
            graph.sum(graph.lift(m * a) for m, a in zip(row, qdd)) for row in self.mass_matrix
        ]

    def coriolis(self, qd: Sequence) -> list[Expression]:
        """Return the forces of Coriolis and centrifugal accelerations, (nv,)."""
        graph, slopes, count = self._q[0].graph, self._slopes, len(self._q)
        forces = []
        for i in range(count):
            terms = []
            for j in range(count):
                for k in range(j + 1):
                    twice = slopes[k][i][j] + slopes[j][i][k] - slopes[i][j][k]
                    weight = 0.5 if j == k else 1.0
                    terms.append(graph.lift(weight * twice * (qd[j] * qd[k])))
            forces.append(graph.sum(terms))
        return forces


class ClosedFormDynamics(DifferentiatedDynamics):
    """Dynamics of a small arm in closed form; `method` is one of CLOSED_FORMS."""

    _closed: Optional[_ClosedForm] = None

    def mass_matrix(self, q) -> list[list[Scalar]]:
        """Return the mass matrix, (nv, nv)."""
        return self._closed_form(q).mass_matrix

    def inverse_dynamics(self, q, qd, qdd, wrenches=()) -> list[Scalar]:
        """Return joint torques, (nv,)."""
        closed, graph = self._closed_form(q), q[0].graph
        terms = [
            closed.inertia(qdd), closed.coriolis(qd), closed.gravity,
            friction_forces(self._tree, qd), elastic_forces(self._tree, q, qd),
            self.external_force_vector(q, wrenches),
        ]
        return [graph.sum(map(graph.lift, parts)) for parts in zip(*terms)]

    def gravity_vector(self, q) -> list[Scalar]:
        """Return the forces that hold the robot against gravity, (nv,)."""
        return self._closed_form(q).gravity

    def coriolis_vector(self, q, qd) -> list[Scalar]:
        """Return the forces of Coriolis and centrifugal accelerations, (nv,)."""
        return self._closed_form(q).coriolis(qd)

    def inertia_vector(self, q, qdd) -> list[Scalar]:
        """Return M qdd, (nv,)."""
        return self._closed_form(q).inertia(qdd)

    def _closed_form(self, q) -> _ClosedForm:
        if self._closed is None:
            self._closed = _ClosedForm(self._tree, q, self._gravity, self.method == ANGLES)
        return self._closed
