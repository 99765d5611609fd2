# SPDX-License-Identifier: Apache-2.0
"""The forced motion of the flexible Canadarm: figures 4 and 5, and variants of the model."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from flexdyn_ros.simulation import simulate, Trajectory
import numpy as np
from validation.case import Picture, Progress, Row, Verdict
from validation.case_file import inputs, make_rows
from validation.mohan_saha.canadarm import (
    canadarm_dynamics,
    desired,
    driven,
    JOINTS,
    rigid_torque,
    tip_deflections,
)
from validation.mohan_saha.denoc import BeamLink
from validation.registry import Code
from validation.studies import COLOURS, new_figure, save_figure

STEP = 2.5e-4  # [s]; ten times less than the highest mode, 165 Hz, allows: its phase stays right
SAMPLE = 0.01  # [s]; between samples for largest values, as the model that they come from has it
# Tips of the reference's shapes move by 2 and -2, ours by 1.
REFERENCE_TIPS = np.array([2.0, -2.0] * JOINTS)


def motion(progress: Progress) -> list[Row]:
    """Return the rows about the motion with two modes a link."""
    run = driven(2, STEP)
    progress(0.8)
    at = [round(t / STEP) for t in range(1, 11)]
    every = round(SAMPLE / STEP)
    t, q, qd, tau = (part[::every] for part in (run.t, run.q, run.qd, run.tau))
    angles, rates = desired(t)
    tips = tip_deflections(q)
    deviation = np.abs(q[:, :JOINTS] - angles)
    crossings = np.sum(np.diff(q[:, :JOINTS] > angles, axis=0), axis=0)
    wanted = np.sum(tau[:, :JOINTS] * rates, axis=1)
    work = _work(run.t, np.sum(run.tau * run.qd, axis=1))
    lag = tips[(t >= 0.5) & (t <= 5.0), 0]
    most = np.max(deviation, axis=0)
    return make_rows('ms_canadarm_motion', {
        'angles': run.q[at][:, :JOINTS],
        'rates': run.qd[at][:, :JOINTS],
        'tips': tip_deflections(run.q[at]),
        'amplitudes': run.q[at][:, JOINTS:] / REFERENCE_TIPS,
        'deviations': most,
        'rms_deviations': np.sqrt(np.mean(deviation**2, axis=0)),
        'rate_deviations': np.max(np.abs(qd[:, :JOINTS] - rates), axis=0),
        'tip_peaks': np.max(np.abs(tips), axis=0),
        'tip_peak_times': t[np.argmax(np.abs(tips), axis=0)],
        'hand_error': np.max(np.linalg.norm(_hand(q) - _hand_of_rigid(angles), axis=1)),
        'power_difference': np.max(np.abs(np.sum(tau * qd, axis=1) - wanted)),
        'desired_power': np.max(np.abs(wanted)),
        'work': work,
        'energy': run.energy[-1],
        'work_is_energy': work - run.energy[-1],
        'follows': Verdict(
            bool(np.all(most < 0.04) and np.all(crossings >= 2)),
            f'at most {most[0]:.4f}, {most[1]:.4f}, {most[2]:.4f} rad away, and across it '
            f'{", ".join(map(str, crossings))} times',
        ),
        'lag': Verdict(
            bool(np.all(lag < 0.0)), f'{lag.min():.3f} to {lag.max():.5f} m from 0.5 to 5 s'
        ),
    })


def variants(progress: Progress) -> list[Row]:
    """Return the rows about other numbers of modes, stiffness, motion, and equation 24b."""
    found: dict[str, Any] = {}
    for modes, step in ((1, 2e-3), (3, 1e-3)):
        found[f'deviations_{modes}'], found[f'tips_{modes}'] = _summary(driven(modes, step))
        progress(0.2 * modes)
    found['stiff'] = _summary(driven(1, 2.5e-4, 2.0, rigidity=1e8))[0]
    progress(0.8)
    found['full_turn'], found['full_turn_tips'] = _summary(
        driven(2, 2e-3, turns=2.0), turns=2.0)
    fine = np.arange(0.0, 10.0005, 0.002)
    found['full_turn_torques'] = np.max(np.abs([rigid_torque(t, 2.0) for t in fine]), axis=0)
    printed = _with_printed_coriolis(2e-3)
    found['printed_coriolis'] = _summary(printed)[0]
    torques = np.array([rigid_torque(t) for t in printed.t])
    work = _work(printed.t, np.sum(torques * printed.qd[:, :JOINTS], axis=1))
    found['printed_work'] = found['printed_work_again'] = work - printed.energy[-1]
    return make_rows('ms_canadarm_variants', found)


def _summary(run: Trajectory, turns: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest deviations from the desired angles and the peaks of the tips."""
    every = round(SAMPLE / (run.t[1] - run.t[0]))
    angles, _ = desired(run.t[::every], turns)
    return (
        np.max(np.abs(run.q[::every, :JOINTS] - angles), axis=0),
        np.max(np.abs(tip_deflections(run.q[::every])), axis=0),
    )


def _work(t: np.ndarray, power: np.ndarray) -> float:
    """Return the work by Simpson's rule over an even number of equal steps [J]."""
    weights = np.full(len(power), 2.0)
    weights[1::2], weights[[0, -1]] = 4.0, 1.0
    return float(weights @ power * (t[1] - t[0]) / 3.0)


def _hand(q: np.ndarray) -> np.ndarray:
    """Return the place of the arm's tip in its plane, (n, 2) [m]."""
    dyn = canadarm_dynamics(2)
    return np.array([dyn.frame_pose(row, 'tip')[:2, 3] for row in q])


def _hand_of_rigid(angles: np.ndarray) -> np.ndarray:
    lengths = inputs('ms_canadarm')['lengths']
    headings = np.cumsum(angles, axis=1)
    return np.stack((np.cos(headings) @ lengths, np.sin(headings) @ lengths), axis=1)


def printed_coriolis_force(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """
    Return the deficit of equation 24b, as printed, from the equations of motion, (9,).

    It counts w x S d' once where the acceleration of a point has it twice. In the plane, with w a
    link's rate of turn, the missing part has two terms. They are the force -w int S d' dm along
    the link, and the moment w d.(int S^T S dm) d' at its joint.
    """
    dyn = canadarm_dynamics(2)
    means = shape_means()
    forces = np.zeros(len(q))
    for k, mass in enumerate(inputs('ms_canadarm')['masses']):
        own = slice(JOINTS + 2 * k, JOINTS + 2 * k + 2)
        jacobian = dyn.jacobian(q, f'link{k + 1}')
        axis = dyn.frame_pose(q, f'link{k + 1}')[:2, 0]
        rate = jacobian[5] @ qd
        along = -rate * mass * (means @ qd[own])
        # The mean square of a shape with 1 at the tip is 1/4.
        moment = 0.25 * rate * mass * (q[own] @ qd[own])
        forces += along * (axis @ jacobian[:2]) + moment * jacobian[5]
    return forces


@lru_cache(maxsize=None)
def shape_means() -> np.ndarray:
    """Return the mean over the link of the first two shapes with 1 at the tip, (2,)."""
    link = BeamLink(1.0, 1.0, 1.0, (2, 0))
    return np.sum([dm * link.shape(x)[1] for x, dm in link.points()], axis=0)


def _with_printed_coriolis(dt: float) -> Trajectory:
    dyn = canadarm_dynamics(2)
    rest = np.zeros(dyn.robot.nv)

    def torque(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        tau = printed_coriolis_force(q, qd)
        tau[:JOINTS] += rigid_torque(t)
        return tau

    return simulate(dyn, rest, rest, torque, 10.0, dt, progress=False)


def draw(folder: Path) -> list[Picture]:
    """Draw figures 4 and 5: angles beside the desired ones, and the tips."""
    run = driven(2, STEP)
    angles, _ = desired(run.t)
    figure = new_figure(11.0, 3.8)
    left, middle, right = figure.subplots(1, 3)
    tips = tip_deflections(run.q)
    for k in range(JOINTS):
        left.plot(run.t, angles[:, k], color=COLOURS[k], linewidth=4, alpha=0.3)
        left.plot(run.t, run.q[:, k], color=COLOURS[k], linewidth=1, label=f'joint {k + 1}')
        middle.plot(run.t, 1e3 * (run.q[:, k] - angles[:, k]), color=COLOURS[k],
                    label=f'joint {k + 1}')
        right.plot(run.t, 1e3 * tips[:, k], color=COLOURS[k], label=f'link {k + 1}')
    left.set(title='Joints: desired (broad) and simulated', ylabel='angle [rad]')
    middle.set(title='Deviation of the flexible arm', ylabel='angle [mrad]')
    right.set(title='Tips of the links', ylabel='deflection [mm]')
    for axes in (left, middle, right):
        axes.set_xlabel('time [s]')
        axes.legend(frameon=False)
    save_figure(figure, folder, 'ms_canadarm_motion.png')
    return [Picture(
        'ms_canadarm_motion.png',
        'The flexible Canadarm under the torques of the rigid one (figures 4 and 5 of Mohan and '
        'Saha). It swings about the desired motion by up to 35 mrad, and bends by up to 153 mm.',
    )]


CODE = {
    'ms_canadarm_motion': Code(motion, draw),
    'ms_canadarm_variants': Code(variants),
}
