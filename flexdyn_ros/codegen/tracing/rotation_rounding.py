# SPDX-License-Identifier: Apache-2.0
"""
Rounding of rotations before tracing: entries next to 0, 1 and -1 become exact.

Descriptions write right angles with ten digits (1.57079632679), so that rotation matrices hold
entries of some 1e-12 where zero is meant; each would cost operations in generated code. Forces
change by about as much, relative to their size, and accelerations by up to that times the
condition number of the mass matrix.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flexdyn_ros.dynamics.multibody import Body, Frame, Multibody

# Right angles written with ten digits; forces change by less than 1e-11 relative.
ANGLE_TOLERANCE = 1e-9
# Round-off alone: cos(pi/2) in double precision is 6e-17.
ROUND_OFF = 1e-14


def round_rotations(tree: Multibody, tolerance: float) -> Multibody:
    """Return the tree with rotations and axes exact where they are within `tolerance` of it."""
    if tolerance <= 0.0:
        return tree
    return replace(
        tree,
        bodies=tuple(_round_body(body, tolerance) for body in tree.bodies),
        frames={
            name: Frame(frame.body, frame.position, _rounded(frame.rotation, tolerance))
            for name, frame in tree.frames.items()
        },
    )


def _round_body(body: Body, tolerance: float) -> Body:
    joint = body.joint
    plane = joint.plane if joint.plane is None else _rounded(joint.plane, tolerance)
    joint = replace(joint, axis=_rounded(joint.axis, tolerance), plane=plane)
    return replace(body, joint=joint, rotation=_rounded(body.rotation, tolerance))


def _rounded(value: Any, tolerance: float) -> Any:
    """Return a number, or a tuple of them at any depth, rounded where it is close."""
    if isinstance(value, tuple):
        return tuple(_rounded(item, tolerance) for item in value)
    if isinstance(value, float) and value != round(value) and abs(value) < 2.0:
        nearest = float(round(value))
        return nearest if abs(value - nearest) <= tolerance else value
    return value
