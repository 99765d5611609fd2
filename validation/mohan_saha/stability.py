# SPDX-License-Identifier: Apache-2.0
"""
Section 7.2 put to the test, that only the recursive solution were stable.

The paper's figures 6 to 8 show one arm, one step and one precision, none of which it names.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from validation.case import Picture, Progress, Row, Verdict
from validation.case_file import inputs, make_rows
from validation.mohan_saha.canadarm import canadarm
from validation.mohan_saha.driven_run import DrivenRun
from validation.mohan_saha.solution_errors import DOUBLE, precisions, SINGLE, solution_errors
from validation.mohan_saha.two_solutions import DENSE, RECURSIVE
from validation.mohan_saha.two_solutions_study import (
    acceleration_errors,
    adaptive,
    along_the_motion,
    angle_errors,
    energy_error,
    is_good,
    LOST,
    MODES,
    power_differences,
    run,
    WAYS,
)
from validation.registry import Code
from validation.studies import COLOURS, frequencies_hz, new_figure, save_figure

CASE = 'ms_recursive_and_dense'
RK4_BOUND = 2.828  # |w| h of an undamped oscillation
STYLES = {
    (DOUBLE, RECURSIVE): {'color': COLOURS[0], 'linewidth': 3.0, 'alpha': 0.5},
    (DOUBLE, DENSE): {'color': COLOURS[1], 'linewidth': 1.0},
    (SINGLE, RECURSIVE): {'color': COLOURS[5], 'linewidth': 1.0, 'linestyle': '--'},
    (SINGLE, DENSE): {'color': COLOURS[4], 'linewidth': 1.0, 'linestyle': ':'},
}


def brief(progress: Progress) -> list[Row]:
    """Return the rows of a short run: both solutions in both precisions."""
    given = inputs('ms_recursive_and_dense_brief')
    runs = {way: run(*way, given['step'], given['duration']) for way in WAYS}
    errors = solution_errors(canadarm(MODES), given['states'])
    apart = _apart(runs)
    return make_rows('ms_recursive_and_dense_brief', {
        'double': apart[DOUBLE, DENSE],
        'single': max(apart[SINGLE, RECURSIVE], apart[SINGLE, DENSE]),
        'energy': max(energy_error(runs[DOUBLE, way]) for way in (RECURSIVE, DENSE)),
        'single_ratio': errors.ratio(SINGLE),
        'kept': Verdict(
            all(is_good(each) for each in runs.values()),
            'all four end where they should',
        ),
    })


def rows(progress: Progress) -> list[Row]:
    """Return the rows of the whole study."""
    given = inputs(CASE)
    within = [dt for dt in given['steps'] if dt < _bound()]
    for k, dt in enumerate(given['steps']):
        for way in WAYS:
            run(*way, dt, given['duration'])
        progress((k + 1.0) / (len(given['steps']) + 2.0))
    runs = {way: run(*way, given['step'], given['duration']) for way in WAYS}
    good = {way: [dt for dt in given['steps'] if is_good(run(*way, dt, given['duration']))]
            for way in WAYS}
    conditions, difference = along_the_motion(given['duration'])
    errors = solution_errors(canadarm(MODES), 40)
    escapes = _escapes()
    chosen = {solution: adaptive(solution, given['duration']) for solution in (RECURSIVE, DENSE)}
    apart, power = _apart(runs), {way: power_differences(made) for way, made in runs.items()}
    first = runs[DOUBLE, RECURSIVE]
    noise = {solution: np.abs(acceleration_errors(runs[SINGLE, solution]))
             for solution in (RECURSIVE, DENSE)}
    everywhere = all(steps == within for steps in good.values())
    return make_rows(CASE, {
        'recursive': Verdict(
            all(good[precision, RECURSIVE] == within for precision in (DOUBLE, SINGLE)),
            f'it does with {_milliseconds(within)}, in double and in single precision',
        ),
        'dense': [
            min(run(precision, DENSE, dt, given['duration']).end for dt in within)
            for precision in (DOUBLE, SINGLE)
        ],
        'angles_double': apart[DOUBLE, DENSE],
        'angles_single_recursive': apart[SINGLE, RECURSIVE],
        'angles_single_dense': apart[SINGLE, DENSE],
        'power': np.max(np.abs(power[DOUBLE, DENSE] - power[DOUBLE, RECURSIVE])),
        'acceleration': np.max(np.abs(runs[DOUBLE, DENSE].qdd[:, 0] - first.qdd[:, 0])),
        'acceleration_single': Verdict(
            bool(np.median(noise[DENSE]) > 3.0 * np.median(noise[RECURSIVE])),
            f'noise up to {np.max(noise[DENSE]):.0e} rad/s^2 by the dense solution, '
            f'{np.max(noise[RECURSIVE]):.0e} by the recursive one',
        ),
        'energy_double': max(energy_error(runs[DOUBLE, way]) for way in (RECURSIVE, DENSE)),
        'energy_single': max(energy_error(runs[SINGLE, way]) for way in (RECURSIVE, DENSE)),
        'bound': Verdict(
            everywhere, f'{_milliseconds(good[DOUBLE, RECURSIVE])} are good by all, the bound '
            f'is {1e3 * _bound():.2f} ms',
        ),
        'chance': Verdict(
            escapes['ruined'] == 2 * len(given['beyond']),
            f'with {len(given["beyond"])} steps the dense solution escapes first {escapes[DENSE]} '
            f'times, the recursive one {escapes[RECURSIVE]} times, neither '
            f'{escapes["neither"]} times; others are as wrong',
        ),
        'adaptive': Verdict(
            all(off < LOST for off, _ in chosen.values()),
            ', '.join(f'{solution}: {calls} evaluations, within {off:.4f} rad of the desired path'
                      for solution, (off, calls) in chosen.items()),
        ),
        'condition': [float(np.min(conditions)), float(np.max(conditions))],
        'accelerations': difference,
        'more_exact': Verdict(
            all(errors.ratio(precision) > 1.0 for precision in precisions()),
            ', '.join(f'{errors.ratio(p):.0f} times smaller errors in {p} precision'
                      for p in precisions()),
        ),
    })


def _bound() -> float:
    """Return the largest stable step of RK4 for the stretched arm [s]."""
    return RK4_BOUND / (2.0 * np.pi * float(frequencies_hz(canadarm(MODES))[-1]))


def _apart(runs: dict[tuple[str, str], DrivenRun]) -> dict[tuple[str, str], float]:
    """Return the differences of joint angles from the recursive ones in double precision."""
    first = angle_errors(runs[DOUBLE, RECURSIVE])
    return {
        way: float(np.max(np.abs(angle_errors(made) - first)))
        if len(made.t) == len(first) else float('inf') for way, made in runs.items()
    }


def _milliseconds(steps: list[float]) -> str:
    return 'steps of ' + ', '.join(f'{1e3 * dt:g}' for dt in steps) + ' ms'


def _escapes() -> dict[str, int]:
    """Return the number of steps beyond the bound with which each solution escapes first."""
    given = inputs(CASE)
    found = {RECURSIVE: 0, DENSE: 0, 'neither': 0, 'ruined': 0}
    for dt in given['beyond']:
        pair = {way: run(DOUBLE, way, dt, given['duration']) for way in (RECURSIVE, DENSE)}
        found['ruined'] += sum(not is_good(made) for made in pair.values())
        ends = {way: made.end for way, made in pair.items() if not made.finished}
        found[min(ends, key=ends.__getitem__) if ends else 'neither'] += 1
    return found


def draw(folder: Path) -> list[Picture]:
    """Draw figures 6 to 8 by both solutions, the energy against the step, and runs beyond it."""
    given = inputs(CASE)
    figure = new_figure(13.0, 7.4)
    (angle, power, acceleration), (energy, *others) = figure.subplots(2, 3)
    first = run(DOUBLE, RECURSIVE, given['step'], given['duration'])
    for way, style in STYLES.items():
        made = run(*way, given['step'], given['duration'])
        label = f'{way[1]}, {way[0]} precision'
        angle.plot(made.t, 1e3 * angle_errors(made)[:, 0], label=label, **style)
        power.plot(made.t, power_differences(made), label=label, **style)
        if way[0] == SINGLE:
            acceleration.plot(
                made.t, 1e3 * acceleration_errors(made), label=label, linewidth=0.6,
                color=style['color'], zorder=2.0 + (way[1] == RECURSIVE),
            )
    angle.set(title=f'Joint 1 (figure 6), step of {1e3 * given["step"]:g} ms',
              ylabel='angle less the desired one [mrad]')
    power.set(title='Power (figure 7)', ylabel='desired less simulated power [W]')
    acceleration.set(
        title=f'Noise on {1e3 * np.max(np.abs(first.qdd[:, 0])):.0f} mrad/s$^2$ (figure 8)',
        ylabel='acceleration of joint 1 [mrad/s$^2$]',
    )
    acceleration.set_ylim(-1.0, 1.0)
    for axes in (angle, acceleration):
        axes.legend(frameon=False, fontsize=8)
    for axes in (angle, power, acceleration):
        axes.set_xlabel('time [s]')
    _draw_energy(energy, given)
    for axes, dt in zip(others, given['shown']):
        _draw_beyond(axes, dt, given['duration'])
    save_figure(figure, folder, f'{CASE}.png')
    return [Picture(
        f'{CASE}.png',
        'The Canadarm by the recursive and by the dense solution. Above: with a step within the '
        'bound of RK4 the two are one line over 10 s, in double and in single precision. In '
        'single precision the dense solution has more noise in the acceleration. Below: a step '
        'beyond that bound ruins a run, for both alike. A little more or less of it decides '
        'on the one that escapes.',
    )]


def _draw_energy(axes: Any, given: dict[str, Any]) -> None:
    for way, style in STYLES.items():
        errors = [energy_error(run(*way, dt, given['duration'])) for dt in given['steps']]
        axes.loglog(1e3 * np.array(given['steps']), np.minimum(errors, 1e6), marker='o',
                    markersize=4, label=f'{way[1]}, {way[0]} precision', **style)
    axes.axvline(1e3 * _bound(), color='0.4', linewidth=0.8)
    axes.annotate('bound of RK4', (1e3 * _bound(), 1e-8), rotation=90, ha='right', fontsize=8)
    axes.set(title='Energy', xlabel='step [ms]', ylabel='largest |work - energy| in 10 s [J]')
    ticks = [1e3 * dt for dt in given['steps'][:-2]] + [1e3 * given['steps'][-1]]
    axes.set_xticks(ticks, [f'{tick:g}' for tick in ticks])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=8, loc='upper left')


def _draw_beyond(axes: Any, dt: float, duration: float) -> None:
    for solution, colour in ((RECURSIVE, COLOURS[0]), (DENSE, COLOURS[1])):
        made = run(DOUBLE, solution, dt, duration)
        sizes = np.abs(angle_errors(made)[:, 0])
        axes.semilogy(made.t, np.clip(sizes, 1e-5, 1e3), color=colour, linewidth=0.8,
                      label=solution)
        if not made.finished:
            axes.plot([made.end], [2e2], 'X', color=colour, markersize=11,
                      label=f'{solution} escapes after {made.end:.1f} s')
    axes.set(title=f'Step of {1e3 * dt:g} ms, beyond the bound', xlabel='time [s]',
             ylabel='|angle of joint 1 less the desired one| [rad]', xlim=(-0.2, duration),
             ylim=(1e-5, 1e3))
    axes.legend(frameon=False, fontsize=8, loc='lower right')


CODE = {
    'ms_recursive_and_dense': Code(rows, draw),
    'ms_recursive_and_dense_brief': Code(brief),
}
