# SPDX-License-Identifier: Apache-2.0
"""
Independent axes: a tree of bodies whose joint axes each have a coordinate of their own.

Mimic joints and elastic joints drive axes by sums of coordinates, some of them shared.
Results axis by axis go back to the robot's coordinates through their multipliers. The axes are
variables of a calculus, which differentiates scalars of one kind.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Iterable, Protocol, Sequence

from flexdyn_ros.dynamics.joints import AxisTerm, joint_position, total
from flexdyn_ros.dynamics.multibody import Body, Multibody
from flexdyn_ros.dynamics.scalar import Scalar

# The robot's coordinates that drive an axis or a mode: place in qd and multiplier.
Drivers = list[tuple[int, float]]


class CalculusDirection(Protocol):
    """A direction in the space of the variables."""

    def derivatives(
        self, values: Iterable[Scalar], evaluated: Sequence[Scalar] = ()
    ) -> list[Scalar]:
        """
        Return the derivatives of scalars along the direction.

        Args:
            values: The scalars.
            evaluated: Variables that the derivatives are wanted at the values of.
        """


class Calculus(Protocol):
    """Differentiation of scalars of one kind."""

    def variable(self, name: str, value: Scalar) -> Scalar:
        """Return an independent variable of this name that has a value."""

    def direction(self, rates: Iterable[tuple[Scalar, Scalar]]) -> CalculusDirection:
        """Return the direction in which variables change at these rates, and no others."""


@dataclass
class IndependentAxes:
    """
    The tree, its coordinates, and the robot's that drive them.

    Attributes:
        tree: The bodies; springs, losses and rotors are left out.
        q: Variables of its configuration.
        qd: Variables of its velocity, one an axis or a mode.
        qdd: Variables of its acceleration.
        drivers: For each entry of qd, the robot's coordinates that drive it.
    """

    tree: Multibody
    q: list[Scalar] = field(default_factory=list)
    qd: list[Scalar] = field(default_factory=list)
    qdd: list[Scalar] = field(default_factory=list)
    drivers: list[Drivers] = field(default_factory=list)


def independent_axes(
    tree: Multibody, q: list, qd: list, qdd: list, calculus: Calculus
) -> IndependentAxes:
    """
    Return a tree where each joint axis and each mode has a coordinate of its own.

    Args:
        tree: The robot's bodies.
        q: Its configuration, (nq,), variables of the calculus.
        qd: Its velocity, (nv,), such variables.
        qdd: Its acceleration, (nv,), scalars.
        calculus: Makes the variables of axes that are no coordinate of the robot.
    """
    uses = Counter(k for body in tree.bodies for k in body.joint.coordinates)
    found = IndependentAxes(tree)
    bodies = [_body(body, found, (q, qd, qdd), uses, calculus) for body in tree.bodies]
    names = tuple(f'axis {k}' for k in range(len(found.qd)))
    found.tree = replace(
        tree, bodies=tuple(bodies), coordinate_names=names, nq=len(found.q), rotors=(),
        friction=(), springs=(),
    )
    return found


def _body(
    body: Body, found: IndependentAxes, robot: tuple, uses: Counter, calculus: Calculus
) -> Body:
    q, qd, qdd = robot
    joint = body.joint
    start, terms = len(found.q), []
    several = len(joint.terms) > 1  # nothing else drives these
    if several:
        count = len(joint.terms) + (joint.type == 'floating' or joint.quaternion)
        found.q += q[joint.position_start : joint.position_start + count]
    for axis in joint.terms:
        index = len(found.qd)
        place = len(found.q)
        if several:
            place = start + axis[0].position_index - joint.position_start
        terms.append((AxisTerm(place, index),))
        plain = not joint.offset and len(axis) == 1 and axis[0].multiplier == 1.0
        is_coordinate = plain and uses[axis[0].velocity_index] == 1
        found.drivers.append([(term.velocity_index, term.multiplier) for term in axis])
        vectors = [(found.qd, qd, 'rate'), (found.qdd, qdd, 'acceleration')]
        for values, robot_values, name in vectors:
            value = total(t.multiplier * robot_values[t.velocity_index] for t in axis)
            values.append(value if is_coordinate else calculus.variable(f'{name} {index}', value))
        if not several:
            moved = joint_position(joint, q)
            found.q.append(
                moved if is_coordinate else calculus.variable(f'position {index}', moved)
            )
    first_q, first_v = len(found.q), len(found.qd)
    found.q += body.mode_values(q)
    found.qd += body.mode_rates(qd)
    found.qdd += body.mode_rates(qdd)
    found.drivers += [[(body.velocity_modes + k, 1.0)] for k in range(body.n_modes)]
    moved_joint = replace(joint, terms=tuple(terms), position_start=start, offset=0.0)
    return replace(body, joint=moved_joint, position_modes=first_q, velocity_modes=first_v)
