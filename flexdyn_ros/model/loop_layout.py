# SPDX-License-Identifier: Apache-2.0
"""The coordinates of a robot with loops by their part in its motion, and sizes of its loops."""

from __future__ import annotations

import math

from flexdyn_ros.model.extension.joint_reader import BASE_COORDINATES
from flexdyn_ros.model.records.robot import Loop, Robot


class LoopLayout:
    """
    Loops and coordinates of a robot; coordinates are places in velocities.

    Attributes:
        base: Coordinates of a base that moves.
        prescribed: The same where its motion is prescribed, otherwise none.
        actuated: Joints' coordinates with motors.
        passive: Joints' coordinates without motors.
        modes: Modal coordinates.
        groups: All coordinates in the order in which inverse dynamics keeps forces off them:
            passive joints, a free base, modes, actuated joints, a prescribed base.
        lengths: Scales of the constraint errors, (n_constraints,): 1 rad, or the loop's length
            [m]. It is that of the way along the loop over the origins of its joints and frames.
    """

    def __init__(self, robot: Robot):
        self.base = list(range(0 if robot.base_motion == 'fixed' else BASE_COORDINATES))
        self.prescribed = self.base if robot.base_motion == 'prescribed' else []
        names = list(enumerate(robot.joint_names))[len(self.base) :]
        motors = set(robot.actuated_coordinates)
        self.actuated = [k for k, name in names if name in motors]
        self.passive = [k for k, name in names if name not in motors]
        self.modes = list(range(robot.n_joints, robot.nv))
        floating = [] if self.prescribed else self.base
        self.groups = [self.passive, floating, self.modes, self.actuated, self.prescribed]
        self.lengths: list[float] = []
        for loop in robot.loops:
            size = _length(robot, loop) or 1.0
            self.lengths += [1.0 if name[0] == 'r' else size for name in loop.constrain]


def _length(robot: Robot, loop: Loop) -> float:
    """Return the length of the way from frame1 to frame2 over the origins of joints [m]."""
    parents = {joint.child: joint for joint in robot.joints}
    ways: list[dict[str, float]] = []
    for frame in (loop.frame1, loop.frame2):
        way: dict[str, float] = {}
        while frame in parents:
            way[frame] = math.hypot(*parents[frame].origin.position)
            frame = parents[frame].parent
        ways.append(way)
    first, second = ways
    return sum((first.get(name, 0.0) or second.get(name, 0.0)) for name in first.keys() ^ second)
