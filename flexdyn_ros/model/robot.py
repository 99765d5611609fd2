# SPDX-License-Identifier: Apache-2.0
"""
The robot as loaded: frozen records of links, joints and flexibility, all in SI units.

Names and frames are those of the URDF: a link's frame is its parent joint's frame, the root
frame is the root link's. Vectors and matrices are tuples of floats, so that records compare
and hash by value.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from typing import Optional

from flexdyn_ros.errors import UnknownName
import numpy as np

Vector3 = tuple[float, float, float]
Matrix3 = tuple[Vector3, Vector3, Vector3]

IDENTITY: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ZERO: Vector3 = (0.0, 0.0, 0.0)

# Velocity coordinates of each joint type, as suffixes of the joint's name ('' is the name itself).
JOINT_COORDINATES: dict[str, tuple[str, ...]] = {
    'revolute': ('',),
    'continuous': ('',),
    'prismatic': ('',),
    'fixed': (),
    'planar': ('/x', '/y', '/theta'),
    'floating': ('/tx', '/ty', '/tz', '/rx', '/ry', '/rz'),
}


@dataclass(frozen=True)
class Inertia:
    """
    Rigid-body inertia in a link's frame.

    Attributes:
        mass: Mass [kg].
        com: Centre of mass in the link frame [m].
        matrix: Inertia about the centre of mass, in link axes [kg m^2].
    """

    mass: float
    com: Vector3
    matrix: Matrix3


@dataclass(frozen=True)
class Pose:
    """
    Placement of a child frame in its parent.

    Attributes:
        position: Origin of the child frame [m].
        rotation: Rotation from child to parent axes.
    """

    position: Vector3 = ZERO
    rotation: Matrix3 = IDENTITY


@dataclass(frozen=True)
class Limit:
    """A URDF <limit>; None where the attribute is missing. [rad | m], [N m | N], [rad/s | m/s]."""

    lower: Optional[float] = None
    upper: Optional[float] = None
    effort: Optional[float] = None
    velocity: Optional[float] = None


@dataclass(frozen=True)
class Mimic:
    """The joint moves as multiplier * leader + offset [rad | m]."""

    leader: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Friction:
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


@dataclass(frozen=True)
class JointDynamics:
    """
    What a joint's drive adds.

    Attributes:
        friction: Friction on the motor side, in output units.
        damping: Viscous [N m s/rad | N s/m]; across the spring where there is one.
        stiffness: Spring between motor and link side [N m/rad | N/m]; None for a stiff joint.
        rotor_inertia: Inertia of the rotor before the gear [kg m^2 | kg].
        gear_ratio: Motor turns per output turn.
    """

    friction: Friction = Friction()
    damping: float = 0.0
    stiffness: Optional[float] = None
    rotor_inertia: float = 0.0
    gear_ratio: float = 1.0

    @property
    def elastic(self) -> bool:
        """Whether a spring stands between motor and link side."""
        return self.stiffness is not None

    @property
    def reflected_inertia(self) -> float:
        """Rotor inertia seen at the output, gear_ratio^2 * rotor_inertia [kg m^2 | kg]."""
        return self.gear_ratio**2 * self.rotor_inertia


@dataclass(frozen=True)
class Joint:
    """
    A URDF joint.

    Attributes:
        name: Its name.
        type: revolute, continuous, prismatic, fixed, floating or planar.
        parent: Name of the parent link.
        child: Name of the child link, whose frame moves with the joint.
        origin: Placement of the joint frame in the parent link's frame.
        axis: Unit axis in the joint frame (a planar joint's normal).
        limit: Its limits.
        mimic: The leader that it follows, or None.
        dynamics: What its drive adds.
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

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the velocity coordinates that the joint adds; none for a mimic joint."""
        if self.mimic is not None:
            return ()
        return tuple(self.name + suffix for suffix in JOINT_COORDINATES[self.type])

    @property
    def elastic_name(self) -> Optional[str]:
        """Name of the elastic deflection's coordinate, or None for a stiff joint."""
        return f'{self.name}/elastic' if self.dynamics.elastic else None


@dataclass(frozen=True)
class ModeFamily:
    """
    Modes of one kind on a beam.

    Attributes:
        kind: bending_y, bending_z or torsion (bending_y deflects along the beam's y axis).
        count: How many, from the lowest frequency up.
        damping_ratio: Of each mode, against its own stiffness and modal mass.
        boundary: Boundary conditions of the shapes, clamped-free.
    """

    kind: str
    count: int
    damping_ratio: float = 0.0
    boundary: str = 'clamped-free'


@dataclass(frozen=True)
class PointMass:
    """
    A mass that rides on a beam's cross-section.

    Attributes:
        at: Fraction of the beam's length.
        mass: [kg].
        inertia: Moments ixx, iyy, izz about its own centre in beam axes [kg m^2].
    """

    at: float
    mass: float
    inertia: Vector3 = ZERO


@dataclass(frozen=True)
class Beam:
    """
    A uniform beam from the link frame's origin to its tip. Sections no mode uses may be None.

    Attributes:
        tip: What the description named as the tip.
        axes: Rotation from beam axes (x along the beam) to link axes.
        length: [m].
        mass: [kg].
        young: Young's modulus [Pa].
        shear: Shear modulus [Pa].
        area: Cross-section area [m^2].
        iy: Second moment of area about the beam's y axis [m^4]; bends along z.
        iz: Second moment of area about the beam's z axis [m^4]; bends along y.
        j: Torsion constant [m^4].
        polar: Polar second moment of area [m^4].
        rotary_inertia: Whether cross-sections have rotary inertia in bending too.
        families: Its modes, in the order bending_y, bending_z, torsion.
        point_masses: Masses on the beam.
    """

    tip: str
    axes: Matrix3
    length: float
    mass: float
    young: Optional[float] = None
    shear: Optional[float] = None
    area: Optional[float] = None
    iy: Optional[float] = None
    iz: Optional[float] = None
    j: Optional[float] = None
    polar: Optional[float] = None
    rotary_inertia: bool = False
    families: tuple[ModeFamily, ...] = ()
    point_masses: tuple[PointMass, ...] = ()

    @property
    def mode_names(self) -> tuple[str, ...]:
        """Mode names without the link: bending_y1, bending_y2, bending_z1, torsion1."""
        return tuple(f'{f.kind}{k + 1}' for f in self.families for k in range(f.count))


@dataclass(frozen=True)
class Link:
    """
    A URDF link.

    Attributes:
        name: Its name.
        inertia: Inertia of the rigid part: all of a rigid link, the hub of a link with a beam;
            None where there is none.
        beam: The beam that the link bends as, or None.
        rotation: How node rotations are built from modes: "exact" (exponential) or "linear"
            (King's first-order form).
    """

    name: str
    inertia: Optional[Inertia] = None
    beam: Optional[Beam] = None
    rotation: str = 'exact'

    @property
    def mode_names(self) -> tuple[str, ...]:
        """Full names of the link's modes, `<link>/<mode>`."""
        if self.beam is None:
            return ()
        return tuple(f'{self.name}/{mode}' for mode in self.beam.mode_names)

    @property
    def mass(self) -> float:
        """Mass of the rigid part, the beam and its point masses [kg]."""
        mass = self.inertia.mass if self.inertia else 0.0
        if self.beam is not None:
            mass += self.beam.mass + sum(p.mass for p in self.beam.point_masses)
        return mass


@dataclass(frozen=True)
class Payload:
    """A rigid body carried by a link: centre of mass and inertia in the link's axes."""

    link: str
    inertia: Inertia


@dataclass(frozen=True)
class Robot:
    """
    A robot with flexible links and joints, as `load_robot` returns it.

    Attributes:
        name: The URDF's robot name.
        links: All links, depth first, the root first.
        joints: All joints in the same order, a link's child joints in file order.
        gravity_vector: Acceleration of gravity in the root frame [m/s^2].
        payloads: Payloads that the description declares.
        actuated: Names of the actuated joints.
        notes: Decisions that `load_robot` took and that a user should know.
        source: File that the robot came from, or "<text>".
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    gravity_vector: Vector3 = (0.0, 0.0, -9.81)
    payloads: tuple[Payload, ...] = ()
    actuated: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)
    source: str = field(default='<text>', compare=False)

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
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joint velocity coordinates, depth first."""
        return tuple(name for joint in self.joints for name in joint.coordinate_names)

    @property
    def mode_names(self) -> tuple[str, ...]:
        """Names of the modal coordinates: elastic joints and beam modes, link by link."""
        names: list[str] = list(self.links[0].mode_names)
        for joint in self.joints:
            if joint.elastic_name:
                names.append(joint.elastic_name)
            names.extend(self.link(joint.child).mode_names)
        return tuple(names)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Joint coordinates first, then modes: joint-and-mode space, length nv."""
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
        """Number of configuration coordinates; a floating joint has seven for six velocities."""
        return self.nv + sum(j.type == 'floating' and j.mimic is None for j in self.joints)

    @property
    def total_mass(self) -> float:
        """Mass of all links, beams and point masses, payloads apart [kg]."""
        return sum(link.mass for link in self.links)

    @property
    def quaternion_starts(self) -> tuple[int, ...]:
        """Places in q where the quaternion (x, y, z, w) of a floating joint starts."""
        starts, place = [], 0
        for joint in self.joints:
            place += len(joint.coordinate_names)
            if joint.type == 'floating':
                starts.append(place - 3)
                place += 1
        return tuple(starts)

    def link(self, name: str) -> Link:
        """Return the link called `name`; raise UnknownName otherwise."""
        for link in self.links:
            if link.name == name:
                return link
        raise UnknownName('link', name, self.frame_names)

    def joint(self, name: str) -> Joint:
        """Return the joint called `name`; raise UnknownName otherwise."""
        for joint in self.joints:
            if joint.name == name:
                return joint
        raise UnknownName('joint', name, (j.name for j in self.joints))

    def neutral_configuration(self) -> np.ndarray:
        """Return the configuration with all coordinates zero, quaternions at identity, (nq,)."""
        q: list[float] = []
        for joint in self.joints:
            if joint.mimic is None:
                q += [0.0] * len(JOINT_COORDINATES[joint.type])
                q += [1.0] if joint.type == 'floating' else []
        return np.array(q + [0.0] * self.n_modes)

    def __str__(self) -> str:
        """Return one line: name and sizes."""
        return (
            f'Robot "{self.name}": {len(self.links)} links, {self.n_joints} joint coordinates, '
            f'{self.n_modes} modes, {self.total_mass:.6g} kg'
        )
