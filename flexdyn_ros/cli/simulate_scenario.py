# SPDX-License-Identifier: Apache-2.0
"""`flexdyn simulate SCENARIO.yaml`: runs a scenario, writes its results and prints a summary."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from flexdyn_ros.cli.options import print_json
from flexdyn_ros.cli.simulation_results import (
    further_files,
    kept_motion,
    print_summary,
    shown_imbalance,
    summarise,
    write_files,
)
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.output_files import new_folder, write_table
from flexdyn_ros.progress import ProgressBar

ENDINGS = ('.yaml', '.yml')


def is_scenario(word: str) -> bool:
    """Return whether a word of the call names a scenario."""
    return Path(word).suffix.lower() in ENDINGS


def run_scenario(call: argparse.Namespace) -> int:
    """Run the scenario of a call; return the exit code."""
    from flexdyn_ros.robot_dynamics import Dynamics
    from flexdyn_ros.scenario import load, run

    scenario = load(call.urdf, _changes(call))
    outputs = scenario.data['outputs']
    further = further_files(
        call, Dynamics(scenario.robot), Path(scenario.data['robot']).parent)
    folder = new_folder(call.out or outputs['folder'] or scenario.name)
    with kept_motion(folder), shown_imbalance(), ProgressBar(label='simulating') as bar:
        found = run(scenario, bar.update)
    files = write_files(
        found.motion, folder, plots=outputs['plots'] and not call.no_plots, csv=outputs['csv'],
        npz=outputs['npz'], references=found.references, frames=found.frames,
        further=further)
    if found.frames:
        files.append(_write_frames(folder / 'frames.csv', found))
    summary = summarise(
        scenario.robot, found.motion, found.step, found.limit, found.wall_time, folder, files)
    summary.update(scenario=str(scenario.file), **found.summary())
    if call.json:
        print_json(summary)
    else:
        for name, each in summary['tracking_errors'].items():
            print(f'{name}: largest error {each["largest"]:.4g}, rms {each["rms"]:.4g}, '
                  f'at the end {each["final"]:.4g}')
        print_summary(summary)
    return 0


def _write_frames(file: Path, found: Any) -> Path:
    """Write the positions of links over time."""
    import numpy as np

    heads = ['t', *(f'{name}/{axis}' for name in found.frames for axis in 'xyz')]
    return write_table(file, heads, np.column_stack([found.motion.t, *found.frames.values()]))


def _changes(call: argparse.Namespace) -> dict[str, Any]:
    """Return the values that a call sets, by their keys."""
    arguments = (word.partition(':=') for word in call.xacro_arguments)
    return {
        **{f'arguments.{name}': value for name, _, value in arguments},
        **changed_values(call.set)}


def changed_values(words: list[str]) -> dict[str, Any]:
    """Return the values of KEY=VALUE words, by their keys."""
    import yaml

    changes: dict[str, Any] = {}
    for word in words:
        key, separator, text = word.partition('=')
        if not separator:
            raise ArgumentError('--set', f'needs KEY=YAML, not "{word}"')
        try:
            changes[key] = yaml.safe_load(text)
        except yaml.YAMLError:
            raise ArgumentError(
                '--set', f'gives {key} the value "{text}", expected YAML') from None
    return changes
