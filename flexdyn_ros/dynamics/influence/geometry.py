# SPDX-License-Identifier: Apache-2.0
"""
The geometry of the method of kinematic influence: places of bodies, influence of coordinates.

All vectors are in root axes (Graves, Dynamical Modeling of Serial Manipulators with Flexible Links
and Joints Using the Method of Kinematic Influence, eqs. 1 to 12). A coordinate influences every
point outside the place where it acts. A rotational joint does so by (S x R; S), a translational
joint by (S; 0). A mode does so by (psi_r x R + psi_t; psi_r). R goes from that place to the point.
Joints of several axes, and the motion of a base, are such joints one after the other. The
first-order rotation 1 + [theta]x of eq. 3 is replaced by exp([theta]x), so that eq. 5 holds
exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, NamedTuple, Optional, Sequence

from flexdyn_ros.dynamics.foreshortening import amplitude_biases, weighted
from flexdyn_ros.dynamics.joints import AxisTerm, joint_position, JointMotion
from flexdyn_ros.dynamics.multibody import Body, BodyNode, Multibody
from flexdyn_ros.dynamics.placement import deflected_node
from flexdyn_ros.dynamics.spatial import (
    about_axis,
    add,
    apply,
    by_quaternion,
    by_vector,
    combine,
    cross,
    IDENTITY,
    Matrix,
    multiply,
    scale,
    subtract,
    Vector,
    vector_angular_bias,
    vector_angular_velocity,
    ZERO,
)

# Columns of a Jacobian by velocity index: linear and angular velocity for a unit rate.
Columns = dict[int, tuple[Vector, Vector]]


class Influence(NamedTuple):
    """
    The influence of a coordinate on all bodies outside the place where it acts.

    Attributes:
        coordinate: Its place in qd.
        translation: For a unit rate, S of a translational joint or psi_t.
        rotation: For a unit rate, S of a rotational joint or psi_r.
        origin: Place of its action [m].
    """

    coordinate: int
    translation: Vector
    rotation: Vector
    origin: Vector


class Step(NamedTuple):
    """
    A step along the chain: a rigid arm, and the coordinates that act at its end.

    Attributes:
        arm: From the last place where coordinates acted, or the body's origin, to this one [m].
        influences: Of the coordinates, which slide first and then turn.
        sweeps: Whether the slides turn with the step's own angular velocity, as those of a
            floating joint do.
        linear_bias: Second derivative of the slide at constant rates [m/s^2].
        angular_bias: The same of the rotation [rad/s^2]; None for none.
    """

    arm: Vector
    influences: tuple[Influence, ...]
    sweeps: bool = False
    linear_bias: Vector = ZERO
    angular_bias: Vector = ZERO


@dataclass
class LinkPlace:
    """
    The place of a body, and the influences that move it.

    Attributes:
        body: The body.
        rotation: Its axes in the root's.
        origin: Its origin [m].
        steps: From its parent's origin to its own.
        arm: From the end of the last step to its origin [m].
        influences: Of all coordinates that move its frame.
    """

    body: Body
    rotation: Matrix = IDENTITY
    origin: Vector = ZERO
    steps: tuple[Step, ...] = ()
    arm: Vector = ZERO
    influences: tuple[Influence, ...] = ()

    def point(self, position: Vector) -> Vector:
        """Return a point that is rigid with the body's frame, in the root frame (6) [m]."""
        return add(self.origin, apply(self.rotation, position))

    def jacobian(self, point: Vector) -> Columns:
        """Return the Jacobian of a point that is rigid with the body's frame, (7) to (12)."""
        columns: Columns = {}
        for coordinate, translation, rotation, origin in self.influences:
            linear = add(translation, cross(rotation, subtract(point, origin)))
            known = columns.get(coordinate, (ZERO, ZERO))
            columns[coordinate] = (add(known[0], linear), add(known[1], rotation))
        return columns


def link_places(tree: Multibody, q: list, qd: Optional[list] = None) -> list[LinkPlace]:
    """
    Return the place of each body, and the influences that move it.

    Args:
        tree: The bodies; no cross-section may turn by King's first-order rotation.
        q: Configuration, (nq,).
        qd: Velocity, (nv,), where the steps' biases are wanted.
    """
    places: list[LinkPlace] = []
    for body in tree.bodies:
        if body.parent < 0:
            places.append(LinkPlace(body))
            continue
        path = _Outward(places[body.parent], q, qd)
        if body.node is not None:
            path.to_node(body.node)
        path.go(body.position)
        path.rotate(body.rotation)
        path.joint(body.joint)
        places.append(path.arrive(body))
    return places


def place_on_section(
    place: LinkPlace, node: BodyNode, offset: Vector, q: list, qd: Optional[list]
) -> LinkPlace:
    """Return the place of a point on a body's cross-section, `offset` beside its node."""
    path = _Outward(place, q, qd)
    path.to_node(node)
    path.go(offset)
    return path.arrive(place.body)


class _Outward:
    """A path outward along the chain, from the origin of a body."""

    def __init__(self, start: LinkPlace, q: list, qd: Optional[list]):
        self._start, self._q, self._qd = start, q, qd
        self._rotation, self._point, self._arm = start.rotation, start.origin, ZERO
        self._steps: list[Step] = []

    def go(self, vector: Vector) -> None:
        """Go along a vector that is given in the axes reached."""
        vector = apply(self._rotation, vector)
        self._arm, self._point = add(self._arm, vector), add(self._point, vector)

    def rotate(self, rotation: Optional[Matrix]) -> None:
        """Go over to axes that are turned."""
        if rotation is not None:
            self._rotation = multiply(self._rotation, rotation)

    def arrive(self, body: Body) -> LinkPlace:
        """Return the place reached."""
        passed = tuple(influence for step in self._steps for influence in step.influences)
        return LinkPlace(
            body, self._rotation, self._point, tuple(self._steps), self._arm,
            (*self._start.influences, *passed),
        )

    def _act(
        self,
        slides: Iterable[tuple[int, Vector]] = (),
        rotations: Iterable[tuple[int, Vector]] = (),
        sweeps: bool = False,
        biases: tuple[Vector, Vector] = (ZERO, ZERO),
    ) -> None:
        """Let coordinates act here, each with a vector in the axes reached."""
        axes, at = self._rotation, self._point
        found = [Influence(k, apply(axes, vector), ZERO, at) for k, vector in slides]
        found += [Influence(k, ZERO, apply(axes, vector), at) for k, vector in rotations]
        turned = (apply(axes, bias) for bias in biases)
        self._steps.append(Step(self._arm, tuple(found), sweeps, *turned))
        self._arm = ZERO

    def to_node(self, node: BodyNode) -> None:
        """Go to a cross-section of the body and turn with it (1), (2)."""
        body = self._start.body
        modes, axial = body.mode_values(self._q), body.modal.axial
        place, translations = deflected_node(node, axial, modes)
        self.go(place)
        theta = combine(modes, node.rotation)
        biases = ZERO, ZERO
        if self._qd is not None:
            rates = body.mode_rates(self._qd)
            drawn_on = weighted(node.shortening, amplitude_biases(axial, rates))
            biases = (
                scale(drawn_on, axial.direction),
                vector_angular_bias(theta, combine(rates, node.rotation)),
            )
        names = body.modal_coordinates
        rotations = [vector_angular_velocity(theta, column) for column in node.rotation]
        self._act(zip(names, translations), zip(names, rotations), biases=biases)
        self.rotate(by_vector(theta))

    def joint(self, joint: JointMotion) -> None:
        """Pass a joint, the body's axes reached behind it."""
        start = joint.position_start
        if joint.type == 'revolute':
            self._act(rotations=_driven(joint.terms[0], joint.axis))
            self.rotate(about_axis(joint.axis, joint_position(joint, self._q)))
        elif joint.type == 'prismatic':
            self.go(scale(joint_position(joint, self._q), joint.axis))
            self._act(slides=_driven(joint.terms[0], joint.axis))
        elif joint.type == 'planar':
            first, second = joint.plane
            values = self._q[start : start + 3]
            self.go(combine(values[:2], (first, second)))
            names = joint.coordinates
            self._act(zip(names, (first, second)), [(names[2], joint.axis)])
            self.rotate(about_axis(joint.axis, values[2]))
        elif joint.type == 'floating':
            x, y, z = self._q[start : start + 3]
            self.go((x, y, z))
            self.rotate(by_quaternion(*self._q[start + 3 : start + 7]))
            names = joint.coordinates
            self._act(zip(names[:3], IDENTITY), zip(names[3:], IDENTITY), sweeps=True)
        elif joint.type == 'multi_axis':
            self._axes(joint)

    def _axes(self, joint: JointMotion) -> None:
        """Pass the axes of a joint one after the other."""
        if joint.quaternion:
            start = joint.position_start
            self.rotate(by_quaternion(*self._q[start : start + 4]))
            self._act(rotations=zip(joint.coordinates[:3], IDENTITY))
        for number, (axis, terms) in enumerate(zip(joint.axes, joint.terms)):
            turned = joint.quaternion and number < 3
            value, along = joint_position(joint, self._q, number), axis.pitch
            if axis.slides:
                along = 1.0
            elif not turned:
                self.go(axis.through)
                self._act(rotations=_driven(terms, axis.direction))
                self.rotate(about_axis(axis.direction, value))
                self.go(scale(-1.0, axis.through))
            if along:
                self.go(scale(along * value, axis.direction))
                self._act(slides=_driven(terms, scale(along, axis.direction)))


def _driven(terms: Sequence[AxisTerm], axis: Vector) -> list[tuple[int, Vector]]:
    """Return the coordinates that drive an axis, each with the axis for its unit rate."""
    return [(term.velocity_index, scale(term.multiplier, axis)) for term in terms]
