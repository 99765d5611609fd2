# SPDX-License-Identifier: Apache-2.0
"""Four links whose tip is held by a pivot: the first step, and the motion."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation import simulate, Trajectory
import numpy as np
from validation.case import no_progress, Picture, Progress, Row, Verdict
from validation.case_file import inputs, make_rows
from validation.registry import Code
from validation.studies import COLOURS, new_figure, reference, save_figure
from validation.van_der_merwe.gimbal_chain import Chain, chain_urdf, joint, origin, robot_text
from validation.van_der_merwe.open_chains import spatial_inertia
from validation.van_der_merwe.spatial import angular_first, mobility, transform

FIRST_STEP = 'vm_four_links_first_step'
MOTION = 'vm_four_links_simulation'
REST = np.zeros(4)
_STEP = 2e-3  # [s]
_EULER_STEP = 1e-3  # [s], as in the work
_RANK = 2


@lru_cache(maxsize=None)
def four_links(closed: bool = True, backend: str = 'reference') -> Dynamics:
    """Return the dynamics of the chain, its tip on a pivot about y or not."""
    data = inputs(FIRST_STEP)
    pivot = '<link name="pivot"/>' + joint('pivot', 'fixed', 'base', 'pivot', origin((2, 0, 3)))
    loop = '<loop name="tip" frame1="tip" frame2="pivot" constrain="rx rz tx ty tz"/>'
    text = robot_text([Chain(data['links'])], data['gravity'], loop if closed else '', pivot)
    return Dynamics(load_robot(text), backend=backend)


def first_step(progress: Progress) -> list[Row]:
    """Return the rows of the first step, open and closed."""
    data = inputs(FIRST_STEP)
    found = _link_by_link(data)
    dyn = four_links(closed=False)
    jacobian = angular_first(dyn.jacobian(REST, 'tip'))
    inverse, softness = np.linalg.inv(dyn.mass_matrix(REST)), mobility(dyn, REST, 'tip')
    qdd, kept = dyn.forward_dynamics(REST, REST, REST), data['constrained']
    found |= {
        'J_end': jacobian, 'Jdot_end_qd': dyn.jacobian_rate_qd(REST, REST, 'tip'),
        'Gamma_bias': dyn.bias_vector(REST, REST), 'H_inv': inverse,
        'Omega': inverse @ jacobian.T, 'Lambda_inv': softness, 'qdd_open': qdd,
        'xdd_open': jacobian @ qdd, 'A_tip': softness[np.ix_(kept, kept)],
        'rank_A_tip': np.linalg.matrix_rank(softness[np.ix_(kept, kept)]),
        'b_tip': (jacobian @ qdd)[kept], 'total_mass': dyn.robot.total_mass,
    }
    closed = four_links()
    qdd = closed.forward_dynamics(REST, REST, REST)
    force = -closed.constraint_forces(REST, REST, REST)  # the work's are the tip's
    found |= {
        'qdd': qdd, 'h_c': force, 'f_tip': np.insert(force, 1, 0.0), 'f_exact': force[-1],
        'xdd_closed': angular_first(closed.jacobian(REST, 'tip') @ qdd),
        'redundant': closed.loop_report(REST).redundant,
    }
    return make_rows(FIRST_STEP, found)


def _link_by_link(data: dict) -> dict[str, Any]:
    """Return inertias, and mass matrices and Jacobians of the first links."""
    found: dict[str, Any] = {}
    for k, link in enumerate(data['links'], 1):
        found[f'I_{k}'] = spatial_inertia(link)
        dyn = reference(load_robot(chain_urdf(data['links'][:k], data['gravity'])))
        q = np.zeros(k)
        found[f'H_{k}'] = dyn.mass_matrix(q)
        if k > 1:
            found[f'J_{k}'] = angular_first(dyn.jacobian(q, f'link{k}'))
            inner, outer = (dyn.frame_pose(q, f'link{n}')[:3, 3] for n in (k - 1, k))
            found[f'X_{k}_{k - 1}'] = transform(np.eye(3), outer - inner)
    found['Ibar_1'] = found['I_1'][:3, :3]
    return found


def viscous(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Return the friction of the work's joints."""
    return -inputs(MOTION)['friction'] * qd


@lru_cache(maxsize=None)
def _run(friction: bool, dt: float, t_end: float) -> Trajectory:
    dyn, torque = four_links(backend='python'), viscous if friction else None
    return simulate(dyn, REST, REST, torque, t_end, dt, progress=False)


def _force(run: Trajectory, k: int) -> np.ndarray:
    """Return the force of the tip at a sample, in the constrained directions."""
    dyn, q, qd = four_links(backend='python'), run.q[k], run.qd[k]
    return -dyn.constraint_forces(q, qd, viscous(0.0, q, qd))


def motion(progress: Progress = no_progress) -> list[Row]:
    """Return the rows of the motion: RK4 on the closed chain, Euler with a corrective force."""
    data = inputs(MOTION)
    run = _run(True, _STEP, data['duration'])
    progress(0.5)
    at = [round(t / _STEP) for t in data['times']]
    # The largest force of the first two seconds, where the run is the same to all digits.
    window = range(600, 700)
    vertical = np.array([abs(_force(run, k)[4]) for k in window])
    free = _run(False, 4e-3, 1.2)
    progress(0.7)
    wrong, _, _ = _euler(-1.0, 0.4)
    with_force, push, peak = _euler(1.0, 1.35)
    progress(0.9)
    without, _, _ = _euler(0.0, 1.35)
    return make_rows(MOTION, {
        'peak_printed': vertical.max(), 'peak': vertical.max(),
        'peak_horizontal': max(abs(_force(run, k)[2]) for k in range(180, 230)),
        'peak_euler': peak, 'same_order': _both_parts(run),
        'peak_time': run.t[window[int(np.argmax(vertical))]],
        'q': run.q[at], 'qd': run.qd[at], 'force': [_force(run, k)[[2, 4]] for k in at],
        'energy': free.energy[0], 'energy_drift': np.max(np.abs(free.energy - free.energy[0])),
        'wrong_sign': Verdict(
            wrong > 1.0, f'the tip is {"more than a metre" if wrong > 1.0 else wrong} off'
        ),
        'correction': Verdict(
            with_force < 0.5 * without,
            f'{1e3 * with_force:.2f} mm with the force, {1e3 * without:.2f} mm without',
        ),
        'stray': with_force, 'correction_force': push, 'decay': _decay(run), **_adaptive(run),
    })


def _both_parts(run: Trajectory) -> Verdict:
    """Judge the two terms of (5.52), of the open chain in the states of the motion."""
    dyn, ratios = four_links(closed=False), []
    for q, qd in zip(run.q[50:650:10], run.qd[50:650:10]):
        qdd = dyn.forward_dynamics(q, qd, viscous(0.0, q, qd))
        parts = dyn.jacobian(q, 'tip') @ qdd, dyn.jacobian_rate_qd(q, qd, 'tip')
        joints, rates = (np.linalg.norm(part[:3]) for part in parts)
        ratios.append(joints / rates)
    low, high = min(ratios), max(ratios)
    return Verdict(
        0.1 < low and high < 10.0, f'ratio {low:.2f} to {high:.2f}, {np.median(ratios):.2f} in '
        'the middle',
    )


def _adaptive(run: Trajectory) -> dict[str, Any]:
    """Return the rows of adaptive steps: error, gap, and evaluations against Euler's."""
    dyn, calls = four_links(backend='python'), []

    def torque(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        calls.append(t)
        return viscous(t, q, qd)

    end = inputs(MOTION)['adaptive_end']
    chosen = simulate(
        dyn, REST, REST, torque, end, end, 'RK45', rtol=inputs(MOTION)['rtol'], progress=False
    )
    exact = run.q[round(end / _STEP)]
    error = float(np.max(np.abs(chosen.q[-1] - exact)))
    steps = round(end / _EULER_STEP)
    euler = float(np.max(np.abs(_euler_angles(steps) - exact)))
    return {
        'adaptive': Verdict(
            error < euler and len(calls) < steps,
            f'{error:.1e} rad in {len(calls)} evaluations, by Euler {euler:.1e} rad in {steps}',
        ),
        'adaptive_gap': float(np.linalg.norm(dyn.loop_gaps(chosen.q[-1]))),
    }


def _euler_angles(steps: int) -> np.ndarray:
    """Return the angles after steps of Euler's method, without a corrective force."""
    dyn, q, qd = four_links(backend='python'), REST.copy(), REST.copy()
    for _ in range(steps):
        qdd = dyn.closed_chains.motion(
            dyn.equations, list(q), list(qd), viscous(0.0, q, qd), rank=_RANK,
        ).qdd
        q, qd = q + _EULER_STEP * qd, qd + _EULER_STEP * qdd
    return q


def _decay(run: Trajectory) -> Verdict:
    accelerations = np.gradient(run.qd, run.t, axis=0)
    parts = [np.max(np.abs(part)) for part in np.array_split(accelerations, 3)]
    detail = ', '.join(f'{x:.0f}' for x in parts)
    return Verdict(
        parts[0] > parts[1] > parts[2], f'largest accelerations {detail} rad/s^2, third by third'
    )


def _euler(sign: float, t_end: float) -> tuple[float, float, float]:
    """
    Return the largest gap [m], corrective and vertical force [N] of the work's integration.

    Args:
        sign: Of the corrective force; 0 leaves it out.
        t_end: End of the run [s].
    """
    data, dyn = inputs(MOTION), four_links(backend='python')
    q, qd, worst, largest, peak = REST.copy(), REST.copy(), 0.0, 0.0, 0.0
    for _ in range(int(t_end / _EULER_STEP)):
        rate = dyn.loop_jacobian(q) @ qd
        push = -sign * (data['proportional'] * dyn.loop_gaps(q) + data['derivative'] * rate)
        found = dyn.closed_chains.motion(
            dyn.equations, list(q), list(qd), viscous(0.0, q, qd), rank=_RANK, correction=push,
        )
        q, qd = q + _EULER_STEP * qd, qd + _EULER_STEP * found.qdd
        peak = max(peak, abs(float(found.forces[4])))
        gap = float(np.linalg.norm(dyn.loop_gaps(q)))
        if not gap < 1.0:
            return np.inf, largest, peak
        worst, largest = max(worst, gap), max(largest, float(np.linalg.norm(push)))
    return worst, largest, peak


def draw_motion(folder: Path) -> list[Picture]:
    """Draw the angles and the force of the tip over ten seconds."""
    run = _run(True, _STEP, inputs(MOTION)['duration'])
    figure = new_figure()
    left, right = figure.subplots(1, 2)
    for k in range(4):
        left.plot(run.t, run.q[:, k], color=COLOURS[k], label=f'joint {k + 1}')
    left.set(xlabel='time [s]', ylabel='angle [rad]', title='Four links on a pivot')
    left.legend(frameon=False)
    samples = range(0, len(run.t), 5)
    forces = np.array([_force(run, k)[[2, 4]] for k in samples])
    for column, word in enumerate(('horizontal', 'vertical')):
        right.plot(run.t[::5], forces[:, column], color=COLOURS[column], label=word, linewidth=1)
    right.axhline(-230.0, color=COLOURS[6], linestyle='--', linewidth=1, label='230 N, printed')
    right.set(xlabel='time [s]', ylabel='force of the tip [N]', title='Constraint force')
    right.legend(frameon=False)
    save_figure(figure, folder, f'{MOTION}.png')
    return [Picture(
        f'{MOTION}.png', 'Four links whose tip is held by a pivot (van der Merwe 1995, 5.5.5). '
        'Shown are angles, and the constraint force; its peak is about 230 N in the work.',
    )]


CODE = {
    FIRST_STEP: Code(first_step),
    MOTION: Code(motion, draw_motion),
}
