# SPDX-License-Identifier: Apache-2.0
"""Joints and their drives: frozen records in SI units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Optional

from flexdyn_ros.model.records.base import IDENTITY, Matrix3, Record, Vector3, ZERO

# Velocity coordinates of each joint type, as suffixes of the joint's name ('' is the name itself).
JOINT_COORDINATES: dict[str, tuple[str, ...]] = {
    'revolute': ('',),
    'continuous': ('',),
    'prismatic': ('',),
    'fixed': (),
    'planar': ('/x', '/y', '/theta'),
    'floating': ('/tx', '/ty', '/tz', '/rx', '/ry', '/rz'),
}
QUATERNION = ('qx', 'qy', 'qz', 'qw')


@dataclass(frozen=True, repr=False)
class Pose(Record):
    """
    Placement of a child frame in its parent.

    Attributes:
        position: Origin of the child frame [m].
        rotation: Rotation from child to parent axes.
    """

    position: Vector3 = ZERO
    rotation: Matrix3 = IDENTITY


@dataclass(frozen=True, repr=False)
class MotionAxis(Record):
    """
    One axis of a joint: a turn, a slide, or both in proportion (a screw).

    Attributes:
        direction: Unit vector in the child's axes.
        through: A point of the axis of a turn, in the child's frame where the joint is at zero
            [m].
        pitch: Displacement along the axis for a turn [m/rad].
        slides: Whether it is a slide; then neither of the two counts.
    """

    direction: Vector3
    through: Vector3 = ZERO
    pitch: float = 0.0
    slides: bool = False


@dataclass(frozen=True, repr=False)
class Limit(Record):
    """A URDF <limit>; None where the attribute is missing. [rad | m], [N m | N], [rad/s | m/s]."""

    lower: Optional[float] = None
    upper: Optional[float] = None
    effort: Optional[float] = None
    velocity: Optional[float] = None


@dataclass(frozen=True, repr=False)
class Mimic(Record):
    """The joint moves as multiplier * leader + offset [rad | m]."""

    leader: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, repr=False)
class Friction(Record):
    """
    Joint friction, opposing the motion of the joint's own (motor-side) coordinate.

    Attributes:
        viscous: [N m s/rad | N s/m].
        coulomb: Level at speed [N m | N].
        stribeck: Level at break-away [N m | N]; None for Coulomb's.
        stribeck_velocity: [rad/s | m/s].
        smoothing_velocity: Width of the smoothed sign, tanh(qd / smoothing_velocity).
    """

    viscous: float = 0.0
    coulomb: float = 0.0
    stribeck: Optional[float] = None
    stribeck_velocity: float = 1.0
    smoothing_velocity: float = 0.01

    @property
    def breakaway(self) -> float:
        """Level at rest: the Stribeck level, or Coulomb's where there is none [N m | N]."""
        return self.coulomb if self.stribeck is None else self.stribeck

    @property
    def acts(self) -> bool:
        """Whether any part of it is not zero."""
        return any(x != 0.0 for x in (self.viscous, self.coulomb, self.breakaway))


@dataclass(frozen=True, repr=False)
class BearingAxis(Record):
    """
    A compliant direction of a joint's bearing.

    Attributes:
        direction: rx, ry, rz, tx, ty or tz, in the joint frame.
        stiffness: [N m/rad | N/m].
        damping: [N m s/rad | N s/m].
    """

    direction: str
    stiffness: float
    damping: float = 0.0


@dataclass(frozen=True, repr=False)
class JointDynamics(Record):
    """
    Dynamics that a joint's drive and bearing add.

    Attributes:
        friction: Friction on the motor side, in output units.
        damping: Viscous [N m s/rad | N s/m]; across the spring where there is one.
        stiffness: Spring between motor and link side [N m/rad | N/m]; None for a stiff joint
            and where there is a `spring`.
        rotor_inertia: Inertia of the rotor before the gear [kg m^2 | kg].
        gear_ratio: Motor turns per output turn.
        spring: A nonlinear spring instead: pairs of deflection and torque [rad, N m | m, N],
            deflections rising; () for none. See dynamics.spring_law for torques between.
        parallel_stiffness: Passive spring between the links, beside the drive and its spring, such
            as a balancing spring [N m/rad | N/m].
        parallel_damping: Passive damper beside that spring [N m s/rad | N s/m].
        rest_position: Position of the link side at which that spring is at rest [rad | m].
        bearing: Compliant directions of the bearing. Between the parent and the joint's own motion
            the joint frame rotates about its x, y and z axis, then slides along them.
    """

    friction: Friction = Friction()
    damping: float = 0.0
    stiffness: Optional[float] = None
    rotor_inertia: float = 0.0
    gear_ratio: float = 1.0
    spring: tuple[tuple[float, float], ...] = ()
    parallel_stiffness: float = 0.0
    parallel_damping: float = 0.0
    rest_position: float = 0.0
    bearing: tuple[BearingAxis, ...] = ()

    @property
    def elastic(self) -> bool:
        """Whether a spring stands between motor and link side."""
        return self.stiffness is not None or bool(self.spring)

    @property
    def losses(self) -> Friction:
        """Friction, with the damping where there is no spring that it acts across."""
        if self.elastic or self.damping == 0.0:
            return self.friction
        return replace(self.friction, viscous=self.friction.viscous + self.damping)

    @property
    def reflected_inertia(self) -> float:
        """Rotor inertia seen at the output, gear_ratio^2 * rotor_inertia [kg m^2 | kg]."""
        return self.gear_ratio**2 * self.rotor_inertia


@dataclass(frozen=True, repr=False)
class Joint(Record):
    """
    A URDF joint.

    Attributes:
        name: Its name.
        type: revolute, continuous, prismatic, fixed, floating, planar or multi_axis.
        parent: Name of the parent link.
        child: Name of the child link, whose frame moves with the joint.
        origin: Placement of the joint frame in the parent link's frame.
        axis: Unit axis in the joint frame (a planar joint's normal).
        limit: Its limits.
        mimic: The leader that it follows, or None.
        dynamics: Dynamics that its drive and bearing add.
        pitch: Of a screw, a revolute or continuous joint: displacement along its axis for a turn
            [m/rad].
        axes: Names of the axes of a multi_axis joint: a subset of rx ry rz tx ty tz, in that
            order, or those of `general_axes`.
        general_axes: Axes of a multi_axis joint in general directions and places; () for none.
        quaternion: Whether the rotation of a multi_axis joint is a quaternion.
        drives: Of a multi_axis joint: axes with a drive, and the dynamics that it adds.
    """

    name: str
    type: str
    parent: str
    child: str
    origin: Pose = Pose()
    axis: Vector3 = (1.0, 0.0, 0.0)
    limit: Limit = Limit()
    mimic: Optional[Mimic] = None
    dynamics: JointDynamics = JointDynamics()
    axes: tuple[str, ...] = ()
    quaternion: bool = False
    pitch: float = 0.0
    general_axes: tuple[MotionAxis, ...] = ()
    drives: tuple[tuple[str, JointDynamics], ...] = ()

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the velocity coordinates that the joint adds; none for a mimic joint."""
        if self.mimic is not None:
            return ()
        if self.axes:
            return tuple(f'{self.name}/{axis}' for axis in self.axes)
        return tuple(self.name + suffix for suffix in JOINT_COORDINATES[self.type])

    @property
    def motion_axes(self) -> tuple[MotionAxis, ...]:
        """Axes of a multi_axis joint or a screw, each moved by those before it; () for none."""
        if self.pitch:
            return (MotionAxis(self.axis, pitch=self.pitch),)
        return self.general_axes or tuple(
            MotionAxis(IDENTITY['xyz'.index(name[1])], slides=name[0] == 't')
            for name in self.axes
        )

    @property
    def position_names(self) -> tuple[str, ...]:
        """Names of the configuration coordinates: a quaternion has four, x y z w."""
        names = self.coordinate_names
        at = self.quaternion_place
        if at is None:
            return names
        quaternion = tuple(f'{self.name}/{entry}' for entry in QUATERNION)
        return (*names[:at], *quaternion, *names[at + 3 :])

    @property
    def quaternion_place(self) -> Optional[int]:
        """Place of the quaternion among the joint's configuration coordinates, or None."""
        if self.type == 'floating':
            return 3
        return 0 if self.quaternion else None

    @property
    def elastic_name(self) -> Optional[str]:
        """Name of the elastic deflection's coordinate, or None for a stiff joint."""
        return f'{self.name}/elastic' if self.dynamics.elastic else None

    @property
    def bearing_names(self) -> tuple[str, ...]:
        """Names of the bearing's deflections, `<joint>/bearing_rx` and so on."""
        return tuple(f'{self.name}/bearing_{axis.direction}' for axis in self.dynamics.bearing)

    @property
    def mode_names(self) -> tuple[str, ...]:
        """Names of the modal coordinates that the joint adds: its spring's, then its bearing's."""
        elastic = self.elastic_name
        return (*((elastic,) if elastic else ()), *self.bearing_names)
