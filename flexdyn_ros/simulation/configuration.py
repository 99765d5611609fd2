# SPDX-License-Identifier: Apache-2.0
"""
The configuration q of a robot beside its velocity v: names, units and the mapping from v to dq/dt.

The two differ where a joint has a unit quaternion x, y, z, w (child axes to parent axes): its rate
is the angular velocity in body axes, and a floating joint's linear velocity is in body axes too.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.records.joint import Joint
from flexdyn_ros.model.records.robot import Robot
import numpy as np

_maps: WeakKeyDictionary[Any, ConfigurationMap] = WeakKeyDictionary()
_QUATERNION_TOLERANCE = 1e-3  # a quaternion typed with four digits is accepted and normalised


class ConfigurationMap:
    """
    The mapping from velocities to the rate of the configuration.

    Attributes:
        nq: Number of configuration coordinates.
        nv: Number of velocity coordinates.
        names: Names of the configuration coordinates, (nq,); a floating joint's are
            `<joint>/tx /ty /tz /qx /qy /qz /qw`.
        units: Their units, "rad", "m" or "1", (nq,).
        velocity_names: Names of the velocity coordinates, (nv,).
        velocity_units: Units of the velocities, "rad/s" or "m/s", (nv,).
        effort_units: Units of the generalised forces, "N m" or "N", (nv,).
        plain_q: Entries of q whose rates are velocities, (n,).
        plain_v: Those velocities' entries in v, (n,).
        floating: First entries of each floating joint in q and in v.
        quaternions: First entries of each quaternion in q, and of its angular velocity in v.
    """

    def __init__(self, robot: Robot):
        self.nq = robot.nq
        self.nv = robot.nv
        self.velocity_names = robot.coordinate_names
        units = velocity_coordinate_units(robot)
        self.velocity_units = tuple(f'{unit}/s' for unit in units)
        self.effort_units = tuple('N m' if unit == 'rad' else 'N' for unit in units)
        names: list[str] = []
        configuration_units: list[str] = []
        self.floating: list[tuple[int, int]] = []
        self.quaternions: list[tuple[int, int]] = []
        plain_q: list[int] = []
        plain_v: list[int] = []
        v = 0
        for joint in robot.joints:
            at = joint.quaternion_place
            if joint.type == 'floating':
                self.floating.append((len(names), v))
            if at is not None:
                self.quaternions.append((len(names) + at, v + at))
            own = list(range(v, v + len(joint.coordinate_names)))
            if at is not None:
                own[at:at + 3] = [-1] * 4
            for name, index in zip(joint.position_names, own):
                configuration_units.append('1' if index < 0 else units[index])
                if index >= 0 and joint.type != 'floating':
                    plain_q.append(len(names))
                    plain_v.append(index)
                names.append(name)
            v += len(joint.coordinate_names)
        for name in robot.mode_names:
            plain_q.append(len(names))
            plain_v.append(v)
            names.append(name)
            configuration_units.append(units[v])
            v += 1
        self.names = tuple(names)
        self.units = tuple(configuration_units)
        self.plain_q = np.array(plain_q, dtype=int)
        self.plain_v = np.array(plain_v, dtype=int)

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
        equation 162, there with w first), and a floating joint's position with R(p) v.
        """
        if not self.quaternions:
            return v
        rate = np.empty(self.nq)
        rate[self.plain_q] = v[self.plain_v]
        for i, j in self.floating:
            rate[i:i + 3] = quaternion_matrix(q[i + 3:i + 7]) @ v[j:j + 3]
        for i, j in self.quaternions:
            x, y, z, w = q[i:i + 4]
            wx, wy, wz = v[j:j + 3]
            rate[i] = 0.5 * (w * wx + y * wz - z * wy)
            rate[i + 1] = 0.5 * (w * wy + z * wx - x * wz)
            rate[i + 2] = 0.5 * (w * wz + x * wy - y * wx)
            rate[i + 3] = -0.5 * (x * wx + y * wy + z * wz)
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
                    f'{i} to {i + 3}; a rotation is a unit quaternion x y z w, '
                    f'0 0 0 1 for none',
                )
        return self.normalise(q)


def quaternion_matrix(p: np.ndarray) -> np.ndarray:
    """Return the (3, 3) rotation from body to parent axes of a quaternion p = (x, y, z, w)."""
    x, y, z, w = np.asarray(p, dtype=float) / np.linalg.norm(p)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])


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
        units += _beam_units(robot, joint.child)
    return tuple(units)


def _joint_units(joint: Joint) -> list[str]:
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
