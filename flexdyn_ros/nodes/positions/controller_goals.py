# SPDX-License-Identifier: Apache-2.0
"""Goals and feedback of FollowJointTrajectory between rigid arm's and motors' positions."""

from __future__ import annotations

from array import array
from typing import Any

from flexdyn_ros.nodes.arm.times import seconds
from flexdyn_ros.nodes.positions.position_correction import set_duration, trajectory_message
from flexdyn_ros.position_correction import CorrectedMotion
import numpy as np

RATE_STEP = 5e-3  # half the time over which the rate of a correction is measured [s]


def controller_goal(given: Any, motion: CorrectedMotion, stamp: Any) -> Any:
    """
    Return the goal for the controller of the motors.

    Bounds of errors are the same: a motor's error from its corrected motion is that of the rigid
    arm's joint from the shaped trajectory. The time after the end is stretched as the motion is.

    Args:
        given: The goal for the rigid arm.
        motion: Its corrected motion.
        stamp: Time of its start, a builtin_interfaces/Time.
    """
    goal = type(given)()
    header = given.trajectory.header
    header.stamp = stamp
    goal.trajectory = trajectory_message(motion, header)
    goal.path_tolerance, goal.goal_tolerance = given.path_tolerance, given.goal_tolerance
    tolerance = seconds(given.goal_time_tolerance)
    # Zero is the controller's default, negative no bound.
    set_duration(goal.goal_time_tolerance, tolerance * (motion.scale if tolerance > 0.0 else 1.0))
    return goal


def rigid_feedback(given: Any, motion: CorrectedMotion, t: float) -> Any:
    """
    Return a controller's feedback as the rigid arm's, in the time of the trajectory as given.

    Args:
        given: Feedback on motors.
        motion: Their motion.
        t: Time since its start [s].
    """
    # A controller names all its joints; those that the motion lacks are not corrected.
    columns = {name: k for k, name in enumerate(motion.names)}
    named = [k for k, name in enumerate(given.joint_names) if name in columns]
    correction = np.zeros((len(motion.t), len(given.joint_names)))
    correction[:, named] = motion.correction[:, [columns[given.joint_names[k]] for k in named]]
    now, before, after = (
        motion.at(correction, at) for at in (t, t - RATE_STEP, t + RATE_STEP))
    rate = (after - before) / (2.0 * RATE_STEP)
    found = type(given)(header=given.header, joint_names=given.joint_names, error=given.error)
    for name in ('desired', 'actual'):
        point, of_motors = getattr(found, name), getattr(given, name)
        for field, change in (('positions', now), ('velocities', rate)):
            values = getattr(of_motors, field)
            if len(values) == len(given.joint_names):
                setattr(point, field, array('d', np.asarray(values) - change))
    for name in ('desired', 'actual', 'error'):
        set_duration(
            getattr(found, name).time_from_start, float(np.interp(t, motion.t, motion.given)))
    return found
