# SPDX-License-Identifier: Apache-2.0
"""How a joint moves: its axes, and the coordinates that drive them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.dynamics.spatial import ZERO


@dataclass(frozen=True)
class AxisTerm:
    """A joint axis moves by multiplier * coordinate, at these places in q and in qd."""

    position_index: int
    velocity_index: int
    multiplier: float = 1.0


@dataclass(frozen=True)
class JointMotion:
    """
    How a body moves against its joint frame.

    Attributes:
        type: revolute, prismatic, planar, floating, multi_axis or fixed.
        axis: Unit axis in the joint frame; a planar joint's normal.
        plane: In-plane axes of a planar joint, or None.
        terms: For each velocity coordinate of the joint, what drives it: one coordinate, a
            leader's (mimic) or a motor's and an elastic deflection's (elastic joint).
        position_start: Place of the first coordinate in q, for joints of several coordinates.
        offset: Constant part of the joint position [rad | m].
        axes: Axes of a multi_axis joint, see multi_axis.py.
        quaternion: Whether its rotation is a quaternion, at position_start.
    """

    type: str = 'fixed'
    axis: Vector = ZERO
    plane: Optional[tuple[Vector, Vector]] = None
    terms: tuple[tuple[AxisTerm, ...], ...] = ()
    position_start: int = 0
    offset: float = 0.0
    axes: tuple[str, ...] = ()
    quaternion: bool = False
