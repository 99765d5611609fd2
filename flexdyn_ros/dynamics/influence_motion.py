# SPDX-License-Identifier: Apache-2.0
"""Velocities, nonlinear accelerations and forces by influences: (7), (13) and (27) of Graves."""

from __future__ import annotations

from flexdyn_ros.dynamics.influence_geometry import Columns
from flexdyn_ros.dynamics.influence_geometry import LinkPlace
from flexdyn_ros.dynamics.influence_inertia import Load
from flexdyn_ros.dynamics.influence_loads import LinkMotion
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import cross
from flexdyn_ros.dynamics.spatial import dot
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import subtract
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.dynamics.spatial import ZERO

Twist = tuple[Vector, Vector]


def carried_motion(motion: LinkMotion, place: LinkPlace, qd: list) -> LinkMotion:
    """
    Return the motion at the end of a way outward, in root axes: (27) with all its terms.

    Over a rigid arm r the acceleration grows by alpha x r + w x (w x r), where coordinates slide
    by 2 w x u and the bias of u, where they turn alpha grows by w x t and the bias of t.
    """
    spin, spin_rate, start = motion
    for step in place.steps:
        start = add(start, swept(spin, spin_rate, step.arm))
        slide, turn = ZERO, ZERO
        for coordinate, move, axis, _ in step.influences:
            if move is not None:
                slide = add(slide, scale(qd[coordinate], move))
            if axis is not None:
                turn = add(turn, scale(qd[coordinate], axis))
        start = add(start, scale(2.0, cross(spin, slide)))
        if step.sweeps:
            start = add(start, cross(turn, slide))
        if step.slide_bias is not None:
            start = add(start, step.slide_bias)
        spin_rate = add(spin_rate, cross(spin, turn))
        if step.spin_bias is not None:
            spin_rate = add(spin_rate, step.spin_bias)
        spin = add(spin, turn)
    return LinkMotion(spin, spin_rate, add(start, swept(spin, spin_rate, place.arm)))


def swept(spin: Vector, spin_rate: Vector, arm: Vector) -> Vector:
    return add(cross(spin_rate, arm), cross(spin, cross(spin, arm)))


def printed_motion(motion: LinkMotion, inner: Twist, outer: Twist) -> LinkMotion:
    """Return the motion of a point or frame b outside of a by (27) as it is printed."""
    linear, angular = subtract(outer[0], inner[0]), subtract(outer[1], inner[1])
    return LinkMotion(
        outer[1],
        add(motion.spin_rate, cross(inner[1], angular)),
        add(motion.acceleration, cross(inner[1], linear)),
    )


def twist_of(columns: Columns, rates: list) -> Twist:
    """Return J times rates: linear and angular part (7)."""
    linear, angular = ZERO, ZERO
    for coordinate, (move, turn) in columns.items():
        linear = add(linear, scale(rates[coordinate], move))
        angular = add(angular, scale(rates[coordinate], turn))
    return linear, angular


def project(columns: Columns, modes: int, load: Load, tau: list) -> None:
    """Add J^T (force, moment) to tau (13), and modal forces from place `modes` on."""
    for coordinate, (move, turn) in columns.items():
        power = dot(move, load.force) + dot(turn, load.moment)
        tau[coordinate] = tau[coordinate] + power
    for k, force in enumerate(load.modal, start=modes):
        tau[k] = tau[k] + force
