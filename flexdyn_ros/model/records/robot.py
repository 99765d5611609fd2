# SPDX-License-Identifier: Apache-2.0
"""
The robot as loaded: frozen records of links, joints, loops and flexibility, all in SI units.

Names and frames are those of the URDF: a link's frame is its parent joint's frame, the root
frame is the root link's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Iterator

from flexdyn_ros.errors import ArgumentError, ModelError, UnknownName
from flexdyn_ros.model.records.base import Record, Vector3
from flexdyn_ros.model.records.joint import Joint
from flexdyn_ros.model.records.link import Link, Payload
from flexdyn_ros.model.records.sensor import MountedSensor
import numpy as np

DIRECTIONS = ('rx', 'ry', 'rz', 'tx', 'ty', 'tz')


@dataclass(frozen=True, repr=False)
class Loop(Record):
    """
    A loop: frame1 may not move against frame2 in some directions.

    Attributes:
        name: Its name.
        frame1: Name of a link.
        frame2: Name of another link, in whose axes the directions are expressed.
        constrain: Directions without motion, a subset of rx ry rz tx ty tz in that order.
    """

    name: str
    frame1: str
    frame2: str
    constrain: tuple[str, ...]

    @property
    def directions(self) -> tuple[int, ...]:
        """Numbers of the constrained directions among rx ry rz tx ty tz."""
        return tuple(map(DIRECTIONS.index, self.constrain))

    @property
    def free(self) -> tuple[str, ...]:
        """The directions in which the frames may move against each other."""
        return tuple(name for name in DIRECTIONS if name not in self.constrain)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints, `<loop>/tx` and so on."""
        return tuple(f'{self.name}/{direction}' for direction in self.constrain)


@dataclass(frozen=True, repr=False)
class ModeCoupling(Record):
    """
    A potential energy c x^a y^b ... that modal coordinates share.

    Attributes:
        modes: Full names of the coordinates, each once.
        powers: Power of each, 1 or more; two of 1 are an entry of the stiffness matrix.
        energy: c [J over the units of the coordinates].
    """

    modes: tuple[str, ...]
    powers: tuple[int, ...]
    energy: float


@dataclass(frozen=True, repr=False)
class Robot:
    """
    A robot with flexible links and joints, as `load_robot` returns it.

    Attributes:
        name: The URDF's robot name.
        links: All links, depth first, the root first.
        joints: All joints in the same order, a link's child joints in file order.
        gravity_vector: Acceleration of gravity in the root frame [m/s^2].
        payloads: Payloads that the description declares.
        actuated: Names of the actuated joints, or of some coordinates of a joint of several.
        base_motion: "fixed", "free" or "prescribed". On a base that moves, the first joint is the
            floating joint "base_motion" between the resting root link and the base.
        notes: Decisions that `load_robot` took and that concern a user.
        source: File that the robot came from, or "<text>".
        loops: Closed chains.
        couplings: Energies that modes share.
        sensors: Sensors that the modal observer can use.
        descriptions: The XML that it came from, xacro expanded: the URDF, then extensions.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    gravity_vector: Vector3 = (0.0, 0.0, -9.81)
    payloads: tuple[Payload, ...] = ()
    actuated: tuple[str, ...] = ()
    base_motion: str = 'fixed'
    notes: tuple[str, ...] = field(default=(), compare=False)
    source: str = field(default='<text>', compare=False)
    loops: tuple[Loop, ...] = ()
    descriptions: tuple[str, ...] = field(default=(), compare=False)
    couplings: tuple[ModeCoupling, ...] = ()
    sensors: tuple[MountedSensor, ...] = ()

    @property
    def root(self) -> str:
        """Name of the root link."""
        return self.links[0].name

    @property
    def gravity(self) -> np.ndarray:
        """Acceleration of gravity in the root frame, shape (3,) [m/s^2]."""
        return np.array(self.gravity_vector)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of all link frames."""
        return tuple(link.name for link in self.links)

    @property
    def tip_names(self) -> tuple[str, ...]:
        """Names of the links without child joints, depth first."""
        parents = {joint.parent for joint in self.joints}
        return tuple(name for name in self.frame_names if name not in parents)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joint velocity coordinates, depth first."""
        return tuple(name for joint in self.joints for name in joint.coordinate_names)

    @cached_property
    def mode_names(self) -> tuple[str, ...]:
        """Names of the modal coordinates, link by link, of elastic joints, bearings and modes."""
        names: list[str] = list(self.links[0].mode_names)
        for joint in self.joints:
            names.extend(joint.mode_names)
            names.extend(self.link(joint.child).mode_names)
        return tuple(names)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the joint coordinates, then of the modes, (nv,)."""
        return self.joint_names + self.mode_names

    @property
    def n_joints(self) -> int:
        """Number of joint velocity coordinates."""
        return len(self.joint_names)

    @property
    def n_modes(self) -> int:
        """Number of modal coordinates."""
        return len(self.mode_names)

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return self.n_joints + self.n_modes

    @property
    def nq(self) -> int:
        """Number of configuration coordinates, nv and one more for each quaternion."""
        return self.nv + len(self.quaternion_starts)

    @property
    def actuated_coordinates(self) -> tuple[str, ...]:
        """Names of the joint velocity coordinates that have motors, in order."""
        return tuple(
            name
            for joint in self.joints
            for name in joint.coordinate_names
            if joint.name in self.actuated or name in self.actuated
        )

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints of loops, `<loop>/tx`, in the order of loops and directions."""
        return tuple(name for loop in self.loops for name in loop.constraint_names)

    @property
    def total_mass(self) -> float:
        """Mass of all links, beams and point masses, payloads apart [kg]."""
        return sum(link.mass for link in self.links)

    @cached_property
    def quaternion_starts(self) -> tuple[int, ...]:
        """Places in q where the quaternions (x, y, z, w) of joints start."""
        starts, place = [], 0
        for joint in self.joints:
            if joint.quaternion_place is not None:
                starts.append(place + joint.quaternion_place)
            place += len(joint.position_names)
        return tuple(starts)

    def link(self, name: str) -> Link:
        """Return the link called `name`; raise UnknownName otherwise."""
        for link in self.links if isinstance(name, str) else ():
            if link.name == name:
                return link
        raise UnknownName('link', name, self.frame_names)

    def joint(self, name: str) -> Joint:
        """Return the joint called `name`; raise UnknownName otherwise."""
        for joint in self.joints if isinstance(name, str) else ():
            if joint.name == name:
                return joint
        raise UnknownName('joint', name, (j.name for j in self.joints))

    def pieces(self, link: str) -> tuple[Link, ...]:
        """Return the pieces that a link is divided into by its beams, outward; none otherwise."""
        return tuple(each for each in self.links if each.part_of == link)

    def holder(self, link: str, point: Vector3) -> tuple[str, Vector3]:
        """
        Return the holder of a point of a link: the nearest of its pieces, or the link itself.

        Args:
            link: Name of the link.
            point: In its frame [m].

        Returns:
            The name of the piece, and the point in that one's frame [m].
        """
        found, least = (link, point), np.inf
        start = np.zeros(3)
        for piece in self.pieces(link):
            start = start + self.joint(piece.name).origin.position
            beam = piece.undeformed_beam
            assert beam is not None
            x, y, z = (np.array(point) - start).tolist()
            along = min(max(float(np.dot(beam.direction, (x, y, z))), 0.0), beam.length)
            away = float(np.linalg.norm((x, y, z) - along * np.array(beam.direction)))
            if away < least - 1e-9 * beam.length:
                found, least = (piece.name, (x, y, z)), away
        return found

    @cached_property
    def reduced_forms(self) -> tuple[str, ...]:
        """Reduced forms of the equations of links, as they are written, each once."""
        return tuple(sorted({link.reduced_form for link in self.links} - {''}))

    def neutral_configuration(self) -> np.ndarray:
        """Return the configuration with all coordinates zero, quaternions at identity, (nq,)."""
        q = np.zeros(self.nq)
        q[[start + 3 for start in self.quaternion_starts]] = 1.0
        return q

    def __str__(self) -> str:
        """Return one line: name and sizes."""
        return (
            f'Robot "{self.name}": {len(self.links)} links, {self.n_joints} joint coordinates, '
            f'{self.n_modes} modes, {self.total_mass:.6g} kg'
        )

    def __repr__(self) -> str:
        """Return the same in brackets; the links and joints print one by one."""
        return f'<{self}>'


def require_robot(value: object) -> None:
    """Raise ArgumentError unless this is a robot."""
    if isinstance(value, Robot):
        return
    advice = 'expected a Robot, as load_robot returns it'
    if isinstance(getattr(value, 'robot', None), Robot):
        advice = 'expected its Robot: pass its attribute "robot"'
    raise ArgumentError('robot', f'is of type {type(value).__name__}, {advice}')


def refuse_equal_names(robot: Robot) -> None:
    """
    Refuse a robot in which a joint's or a mode's coordinate has the name of another's.

    Raises:
        ModelError: Names them and the elements that they belong to.
    """
    owners: dict[str, tuple[str, str]] = {}
    for name, element, owner in _named(robot):
        first = owners.setdefault(name, (element, owner))
        if first != (element, owner):
            raise ModelError(
                f'Both it and {first[0]} "{first[1]}" have a coordinate "{name}"',
                file=robot.source, element=element, name=owner, advice='Rename one of them',
            )


def _named(robot: Robot) -> Iterator[tuple[str, str, str]]:
    """Yield each coordinate's names, of positions and of rates, and its joint or link."""
    for joint in robot.joints:
        names = (*joint.position_names, *joint.coordinate_names, *joint.mode_names)
        for name in dict.fromkeys(names):
            yield name, 'joint', joint.name
    for link in robot.links:
        for name in link.mode_names:
            yield name, 'link', link.name
