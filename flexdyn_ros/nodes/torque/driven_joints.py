# SPDX-License-Identifier: Apache-2.0
"""The joints whose torque is published, their effort limits, and checks of parameters."""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.nodes.arm.arm_coordinates import actuated_joints
from flexdyn_ros.nodes.common.run_time_model import payload_problem, Values
import numpy as np


class ZeroEffortLimit(FlexdynError):
    """
    Joints to command declare an effort limit of zero, which may mean "none" or "unlimited".

    Attributes:
        joints: The joints.
    """

    def __init__(self, joints: Sequence[str]):
        self.joints = tuple(joints)
        super().__init__(
            f'Joints {", ".join(self.joints)} declare <limit effort="0">. Set the parameter '
            'zero_effort_limit to "as_declared" (their torque stays zero) or "unlimited".'
        )


def declared_effort(robot: Robot, coordinate: str) -> Optional[float]:
    """
    Return the effort limit that the URDF gives a joint coordinate [N m | N], None for none.

    The limit of a joint with several coordinates is none of a single one of them.
    """
    for joint in robot.joints:
        if joint.name == coordinate:
            return joint.limit.effort
    return None


class EffortLimits:
    """
    The effort limit of each joint.

    Attributes:
        joints: Joint names.
        limits: Largest magnitude of each torque, shape (n,) [N m | N]; infinite where the URDF
            gives none.
    """

    def __init__(self, robot: Robot, joints: Sequence[str], zero_effort_limit: str = ''):
        """
        Collect the limits.

        Args:
            robot: The robot.
            joints: Names of the joints, in the order of the torques.
            zero_effort_limit: "as_declared", "unlimited", or empty to refuse a limit of zero.

        Raises:
            ZeroEffortLimit: A joint declares zero and `zero_effort_limit` is empty.
        """
        self.joints = tuple(joints)
        declared = [declared_effort(robot, name) for name in self.joints]
        zero = [name for name, limit in zip(self.joints, declared) if limit == 0.0]
        if zero and not zero_effort_limit:
            raise ZeroEffortLimit(zero)
        if zero_effort_limit == 'unlimited':
            declared = [limit or None for limit in declared]
        self.limits = np.array([np.inf if limit is None else abs(limit) for limit in declared])

    @classmethod
    def none(cls, joints: Sequence[str]) -> EffortLimits:
        """Return limits that never saturate."""
        limits = cls.__new__(cls)
        limits.joints = tuple(joints)
        limits.limits = np.full(len(limits.joints), np.inf)
        return limits

    def saturate(self, torque: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
        """
        Return the torque within the limits, and the names of the joints that were saturated.

        Args:
            torque: One for each joint, shape (n,) [N m | N].
        """
        saturated = np.abs(torque) > self.limits
        if not saturated.any():
            return torque, ()
        names = tuple(name for name, hit in zip(self.joints, saturated) if hit)
        return np.clip(torque, -self.limits, self.limits), names


def _below(robot: Robot, joint: str) -> set[str]:
    """Return the joints in the subtree of a joint, itself included."""
    found, links = {joint}, {robot.joint(joint).child}
    for other in robot.joints:  # depth first, parents before children
        if other.parent in links:
            found.add(other.name)
            links.add(other.child)
    return found


def gripper_joints(robot: Robot) -> tuple[str, ...]:
    """
    Return the joints that lead the fingers of a gripper.

    Such a joint is mimicked by one outside its own subtree, and neither moves any other joint
    that could be driven. The joints of a linkage along an arm, such as a parallelogram's, move
    those that follow, and are none.

    Args:
        robot: The robot.
    """
    followers: dict[str, set[str]] = {}
    for joint in robot.joints:
        if joint.mimic is not None:
            followers.setdefault(joint.mimic.leader, set()).add(joint.name)
    found = []
    for leader, mimics in followers.items():
        own = _below(robot, leader)
        moved = own.union(*(_below(robot, name) for name in mimics))
        others = [
            name for name in moved - {leader}
            if robot.joint(name).mimic is None and robot.joint(name).coordinate_names
        ]
        if mimics - own and not others:
            found.append(leader)
    return tuple(found)


def driven_joints(
    robot: Robot, chosen: Sequence[str], log: Callable[[str], Any]
) -> tuple[str, ...]:
    """
    Return the joints whose torque is published.

    Args:
        robot: The robot.
        chosen: Names of joints; none for all actuated ones but the fingers of grippers.
        log: Takes a sentence on the joints that are left out.
    """
    if chosen:
        return tuple(chosen)
    # An <actuated> element that leaves joints out has chosen already.
    movable = {joint.name for joint in robot.joints if joint.coordinate_names}
    fingers = gripper_joints(robot) if movable <= set(robot.actuated) else ()
    joints = tuple(name for name in actuated_joints(robot) if name not in fingers)
    if not joints or not fingers:
        return actuated_joints(robot)
    log(f'No torque is published for {", ".join(fingers)}, fingers of a gripper. The parameter '
        'joints can include them.')
    return joints


def parameter_problem(
    values: Values, changed: set[str], robot: Optional[Robot], active: bool
) -> Optional[str]:
    """
    Return the fault of parameters of the inverse dynamics node, or None.

    Args:
        values: All values as they would become.
        changed: Names of those that are set.
        robot: The robot; None while none is loaded.
        active: Whether the node works.
    """
    if 'joints' in changed and robot is not None and 'robot_description' not in changed:
        unknown = [name for name in values['joints'] if name not in robot.joint_names]
        if unknown:
            return (f'joints: {robot.name} has no joint {", ".join(unknown)}; it has '
                    f'{", ".join(robot.joint_names)}')
    if values['modes.observed'] and values['torque_model'] != 'flexible_hybrid':
        return (f'modes.observed: the torque_model {values["torque_model"]} has no vibrating '
                'modes; set torque_model to flexible_hybrid for them')
    if values['torque_model'] == 'gravity':
        if not values['compensate.gravity']:
            return ('compensate.gravity: with torque_model gravity the torque is gravity alone; '
                    'set torque_model to rigid to leave it out')
        if values['wrench_links']:
            return ('wrench_links: the torque_model gravity contains no wrenches; set '
                    'torque_model to rigid for them')
        useless = [
            name for name in ('coriolis', 'inertia', 'friction')
            if f'compensate.{name}' in changed and values[f'compensate.{name}']
        ]
        if useless and active:
            return (f'compensate.{useless[0]}: the torque_model gravity contains gravity alone; '
                    'set torque_model to rigid for other terms')
    return payload_problem(values, robot)
