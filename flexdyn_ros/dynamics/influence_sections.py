# SPDX-License-Identifier: Apache-2.0
"""The cross-section at each flexible link's centre of mass, where its mass may be lumped."""

from __future__ import annotations

from typing import NamedTuple
from typing import Optional

from flexdyn_ros.dynamics.body import Body
from flexdyn_ros.dynamics.body import BodyNode
from flexdyn_ros.dynamics.draft import floats
from flexdyn_ros.dynamics.draft import rows
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.spatial import Matrix
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.model.beam.body import link_body
from flexdyn_ros.model.records.robot import Robot
import numpy as np


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
