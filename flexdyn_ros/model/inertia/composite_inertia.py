# SPDX-License-Identifier: Apache-2.0
"""Inertia of links, and of all that a joint moves as one rigid body, every joint at zero."""

from __future__ import annotations

from flexdyn_ros.model.inertia.hub import beam_inertia
from flexdyn_ros.model.inertia.mass_moments import MassMoments
from flexdyn_ros.model.inertia.mass_moments import NOTHING
from flexdyn_ros.model.robot.link import Inertia
from flexdyn_ros.model.robot.link import Link
from flexdyn_ros.model.robot.robot import Robot
from flexdyn_ros.model.robot.vectors import symmetric_matrix3
import numpy as np


def link_moments(link: Link) -> MassMoments:
    """Return the moments of the undeformed link: rigid part, beam and point masses."""
    whole = NOTHING if link.inertia is None else MassMoments.of(link.inertia)
    if link.modal is not None:
        whole += MassMoments.of(link.modal.inertia)
    beam = link.undeformed_beam
    if beam is None:
        return whole
    whole += MassMoments.of(beam_inertia(beam))
    axes = np.array(beam.axes)
    for point in beam.point_masses:
        x, y, z = (point.at * beam.length * axes[:, 0]).tolist()
        moments = symmetric_matrix3(axes @ np.diag(point.inertia) @ axes.T)
        whole += MassMoments.of(Inertia(point.mass, (x, y, z), moments))
    return whole


def composite_moments(robot: Robot) -> dict[str, MassMoments]:
    """
    Return the moments of all that each joint moves, payloads included, about its child's frame.

    They are those of the composite rigid bodies (Featherstone, Rigid Body Dynamics Algorithms,
    2008, section 6.2) with every joint and mode at zero.
    """
    at = {link.name: link_moments(link) for link in robot.links}
    for payload in robot.payloads:
        at[payload.link] += MassMoments.of(payload.inertia)
    for joint in reversed(robot.joints):
        at[joint.parent] += at[joint.child].in_parent(joint.origin)
    return {joint.name: at[joint.child] for joint in robot.joints}
