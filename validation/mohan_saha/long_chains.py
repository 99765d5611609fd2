# SPDX-License-Identifier: Apache-2.0
"""Chains with a better recursive solution: many links, and a heavy mass at the tip."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.robot import Robot
import numpy as np
from validation.beam_arms import beam_arm_urdf
from validation.case import Picture, Progress, Row, Verdict
from validation.case_file import inputs, make_rows
from validation.mohan_saha.driven_run import DrivenRun, integrate
from validation.mohan_saha.solution_errors import (
    DOUBLE,
    Errors,
    precisions,
    SINGLE,
    solution_errors,
)
from validation.mohan_saha.two_solutions import DENSE, RECURSIVE, SOLUTIONS, TwoSolutions
from validation.mohan_saha.two_solutions_study import NUMBERS
from validation.registry import Code
from validation.studies import COLOURS, new_figure, reference, save_figure

CASE = 'ms_long_chains'
_STYLES = {RECURSIVE: ('o-', COLOURS[0]), DENSE: ('s-', COLOURS[1])}


@lru_cache(maxsize=None)
def chain(links: int, modes: int, tip_mass: float) -> Robot:
    """Return a chain of equal flexible links with a mass at its tip."""
    link = inputs(CASE)['link']
    return load_robot(beam_arm_urdf(
        [link['length']] * links, [link['mass']] * links, [link['rigidity']] * links, modes,
        tip_mass=tip_mass,
    ))


@lru_cache(maxsize=None)
def errors(links: int, tip_mass: float) -> Errors:
    """Return the errors of both solutions in random states of a chain."""
    given = inputs(CASE)
    return solution_errors(chain(links, given['modes'], tip_mass), given['states'], bend=0.02)


@lru_cache(maxsize=None)
def swing(precision: str, solution: str) -> DrivenRun:
    """Return the motion of a zigzag chain that turns slowly and then floats on, unforced."""
    given = inputs(CASE)['swing']
    robot = chain(given['links'], given['modes'], given['tip_mass'])
    start, rate = np.zeros(robot.nv), np.zeros(robot.nv)
    start[: given['links']] = given['zigzag'] * (-1.0) ** np.arange(given['links'])
    rate[0] = given['rate']
    return integrate(
        TwoSolutions(robot, NUMBERS[precision]), solution, start, rate, given['step'],
        round(given['duration'] / given['step']), every=given['every'],
    )


@lru_cache(maxsize=None)
def energies(precision: str, solution: str) -> np.ndarray:
    """Return |energy / energy at the start - 1| at the samples of a swing."""
    given, made = inputs(CASE)['swing'], swing(precision, solution)
    dyn = reference(chain(given['links'], given['modes'], given['tip_mass']))
    energy = np.array([
        dyn.kinetic_energy(q, qd) + dyn.potential_energy(q) if np.all(np.isfinite(q + qd))
        else np.inf for q, qd in zip(made.q, made.qd)
    ])
    return np.abs(energy / energy[0] - 1.0)


def rows(progress: Progress) -> list[Row]:
    """Return the rows."""
    given = inputs(CASE)
    few, many = given['links'][0], given['links'][-1]
    for k, links in enumerate(given['links']):
        errors(links, given['tip_mass'])
        progress(0.6 * (k + 1.0) / len(given['links']))
    ways = {(p, s): swing(p, s) for p in (DOUBLE, SINGLE) for s in SOLUTIONS}
    broken = ways[SINGLE, DENSE]
    heavy = errors(many, given['heavy_tip_mass'])
    last, start = errors(many, given['tip_mass']), errors(few, given['tip_mass'])
    growth = {s: last.median(SINGLE, s) / start.median(SINGLE, s) for s in SOLUTIONS}
    return make_rows(CASE, {
        'growth': Verdict(
            growth[DENSE] > 10.0 * growth[RECURSIVE],
            f'times {growth[RECURSIVE]:.1f} by the recursive solution, {growth[DENSE]:.0f} by the '
            f'dense one, from {few} to {many} links in single precision',
        ),
        'ratio': Verdict(
            all(last.ratio(p) > 30.0 for p in precisions()),
            ', '.join(f'{last.ratio(p):.0f} times smaller errors in {p} precision'
                      for p in precisions()),
        ),
        'recursive_single': last.median(SINGLE, RECURSIVE),
        'indefinite': Verdict(
            heavy.indefinite[SINGLE] > 0 and heavy.median(SINGLE, RECURSIVE) < 0.1,
            f'{heavy.indefinite[SINGLE]} of {given["states"]} mass matrices are not positive '
            f'definite; the recursive solution is right to {heavy.median(SINGLE, RECURSIVE):.0e}',
        ),
        'dense_breaks': Verdict(
            not broken.finished and ways[SINGLE, RECURSIVE].finished,
            f'the dense solution escapes after {broken.end:.3f} s, the recursive one runs all '
            f'{given["swing"]["duration"]:g} s',
        ),
        'energy_single': float(np.max(energies(SINGLE, RECURSIVE))),
        'energy_double': float(max(np.max(energies(DOUBLE, way)) for way in SOLUTIONS)),
        'end_single': float(np.max(np.abs(
            ways[SINGLE, RECURSIVE].q[-1] - ways[DOUBLE, RECURSIVE].q[-1]
        ))),
        'end_double': float(np.max(np.abs(
            ways[DOUBLE, DENSE].q[-1] - ways[DOUBLE, RECURSIVE].q[-1]
        ))),
    })


def draw(folder: Path) -> list[Picture]:
    """Draw errors against the number of links, and the energy of a swinging chain."""
    given = inputs(CASE)
    figure = new_figure(11.0, 4.2)
    left, right = figure.subplots(1, 2)
    for precision in precisions():
        for solution, (marks, colour) in _STYLES.items():
            medians = [errors(n, given['tip_mass']).median(precision, solution)
                       for n in given['links']]
            left.semilogy(given['links'], medians, marks, color=colour, markersize=4,
                          alpha=1.0 if precision == SINGLE else 0.5,
                          label=f'{solution}, {precision} precision')
    left.set(title='One set of accelerations', xlabel='flexible links',
             ylabel='error, of the largest')
    left.legend(frameon=False, fontsize=8)
    for precision, alpha in ((SINGLE, 1.0), (DOUBLE, 0.5)):
        for solution, (_, colour) in _STYLES.items():
            made, energy = swing(precision, solution), energies(precision, solution)
            right.semilogy(
                made.t, np.clip(energy, 1e-15, 1e6), color=colour, alpha=alpha,
                linestyle='-' if solution == RECURSIVE else '--',
                label=f'{solution}, {precision} precision',
            )
    broken = swing(SINGLE, DENSE)
    right.plot([broken.end], [1.0], 'X', color=_STYLES[DENSE][1], markersize=10, clip_on=False)
    right.annotate(f'dense, single: escapes after {broken.end:.3f} s', (broken.end, 1.0),
                   xytext=(12, -4), textcoords='offset points', fontsize=8)
    swung = given['swing']
    right.set(title=f'{swung["links"]} links, {swung["tip_mass"]:g} kg at the tip',
              xlabel='time [s]', ylabel='|energy / energy at the start - 1|',
              ylim=(1e-15, 10.0))
    right.legend(frameon=False, fontsize=8, loc=(0.6, 0.3))
    save_figure(figure, folder, f'{CASE}.png')
    return [Picture(
        f'{CASE}.png',
        'Range of the claim. Left: errors of the accelerations against the number of links of '
        'a chain. The dense solution loses digits with the condition of the mass matrix, the '
        'recursive one does not. Right: a chain that swings. In single precision its mass matrix '
        'is not positive definite any more, and the dense solution escapes at once.',
    )]


CODE = {CASE: Code(rows, draw)}
