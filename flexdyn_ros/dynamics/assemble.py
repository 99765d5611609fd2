# SPDX-License-Identifier: Apache-2.0
"""From a Robot and its payloads to the tree of bodies that the algorithms work on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Mapping, Optional

from flexdyn_ros.dynamics.body_builder import (
    floats,
    is_point,
    modal_inertia,
    rows,
    with_inertia,
    without_own_stiffness,
)
from flexdyn_ros.dynamics.joint_terms import (
    CoordinatePlaces,
    coupling_terms,
    friction_terms,
    rotors,
    spring_terms,
)
from flexdyn_ros.dynamics.joints import JointMotion
from flexdyn_ros.dynamics.multibody import Body, BodyNode, Frame, Multibody
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
from flexdyn_ros.model.modal.body import ModalBody
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
        payloads: Inertia in link axes by link name. Its numbers may be scalars of any kind. On a
            flexible link the centre of mass may not: it chooses the cross-section.
        places: For payloads on links in segments, a point that chooses the segment, in place of
            the centre of mass.
    """
    assembly = _Assembly(robot)
    assembly.add_link(robot.links[0], Body(()), JointMotion())
    for joint in robot.joints:
        origin = joint.origin
        attached = assembly.attached(joint.parent, origin.position, origin.rotation)
        attached = assembly.on_bearing(joint, attached)
        assembly.add_link(robot.link(joint.child), attached, assembly.joint_motion(joint))
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
        bodies: Its bodies, without their modes.
        flexible: Integrals and nodes of those that bend, by index.
        frames: Frame of each link by name.
        chains: For each link in segments by name, the frame that the link's would be on each
            segment if it were part of that.
        reduced: Places of the modal coordinates by the form of their link's equations.
    """

    robot: Robot
    bodies: list[Body] = field(default_factory=list)
    flexible: dict[int, ModalBody] = field(default_factory=dict)
    frames: dict[str, Frame] = field(default_factory=dict)
    chains: dict[str, tuple[Frame, ...]] = field(default_factory=dict)
    reduced: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find the place of each coordinate in q and in qd."""
        self.coordinates = CoordinatePlaces(self.robot)

    def attached(self, link: str, position: Vector, rotation: Matrix) -> Body:
        """Return a body without inertia that hangs at a frame given in a link's frame."""
        frame = self._holding_frame(link, position)
        flexible = self.flexible.get(frame.body)
        position = add(frame.position, apply(frame.rotation, position))
        rotation = multiply(frame.rotation, rotation)
        node = None if flexible is None else flexible.node_at(np.array(position))
        if node is None or not node.moves:
            return Body((), frame.body, None, position, rotation)
        carrier = self.robot.link(self.bodies[frame.body].links[0])
        section = BodyNode(
            floats(node.position), rows(node.translation), rows(node.rotation),
            carrier.rotation == 'linear', floats(node.shortening),
        )
        return Body((), frame.body, section, floats(node.offset), rotation)

    def _holding_frame(self, link: str, point: Vector) -> Frame:
        """Return the frame of a link, or of its segment, that holds attachments at a point."""
        chain = self.chains.get(link)
        if chain is None:
            return self.frames[link]
        segments = self.robot.link(link).segments
        assert segments is not None
        return chain[segments.holder(point)]

    def add_link(self, link: Link, attached: Body, joint: JointMotion) -> None:
        """Add a link: merged into the body that carries it where it is rigid with that."""
        bends = bool(link.mode_names) and link.segments is None
        on_rigid = attached.parent >= 0 and attached.parent not in self.flexible
        if on_rigid and joint.type == 'fixed' and not bends:
            index, position, rotation = attached.parent, attached.position, attached.rotation
            known = self.bodies[index]
            self.bodies[index] = replace(known, links=(*known.links, link.name))
        else:
            index, position, rotation = len(self.bodies), ZERO, IDENTITY
            self.bodies.append(replace(attached, joint=joint, links=(link.name,)))
        self.frames[link.name] = Frame(index, position, rotation)
        if bends:
            self._make_flexible(index, link)
        elif link.beam is not None:
            self._add_inertia(index, beam_inertia(link.beam), position, rotation)
        if link.inertia is not None:
            self._add_inertia(index, link.inertia, position, rotation)
        if link.segments is not None:
            self._add_segments(link, link.segments)

    def _add_segments(self, link: Link, segments: PseudoRigidSegments) -> None:
        """Add the chain of a link's segments, one massless body more for each further axis."""
        frame, axes = self.frames[link.name], segments.beam.axes
        root = multiply(frame.rotation, axes)
        self._add_inertia(frame.body, segments.body(0), frame.position, root)
        chain, inside, inner = [frame], frame.position, root
        body, passed = frame.body, 0.0
        for number, place in enumerate(segments.places, start=1):
            inside = add(inside, apply(inner, (place - passed, 0.0, 0.0)))
            for axis in segments.directions:
                name = link.full_name(f'segment{number + 1}_{axis}')
                joint = self._passive_joint(name, f'r{axis}')
                self.bodies.append(Body((link.name,), body, None, inside, inner, joint))
                body, inside, inner = len(self.bodies) - 1, ZERO, IDENTITY
            self._add_inertia(body, segments.body(number), ZERO, IDENTITY)
            chain.append(Frame(body, (-place, 0.0, 0.0), transpose(axes)))
            passed = place
        self.chains[link.name] = tuple(chain)

    def _passive_joint(self, name: str, direction: str) -> JointMotion:
        kind = 'revolute' if direction[0] == 'r' else 'prismatic'
        axis = IDENTITY['xyz'.index(direction[1])]
        return JointMotion(kind, axis, None, ((self.coordinates.term(name),),))

    def on_bearing(self, joint: Joint, attached: Body) -> Body:
        """Return the start of a joint's own motion, behind one massless body a bearing's axis."""
        for name, axis in zip(joint.bearing_names, joint.dynamics.bearing):
            moved = self._passive_joint(name, axis.direction)
            self.bodies.append(replace(attached, joint=moved, links=(joint.child,)))
            attached = Body((), len(self.bodies) - 1)
        return attached

    def _add_inertia(
        self, index: int, inertia: Inertia, position: Vector, rotation: Matrix
    ) -> None:
        """Add a rigid body whose frame stands at position and rotation in a body."""
        self.bodies[index] = with_inertia(self.bodies[index], inertia, position, rotation)

    def _make_flexible(self, index: int, link: Link) -> None:
        flexible = without_own_stiffness(link_body(link), link.replaced_modes)
        first = self.coordinates.term(link.mode_names[0])
        self.flexible[index] = flexible
        self.bodies[index] = replace(
            self.bodies[index],
            mass=flexible.mass,
            first_moment=floats(flexible.first_moment),
            second_moment=rows(flexible.second_moment),
            position_modes=first.position_index,
            velocity_modes=first.velocity_index,
        )
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
        attached = self.attached(link.name, tip, IDENTITY)
        inertia = link.tip_inertia.seen_from(tip)
        self.bodies.append(with_inertia(attached, inertia, ZERO, IDENTITY))

    def carry(self, link: str, inertia: Inertia, place: Optional[Vector] = None) -> None:
        """
        Add a rigid body to a link, or to the cross-section or segment of it that holds it.

        Args:
            link: The link.
            inertia: The body, in the link's frame.
            place: Point of the link that chooses the segment; the centre of mass when None.
        """
        frame = self._holding_frame(link, inertia.com if place is None else place)
        flexible = self.flexible.get(frame.body)
        if flexible is None:
            self._add_inertia(frame.body, inertia, frame.position, frame.rotation)
            return
        attached = self.attached(link, inertia.com, IDENTITY)
        point = is_point(inertia) and not any(attached.position)
        if attached.node is not None and not point:
            own = Inertia(inertia.mass, ZERO, inertia.matrix)
            self.bodies.append(with_inertia(attached, own, ZERO, IDENTITY))
            return
        if attached.node is not None:
            node = flexible.node_at(np.array(inertia.com))
            self.flexible[frame.body] = flexible.with_point_mass(inertia.mass, node)
        self._add_inertia(frame.body, inertia, ZERO, IDENTITY)

    def joint_motion(self, joint: Joint) -> JointMotion:
        """Return the motion of a joint's child, with the places of its coordinates."""
        kind = JOINT_TYPES.get(joint.type, joint.type)
        if kind == 'fixed':
            return JointMotion()
        if kind in ('planar', 'floating', 'multi_axis'):
            names = joint.coordinate_names
            terms = tuple((self.coordinates.term(name),) for name in names)
            plane = planar_axes(joint.axis) if kind == 'planar' else None
            return JointMotion(
                kind, joint.axis, plane, terms, terms[0][0].position_index,
                axes=joint.motion_axes, quaternion=joint.quaternion,
            )
        offset = joint.mimic.offset if joint.mimic else 0.0
        terms_of_axis = self.coordinates.link_side(joint)
        kind = 'multi_axis' if joint.pitch else kind
        axes = joint.motion_axes
        return JointMotion(kind, joint.axis, None, (terms_of_axis,), 0, offset, axes)

    def finish(self) -> Multibody:
        """Return the finished tree."""
        return Multibody(
            bodies=tuple(
                replace(body, modal=modal_inertia(self.flexible[index]))
                if index in self.flexible else body for index, body in enumerate(self.bodies)
            ),
            coordinate_names=self.robot.coordinate_names,
            nq=self.robot.nq,
            frames=self.frames,
            rotors=rotors(self.robot, self.coordinates),
            friction=friction_terms(self.robot, self.coordinates),
            springs=spring_terms(self.robot, self.coordinates),
            couplings=coupling_terms(self.robot, self.coordinates),
            loops=self.robot.loops,
            linearised=tuple(self.reduced.get('linearised', ())),
            undeformed=tuple(self.reduced.get('undeformed_kinetic_energy', ())),
        )


def planar_axes(normal: Vector) -> tuple[Vector, Vector]:
    """
    Return the in-plane axes of a planar joint with a unit normal, right-handed about it.

    The first is a frame axis projected on the plane, the one that follows the normal's largest
    component in the order x, y, z, x. The axes are x and y for the normal z, y and z for the
    normal x.
    """
    n = np.array(normal)
    first = np.eye(3)[(int(np.argmax(np.abs(n))) + 1) % 3]
    first = first - (first @ n) * n
    first = floats(first / np.linalg.norm(first))
    return first, cross(normal, first)
