# SPDX-License-Identifier: Apache-2.0
"""
The configuration q of a robot beside its velocity v: names, units and the mapping from v to dq/dt.

The two differ where a joint has a unit quaternion x, y, z, w (child axes to parent axes). Its rate
is the angular velocity in body axes. A floating joint's linear velocity is in body axes too.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.configuration import (
    ConfigurationSpace,
    quaternion_matrix,
    quaternion_product,
)
from flexdyn_ros.model.records.joint import Joint
from flexdyn_ros.model.records.robot import Robot
import numpy as np

_maps: WeakKeyDictionary[Any, ConfigurationMap] = WeakKeyDictionary()
_QUATERNION_TOLERANCE = 1e-3  # a quaternion typed with four digits is accepted and normalised


class ConfigurationMap(ConfigurationSpace):
    """
    The mapping from velocities to the rate of the configuration.

    Attributes:
        names: Names of the configuration coordinates, (nq,); a floating joint's are
            `<joint>/tx /ty /tz /qx /qy /qz /qw`.
        units: Their units, "rad", "m" or "1", (nq,).
        velocity_names: Names of the velocity coordinates, (nv,).
        velocity_units: Units of the velocities, "rad/s" or "m/s", (nv,).
        effort_units: Units of the generalised forces, "N m" or "N", (nv,).
    """

    def __init__(self, robot: Robot):
        super().__init__(robot)
        self.velocity_names = robot.coordinate_names
        units = velocity_coordinate_units(robot)
        self.velocity_units = tuple(f'{unit}/s' for unit in units)
        self.effort_units = tuple('N m' if unit == 'rad' else 'N' for unit in units)
        joints = (name for joint in robot.joints for name in joint.position_names)
        self.names = (*joints, *robot.mode_names)
        by_place = dict(zip(self.plain_q.tolist(), (units[k] for k in self.plain_v)))
        by_place.update((i + k, 'm') for i, _ in self.floating for k in range(3))
        self.units = tuple(by_place.get(k, '1') for k in range(self.nq))

    @classmethod
    def of(cls, dyn: Any) -> ConfigurationMap:
        """Return the mapping of a robot, made once for its dynamics."""
        found = _maps.get(dyn)
        if found is None:
            found = _maps[dyn] = cls(dyn.robot)
        return found

    def rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """
        Return dq/dt, (nq,), of a configuration q, (nq,), moving with velocities v, (nv,).

        A quaternion p = (x, y, z, w) moves with p (omega, 0) / 2, omega in body axes (Diebel 2006,
        equation 162, there with w first). The position of a floating joint moves with R(p) v.
        """
        if not self.quaternions:
            return v
        rate = np.empty(self.nq)
        rate[self.plain_q] = v[self.plain_v]
        for i, j in self.floating:
            rate[i:i + 3] = quaternion_matrix(q[i + 3:i + 7]) @ v[j:j + 3]
        for i, j in self.quaternions:
            rate[i:i + 4] = 0.5 * quaternion_product(
                q[i:i + 4], np.append(v[j:j + 3], 0.0)
            )
        return rate

    def normalise(self, q: np.ndarray) -> np.ndarray:
        """Scale the quaternions in q, (nq,), to unit length, in place, and return q."""
        for i, _ in self.quaternions:
            norm = np.sqrt(q[i:i + 4] @ q[i:i + 4])
            if norm > 0.0:
                q[i:i + 4] /= norm
        return q

    def checked(self, q: np.ndarray, argument: str) -> np.ndarray:
        """
        Return a copy of q, (nq,), with unit quaternions.

        Raises:
            ArgumentError: A quaternion is not of unit length within 0.1 percent.
        """
        q = np.array(q, dtype=float)
        for i, _ in self.quaternions:
            norm = float(np.linalg.norm(q[i:i + 4]))
            if abs(norm - 1.0) > _QUATERNION_TOLERANCE:
                joint = self.names[i][:-len('/qx')]
                raise ArgumentError(
                    argument,
                    f'gives joint "{joint}" a quaternion of length {norm:.6g} in entries '
                    f'{i} to {i + 3}. Write a unit quaternion x y z w, 0 0 0 1 for no rotation',
                )
        return self.normalise(q)


def velocity_coordinate_units(robot: Robot) -> tuple[str, ...]:
    """
    Return the unit of each velocity coordinate's motion, "rad" or "m", (nv,).

    A bending mode's coordinate is metres at the beam's tip, a torsion mode's radians there; those
    of segments are angles.
    """
    units: list[str] = []
    for joint in robot.joints:
        units += _joint_units(joint)
    units += _beam_units(robot, robot.root)
    for joint in robot.joints:
        if joint.elastic_name:
            units.append('m' if joint.type == 'prismatic' else 'rad')
        units += ['m' if a.direction[0] == 't' else 'rad' for a in joint.dynamics.bearing]
        units += _beam_units(robot, joint.child)
    return tuple(units)


def _joint_units(joint: Joint) -> list[str]:
    if joint.axes:
        return ['m' if axis.slides else 'rad' for axis in joint.motion_axes]
    rotations = ('/rx', '/ry', '/rz', '/theta')
    translations = ('/tx', '/ty', '/tz', '/x', '/y')
    units = []
    for name in joint.coordinate_names:
        suffix = name[len(joint.name):]
        translates = suffix in translations or (not suffix and joint.type == 'prismatic')
        units.append('m' if translates and suffix not in rotations else 'rad')
    return units


def _beam_units(robot: Robot, link: str) -> list[str]:
    beam, segments = robot.link(link).beam, robot.link(link).segments
    if segments is not None:
        return ['rad'] * len(segments.mode_names)
    if beam is None:
        # Modes of files keep the file's scaling.
        return ['-'] * len(robot.link(link).mode_names)
    return [
        'rad' if family.kind == 'torsion' else 'm'
        for family in beam.families
        for _ in range(family.size)
    ]
