# SPDX-License-Identifier: Apache-2.0
"""
Command: python -m benchmarks.identification.example writes docs/identification_study.md.

It draws docs/identification.png beside it.

A simulated cobot7 follows a motion from `excite`. Its inertias, friction and rotors differ from
its description, its drives lag by 4 ms, encoders are quantised and torques are noisy. The picture
shows torques of another motion, and the residuals of both models.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
import sys
from time import perf_counter
from typing import Optional
from unittest import mock

from benchmarks.identification.figaroh_method import predicted_by_figaroh
import flexdyn_ros as fd
from flexdyn_ros.identification import Identification, identify, Motion, regression
from flexdyn_ros.identification.excitation import Excitation, excite
from flexdyn_ros.identification.physical_problem import PhysicalProblem
from flexdyn_ros.identification.regressor import known_forces
from flexdyn_ros.identification.semidefinite import by_clarabel, CLARABEL, NEWTON
from flexdyn_ros.model.records.robot import Robot
from matplotlib.figure import Figure
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
RATE, LAG, COUNTS, NOISE = 500.0, 0.004, 2.0**-18 * 2.0 * np.pi, 0.01
STEPS = 5
RIGID = {'flexible_forearm': 'false'}


def main() -> int:
    """Identify and draw; print the path and residuals."""
    described = fd.load_robot(
        ROOT / 'urdf' / 'cobot7.urdf.xacro', xacro_arguments=RIGID)
    random = np.random.default_rng(3)
    true = changed(described, random)
    fitted = recorded(true, excite(described, period=15.0, trials=20, steps=STEPS), random)
    other = recorded(true, excite(described, period=15.0, trials=1, steps=0, seed=9), random)
    found, solvers = solved_twice(described, fitted)
    file = ROOT / 'docs' / 'identification.png'
    picture(found, other).savefig(file, dpi=90)
    print(f'Delay {1e3 * found.path.delay:.2f} ms, condition {found.statistics.condition:.3g}.')
    page = ROOT / 'docs' / 'identification_study.md'
    theirs = predicted_by_figaroh(described.descriptions[0], fitted, other, found.path.cutoff)
    page.write_text(study(found, other, theirs, solvers), encoding='utf-8')
    print(f'Written: {file}, {page}')
    return 0


def solved_twice(robot: Robot, motion: Motion) -> tuple[Identification, Optional[str]]:
    """Return an identification, and a sentence on its physical parameters by both solvers."""
    problems = []

    def watched(problem: PhysicalProblem):
        problems.append(problem)
        return (*problem.solve(), NEWTON)

    with mock.patch.object(regression, 'solved', watched):
        found = identify(robot, motion)
    lines = []
    for name, solve in ((NEWTON, lambda each: each.solve()[0]), (CLARABEL, by_clarabel)):
        start = perf_counter()
        try:
            values = solve(problems[-1])
        except ImportError as error:
            print(f'Clarabel is left out, {error}: pip install flexdyn_ros[identification]')
            return found, None
        seconds = perf_counter() - start
        _, priors, centre = problems[-1].start()
        total = problems[-1].terms(values, problems[-1].weight, priors, centre)[0]
        lines.append(f'{name}: objective {total:.6f} in {seconds:.2f} s.')
    return found, 'Physical parameters by both solvers:\n\n- ' + '\n- '.join(lines)


def study(
    found: Identification, motion: Motion, theirs: Optional[np.ndarray], solvers: Optional[str]
) -> str:
    """Return the page: residuals of description, FIGAROH and us on a motion not fitted."""
    described = replace(found, values=found.model.values)
    inside = slice(int(RATE), -int(RATE))
    rows = [
        ('measured torque', motion.tau), ('less the torque of the description',
                                          motion.tau - described.torque(motion)),
        ('less the torque of the identified robot', motion.tau - found.torque(motion)),
    ]
    if theirs is not None:
        rows.insert(2, ('less the torque of FIGAROH', motion.tau - theirs))
    names = found.robot.joint_names
    lines = [
        '# Identification of a simulated arm', '',
        '`make studies` writes this page. A rigid cobot7 follows an exciting motion. Its masses, '
        'friction', 'and rotors differ from its description. Drives lag by 4 ms, encoders have 18 '
        f'bits, torques {100 * NOISE:g} %',
        f'of noise. The estimated delay is {1e3 * found.path.delay:.2f} ms. Root mean squares '
        '[N m] are those on a motion', 'that was not fitted.', '',
        '| rms | ' + ' | '.join(names) + ' |', '|---' + '|---:' * len(names) + '|',
    ]
    for label, values in rows:
        sizes = np.sqrt(np.mean(values[inside] ** 2, axis=0))
        lines.append(f'| {label} | ' + ' | '.join(f'{size:.3g}' for size in sizes) + ' |')
    lines += ['', 'Noise is a part of each row.']
    if theirs is None:
        lines += ['FIGAROH is not installed here (`pip install figaroh`).']
    else:
        lines += [
            'FIGAROH (`pip install figaroh`) fits the same samples: regressor of Pinocchio, '
            'viscous and', 'static friction, rotors, offsets, and base parameters by ordinary '
            'least squares. It does not', 'estimate the delay.']
    lines += ['', solvers or 'Clarabel is not installed here (`pip install cvxpy-base clarabel`).']
    return '\n'.join([*lines, '', '![Torques](identification.png)', ''])


def changed(robot: Robot, random: np.random.Generator) -> Robot:
    """Return the robot with masses and friction that its description does not have."""
    def link(each):
        if each.inertia is None:
            return each
        share = random.uniform(0.6, 1.6)
        matrix = tuple(tuple(share * x for x in row) for row in each.inertia.matrix)
        com = tuple((np.array(each.inertia.com) + random.uniform(-0.02, 0.02, 3)).tolist())
        return replace(each, inertia=replace(
            each.inertia, mass=share * each.inertia.mass, com=com, matrix=matrix))

    def joint(each):
        law = each.dynamics.friction
        law = replace(law, viscous=law.viscous * random.uniform(0.5, 2.0),
                      coulomb=law.coulomb * random.uniform(0.5, 2.0), stribeck=None)
        return replace(each, dynamics=replace(each.dynamics, friction=law))

    return replace(robot, links=tuple(map(link, robot.links)),
                   joints=tuple(map(joint, robot.joints)))


def recorded(robot: Robot, motion: Excitation, random: np.random.Generator) -> Motion:
    """Return two periods of a motion as encoders and drives record them."""
    t = np.arange(0.0, 2.0 * motion.period, 1.0 / RATE)
    q = np.round(motion.at(t)[0] / COUNTS) * COUNTS
    tau = known_forces(robot, *motion.at(t - LAG))
    scale = NOISE * np.abs(tau).max(axis=0)
    return Motion(t, q, tau=tau + scale * random.normal(size=tau.shape))


def picture(found: Identification, motion: Motion) -> Figure:
    """Draw the differences of measured and predicted torques for three joints."""
    figure = Figure(figsize=(9, 6), layout='constrained')
    described = replace(found, values=found.model.values).torque(motion)
    identified = found.torque(motion)
    for axes, k in zip(figure.subplots(3, 1, sharex=True), (0, 3, 4)):
        measured = motion.tau[:, k]
        axes.plot(motion.t, measured, color='0.6', lw=0.9, label='measured torque')
        axes.plot(motion.t, measured - described[:, k], color='C1', lw=0.9,
                  label='less that of the description')
        axes.plot(motion.t, measured - identified[:, k], color='C0', lw=0.7,
                  label='less that of the identified robot')
        axes.set_ylabel(f'{found.robot.joint_names[k]} [N m]')
        axes.set_xlim(0.0, motion.t[-1] / 2.0)
        axes.grid(alpha=0.3)
    axes.set_xlabel('time [s]')
    figure.legend(*axes.get_legend_handles_labels(), ncol=3, loc='outside upper center')
    return figure


if __name__ == '__main__':
    sys.exit(main())
