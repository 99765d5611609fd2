# SPDX-License-Identifier: Apache-2.0
"""Places of coordinates in q and qd, and rotors, losses and springs as terms of coordinates."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from flexdyn_ros.dynamics.joints import AxisTerm
from flexdyn_ros.dynamics.multibody import FrictionTerm, SpringTerm
from flexdyn_ros.dynamics.spring_law import PolynomialLaw, SpringLaw, TableLaw
from flexdyn_ros.model.records.joint import Joint, JointDynamics
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot


class CoordinatePlaces:
    """The places of the coordinates by name."""

    def __init__(self, robot: Robot):
        """Find the place of each coordinate of a robot."""
        names = robot.coordinate_names
        self._velocity = {name: index for index, name in enumerate(names)}
        self._position = {}
        start = 0
        for joint in robot.joints:
            at = joint.quaternion_place
            for k, name in enumerate(joint.coordinate_names):
                beyond = at is not None and k >= at + 3
                self._position[name] = start + k + beyond
            start += len(joint.position_names)
        for k, name in enumerate(robot.mode_names):
            self._position[name] = start + k

    def term(self, name: str, multiplier: float = 1.0) -> AxisTerm:
        """Return the motion of an axis by a multiple of a coordinate."""
        return AxisTerm(self._position[name], self._velocity[name], multiplier)

    def motor_term(self, joint: Joint) -> AxisTerm:
        """Return the motion of a driven joint's motor: its own coordinate, or its leader's."""
        if joint.mimic is None:
            return self.term(joint.name)
        return self.term(joint.mimic.leader, joint.mimic.multiplier)


DRIVEN = ('revolute', 'continuous', 'prismatic')


def rotors(robot: Robot, places: CoordinatePlaces) -> tuple[tuple[int, float], ...]:
    """Return velocity index and inertia seen there of each geared rotor [kg m^2 | kg]."""
    return tuple(
        (term.velocity_index, term.multiplier**2 * drive.reflected_inertia)
        for joint in robot.joints
        for term, drive in _driven(joint, places) if drive.reflected_inertia != 0.0
    )


def friction_terms(robot: Robot, places: CoordinatePlaces) -> tuple[FrictionTerm, ...]:
    """
    Return the losses of joints, in their order, then those between segments of links.

    A spring's damper is not among them.
    """
    laws = [
        (term, drive.losses) for joint in robot.joints for term, drive in _driven(joint, places)
    ]
    laws += [
        (places.term(name), link.segments.friction)
        for link in robot.links if link.segments for name in link.mode_names
    ]
    return tuple(
        FrictionTerm(
            term.velocity_index, term.multiplier, law.viscous, law.coulomb, law.breakaway,
            law.stribeck_velocity, law.smoothing_velocity,
        )
        for term, law in laws if law.acts
    )


def spring_terms(robot: Robot, places: CoordinatePlaces) -> tuple[SpringTerm, ...]:
    """Return springs of elastic joints, beside joints, between segments, and of modes."""
    found = [
        *(_joint_spring(joint, places) for joint in robot.joints if joint.elastic_name),
        *(_parallel_spring(j, places) for j in robot.joints if j.dynamics.parallel_stiffness),
        *(spring for link in robot.links for spring in _passive_springs(link, places)),
    ]
    for link in robot.links:
        for spring in link.mode_springs:
            law: SpringLaw = PolynomialLaw(spring.polynomial)
            if spring.points:
                law = TableLaw.through(spring.points)
            found.append(_spring_term(places.term(f'{link.name}/{spring.mode}'), law=law))
    return tuple(found)


def _driven(joint: Joint, places: CoordinatePlaces) -> Iterator[tuple[AxisTerm, JointDynamics]]:
    """Iterate over the axes of a joint that a motor may move, with their drives."""
    if joint.type in DRIVEN:
        yield places.motor_term(joint), joint.dynamics
    for axis, drive in joint.drives:
        yield places.term(f'{joint.name}/{axis}'), drive


def _joint_spring(joint: Joint, places: CoordinatePlaces) -> SpringTerm:
    drive = joint.dynamics
    law = TableLaw.through(drive.spring) if drive.spring else None
    stiffness = 0.0 if drive.stiffness is None else drive.stiffness
    return _spring_term(places.term(joint.elastic_name), stiffness, drive.damping, law)


def _parallel_spring(joint: Joint, places: CoordinatePlaces) -> SpringTerm:
    """Return the spring between the links of a joint, beside its stiff drive."""
    term, drive = places.term(joint.name), joint.dynamics
    return replace(_spring_term(term, drive.parallel_stiffness), rest=drive.rest_position)


def _passive_springs(link: Link, places: CoordinatePlaces) -> Iterator[SpringTerm]:
    """Iterate over the springs and dampers in the passive joints between segments."""
    segments = link.segments
    if segments is None:
        return
    laws = {axis: (segments.stiffness(axis), segments.damping(axis))
            for axis in segments.directions}
    for name in link.mode_names:
        stiffness, damping = laws[name[-1]]
        if name in link.replaced_modes:
            stiffness = 0.0
        yield _spring_term(places.term(name), stiffness, damping)


def _spring_term(
    term: AxisTerm, stiffness: float = 0.0, damping: float = 0.0, law: SpringLaw | None = None
) -> SpringTerm:
    return SpringTerm(term.position_index, term.velocity_index, stiffness, damping, law)
