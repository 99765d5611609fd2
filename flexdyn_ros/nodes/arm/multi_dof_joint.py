# SPDX-License-Identifier: Apache-2.0
"""
Joints whose state is a transform and a twist, as sensor_msgs/MultiDOFJointState carries them.

The transform is the pose of the child link's frame in the joint frame. The twist is that of the
child frame against the joint frame, in axes and at the origin of the child frame, as in
nav_msgs/Odometry. These are floating and planar joints, and multi-axis joints with a quaternion.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, Optional

from flexdyn_ros.dynamics.assemble import planar_axes
from flexdyn_ros.model.configuration import quaternion_matrix
from flexdyn_ros.model.records.joint import Joint
from flexdyn_ros.nodes.arm.joint_state_cache import StateEntry
from flexdyn_ros.nodes.arm.plausibility import LARGEST_POSITION, Plausible
import numpy as np

Pair = tuple[np.ndarray, np.ndarray]


class MultiDofJoint:
    """
    A floating joint: position and quaternion, velocities in body axes. Others derive from it.

    Attributes:
        name: Its name.
        positions: Its entries among the joint positions.
        velocities: Its entries among the joint velocities.
    """

    def __init__(self, joint: Joint, first_position: int, first_velocity: int):
        """
        Prepare.

        Args:
            joint: The joint.
            first_position: Index of its first position.
            first_velocity: Index of its first velocity.
        """
        self.name = joint.name
        self.positions = slice(first_position, first_position + len(joint.position_names))
        self.velocities = slice(first_velocity, first_velocity + len(joint.coordinate_names))

    def pose(self, q: np.ndarray) -> Pair:
        """Return position, (3,) [m], and quaternion x y z w of the joint's own positions q."""
        return q[:3], q[3:]

    def twist(self, q: np.ndarray, qd: np.ndarray) -> Pair:
        """Return linear, (3,) [m/s], and angular velocity, (3,) [rad/s], in child axes."""
        return qd[:3], qd[3:]

    def positions_of(self, pose: Pair, last: Optional[np.ndarray]) -> np.ndarray:
        """
        Return the joint's own positions at a pose; components outside its freedoms are ignored.

        Args:
            pose: Position, (3,) [m], and quaternion x y z w of unit length.
            last: Its positions before, which the result continues without a jump.
        """
        position, quaternion = pose
        return np.append(position, _continued(quaternion, None if last is None else last[3:]))

    def velocities_of(self, q: np.ndarray, twist: Pair) -> np.ndarray:
        """Return the joint's own velocities at its positions q for a twist."""
        return np.concatenate(twist)


class PlanarJoint(MultiDofJoint):
    """Two displacements in the plane and the angle about its normal."""

    def __init__(self, joint: Joint, first_position: int, first_velocity: int):
        """Find the axes of the plane."""
        super().__init__(joint, first_position, first_velocity)
        self._normal = np.array(joint.axis)
        self._plane: np.ndarray = np.array(planar_axes(joint.axis))

    def pose(self, q: np.ndarray) -> Pair:
        """Return the displacement, and the turn about the normal."""
        half = 0.5 * q[2]
        return q[:2] @ self._plane, np.append(math.sin(half) * self._normal, math.cos(half))

    def twist(self, q: np.ndarray, qd: np.ndarray) -> Pair:
        """Return the velocity in child axes, and the rate about the normal."""
        rotation = quaternion_matrix(self.pose(q)[1])
        return rotation.T @ (qd[:2] @ self._plane), qd[2] * self._normal

    def positions_of(self, pose: Pair, last: Optional[np.ndarray]) -> np.ndarray:
        """Return the displacements in the plane, and the angle nearest to the last one."""
        position, quaternion = pose
        angle = 2.0 * math.atan2(quaternion[:3] @ self._normal, quaternion[3])
        before = 0.0 if last is None else last[2]
        angle += 2.0 * math.pi * round((before - angle) / (2.0 * math.pi))
        return np.append(self._plane @ position, angle)

    def velocities_of(self, q: np.ndarray, twist: Pair) -> np.ndarray:
        """Return the velocities along the axes of the plane, and the rate about the normal."""
        linear, angular = twist
        rotation = quaternion_matrix(self.pose(q)[1])
        return np.append(self._plane @ (rotation @ linear), angular @ self._normal)


class BallJoint(MultiDofJoint):
    """A multi-axis joint with a quaternion, that may slide along turned axes as well."""

    def __init__(self, joint: Joint, first_position: int, first_velocity: int):
        """Find the axes along which it slides."""
        super().__init__(joint, first_position, first_velocity)
        self._slides = ['xyz'.index(axis[1]) for axis in joint.axes if axis[0] == 't']

    def _reach(self, q: np.ndarray) -> np.ndarray:
        reach = np.zeros(3)
        reach[self._slides] = q[4:]
        return reach

    def pose(self, q: np.ndarray) -> Pair:
        """Return the displacement along the turned axes, and the quaternion."""
        return quaternion_matrix(q[:4]) @ self._reach(q), q[:4]

    def twist(self, q: np.ndarray, qd: np.ndarray) -> Pair:
        """Return the velocity of the child's origin, and the angular velocity."""
        sliding = np.zeros(3)
        sliding[self._slides] = qd[3:]
        return np.cross(qd[:3], self._reach(q)) + sliding, qd[:3]

    def positions_of(self, pose: Pair, last: Optional[np.ndarray]) -> np.ndarray:
        """Return the quaternion with the sign of the last one, and the slides."""
        position, quaternion = pose
        in_child_axes = quaternion_matrix(quaternion).T @ position
        continued = _continued(quaternion, None if last is None else last[:4])
        return np.append(continued, in_child_axes[self._slides])

    def velocities_of(self, q: np.ndarray, twist: Pair) -> np.ndarray:
        """Return the angular velocity, and the rates of the slides."""
        linear, angular = twist
        sliding = linear - np.cross(angular, self._reach(q))
        return np.append(angular, sliding[self._slides])


def make_multi_dof_joint(joint: Joint, first_position: int, first_velocity: int) -> MultiDofJoint:
    """Return the joint of the kind `joint.type`; see MultiDofJoint."""
    kinds: dict[str, type[MultiDofJoint]] = {
        'floating': MultiDofJoint, 'planar': PlanarJoint, 'multi_axis': BallJoint}
    return kinds[joint.type](joint, first_position, first_velocity)


def _continued(quaternion: np.ndarray, last: Optional[np.ndarray]) -> np.ndarray:
    """Return the quaternion or its negative, which is the same rotation, near the last one."""
    backward = last is not None and float(quaternion @ last) < 0.0
    return -quaternion if backward else quaternion


UNIT_TOLERANCE = 1e-2  # largest difference of the length of a quaternion from 1


def vector_components(*vectors: Any) -> np.ndarray:
    """Return x, y and z of messages as geometry_msgs/Vector3, one after the other."""
    return np.array([value for vector in vectors for value in (vector.x, vector.y, vector.z)])


def quaternion_components(message: Any) -> np.ndarray:
    """Return x, y, z and w of a message as geometry_msgs/Quaternion."""
    return np.array([message.x, message.y, message.z, message.w])


def is_unit(quaternion: np.ndarray) -> bool:
    """Return whether a quaternion is finite and of unit length, but for rounding."""
    return bool(abs(np.linalg.norm(quaternion) - 1.0) <= UNIT_TOLERANCE)


ANY = Plausible(acceleration=math.inf, velocity=math.inf)


@dataclass
class MultiDofEntry(StateEntry):
    """
    The state of one joint with a transform.

    Attributes:
        joint: The joint.
        q: Its last valid positions.
        qd: Its last valid velocities.
    """

    joint: MultiDofJoint
    q: Optional[np.ndarray] = None
    qd: Optional[np.ndarray] = None

    def take(
        self,
        transform: Any,
        twist: Any,
        need_twist: bool,
        received: float,
        plausible: Plausible = ANY,
    ) -> bool:
        """
        Take over a transform and a twist, None where a message has none.

        Args:
            transform: Fields as geometry_msgs/Transform.
            twist: Fields as geometry_msgs/Twist.
            need_twist: Whether the joint is unusable without a twist.
            received: Steady time of arrival [s].
            plausible: Bounds of plausible motion.

        Returns:
            Whether the motion is plausible.
        """
        problem = _transform_problem(transform)
        moving = np.zeros(6) if twist is None else vector_components(twist.linear, twist.angular)
        if problem is None and need_twist:
            problem = None if twist is not None else 'twist is missing'
        if problem is None and not np.all(np.isfinite(moving)):
            problem = f'twist is {moving.tolist()}'
        if problem is not None:
            self.problem = problem
            return True
        fast = np.abs(moving).max() > plausible.velocity
        if fast or np.abs(vector_components(transform.translation)).max() > LARGEST_POSITION:
            self.leave_out('the motion is implausible', plausible.patience)
            return False
        quaternion = quaternion_components(transform.rotation)
        quaternion /= np.linalg.norm(quaternion)
        place = vector_components(transform.translation)
        self.q = self.joint.positions_of((place, quaternion), self.q)
        self.qd = self.joint.velocities_of(self.q, (moving[:3], moving[3:]))
        self.accept(received)
        return True


def _transform_problem(transform: Any) -> Optional[str]:
    if transform is None:
        return 'transform is missing'
    quaternion = quaternion_components(transform.rotation)
    numbers = [*vector_components(transform.translation), *quaternion]
    if not all(map(math.isfinite, numbers)):
        return f'transform is {numbers}'
    if not is_unit(quaternion):
        return f'rotation {quaternion.tolist()} is no unit quaternion'
    return None
