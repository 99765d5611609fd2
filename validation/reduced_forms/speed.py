# SPDX-License-Identifier: Apache-2.0
"""Errors along swings of the joints from rest to rest, from fast to slow."""

from __future__ import annotations

from functools import lru_cache
import math
from pathlib import Path

from flexdyn_ros.simulation.frequencies import natural_modes, stiffness_matrix
import numpy as np
from validation.case import Picture, Progress, Row
from validation.case_file import inputs, make_rows
from validation.reduced_forms.arms import exact_arm, FORMS, forms_of, plain_ticks, TITLES
from validation.reduced_forms.motion import Course, following, Swing, vibrating
from validation.registry import Code
from validation.studies import COLOURS, new_figure, reference, save_figure

NAME = 'reduced_speed'
QUASI_STATIC = 'quasi_static'
WORDS = {**FORMS, QUASI_STATIC: 'quasi-static modes'}


def run(progress: Progress) -> list[Row]:
    """Return the rows."""
    found: dict = {}
    jobs = [(arm, periods) for arm in TITLES for periods in inputs(NAME)['periods'][arm]]
    for number, (arm, periods) in enumerate(jobs):
        _errors(arm, periods)
        progress((number + 1) / len(jobs))
    for arm, key in (('two_link_arm', 'two_link'), ('canadarm', 'canadarm')):
        every = [_errors(arm, periods) for periods in inputs(NAME)['periods'][arm]]
        found[f'{key}_deflections'] = [deflection for deflection, _ in every]
        for form in WORDS:
            for column, what in enumerate(('tip', 'torque')):
                found[f'{key}_{form}_{what}'] = [errors[form][column] for _, errors in every]
    return make_rows(NAME, found)


@lru_cache(maxsize=None)
def _errors(arm: str, periods: float) -> tuple[float, dict[str, tuple[float, float]]]:
    """
    Return the largest deflection of the tip [m] and each form's errors of tip and torque.

    Errors are the largest along the swing, over the largest that leaving deflections out makes.
    """
    robot, given = exact_arm(arm, 1), inputs(NAME)
    n, frame = robot.n_joints, robot.frame_names[-1]
    start = np.array(given['start'][:n])
    swing = Swing(start, np.array(given['way'][:n]), periods * _period(arm))
    steps = math.ceil(swing.duration / given['dt'])
    exact = vibrating(robot, frame, swing, steps, robot)
    rigid = following(robot, frame, swing, steps, rigid=True)
    found = {
        form: vibrating(other, frame, swing, steps, robot)
        for form, other in forms_of(robot).items()
    }
    found[QUASI_STATIC] = following(robot, frame, swing, steps)
    scales = _apart(rigid, exact)
    return scales[0], {
        form: (tip / scales[0], torque / scales[1])
        for form, (tip, torque) in ((f, _apart(c, exact)) for f, c in found.items())
    }


def _period(arm: str) -> float:
    """Return the longest period of the arm at the start, joints held [s]."""
    robot = exact_arm(arm, 1)
    dyn, n = reference(robot), robot.n_joints
    q = np.concatenate((inputs(NAME)['start'][:n], np.zeros(robot.n_modes)))
    mass, stiffness = dyn.mass_matrix(q)[n:, n:], stiffness_matrix(dyn, q)[n:, n:]
    return float(2.0 * np.pi / natural_modes(mass, stiffness)[0][0])


def _apart(one: Course, other: Course) -> tuple[float, float]:
    """Return the largest distance of two courses' tips [m] and difference of their torques."""
    tip = np.linalg.norm(one.tip - other.tip, axis=1)
    return float(tip.max()), float(np.abs(one.torque - other.torque).max())


def draw(folder: Path) -> list[Picture]:
    """Draw the errors of tip and torque against the duration."""
    figure = new_figure()
    for column, (axes, what) in enumerate(zip(figure.subplots(1, 2, sharey=True),
                                              ('place of the tip', 'joint torques'))):
        for arm, line in (('two_link_arm', '-'), ('canadarm', '--')):
            periods = inputs(NAME)['periods'][arm]
            for colour, (form, words) in zip(COLOURS, WORDS.items()):
                errors = [_errors(arm, p)[1][form][column] for p in periods]
                axes.loglog(periods, errors, color=colour, linestyle=line, marker='o',
                            markersize=3, label=words if line == '-' else None)
        axes.set(title=what, xlabel='duration over the longest period')
        plain_ticks(axes, inputs(NAME)['periods']['two_link_arm'])
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel('error over the effect of all deflections')
    figure.axes[1].legend(frameon=False, fontsize='small')
    save_figure(figure, folder, 'reduced_speed.png')
    return [Picture(
        'reduced_speed.png', 'Reduced forms along a swing of all joints from rest to rest, by '
        'its duration in periods of the slowest vibration. One mode a link, modes free. An error '
        'of 1 is that of leaving deflections out: without gravity, quasi-static modes bring '
        'joint torques nothing. Solid: two-link arm, which bends by a third of its length in the '
        'fastest swing; dashed: Canadarm.',
    )]


CODE = {NAME: Code(run, draw)}
