# SPDX-License-Identifier: Apache-2.0
"""Displacements of configurations by scipy's rotations: quaternions turn by rotation vectors."""

import numpy as np
from scipy.spatial.transform import Rotation


def displaced(robot, q, change):
    """
    Return q displaced by (nv,).

    A quaternion turns by a rotation vector in body axes, and the position of a floating joint
    moves in body axes; all else adds.
    """
    found, at, at_v = [], 0, 0
    for joint in robot.joints:
        count, place = len(joint.coordinate_names), joint.quaternion_place
        own, move = np.array(q[at : at + len(joint.position_names)]), change[at_v : at_v + count]
        if place is None or not count:
            found += list(own + move)
        else:
            turn = Rotation.from_quat(own[place : place + 4])
            after = (turn * Rotation.from_rotvec(move[place : place + 3])).as_quat()
            first = turn.apply(move[:3]) if joint.type == 'floating' else move[:place]
            found += [*(own[:place] + first), *after, *(own[place + 4 :] + move[place + 3 :])]
        at, at_v = at + len(own), at_v + count
    return np.array([*found, *(np.array(q[at:]) + change[at_v:])])


def departure(robot, one, other):
    """Return the displacement from one configuration to another, (nv,)."""
    found, at = [], 0
    for joint in robot.joints:
        place, count = joint.quaternion_place, len(joint.position_names)
        a, b = np.array(one[at : at + count]), np.array(other[at : at + count])
        if place is None or not count:
            found += list(b - a)
        else:
            turn = Rotation.from_quat(a[place : place + 4])
            move = b[:place] - a[:place]
            found += list(turn.inv().apply(move) if joint.type == 'floating' else move)
            found += list((turn.inv() * Rotation.from_quat(b[place : place + 4])).as_rotvec())
            found += list(b[place + 4 :] - a[place + 4 :])
        at += count
    return np.array([*found, *(np.array(other[at:]) - np.array(one[at:]))])
