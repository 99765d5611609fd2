# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn sweep`: a scenario over a grid, or random samples, of its values.

Run the scenario at each point, on the cores of this machine or on a Dask cluster. Write one table
(sweep.parquet where pyarrow is installed, else sweep.csv) and a picture (sweep.png). Finished runs
stay in rows.jsonl: the same call resumes where it stopped, and a run whose process ends is
repeated. The table is the same for any number of workers.

Examples:
  flexdyn sweep study.yaml --over payload.mass=0:5:50 --over controllers.pd.kp=100,200,400
  flexdyn sweep study.yaml --over payload.mass=0:5 --samples 200 --seed 3 --workers 8
  flexdyn sweep study.yaml --over arguments.modes=1:4:4 --dask tcp://scheduler:8786
"""

from __future__ import annotations

import argparse
import os

from flexdyn_ros.cli.options import add_format, add_out, count, show
from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.output_files import new_folder
from flexdyn_ros.progress import ProgressBar

SUMMARY = 'a scenario over a grid or samples of its values: one table, one picture'
READS_ROBOT = False


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument('scenario', metavar='SCENARIO', help='YAML file, see docs/scenarios.md')
    parser.add_argument(
        '--over', metavar='KEY=VALUES', action='append', required=True,
        help='the varied key: FROM:TO:COUNT, or VALUE,VALUE; with --samples also FROM:TO')
    parser.add_argument(
        '--set', metavar='KEY=VALUE', action='append', default=[],
        help='another value of the scenario')
    parser.add_argument(
        '--samples', metavar='N', type=count, default=0,
        help='random samples of the values instead of their grid')
    parser.add_argument('--seed', metavar='N', type=int, default=0, help='of the samples')
    parser.add_argument(
        '--workers', metavar='N', type=count, default=len(os.sched_getaffinity(0)),
        help='processes (default: one a core)')
    parser.add_argument(
        '--dask', metavar='ADDRESS', help='scheduler of a Dask cluster, or "local"')
    parser.add_argument('--table', choices=('parquet', 'csv'), help='kind of the table')
    parser.add_argument(
        '--plot', metavar='COLUMN', nargs='+', help='columns to draw (default: the first ones)')
    add_format(parser)
    add_out(parser, 'sweep')


def run(call: argparse.Namespace) -> int:
    """Run the points, write the table and the picture; 1 where a point failed."""
    from flexdyn_ros.cli.simulate_scenario import changed_values
    from flexdyn_ros.scenario.sweep import sweep_rows
    from flexdyn_ros.scenario.sweep_points import parsed_axis, Sweep
    from flexdyn_ros.scenario.sweep_table import save_sweep_plot, write_table

    axes = [parsed_axis(text) for text in call.over]
    for text, axis in zip(call.over, axes):
        if not call.samples and axis.is_range and text.count(':') == 1:
            raise ArgumentError('over', f'is "{text}", which needs a count or --samples')
    sweep = Sweep.of(
        call.scenario, axes, changed_values(call.set), call.samples, call.seed)
    folder = new_folder(call.out)
    with ProgressBar(label='sweeping') as bar:
        rows = sweep_rows(sweep, folder, call.workers, call.dask, bar.update)
    files = [write_table(rows, folder, call.table), folder / f'sweep.{call.format}']
    failed = [row for row in rows if 'error' in row]
    if len(failed) == len(rows):
        raise FlexdynError(f'Every point failed. Correct the first: {failed[0]["error"]}')
    save_sweep_plot(rows, [axis.key for axis in axes], files[1], call.plot)
    summary = {
        'scenario': call.scenario, 'points': len(rows), 'failed': len(failed),
        'columns': list(dict.fromkeys(name for row in rows for name in row)),
        'files': [str(file) for file in files]}
    show(call, summary, '\n  '.join([
        f'{len(rows)} points, {len(failed)} failed. Written: {", ".join(summary["files"])}',
        *(', '.join(f'{axis.key} = {row[axis.key]}' for axis in axes) + f': {row["error"]}'
          for row in failed[:3])]))
    return 1 if failed else 0
