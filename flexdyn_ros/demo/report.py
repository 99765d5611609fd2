# SPDX-License-Identifier: Apache-2.0
"""The report of the whole demonstration, and its table on the terminal."""

from __future__ import annotations

import datetime
from typing import Any, Sequence

from flexdyn_ros.demo.plan import CONTROLS
from flexdyn_ros.terminal import heading, paint, table

NOTE = (
    'The feed-forward uses the exact model of the simulated arm. On a real arm the gain depends '
    'on the accuracy of the identified model.'
)


def demo_report(
    runs: Sequence[dict[str, Any]], pictures: Sequence[str], elapsed: float,
    tips: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """
    Return the report of all runs.

    Args:
        runs: The reports of the runs.
        pictures: Names of the pictures.
        elapsed: Real time of the whole demonstration [s].
        tips: Rows of `compare_tip`.
    """
    return {
        'finished': datetime.datetime.now().astimezone().isoformat(timespec='seconds'),
        'elapsed_s': round(elapsed, 1),
        'note': NOTE,
        'errors': [
            f'{run["robot"]}, {run["title"]}: {sentence}'
            for run in runs for sentence in run['errors']
        ],
        'improvement': improvements(runs),
        'pictures': list(pictures),
        'runs': list(runs),
        'tips': list(tips),
    }


def improvements(runs: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return, for each robot and feed-forward, by which factor the error fell against PD alone."""
    errors = {(run['robot'], run['control']): run['tracking_error_rad']['rms'] for run in runs}
    found: dict[str, dict[str, float]] = {}
    for (robot, control), error in errors.items():
        alone = errors.get((robot, 'pd'))
        if control != 'pd' and alone is not None and error > 0.0:
            found.setdefault(robot, {})[control] = round(alone / error, 1)
    return found


def summary_lines(report: dict[str, Any]) -> list[str]:
    """Return the text for the terminal at the end of the report that `demo_report` made."""
    rows = []
    for run in report['runs']:
        error = run['tracking_error_rad']
        factor = report['improvement'].get(run['robot'], {}).get(run['control'])
        rows.append((
            run['robot'], CONTROLS[run['control']],
            f'{1e3 * error["rms"]:.4g}', f'{1e3 * error["largest"]:.4g}',
            '-' if factor is None else f'{float(f"{factor:.3g}"):g} times',
            f'{run["states"]["recorded"]}', f'{run["real_time_factor"]:.2f}',
        ))
    headings = (
        'robot', 'control', 'rms error [mrad]', 'largest [mrad]', 'better by', 'states',
        'real-time factor',
    )
    over = report['runs'][0]['tracking_error_rad']['over_the_first_s']
    title = heading(f'Tracking error of the joints over the first {over:g} s')
    lines = ['', title, table(headings, rows), '', report['note']]
    if report['tips']:
        lines += ['', heading('The tip on a straight path, from rest to rest'), table(
            ('robot', 'model', 'control', 'joints: rms error [mrad]', 'tip: largest error [mm]',
             'residual vibration [mm]'),
            [(row['robot'], row['model'], row['control'],
              *(f'{1e3 * row[key]:.3g}' for key in
                ('joint_error_rms_rad', 'tip_error_m', 'residual_vibration_m')))
             for row in report['tips']])]
    lines += [f'{paint("error:", "red")} {sentence}' for sentence in report['errors']]
    return [*lines, f'The demonstration took {report["elapsed_s"]:.0f} s.']
