# SPDX-License-Identifier: Apache-2.0
"""Open chains: rotations, joint spaces, and the inverse dynamics of the Stanford arm."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np
from validation.case import Progress, Row, Verdict
from validation.case_file import inputs, make_rows
from validation.registry import Code
from validation.studies import reference
from validation.van_der_merwe.gimbal_chain import chain_urdf
from validation.van_der_merwe.spatial import angular_first, in_axes, transform

STANFORD = 'vm_stanford_inverse_dynamics'
_BODY = {'mass': 1, 'com': [0] * 3, 'inertia_com': [1] * 3}


@lru_cache(maxsize=None)
def chain(name: str, cut: bool = False) -> Dynamics:
    """Return the dynamics of a case's chain; cut: with joints of six axes at the frames."""
    data = inputs(name)
    base = data.get('base', (0, 0, 0))
    return reference(load_robot(chain_urdf(data['links'], data['gravity'], base=base, cut=cut)))


def spatial_inertia(link: dict) -> np.ndarray:
    """Return a link's inertia, the block of the mass matrix of a joint of six axes, (6, 6)."""
    dyn = reference(load_robot(chain_urdf([link], (0, 0, 0), cut=True)))
    return dyn.mass_matrix(np.zeros(dyn.robot.nv))[-6:, -6:]


def rotation_matrix(progress: Progress) -> list[Row]:
    """Return the rows of three gimbal rotations; the work maps the other way."""
    link = {'gamma': [0] * 6, 'axes': [0, 1, 2], **_BODY}
    dyn = reference(load_robot(chain_urdf([link], (0, 0, 0))))
    matrix = dyn.frame_pose(inputs('vm_rotation_matrix')['angles'], 'link1')[:3, :3].T
    return make_rows('vm_rotation_matrix', {'matrix': matrix, 'printed_entry': matrix[1, 2]})


def stanford_kinematics(progress: Progress) -> list[Row]:
    """Return the rows of default joint spaces and of the tip, with lengths for the letters."""
    data = inputs('vm_stanford_kinematics')
    lengths = {**data['lengths'], '0': 0.0}
    links = [
        {**link, **_BODY, 'gamma': [
            -lengths[x[1:]] if x[0] == '-' else lengths[x] for x in link['gamma']
        ]}
        for link in data['links']
    ]
    robot = load_robot(chain_urdf(links, (0, 0, 0)))
    dyn, q = reference(robot), np.zeros(robot.nv)
    q[robot.joint_names.index('joint2/tx')] = lengths['r']
    found: dict[str, Any] = {'tip': dyn.frame_pose(q, 'tip')[:3, 3]}
    column = 0
    for number, link in enumerate(links, 1):
        width = len(link['axes'])
        own = angular_first(dyn.jacobian(q, f'link{number}'))[:, column: column + width]
        if number == 2:  # the frame that slides is at r, the work's at the gimbal's centre
            own[3:, 0] -= np.cross([0, 0, 1], [lengths['r'], 0, 0])
        found[f'phi_{number}'] = own
        column += width
    return make_rows('vm_stanford_kinematics', found)


def stanford_inverse_dynamics(progress: Progress) -> list[Row]:
    """Return the rows of the worked example: all that passes its joints."""
    data = inputs(STANFORD)
    dyn = chain(STANFORD, cut=True)
    robot = dyn.robot
    q, qd, zero = np.zeros(robot.nv), np.zeros(robot.nv), np.zeros(robot.nv)
    moved = [k for k, name in enumerate(robot.joint_names) if name.startswith('joint')]
    q[moved], qd[moved] = data['q'], data['qd']
    found: dict[str, Any] = {}
    poses = [np.eye(4), *(dyn.frame_pose(q, f'link{k}') for k in (1, 2, 3, 4))]
    tau, gravity = dyn.inverse_dynamics(q, qd, zero), np.array([*data['gravity'], 0, 0, 0])
    outer = np.zeros(6)
    for k in (4, 3, 2, 1):
        frame = f'link{k}'
        relative = np.linalg.solve(poses[k - 1], poses[k])
        found[f'X_{k}_{k - 1}'] = transform(relative[:3, :3].T, relative[:3, 3])
        axes = poses[k][:3, :3].T
        found[f'v_{k}'] = in_axes(axes, dyn.jacobian(q, frame) @ qd)
        found[f'a_{k}'] = in_axes(axes, dyn.jacobian_rate_qd(q, qd, frame) - gravity)
        at = robot.joint_names.index(f'cut{k}/rx')
        found[f'f_{k}'] = tau[at: at + 6]
        carried = found[f'X_{k + 1}_{k}'].T @ outer if k < 4 else outer
        found[f'F_{k}'] = tau[at: at + 6] - carried
        outer = tau[at: at + 6]
        found[f'I_{k}'] = spatial_inertia(data['links'][k - 1])
    found['Ibar_1'] = found['I_1'][:3, :3]
    found['tau'] = chain(STANFORD).inverse_dynamics(data['q'], data['qd'], [0] * 5)
    return make_rows(STANFORD, found)


def valve_task(progress: Progress) -> list[Row]:
    """Return the rows of the motion to a valve and of turning it."""
    data, dyn = inputs('vm_valve_task'), chain(STANFORD)
    pose = dyn.frame_pose(data['q'][1], 'tip')
    torques = np.array([_valve_torque(dyn, t) for t in data['times']])
    before, after = (_valve_torque(dyn, t) for t in ('1.0-', '1.0+'))
    jump = np.max(np.abs(after - before))
    return make_rows('vm_valve_task', {
        'tip': pose[:3, 3], 'tip_x': pose[:3, 0], 'torques': torques,
        'literal': [_valve_torque(dyn, t) for t in data['literal_times']],
        'jump': Verdict(jump > 1.0, f'largest jump {jump:.3g} N m, at joint 1 or 4'),
    })


def valve_motion(t: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return joint values, rates and accelerations, and the moment at the gripper [N m]."""
    data, text = inputs('vm_valve_task'), str(t)
    moment = float(text.rstrip('+-'))
    first = text == '1.0-' or moment < 1.0
    start, stop = data['q'][:2] if first else data['q'][1:]
    duration = data['phases'][0 if first else 1]
    s = (moment - (0.0 if first else data['phases'][0])) / duration
    way = np.subtract(stop, start)
    return (
        start + (3 * s**2 - 2 * s**3) * way, (6 * s - 6 * s**2) / duration * way,
        (6 - 12 * s) / duration**2 * way, 0.0 if first else data['moment'],
    )


def _valve_torque(dyn: Dynamics, t: Any) -> np.ndarray:
    q, qd, qdd, moment = valve_motion(t)
    along = dyn.frame_pose(q, 'tip')[:3, 0]
    # The tap's moment on the gripper opposes that of the gripper.
    wrench = {'tip': np.concatenate(([0, 0, 0], -moment * along))}
    return dyn.inverse_dynamics(q, qd, qdd, wrenches=wrench)


def several_axes(progress: Progress) -> list[Row]:
    """Return the rows of joints of four, three and two axes."""
    data, dyn = inputs('vm_several_axes'), chain('vm_several_axes')
    q, qd, qdd = (np.array(data[name]) for name in ('q', 'qd', 'qdd'))
    tau = dyn.inverse_dynamics(q, qd, qdd)
    pose, h = dyn.frame_pose(q, 'tip'), 1e-6
    axes = pose[:3, :3].T
    rate = (_columns(dyn, q + h * qd) - _columns(dyn, q - h * qd)) / (2 * h)
    return make_rows('vm_several_axes', {
        'tau': tau, 'literal': tau, 'phi_1': _columns(dyn, q), 'phidot_1': rate,
        'tip_position_base': pose[:3, 3],
        'tip_velocity_tip_frame': in_axes(axes, dyn.jacobian(q, 'tip') @ qd),
        'tip_bias_acceleration_tip_frame': in_axes(axes, dyn.jacobian_rate_qd(q, qd, 'tip')),
    })


def _columns(dyn: Dynamics, q: np.ndarray) -> np.ndarray:
    """Return joint 1's columns at the gimbal's centre, which its slide leaves where it is."""
    axes = dyn.frame_pose(q, 'link1')[:3, :3].T
    own = in_axes(axes, dyn.jacobian(q, 'link1')[:, :4])
    own[3:] -= np.cross(own[:3].T, [q[3], 0, 0]).T
    return own


CODE = {
    'vm_rotation_matrix': Code(rotation_matrix),
    'vm_stanford_kinematics': Code(stanford_kinematics),
    STANFORD: Code(stanford_inverse_dynamics),
    'vm_valve_task': Code(valve_task),
    'vm_several_axes': Code(several_axes),
}
