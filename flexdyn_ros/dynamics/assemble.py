# SPDX-License-Identifier: Apache-2.0
"""From a Robot and its payloads to the tree of bodies that the algorithms work on."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from typing import Mapping

from flexdyn_ros.dynamics.draft import Attachment
from flexdyn_ros.dynamics.draft import Draft
from flexdyn_ros.dynamics.draft import finished_body
from flexdyn_ros.dynamics.draft import floats
from flexdyn_ros.dynamics.draft import is_point
from flexdyn_ros.dynamics.draft import rows
from flexdyn_ros.dynamics.multibody import AxisTerm
from flexdyn_ros.dynamics.multibody import BodyNode
from flexdyn_ros.dynamics.multibody import Frame
from flexdyn_ros.dynamics.multibody import FrictionTerm
from flexdyn_ros.dynamics.multibody import JointMotion
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.multibody import SpringTerm
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import apply
from flexdyn_ros.dynamics.spatial import congruence
from flexdyn_ros.dynamics.spatial import cross
from flexdyn_ros.dynamics.spatial import IDENTITY
from flexdyn_ros.dynamics.spatial import Matrix
from flexdyn_ros.dynamics.spatial import multiply
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.dynamics.spatial import ZERO
from flexdyn_ros.dynamics.spring_law import TableLaw
from flexdyn_ros.model.beam import modal_body
from flexdyn_ros.model.hub import beam_inertia
from flexdyn_ros.model.joint import Joint
from flexdyn_ros.model.link import Inertia
from flexdyn_ros.model.link import Link
from flexdyn_ros.model.robot import Robot
import numpy as np

JOINT_TYPES = {'continuous': 'revolute'}
DRIVEN = ('revolute', 'continuous', 'prismatic')


def assemble(robot: Robot, payloads: Mapping[str, Inertia]) -> Multibody:
    """
    Return the tree of bodies of a robot that carries the given payloads.

    Args:
        robot: The robot.
        payloads: Inertia in link axes by link name; its numbers may be scalars of any kind,
            but for the centre of mass on a flexible link, which chooses the cross-section.
    """
    assembly = _Assembly(robot)
    assembly.add_link(robot.links[0], Attachment(-1, None, ZERO, IDENTITY), JointMotion())
    for joint in robot.joints:
        origin = joint.origin
        attachment = assembly.attachment(joint.parent, origin.position, origin.rotation)
        assembly.add_link(robot.link(joint.child), attachment, assembly.joint_motion(joint))
    for link in robot.links:
        assembly.add_point_masses(link)
    for name, inertia in payloads.items():
        assembly.carry(name, inertia)
    return assembly.finish()


@dataclass
class _Assembly:
    """The bodies and frames found so far."""

    robot: Robot
    drafts: list[Draft] = field(default_factory=list)
    frames: dict[str, Frame] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find the place of each coordinate in q and in qd."""
        names = self.robot.coordinate_names
        self.velocity_index = {name: index for index, name in enumerate(names)}
        self.position_index = {}
        start = 0
        for joint in self.robot.joints:
            at = joint.quaternion_place
            for k, name in enumerate(joint.coordinate_names):
                beyond = at is not None and k >= at + 3
                self.position_index[name] = start + k + beyond
            start += len(joint.position_names)
        for k, name in enumerate(self.robot.mode_names):
            self.position_index[name] = start + k

    def attachment(self, link: str, position: Vector, rotation: Matrix) -> Attachment:
        """Return the attachment of a frame given in a link's frame."""
        frame = self.frames[link]
        body = self.drafts[frame.body]
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

    def add_link(self, link: Link, attachment: Attachment, joint: JointMotion) -> None:
        """Add a link: merged into the body that carries it where it is rigid with that."""
        bends = bool(link.mode_names)
        on_rigid = attachment.body >= 0 and self.drafts[attachment.body].flexible is None
        if on_rigid and joint.type == 'fixed' and not bends:
            index, position, rotation = attachment.body, attachment.position, attachment.rotation
            self.drafts[index].links.append(link.name)
        else:
            index, position, rotation = len(self.drafts), ZERO, IDENTITY
            self.drafts.append(Draft(attachment, joint, [link.name]))
        self.frames[link.name] = Frame(index, position, rotation)
        draft = self.drafts[index]
        if bends:
            self._make_flexible(draft, link)
        elif link.beam is not None:
            draft.add_inertia(beam_inertia(link.beam), position, rotation)
        if link.inertia is not None:
            draft.add_inertia(link.inertia, position, rotation)

    def _make_flexible(self, draft: Draft, link: Link) -> None:
        flexible = modal_body(link)
        draft.flexible, draft.linear = flexible, link.rotation == 'linear'
        draft.mass = flexible.mass
        draft.first_moment = floats(flexible.first_moment)
        draft.second_moment = rows(flexible.second_moment)
        first = link.mode_names[0]
        draft.modes = (self.position_index[first], self.velocity_index[first])

    def add_point_masses(self, link: Link) -> None:
        """Add the point masses of a link's beam, each riding on its cross-section."""
        for point in link.beam.point_masses if link.beam else ():
            axes = link.beam.axes
            at = scale(point.at * link.beam.length, (axes[0][0], axes[1][0], axes[2][0]))
            moments = tuple(
                tuple(m if i == j else 0.0 for j in range(3)) for i, m in enumerate(point.inertia)
            )
            self.carry(link.name, Inertia(point.mass, at, congruence(axes, moments)))

    def carry(self, link: str, inertia: Inertia) -> None:
        """Add a rigid body, given in a link's frame, to the link or to its cross-section."""
        frame = self.frames[link]
        draft = self.drafts[frame.body]
        if draft.flexible is None:
            draft.add_inertia(inertia, frame.position, frame.rotation)
            return
        attachment = self.attachment(link, inertia.com, IDENTITY)
        if attachment.node is None:
            draft.add_inertia(inertia, ZERO, IDENTITY)
            return
        if is_point(inertia) and not any(attachment.position):
            draft.add_point_mass(inertia)
            return
        attached = Draft(attachment, JointMotion(), [])
        attached.add_inertia(Inertia(inertia.mass, ZERO, inertia.matrix), ZERO, IDENTITY)
        self.drafts.append(attached)

    def joint_motion(self, joint: Joint) -> JointMotion:
        """Return how a joint's child moves, with the places of its coordinates."""
        kind = JOINT_TYPES.get(joint.type, joint.type)
        if kind == 'fixed':
            return JointMotion()
        if kind in ('planar', 'floating', 'multi_axis'):
            names = joint.coordinate_names
            terms = tuple(
                (AxisTerm(self.position_index[name], self.velocity_index[name]),) for name in names
            )
            plane = planar_axes(joint.axis) if kind == 'planar' else None
            return JointMotion(
                kind, joint.axis, plane, terms, self.position_index[names[0]],
                axes=joint.axes, quaternion=joint.quaternion,
            )
        terms_of_axis = [self._motor_term(joint)]
        if joint.elastic_name:
            name = joint.elastic_name
            terms_of_axis.append(AxisTerm(self.position_index[name], self.velocity_index[name]))
        offset = joint.mimic.offset if joint.mimic else 0.0
        return JointMotion(kind, joint.axis, None, (tuple(terms_of_axis),), 0, offset)

    def _motor_term(self, joint: Joint) -> AxisTerm:
        name = joint.mimic.leader if joint.mimic else joint.name
        multiplier = joint.mimic.multiplier if joint.mimic else 1.0
        return AxisTerm(self.position_index[name], self.velocity_index[name], multiplier)

    def finish(self) -> Multibody:
        """Return the finished tree."""
        driven = [j for j in self.robot.joints if j.type in DRIVEN]
        return Multibody(
            bodies=tuple(finished_body(draft) for draft in self.drafts),
            coordinate_names=self.robot.coordinate_names,
            nq=self.robot.nq,
            frames=self.frames,
            rotors=tuple(rotor for j in driven for rotor in self._rotor(j)),
            friction=tuple(term for j in driven for term in self._friction(j)),
            springs=tuple(self._spring(j) for j in driven if j.elastic_name),
        )

    def _rotor(self, joint: Joint) -> list[tuple[int, float]]:
        inertia = joint.dynamics.reflected_inertia
        term = self._motor_term(joint)
        return [(term.velocity_index, term.multiplier**2 * inertia)] if inertia else []

    def _friction(self, joint: Joint) -> list[FrictionTerm]:
        """Return the losses of a joint; a spring's damper is not among them."""
        drive, law = joint.dynamics, joint.dynamics.friction
        viscous = law.viscous + (0.0 if drive.elastic else drive.damping)
        if not (viscous or law.coulomb or law.breakaway):
            return []
        term = self._motor_term(joint)
        return [
            FrictionTerm(
                term.velocity_index, term.multiplier, viscous, law.coulomb, law.breakaway,
                law.stribeck_velocity, law.smoothing_velocity,
            )
        ]

    def _spring(self, joint: Joint) -> SpringTerm:
        name, drive = joint.elastic_name, joint.dynamics
        return SpringTerm(
            self.position_index[name], self.velocity_index[name], drive.stiffness or 0.0,
            drive.damping, TableLaw.through(drive.spring) if drive.spring else None,
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
