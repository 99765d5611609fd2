# SPDX-License-Identifier: Apache-2.0
"""Two chains that carry a member: one chain alone, the work's recipe, the closed mechanism."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation import simulate
import numpy as np
from validation.case import Progress, Row
from validation.case_file import inputs, make_rows
from validation.registry import Code
from validation.studies import reference
from validation.van_der_merwe.gimbal_chain import (
    body,
    Chain,
    chain_urdf,
    joint,
    origin,
    robot_text,
)
from validation.van_der_merwe.open_chains import spatial_inertia
from validation.van_der_merwe.spatial import angular_first, in_axes, mobility, transform

FIRST_STEP = 'vm_two_chains_first_step'
_RANK = 1e-9  # singular values below this share of the largest count as zero


@lru_cache(maxsize=None)
def two_chains(com: tuple = (0, 0, 0), backend: str = 'reference') -> Dynamics:
    """Return the dynamics of two chains and the member, which floats between them."""
    data = inputs(FIRST_STEP)
    gamma = data['links'][0]['gamma']
    tip = 1.5 * np.array([np.cos(gamma[1]), 0, -np.sin(gamma[1])])
    parts = body('member', data['member']['mass'], com, data['member']['inertia_com'])
    parts += joint('floats', 'floating', 'base', 'member', origin(tip + [0.4, 0, 0]))
    chains, loops = [], ''
    for number, (base, point) in enumerate(zip(data['bases'], data['points']), 1):
        chains.append(Chain(data['links'], base=base, prefix=f'c{number}_'))
        parts += f'<link name="point{number}"/>'
        parts += joint(f'at{number}', 'fixed', 'member', f'point{number}', origin(point))
        loops += (
            f'<loop name="hold{number}" frame1="point{number}" frame2="c{number}_tip" '
            'constrain="rx rz tx ty tz"/>'
        )
    loops += '<actuated joints="c1_joint1 c2_joint1"/>'
    return Dynamics(
        load_robot(robot_text(chains, data['gravity'], loops, parts)), backend=backend
    )


@lru_cache(maxsize=None)
def one_chain() -> Dynamics:
    """Return the dynamics of one of the chains, open."""
    data = inputs(FIRST_STEP)
    return reference(load_robot(chain_urdf(data['links'], data['gravity'])))


def state(dyn: Dynamics, rate: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return q and qd, both chains at 45 degrees and turning at a rate [rad/s]."""
    robot = dyn.robot
    q, qd = robot.neutral_configuration(), np.zeros(robot.nv)
    names = [name for each in robot.joints for name in each.position_names]
    angle = inputs(FIRST_STEP)['links'][0]['gamma'][1]
    q[[names.index(f'c{k}_joint1/ry') for k in (1, 2)]] = angle
    qd[chain_places(dyn)] = rate
    qd[member_places(dyn)][:3] = 1.5 * rate * np.array([-np.sin(angle), 0, -np.cos(angle)])
    return q, qd


def chain_places(dyn: Dynamics) -> list[int]:
    """Return the places of both chains' joints in qd."""
    return [dyn.robot.joint_names.index(f'c{k}_joint1/ry') for k in (1, 2)]


def member_places(dyn: Dynamics) -> slice:
    """Return the places of the member's velocity in qd, linear first."""
    first = dyn.robot.joint_names.index('floats/tx')
    return slice(first, first + 6)


def member_acceleration(
    dyn: Dynamics, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> np.ndarray:
    """Return the member's acceleration, angular first; its axes are the root's."""
    total = dyn.jacobian(q, 'member') @ qdd + dyn.jacobian_rate_qd(q, qd, 'member')
    return angular_first(total)


def first_step(progress: Progress) -> list[Row]:
    """Return the rows of the first step."""
    alone = _alone()
    found = {name: value for name, value in alone.items() if name not in ('axes', 'kept')}
    found |= recipe(alone, np.zeros(6))
    dyn = two_chains()
    q, qd = state(dyn)
    qdd = dyn.forward_dynamics(q, qd, 0 * qd)
    axes = dyn.frame_pose(q, 'c1_tip')[:3, :3].T
    forces = dyn.constraint_forces(q, qd, 0 * qd)
    found |= {
        'a_r_constraints': member_acceleration(dyn, q, qd, qdd),
        'b_r': angular_first(dyn.coriolis_vector(q, qd)[member_places(dyn)]),
        'qdd_k': qdd[chain_places(dyn)][:1],
        'tip_acceleration': in_axes(axes, dyn.jacobian(q, 'c1_tip') @ qdd),
        'reference_point_acceleration_z_tip': (axes @ (dyn.jacobian(q, 'point1') @ qdd)[:3])[2],
        'f_k_true': np.insert(forces[:5], 1, 0.0),
    }
    return make_rows(FIRST_STEP, found | _as_one_chain())


def _alone() -> dict[str, Any]:
    """Return the quantities that the work computes of one chain."""
    data, dyn = inputs(FIRST_STEP), one_chain()
    q, rest, kept = np.array([data['links'][0]['gamma'][1]]), np.zeros(1), data['constrained']
    axes = dyn.frame_pose(q, 'tip')[:3, :3].T
    both = np.kron(np.eye(2), axes)
    jacobian = in_axes(axes, dyn.jacobian(q, 'tip'))
    softness = both @ mobility(dyn, q, 'tip') @ both.T
    qdd = dyn.forward_dynamics(q, rest, rest)
    small = softness[np.ix_(kept, kept)]
    inertia = spatial_inertia({**data['links'][0], 'gamma': [0.0] * 6})
    return {
        'axes': axes, 'kept': np.eye(6)[:, kept],
        'I_k1': inertia, 'Ibar_k1': inertia[:3, :3], 'J_tip': jacobian,
        'H_k': dyn.mass_matrix(q), 'Lambda_inv_k': softness,
        'Omega_k': np.linalg.solve(dyn.mass_matrix(q), jacobian.T),
        'bias_force': dyn.bias_vector(q, rest), 'qdd_open': qdd, 'xdd_open': jacobian @ qdd,
        'S_k': (jacobian @ qdd)[kept], 'M_k_inv': small,
        'M_k': np.linalg.pinv(small, rcond=_RANK),
    }


def recipe(alone: dict[str, Any], load: np.ndarray) -> dict[str, Any]:
    """
    Return the work's own steps to the member's acceleration (6.3.3, 6.4.4, 6.4.5).

    Args:
        alone: Quantities of one chain alone.
        load: On the member beside its weight, moment and force, (6,).
    """
    data = inputs(FIRST_STEP)
    member, axes, kept = data['member'], alone['axes'], alone['kept']
    pushed, resisted = np.zeros(6), np.zeros((6, 6))
    found: dict[str, Any] = {'P_k': kept @ alone['M_k'] @ alone['S_k']}
    for number, point in enumerate(data['points'], 1):
        x = transform(axes, np.array(point))
        r = kept @ alone['M_k'] @ kept.T @ x
        found |= {f'A_{number}_r': axes, f'X_{number}_r': x, f'R_{number}_row6': r[5]}
        pushed, resisted = pushed + x.T @ found['P_k'], resisted + x.T @ r
    weight = np.array([0, 0, 0, *(member['mass'] * np.array(data['gravity']))])
    total = pushed + weight + load
    inertia = np.diag([*member['inertia_com'], *[member['mass']] * 3]) + resisted
    u, s, _ = np.linalg.svd(resisted)
    columns = u[:, s > _RANK * s[0]]
    reduced = columns @ columns.T @ total
    acceleration = np.linalg.solve(inertia, reduced)
    first = transform(axes, np.array(data['points'][0]))
    return found | {
        'I_eff': inertia, 'rhs': total, 'base_columns': columns @ columns.T, 'f_prime': reduced,
        'a_r': acceleration,
        'f_k_source': found['P_k'] - kept @ alone['M_k'] @ kept.T @ first @ acceleration,
    }


def _as_one_chain() -> dict[str, Any]:
    """Return the same mechanism's motion as one chain, its last link on a pivot."""
    data = inputs(FIRST_STEP)
    pivot = '<link name="pivot"/>'
    pivot += joint('pivot', 'fixed', 'base', 'pivot', origin(data['pinned_at']))
    loop = '<loop name="tip" frame1="tip" frame2="pivot" constrain="tx tz"/>'
    text = robot_text([Chain(data['as_one_chain'])], data['gravity'], loop, pivot)
    dyn, rest = reference(load_robot(text)), np.zeros(3)
    q = [link['gamma'][1] for link in data['as_one_chain']]
    return {
        'one_chain_qdd': dyn.forward_dynamics(q, rest, rest),
        'one_chain_force': -dyn.constraint_forces(q, rest, rest),
    }


def static(progress: Progress) -> list[Row]:
    """Return the rows of the mechanism held at rest."""
    tau = inputs('vm_two_chains_static')['tau']
    dyn, chain = two_chains(), one_chain()
    q, qd = state(dyn)
    torque = np.zeros(dyn.robot.nv)
    torque[chain_places(dyn)] = tau
    qdd = dyn.forward_dynamics(q, qd, torque)
    at, rest = np.array([inputs(FIRST_STEP)['links'][0]['gamma'][1]]), np.zeros(1)
    open_qdd = chain.forward_dynamics(at, rest, [tau])
    axes = chain.frame_pose(at, 'tip')[:3, :3].T
    # Forces that hold both chains and the member, from our inverse dynamics of the rest.
    held = dyn.inverse_dynamics(q, qd, 0 * qd)[chain_places(dyn)]
    return make_rows('vm_two_chains_static', {
        'tau_exact': np.mean(held), 'qdd_open': open_qdd,
        'xdd_open': in_axes(axes, chain.jacobian(at, 'tip') @ open_qdd),
        'a_r': member_acceleration(dyn, q, qd, qdd), 'qdd_k': qdd[chain_places(dyn)][:1],
    })


def more(progress: Progress) -> list[Row]:
    """Return the rows of the mechanism loaded, moving, off its centre and swinging."""
    data, dyn = inputs('vm_two_chains_more'), two_chains()
    q, qd = state(dyn)
    wrench = {'member': [0, 0, 0, 0, 1, 0]}
    loaded = dyn.forward_dynamics(q, qd, 0 * qd, wrenches=wrench)
    forces = dyn.constraint_forces(q, qd, 0 * qd, wrenches=wrench)
    q2, qd2 = state(dyn, data['rate'])
    moving = dyn.forward_dynamics(q2, qd2, 0 * qd2)
    off = two_chains(com=(0, 0, -0.2))
    found = {
        'moment': member_acceleration(dyn, q, qd, loaded),
        'moment_forces': forces.reshape(2, 5),
        'moving': member_acceleration(dyn, q2, qd2, moving),
        'moving_chains': moving[chain_places(dyn)],
        'moving_forces': dyn.constraint_forces(q2, qd2, 0 * qd2)[:5],
        'offset': member_acceleration(off, q, qd, off.forward_dynamics(q, qd, 0 * qd)),
    }
    found |= {'moment_recipe': found['moment'], 'moving_recipe': found['moving']}
    return make_rows('vm_two_chains_more', found | _swing(data['times']))


def _swing(times: list[float]) -> dict[str, Any]:
    """Return the mechanism's free motion: it is a pendulum, the member floating in between."""
    dyn, step = two_chains(backend='python'), 1e-2
    q, qd = state(dyn)
    run = simulate(dyn, q, qd, None, times[-1], step, progress=False)
    at = [round(t / step) for t in times]
    angle, rate = run.coordinate('c1_joint1/ry'), run.qd[:, chain_places(dyn)[0]]
    # At rest again after a period: the rate passes zero upwards.
    turns = np.flatnonzero((rate[1:-1] < 0.0) & (rate[2:] >= 0.0)) + 1
    k = int(turns[0])
    period = run.t[k] - rate[k] * step / (rate[k + 1] - rate[k])
    return {
        'angles': angle[at], 'rates': rate[at], 'energy': run.energy[-1], 'period': period,
        'pose': dyn.frame_pose(run.q[round(1.0 / step)], 'member')[:3, 3],
    }


CODE = {
    FIRST_STEP: Code(first_step),
    'vm_two_chains_static': Code(static),
    'vm_two_chains_more': Code(more),
}
