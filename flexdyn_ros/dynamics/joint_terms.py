# SPDX-License-Identifier: Apache-2.0
"""Places of coordinates in q and qd, and rotors, losses and springs as terms of coordinates."""

from __future__ import annotations

from typing import Iterator

from flexdyn_ros.dynamics.joints import AxisTerm
from flexdyn_ros.dynamics.multibody import CouplingTerm, FrictionTerm, SpringTerm
from flexdyn_ros.dynamics.spring_law import PolynomialLaw, SpringLaw, TableLaw
from flexdyn_ros.model.configuration import ConfigurationSpace
from flexdyn_ros.model.records.joint import Joint, JointDynamics
from flexdyn_ros.model.records.robot import Robot


class CoordinatePlaces:
    """The places of the coordinates by name."""

    def __init__(self, robot: Robot):
        """Find the place of each coordinate of a robot."""
        owners = ConfigurationSpace(robot).velocity_of
        self._places = {
            name: (owners.index(k), k) for k, name in enumerate(robot.coordinate_names)
        }

    def of(self, name: str) -> tuple[int, int]:
        """Return the place of a coordinate in q and in qd."""
        return self._places[name]

    def term(self, name: str, multiplier: float = 1.0) -> AxisTerm:
        """Return the motion of an axis by a multiple of a coordinate."""
        return AxisTerm(*self.of(name), multiplier)

    def motor_term(self, joint: Joint) -> AxisTerm:
        """Return the motion of a driven joint's motor: its own coordinate, or its leader's."""
        if joint.mimic is None:
            return self.term(joint.name)
        return self.term(joint.mimic.leader, joint.mimic.multiplier)

    def link_side(self, joint: Joint) -> tuple[AxisTerm, ...]:
        """Return the motion of a driven joint's child: the motor's, and a spring's deflection."""
        elastic = joint.elastic_name
        return (self.motor_term(joint), *((self.term(elastic),) if elastic else ()))


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
    """Return springs of elastic joints, bearings, beside joints, between segments, of modes."""
    found: list[SpringTerm] = []
    for joint in robot.joints:
        if joint.elastic_name:
            drive, term = joint.dynamics, places.term(joint.elastic_name)
            law = TableLaw.through(drive.spring) if drive.spring else None
            stiffness = 0.0 if drive.stiffness is None else drive.stiffness
            found.append(SpringTerm((term,), stiffness, drive.damping, law))
        for name, axis in zip(joint.bearing_names, joint.dynamics.bearing):
            found.append(SpringTerm((places.term(name),), axis.stiffness, axis.damping))
    for joint in robot.joints:
        drive = joint.dynamics
        if drive.parallel_stiffness or drive.parallel_damping:
            offset = joint.mimic.offset if joint.mimic else 0.0
            found.append(SpringTerm(
                places.link_side(joint), drive.parallel_stiffness, drive.parallel_damping,
                rest=drive.rest_position - offset,
            ))
    for link in robot.links:
        segments = link.segments
        laws = {} if segments is None else {
            axis: (segments.stiffness(axis), segments.damping(axis))
            for axis in segments.directions
        }
        for name in link.mode_names if laws else ():
            stiffness, damping = laws[name[-1]]
            stiffness = 0.0 if name in link.replaced_modes else stiffness
            found.append(SpringTerm((places.term(name),), stiffness, damping))
    for link in robot.links:
        for spring in link.mode_springs:
            own: SpringLaw = PolynomialLaw(spring.polynomial)
            if spring.points:
                own = TableLaw.through(spring.points)
            found.append(SpringTerm((places.term(link.full_name(spring.mode)),), law=own))
    return tuple(found)


def coupling_terms(robot: Robot, places: CoordinatePlaces) -> tuple[CouplingTerm, ...]:
    """Return the energies that several modes share, then those of products of inertia."""
    found = [(each.modes, each.powers, each.energy) for each in robot.couplings]
    for link in robot.links:
        for number in range(2, link.segments.count + 1 if link.segments else 0):
            names = tuple(link.full_name(f'segment{number}_{axis}') for axis in 'yz')
            if link.segments.coupling:
                found.append((names, (1, 1), link.segments.coupling))
    return tuple(
        CouplingTerm(tuple(map(places.term, modes)), powers, energy)
        for modes, powers, energy in found
    )


def _driven(joint: Joint, places: CoordinatePlaces) -> Iterator[tuple[AxisTerm, JointDynamics]]:
    """Iterate over the axes of a joint that a motor may move, with their drives."""
    if joint.type in DRIVEN:
        yield places.motor_term(joint), joint.dynamics
    for axis, drive in joint.drives:
        yield places.term(f'{joint.name}/{axis}'), drive
