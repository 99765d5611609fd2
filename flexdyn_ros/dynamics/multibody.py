# SPDX-License-Identifier: Apache-2.0
"""The robot as the algorithms see it: a tree of bodies, and what acts between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from flexdyn_ros.dynamics.body import Body
from flexdyn_ros.dynamics.spatial import Matrix
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.dynamics.spring_law import SpringLaw


@dataclass(frozen=True)
class FrictionTerm:
    """
    Losses of a joint that moves at `multiplier * qd[index]` [rad/s | m/s].

    Attributes:
        index: Place of the coordinate in qd.
        multiplier: Velocity of the joint for a unit of it.
        viscous: [N m s/rad | N s/m].
        coulomb: Level at speed [N m | N].
        stribeck: Level at break-away [N m | N].
        stribeck_velocity: [rad/s | m/s].
        smoothing_velocity: Width of the smoothed sign [rad/s | m/s].
    """

    index: int
    multiplier: float
    viscous: float
    coulomb: float
    stribeck: float
    stribeck_velocity: float
    smoothing_velocity: float


@dataclass(frozen=True)
class SpringTerm:
    """
    A spring and damper on one coordinate, such as an elastic joint's.

    Attributes:
        position_index: Place of the deflection in q.
        velocity_index: Place of its rate in qd.
        stiffness: [N m/rad | N/m].
        damping: [N m s/rad | N s/m].
        law: A nonlinear force beside that of the stiffness, or None.
    """

    position_index: int
    velocity_index: int
    stiffness: float = 0.0
    damping: float = 0.0
    law: Optional[SpringLaw] = None


@dataclass(frozen=True)
class Frame:
    """
    A link's frame: its body, and its placement there.

    Attributes:
        body: Index of the body.
        position: Its origin in the body's frame [m].
        rotation: Its axes in the body's.
    """

    body: int
    position: Vector
    rotation: Matrix


@dataclass(frozen=True)
class Closure:
    """
    A loop: frame1 may not move against frame2 in directions of frame2's axes.

    Attributes:
        frame1: Name of the one frame.
        frame2: Name of the other one.
        directions: Numbers of the constrained ones among rx ry rz tx ty tz.
    """

    frame1: str
    frame2: str
    directions: tuple[int, ...]


@dataclass(frozen=True)
class Multibody:
    """
    A tree of bodies with everything that acts inside it.

    Attributes:
        bodies: Parents before children; the first is the root and does not move.
        coordinate_names: Names of the velocity coordinates, (nv,).
        nq: Number of configuration coordinates.
        frames: Frame of each link by name.
        rotors: Velocity index, and inertia seen there, of each geared rotor [kg m^2 | kg].
        friction: Losses of the joints.
        springs: Springs of the elastic joints, in their order, then those of links.
        loops: What closes between frames.
        linearised: Places in q and in qd of the modal coordinates in which the equations are
            expanded, see small_deflections.py.
        undeformed: The same of those that the kinetic energy does not see, undeformed_energy.py.
    """

    bodies: tuple[Body, ...]
    coordinate_names: tuple[str, ...]
    nq: int
    frames: dict[str, Frame]
    rotors: tuple[tuple[int, float], ...] = ()
    friction: tuple[FrictionTerm, ...] = ()
    springs: tuple[SpringTerm, ...] = ()
    loops: tuple[Closure, ...] = ()
    linearised: tuple[tuple[int, int], ...] = ()
    undeformed: tuple[tuple[int, int], ...] = ()

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return len(self.coordinate_names)

    @property
    def shares_coordinates(self) -> bool:
        """Whether some coordinate moves several bodies directly, as mimic joints do."""
        owners: list[int] = []
        for body in self.bodies:
            owners += {term.velocity_index for axis in body.joint.terms for term in axis}
        return len(owners) != len(set(owners))

    @property
    def is_recursive(self) -> bool:
        """
        Whether accelerations can be found body by body.

        A coordinate that moves several bodies breaks the recursion; and what a body does on its
        parent is a fraction, which does not end with the degree that the mass matrix ends with.
        """
        return not self.shares_coordinates and not self.linearised
