# SPDX-License-Identifier: Apache-2.0
"""
A robot in terms of the method of kinematic influence: bodies, their fields, approximations.

The approximations are those of Graves's paper, each chosen by name. Kinematics, gravity, springs,
losses and outside wrenches stay exact.

- "undeformed_inertia", eq. 25: "variations due to the flexibility" of a link's own inertia are
  left out. In every integral over a link, of the mass matrix and of the nonlinear loads, each mass
  element counts at its undeformed place. Bodies on the link still hang on its deflected ends.
- "lumped_mass", the equation after (27). Nonlinear loads are those of one rigid body for each
  link, with the link's mass and its inertia about the undeformed centre of mass. The body rides
  on the cross-section there.
- "printed_recursion", eq. 27 exactly as printed: the nonlinear acceleration grows from link to
  link by w_a x v_b and w_a x w_b. The velocities of b are relative to a. Left out are alpha_a x r,
  and half of the Coriolis accelerations of sliding joints and of modes. So are products of the
  modes' and the joint's rotations at one end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, NamedTuple, Optional, Union

from flexdyn_ros.arguments import names as checked_names
from flexdyn_ros.dynamics.body_builder import floats, rows
from flexdyn_ros.dynamics.influence.geometry import LinkPlace
from flexdyn_ros.dynamics.influence.link_inertia import link_inertia, LinkFields, LinkInertia
from flexdyn_ros.dynamics.multibody import Body, BodyNode, Multibody
from flexdyn_ros.dynamics.spatial import Matrix, Vector
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.beam.body import link_body
from flexdyn_ros.model.records.robot import Robot
import numpy as np


class Approximations(NamedTuple):
    """
    The approximations of a model; none by default.

    Attributes:
        undeformed_inertia: Whether links have the inertia of their undeformed shape.
        lumped_mass: Whether the nonlinear loads of a flexible link are those of a rigid body.
        printed_recursion: Whether nonlinear accelerations follow the printed recursion.
    """

    undeformed_inertia: bool = False
    lumped_mass: bool = False
    printed_recursion: bool = False

    @classmethod
    def named(cls, names: Union[str, Iterable[str]]) -> Approximations:
        """
        Return the approximations of these names.

        Raises:
            ArgumentError: If one is unknown.
        """
        chosen = checked_names('approximations', names)
        for name in chosen:
            if name not in cls._fields:
                raise ArgumentError(
                    'approximations', f'names "{name}", expected some of {cls._fields}'
                )
        return cls(**dict.fromkeys(chosen, True))


EXACT = Approximations()


class Lump(NamedTuple):
    """
    A flexible link as one rigid body that rides on a cross-section.

    Attributes:
        node: The cross-section.
        offset: Centre of mass from its node [m].
        mass: [kg].
        inertia: About the centre of mass in link axes [kg m^2].
    """

    node: BodyNode
    offset: Vector
    mass: float
    inertia: Matrix


def lumps(robot: Robot, tree: Multibody) -> tuple[Optional[Lump], ...]:
    """Return for each body its lump, None where it has no modes or no mass."""
    return tuple(
        _lump(robot, body) if body.n_modes and body.mass else None for body in tree.bodies
    )


def _lump(robot: Robot, body: Body) -> Lump:
    centre = np.array(body.first_moment, dtype=float) / body.mass
    node = link_body(robot.link(body.links[0])).node_at(centre)
    section = BodyNode(
        floats(node.position), rows(node.translation), rows(node.rotation),
        shortening=floats(node.shortening),
    )
    about_centre = np.array(body.second_moment) - body.mass * np.outer(centre, centre)
    inertia = np.trace(about_centre) * np.eye(3) - about_centre
    return Lump(section, floats(node.offset), body.mass, rows(inertia))


@dataclass(frozen=True)
class InfluenceModel:
    """
    A robot in terms of this method.

    Attributes:
        tree: The bodies.
        fields: The fields of each body.
        approximations: Those that it makes.
        lumps: For each body its substitute where masses are lumped, or None.
    """

    tree: Multibody
    fields: tuple[LinkFields, ...]
    approximations: Approximations = EXACT
    lumps: tuple[Optional[Lump], ...] = ()

    @classmethod
    def of(
        cls,
        tree: Multibody,
        approximations: Approximations = EXACT,
        lumps: tuple[Optional[Lump], ...] = (),
    ) -> InfluenceModel:
        """
        Return the model of a tree of bodies.

        Raises:
            ArgumentError: If a cross-section turns by King's first-order rotation, or deflections
                are reduced.
            ValueError: If inertia of a body was regrouped to its parent.
        """
        for form, places in (
            ('linearised', tree.linearised), ('undeformed_kinetic_energy', tree.undeformed)
        ):
            if places:
                raise ArgumentError(
                    'formulation', 'is "kinematic_influence", which is exact in the deflections. '
                    f'"{tree.coordinate_names[places[0][1]]}" belongs to a link with '
                    f'deflection="{form}". Use fd.reduced(robot, "exact"), or '
                    'formulation="recursive"',
                )
        for body in tree.bodies:
            if body.node is not None and body.node.linear:
                link = tree.bodies[body.parent].links[0]
                raise ArgumentError(
                    'formulation', 'is "kinematic_influence", whose cross-sections turn exactly. '
                    f'Link "{link}" has rotation="linear". Use rotation="exact", or '
                    'formulation="recursive"',
                )
            if body.polar_inertia:
                raise ValueError('polar_inertia: take a tree whose inertia is not regrouped')
        fields = tuple(LinkFields.of(body) for body in tree.bodies)
        return cls(tree, fields, approximations, lumps)

    def inertia(
        self, index: int, place: LinkPlace, q: list, exact: bool = False
    ) -> LinkInertia:
        """Return the inertia of a link in root axes, by the approximations (25), (26)."""
        if self.approximations.undeformed_inertia and not exact:
            modes: list = [0.0] * place.body.n_modes
        else:
            modes = place.body.mode_values(q)
        return link_inertia(self.fields[index], modes).rotated(place.rotation)
