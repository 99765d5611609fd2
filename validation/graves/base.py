# SPDX-License-Identifier: Apache-2.0
"""A moving base as three rotational and three translational joints, against a floating one."""

from __future__ import annotations

from flexdyn_ros.model.load import load_robot
import numpy as np
from scipy.spatial.transform import Rotation
from validation.case import Progress, Row
from validation.case_file import inputs, make_rows
from validation.graves.states import arm_text, by_influence, random_state
from validation.registry import Code
from validation.studies import apart, reference

BASE = 6  # velocity coordinates
_BODY = '<payload link="base" mass="{mass}" com="0.1 0 -0.2" ixx="{0}" iyy="{1}" izz="{2}"/>'
_AXES = '<multi_axis_joint joint="free" axes="rx ry rz tx ty tz"/>'
_JOINT = (
    '<link name="space"/><joint name="free" type="floating"><parent link="space"/>'
    '<child link="base"/></joint>'
)


def moving_base(progress: Progress) -> list[Row]:
    """Return the differences of the accelerations of joints and modes, and of the tip."""
    start = inputs('gr_base')
    body = _BODY.format(*start['base_inertia'], mass=start['base_mass'])
    text, end = arm_text(), '</flexdyn>'
    floating = load_robot(text.replace(end, f'<base motion="free"/>{body}{end}'))
    base = '<link name="base"/>'
    with_axes = text.replace(end, f'{_AXES}{body}{end}').replace(base, f'{base}{_JOINT}')
    jointed = load_robot(with_axes)
    by_joints, afloat = by_influence(jointed), reference(floating)
    rng = np.random.default_rng(start['seed'])
    arms, tips = [], []
    for _ in range(start['states']):
        q, qd, _ = random_state(jointed, rng, start['amplitude'])
        q[:BASE] *= 0.3  # away from the turn of the second axis that lines up the others
        tau = np.concatenate((np.zeros(BASE), rng.normal(size=jointed.nv - BASE)))
        wrench = {'tip': rng.normal(size=6)}
        pose, twist = by_joints.frame_pose(q, 'base'), by_joints.jacobian(q, 'base') @ qd
        turn = pose[:3, :3]
        at = np.concatenate((pose[:3, 3], Rotation.from_matrix(turn).as_quat(), q[BASE:]))
        rate = np.concatenate((turn.T @ twist[:3], turn.T @ twist[3:], qd[BASE:]))
        ours = by_joints.forward_dynamics(q, qd, tau, wrench)
        theirs = afloat.forward_dynamics(at, rate, tau, wrench)
        arms.append(apart(ours[BASE:], theirs[BASE:]))
        tips.append(apart(
            by_joints.jacobian(q, 'tip') @ ours + by_joints.jacobian_rate_qd(q, qd, 'tip'),
            afloat.jacobian(at, 'tip') @ theirs + afloat.jacobian_rate_qd(at, rate, 'tip'),
        ))
    return make_rows('gr_base', {'arm': max(arms), 'tip': max(tips)})


CODE = {'gr_base': Code(moving_base)}
