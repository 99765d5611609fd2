# SPDX-License-Identifier: Apache-2.0
"""
A tree of bodies whose joint axes each have a coordinate of their own.

Mimic joints and elastic joints drive axes by sums of coordinates, some of them shared. What is
found axis by axis goes back to the robot's coordinates through their multipliers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

from flexdyn_ros.dynamics.joints import AxisTerm
from flexdyn_ros.dynamics.multibody import Body
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.symbolic.expression import Expression
from flexdyn_ros.symbolic.graph import Graph

# The robot's coordinates that drive an axis or a mode: place in qd and multiplier.
Drivers = list[tuple[int, float]]
# Joints of several coordinates, which nothing else drives.
SEVERAL = ('planar', 'floating', 'multi_axis')


@dataclass
class OwnAxes:
    """
    The tree, its coordinates, and what drives them.

    Attributes:
        tree: The bodies; springs, losses and rotors are left out.
        q: Symbols of its configuration.
        qd: Symbols of its velocity, one an axis or a mode.
        qdd: Symbols of its acceleration.
        drivers: For each entry of qd, the robot's coordinates that drive it.
        values: What the symbols stand for where they are not the robot's own.
    """

    tree: Multibody
    q: list[Expression] = field(default_factory=list)
    qd: list[Expression] = field(default_factory=list)
    qdd: list[Expression] = field(default_factory=list)
    drivers: list[Drivers] = field(default_factory=list)
    values: dict[Expression, Expression] = field(default_factory=dict)


def own_axes(tree: Multibody, q: list, qd: list, qdd: list, graph: Graph) -> OwnAxes:
    """Return a tree where each joint axis and each mode has a coordinate of its own."""
    uses = Counter(
        term.velocity_index for body in tree.bodies for axis in body.joint.terms for term in axis
    )
    found = OwnAxes(tree)
    robot = [[graph.lift(x) for x in vector] for vector in (q, qd, qdd)]
    bodies = [_body(body, found, robot, uses, graph) for body in tree.bodies]
    names = tuple(f'axis {k}' for k in range(len(found.qd)))
    found.tree = replace(
        tree, bodies=tuple(bodies), coordinate_names=names, nq=len(found.q), rotors=(),
        friction=(), springs=(),
    )
    return found


def _body(body: Body, found: OwnAxes, robot: list, uses: Counter, graph: Graph) -> Body:
    q, qd, qdd = robot
    joint, offset = body.joint, body.joint.offset
    start, terms = len(found.q), []
    if joint.type in SEVERAL:
        count = len(joint.terms) + (joint.type == 'floating' or joint.quaternion)
        found.q += q[joint.position_start : joint.position_start + count]
    for axis in joint.terms:
        index = len(found.qd)
        place = len(found.q)
        if joint.type in SEVERAL:
            place = start + axis[0].position_index - joint.position_start
        terms.append((AxisTerm(place, index),))
        plain = not offset and len(axis) == 1 and axis[0].multiplier == 1.0
        found.drivers.append([(term.velocity_index, term.multiplier) for term in axis])
        vectors = [(found.qd, qd, 'rate'), (found.qdd, qdd, 'acceleration')]
        for own, theirs, name in vectors:
            value = graph.sum(graph.lift(t.multiplier * theirs[t.velocity_index]) for t in axis)
            own.append(_symbol(found, value, plain and uses[axis[0].velocity_index] == 1,
                               f'@{name} {index}', graph))
        if joint.type not in SEVERAL:
            moved = graph.sum(graph.lift(t.multiplier * q[t.position_index]) for t in axis)
            found.q.append(_symbol(found, moved + offset if offset else moved,
                                   plain and uses[axis[0].velocity_index] == 1,
                                   f'@position {index}', graph))
    first_q, first_v = len(found.q), len(found.qd)
    found.q += body.mode_values(q)
    found.qd += body.mode_rates(qd)
    found.qdd += body.mode_rates(qdd)
    found.drivers += [[(body.velocity_modes + k, 1.0)] for k in range(body.n_modes)]
    moved_joint = replace(joint, terms=tuple(terms), position_start=start, offset=0.0)
    return replace(body, joint=moved_joint, position_modes=first_q, velocity_modes=first_v)


def _symbol(
    found: OwnAxes, value: Expression, own: bool, name: str, graph: Graph
) -> Expression:
    """Return the symbol of a coordinate: the robot's own, or a new one that stands for a value."""
    if own:
        return value
    symbol = graph.symbol(name)
    found.values[symbol] = value
    return symbol
