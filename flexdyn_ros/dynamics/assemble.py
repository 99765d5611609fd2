# SPDX-License-Identifier: Apache-2.0
"""From a Robot and its payloads to the tree of bodies that the algorithms work on."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Mapping, Optional

from flexdyn_ros.dynamics.body_builder import (
    Attachment,
    BodyBuilder,
    built_body,
    floats,
    is_point,
    rows,
    without_own_stiffness,
)
from flexdyn_ros.dynamics.joint_terms import CoordinatePlaces, friction_terms, rotors, spring_terms
from flexdyn_ros.dynamics.joints import JointMotion
from flexdyn_ros.dynamics.multibody import BodyNode, Frame, Multibody
from flexdyn_ros.dynamics.spatial import (
    add,
    apply,
    congruence,
    cross,
    IDENTITY,
    Matrix,
    multiply,
    scale,
    transpose,
    Vector,
    ZERO,
)
from flexdyn_ros.model.beam.body import link_body
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.joint import Joint
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.records.section import beam_inertia
from flexdyn_ros.model.records.segments import PseudoRigidSegments
import numpy as np

JOINT_TYPES = {'continuous': 'revolute'}


def assemble(
    robot: Robot,
    payloads: Mapping[str, Inertia],
    places: Mapping[str, Vector] = MappingProxyType({}),
) -> Multibody:
    """
    Return the tree of bodies of a robot that carries the given payloads.

    Args:
        robot: The robot.
        payloads: Inertia in link axes by link name; its numbers may be scalars of any kind,
            but for the centre of mass on a flexible link, which chooses the cross-section.
        places: For payloads on links in segments, a point that chooses the segment, in place of
            the centre of mass.
    """
    assembly = _Assembly(robot)
    assembly.add_link(robot.links[0], Attachment(-1, None, ZERO, IDENTITY), JointMotion())
    for joint in robot.joints:
        origin = joint.origin
        attachment = assembly.attachment(joint.parent, origin.position, origin.rotation)
        assembly.add_link(robot.link(joint.child), attachment, assembly.joint_motion(joint))
    for link in robot.links:
        assembly.add_point_masses(link)
        assembly.add_tip_body(link)
    for name, inertia in payloads.items():
        assembly.carry(name, inertia, places.get(name))
    return assembly.finish()


@dataclass
class _Assembly:
    """
    The bodies and frames found so far.

    Attributes:
        robot: The robot.
        builders: Its bodies in the making.
        frames: Frame of each link by name.
        chains: For each link in segments by name, the frame that the link's would be on each
            segment if it were part of that.
        reduced: Places of the modal coordinates by the form of their link's equations.
    """

    robot: Robot
    builders: list[BodyBuilder] = field(default_factory=list)
    frames: dict[str, Frame] = field(default_factory=dict)
    chains: dict[str, tuple[Frame, ...]] = field(default_factory=dict)
    reduced: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find the place of each coordinate in q and in qd."""
        self.coordinates = CoordinatePlaces(self.robot)

    def attachment(self, link: str, position: Vector, rotation: Matrix) -> Attachment:
        """Return the attachment of a frame given in a link's frame."""
        frame = self._holding_frame(link, position)
        body = self.builders[frame.body]
        position = add(frame.position, apply(frame.rotation, position))
        rotation = multiply(frame.rotation, rotation)
        if body.flexible is None:
            return Attachment(frame.body, None, position, rotation)
        node = body.flexible.node_at(np.array(position))
        if not node.moves:
            return Attachment(frame.body, None, position, rotation)
        section = BodyNode(
            floats(node.position), rows(node.translation), rows(node.rotation), body.linear,
            floats(node.shortening),
        )
        return Attachment(frame.body, section, floats(node.offset), rotation)

    def _holding_frame(self, link: str, point: Vector) -> Frame:
        """Return a link's frame as it is for what hangs on it at a point."""
        chain = self.chains.get(link)
        if chain is None:
            return self.frames[link]
        segments = self.robot.link(link).segments
        assert segments is not None
        return chain[segments.holder(point)]

    def add_link(self, link: Link, attachment: Attachment, joint: JointMotion) -> None:
        """Add a link: merged into the body that carries it where it is rigid with that."""
        bends = bool(link.mode_names) and link.segments is None
        on_rigid = attachment.body >= 0 and self.builders[attachment.body].flexible is None
        if on_rigid and joint.type == 'fixed' and not bends:
            index, position, rotation = attachment.body, attachment.position, attachment.rotation
            self.builders[index].links.append(link.name)
        else:
            index, position, rotation = len(self.builders), ZERO, IDENTITY
            self.builders.append(BodyBuilder(attachment, joint, [link.name]))
        self.frames[link.name] = Frame(index, position, rotation)
        builder = self.builders[index]
        if bends:
            self._make_flexible(builder, link)
        elif link.beam is not None:
            builder.add_inertia(beam_inertia(link.beam), position, rotation)
        if link.inertia is not None:
            builder.add_inertia(link.inertia, position, rotation)
        if link.segments is not None:
            self._add_segments(link, link.segments)

    def _add_segments(self, link: Link, segments: PseudoRigidSegments) -> None:
        """Add the chain of a link's segments, one massless body more for each further axis."""
        frame, axes = self.frames[link.name], segments.beam.axes
        root = multiply(frame.rotation, axes)
        self.builders[frame.body].add_inertia(segments.body(0), frame.position, root)
        chain, inside, inner = [frame], frame.position, root
        body, passed = frame.body, 0.0
        for number, place in enumerate(segments.places, start=1):
            inside = add(inside, apply(inner, (place - passed, 0.0, 0.0)))
            for axis in segments.directions:
                attachment = Attachment(body, None, inside, inner)
                joint = self._passive_joint(f'{link.name}/segment{number + 1}_{axis}', axis)
                body, inside, inner = len(self.builders), ZERO, IDENTITY
                self.builders.append(BodyBuilder(attachment, joint, [link.name]))
            self.builders[body].add_inertia(segments.body(number), ZERO, IDENTITY)
            chain.append(Frame(body, (-place, 0.0, 0.0), transpose(axes)))
            passed = place
        self.chains[link.name] = tuple(chain)

    def _passive_joint(self, name: str, axis: str) -> JointMotion:
        term = self.coordinates.term(name)
        return JointMotion('revolute', IDENTITY['xyz'.index(axis)], None, ((term,),))

    def _make_flexible(self, builder: BodyBuilder, link: Link) -> None:
        flexible = without_own_stiffness(link_body(link), link.replaced_modes)
        builder.flexible, builder.linear = flexible, link.rotation == 'linear'
        builder.mass = flexible.mass
        builder.first_moment = floats(flexible.first_moment)
        builder.second_moment = rows(flexible.second_moment)
        first = self.coordinates.term(link.mode_names[0])
        builder.modes = (first.position_index, first.velocity_index)
        self.reduced.setdefault(link.deflection, []).extend(
            (first.position_index + k, first.velocity_index + k)
            for k in range(len(link.mode_names))
        )

    def add_point_masses(self, link: Link) -> None:
        """Add the point masses of a link's beam, each riding on its cross-section."""
        beam = link.undeformed_beam
        for point in beam.point_masses if beam else ():
            axes = beam.axes
            at = scale(point.at * beam.length, beam.direction)
            moments = tuple(
                tuple(m if i == j else 0.0 for j in range(3)) for i, m in enumerate(point.inertia)
            )
            self.carry(link.name, Inertia(point.mass, at, congruence(axes, moments)))

    def add_tip_body(self, link: Link) -> None:
        """Add the rigid body that rides on the last cross-section of a link's beam."""
        if link.tip_inertia is None or link.beam is None:
            return
        tip = link.beam.tip_place
        attached = BodyBuilder(self.attachment(link.name, tip, IDENTITY), JointMotion(), [])
        attached.add_inertia(link.tip_inertia.seen_from(tip), ZERO, IDENTITY)
        self.builders.append(attached)

    def carry(self, link: str, inertia: Inertia, place: Optional[Vector] = None) -> None:
        """
        Add a rigid body to a link, or to the cross-section or segment of it that holds it.

        Args:
            link: The link.
            inertia: The body, in the link's frame.
            place: Point of the link that chooses the segment; the centre of mass when None.
        """
        frame = self._holding_frame(link, inertia.com if place is None else place)
        builder = self.builders[frame.body]
        if builder.flexible is None:
            builder.add_inertia(inertia, frame.position, frame.rotation)
            return
        attachment = self.attachment(link, inertia.com, IDENTITY)
        if attachment.node is None:
            builder.add_inertia(inertia, ZERO, IDENTITY)
            return
        if is_point(inertia) and not any(attachment.position):
            builder.add_point_mass(inertia)
            return
        attached = BodyBuilder(attachment, JointMotion(), [])
        attached.add_inertia(Inertia(inertia.mass, ZERO, inertia.matrix), ZERO, IDENTITY)
        self.builders.append(attached)

    def joint_motion(self, joint: Joint) -> JointMotion:
        """Return how a joint's child moves, with the places of its coordinates."""
        kind = JOINT_TYPES.get(joint.type, joint.type)
        if kind == 'fixed':
            return JointMotion()
        if kind in ('planar', 'floating', 'multi_axis'):
            names = joint.coordinate_names
            terms = tuple((self.coordinates.term(name),) for name in names)
            plane = planar_axes(joint.axis) if kind == 'planar' else None
            return JointMotion(
                kind, joint.axis, plane, terms, terms[0][0].position_index,
                axes=joint.axes, quaternion=joint.quaternion,
            )
        terms_of_axis = [self.coordinates.motor_term(joint)]
        if joint.elastic_name:
            terms_of_axis.append(self.coordinates.term(joint.elastic_name))
        offset = joint.mimic.offset if joint.mimic else 0.0
        return JointMotion(kind, joint.axis, None, (tuple(terms_of_axis),), 0, offset)

    def finish(self) -> Multibody:
        """Return the finished tree."""
        return Multibody(
            bodies=tuple(built_body(builder) for builder in self.builders),
            coordinate_names=self.robot.coordinate_names,
            nq=self.robot.nq,
            frames=self.frames,
            rotors=rotors(self.robot, self.coordinates),
            friction=friction_terms(self.robot, self.coordinates),
            springs=spring_terms(self.robot, self.coordinates),
            loops=self.robot.loops,
            linearised=tuple(self.reduced.get('linearised', ())),
            undeformed=tuple(self.reduced.get('undeformed_kinetic_energy', ())),
        )


def planar_axes(normal: Vector) -> tuple[Vector, Vector]:
    """
    Return the in-plane axes of a planar joint with a unit normal, right-handed about it.

    The first is the frame axis that follows the normal's largest component in the order x, y,
    z, x, projected on the plane: x and y for the normal z, y and z for the normal x.
    """
    n = np.array(normal)
    first = np.eye(3)[(int(np.argmax(np.abs(n))) + 1) % 3]
    first = first - (first @ n) * n
    first = floats(first / np.linalg.norm(first))
    return first, cross(normal, first)
