# SPDX-License-Identifier: Apache-2.0
"""Where each coordinate of a robot stands in q and in qd."""

from __future__ import annotations

from flexdyn_ros.dynamics.joint_motion import AxisTerm
from flexdyn_ros.model.records.joint import Joint
from flexdyn_ros.model.records.robot import Robot


class CoordinatePlaces:
    """The places of the coordinates by name."""

    def __init__(self, robot: Robot):
        """Find the place of each coordinate of a robot."""
        names = robot.coordinate_names
        self._velocity = {name: index for index, name in enumerate(names)}
        self._position = {}
        start = 0
        for joint in robot.joints:
            at = joint.quaternion_place
            for k, name in enumerate(joint.coordinate_names):
                beyond = at is not None and k >= at + 3
                self._position[name] = start + k + beyond
            start += len(joint.position_names)
        for k, name in enumerate(robot.mode_names):
            self._position[name] = start + k

    def term(self, name: str, multiplier: float = 1.0) -> AxisTerm:
        """Return the motion of an axis by a multiple of a coordinate."""
        return AxisTerm(self._position[name], self._velocity[name], multiplier)

    def motor_term(self, joint: Joint) -> AxisTerm:
        """Return the motion of a driven joint's motor: its own coordinate, or its leader's."""
        if joint.mimic is None:
            return self.term(joint.name)
        return self.term(joint.mimic.leader, joint.mimic.multiplier)
