# SPDX-License-Identifier: Apache-2.0
"""Errors of inverse dynamics against the deflection, and where the linearised inertia ends."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from flexdyn_ros.model.records.reduced import reduced
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.simulation.frequencies import natural_modes, stiffness_matrix
import numpy as np
from validation.case import Picture, Progress, Row
from validation.case_file import inputs, make_rows
from validation.reduced_forms.arms import exact_arm, FORMS, forms_of, order, plain_ticks, TITLES
from validation.registry import Code
from validation.studies import COLOURS, new_figure, reference, save_figure

NAME = 'reduced_amplitude'


def run(progress: Progress) -> list[Row]:
    """Return the rows."""
    found: dict = {}
    for arm, key in (('two_link_arm', 'two_link'), ('canadarm', 'canadarm')):
        errors = _errors(arm)
        sizes = np.array(inputs(NAME)['sizes'])
        found[f'{key}_orders'] = [
            [order(errors[form][:, rows], sizes) for rows in (0, 1)] for form in FORMS
        ]
        found[f'{key}_errors'] = [errors[form][len(sizes) // 2] for form in FORMS]
        found[f'{key}_limits'] = [_limit(arm, modes) for modes in (1, 2)]
    return make_rows(NAME, found)


@lru_cache(maxsize=None)
def _bent(arm: str, modes: int) -> tuple[Robot, np.ndarray, np.ndarray, float]:
    """
    Return an arm, its pose, a deflected shape and its first frequency, joints held.

    The shape is that of a force across the line from the root to the tip. It is scaled to unit
    deflection of the tip over the length of that line.
    """
    robot = exact_arm(arm, modes)
    dyn, n, frame = reference(robot), robot.n_joints, robot.frame_names[-1]
    q = np.zeros(robot.nq)
    q[:n] = inputs(NAME)['pose'][:n]
    stiffness = stiffness_matrix(dyn, q)[n:, n:]
    frequency = natural_modes(dyn.mass_matrix(q)[n:, n:], stiffness)[0][0]
    tip = dyn.frame_pose(q, frame)[:3, 3]
    jacobian = dyn.jacobian(q, frame)
    across = np.cross(jacobian[3:, 0], tip)
    shape = np.linalg.solve(stiffness, jacobian[:3, n:].T @ across)
    shape *= np.linalg.norm(tip) / np.linalg.norm(jacobian[:3, n:] @ shape)
    return robot, q, shape, float(frequency)


@lru_cache(maxsize=None)
def _errors(arm: str) -> dict[str, np.ndarray]:
    """Return for each form the errors of joint torques and of modal forces, (sizes, 2)."""
    robot, pose, shape, frequency = _bent(arm, 1)
    n, given = robot.n_joints, inputs(NAME)
    rates = frequency * np.array(given['rates'][:n])
    accelerations = frequency**2 * np.array(given['accelerations'][:n])
    exact = reference(robot)
    models = {form: reference(other) for form, other in forms_of(robot).items()}
    found: dict[str, list] = {form: [] for form in FORMS}
    for size in given['sizes']:
        q = pose.copy()
        q[n:] = size * shape
        motion = (
            q, np.concatenate((rates, frequency * q[n:])),
            np.concatenate((accelerations, frequency**2 * q[n:])),
        )
        force = exact.inverse_dynamics(*motion)
        for form, model in models.items():
            off = np.abs(model.inverse_dynamics(*motion) - force)
            found[form].append([
                off[:n].max() / np.abs(force[:n]).max(), off[n:].max() / np.abs(force[n:]).max()
            ])
    return {form: np.array(rows) for form, rows in found.items()}


def _limit(arm: str, modes: int) -> float:
    """Return the deflection over length at which the linearised mass matrix is singular."""
    robot, pose, shape, _ = _bent(arm, modes)
    dyn, n = reference(reduced(robot, 'linearised')), robot.n_joints
    low, high = 0.0, 0.2
    for _ in range(20):
        middle = 0.5 * (low + high)
        q = pose.copy()
        q[n:] = middle * shape
        positive = np.linalg.eigvalsh(dyn.mass_matrix(q))[0] > 0.0
        low, high = (middle, high) if positive else (low, middle)
    return low


def draw(folder: Path) -> list[Picture]:
    """Draw both errors of each form against the deflection, an arm a panel."""
    figure = new_figure()
    sizes = np.array(inputs(NAME)['sizes'])
    for axes, arm in zip(figure.subplots(1, 2, sharey=True), TITLES):
        for colour, (form, words) in zip(COLOURS, FORMS.items()):
            errors = _errors(arm)[form]
            axes.loglog(sizes, errors[:, 0], color=colour, marker='o', markersize=3, label=words)
            axes.loglog(sizes, errors[:, 1], color=colour, marker='s', markersize=3,
                        linestyle='--')
        axes.axvline(_limit(arm, 1), color=COLOURS[6], linestyle=':', linewidth=1)
        axes.set(title=TITLES[arm], xlabel='deflection of the tip over length')
        plain_ticks(axes, sizes)
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel('error over the largest force')
    figure.axes[0].legend(frameon=False, fontsize='small')
    save_figure(figure, folder, 'reduced_amplitude.png')
    return [Picture(
        'reduced_amplitude.png', 'Reduced forms against the exact equations: inverse dynamics of '
        'a fast motion, one mode a link. Solid: torques of the joints, dashed: forces on the '
        'modes. The error of the linearised form grows with the third and second power of the '
        'deflection. Right of the dotted line its mass matrix is no longer positive definite. '
        'With the kinetic energy of the undeformed arm no centrifugal load acts on modes, at any '
        'deflection.',
    )]


CODE = {NAME: Code(run, draw)}
