# SPDX-License-Identifier: Apache-2.0
"""The joints whose torque is published, and what parameters may ask of a robot."""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.nodes.arm_coordinates import actuated_joints
from flexdyn_ros.nodes.payload_parameters import payload_problem, Values


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
        log: Takes a sentence on what is left out.
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
    Return what is wrong with parameters of the inverse dynamics node, or None.

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
