# SPDX-License-Identifier: Apache-2.0
"""Results of `flexdyn simulate`: its folder, files and summary."""

from __future__ import annotations

import argparse
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator, Optional, Sequence, TYPE_CHECKING
import warnings

from flexdyn_ros.errors import FileNotWritten, FlexdynError
from flexdyn_ros.progress import ProgressBar
from flexdyn_ros.terminal import warn

if TYPE_CHECKING:
    from flexdyn_ros.simulation import Trajectory


@contextmanager
def shown_imbalance() -> Iterator[None]:
    """Show the warning of an energy balance that is not kept as one of the command line."""
    with warnings.catch_warnings(record=True) as caught:
        yield
    for each in caught:
        warn(str(each.message))


Write = tuple[Callable[['Trajectory', Path], Path], str]
"""The writer of a further file of a motion, and its name."""


def further_files(call: argparse.Namespace, dyn: Any, start: Optional[Path]) -> list[Write]:
    """
    Return the writers of the files of --mcap and --html.

    Args:
        call: The call.
        dyn: Dynamics of the robot.
        start: Folder that relative names of meshes start from, or None.

    Raises:
        FlexdynError: A library that they need is not installed, or the description of a visual
            is wrong.
    """
    found: list[Write] = []
    if call.mcap:
        from flexdyn_ros.visualization.mcap_file import rosbags, save_mcap

        rosbags()
        found.append((lambda motion, path: save_mcap(motion, dyn, path), 'trajectory.mcap'))
    if call.html:
        from flexdyn_ros.visualization.page import save_page, three_js
        from flexdyn_ros.visualization.scene import Scene
        from flexdyn_ros.visualization.visuals import package_folders

        three_js()
        packages = package_folders(call.package, '--package')
        scene = Scene(dyn, start, packages)
        found.append((lambda motion, path: save_page(motion, scene, path, call.factor),
                      'trajectory.html'))
    return found


@contextmanager
def kept_motion(folder: Path) -> Iterator[None]:
    """Write the motion that an error or an interrupt carries, if it has any."""
    from flexdyn_ros.simulation import SimulationDiverged

    try:
        yield
    except (KeyboardInterrupt, FlexdynError) as error:
        motion = getattr(error, 'trajectory', None)
        if motion is not None and len(motion):
            write_files(motion, folder, plots=False)
            event = 'divergence' if isinstance(error, SimulationDiverged) else (
                'interrupt' if isinstance(error, KeyboardInterrupt) else 'error')
            warn(f'the motion before the {event}, {motion.t[-1]:.6g} s of it, is in {folder}; '
                 'draw it by flexdyn plot')
        raise


def write_files(
    trajectory: 'Trajectory', folder: Path, plots: bool, csv: bool = True, npz: bool = True,
    references: Any = None, frames: Any = None, further: Sequence[Write] = (),
) -> list[Path]:
    """Write the files; one that cannot be written does not keep the other from its place."""
    files, failed = [], None
    # The smaller file first: a disk that is nearly full may still take it.
    for wanted, write, name in (
        (npz, trajectory.save_npz, 'trajectory.npz'), (csv, trajectory.to_csv, 'trajectory.csv'),
    ):
        try:
            if wanted:
                files.append(write(folder / name))
        except FileNotWritten as error:
            failed = failed or error
    if failed is not None:
        for path in files:
            warn(f'{path} is written; free space for the others')
        raise failed
    files.reverse()
    with ProgressBar(label='writing') as bar:
        for k, (save, name) in enumerate(further):
            bar.update(k / (len(further) + plots))
            files.append(save(trajectory, folder / name))
        if plots:
            from flexdyn_ros.simulation.plot import save_plots

            bar.update(len(further) / (len(further) + 1))
            files += save_plots(trajectory, folder, references, frames)
    return files


def summarise(
    robot: Any, trajectory: 'Trajectory', dt: float, limit: Optional[float], wall: float,
    folder: Path, files: list[Path],
) -> dict[str, Any]:
    """
    Return the summary of a motion, as `--json` prints it.

    Args:
        robot: The robot.
        trajectory: The motion.
        dt: Time step [s].
        limit: Largest stable step [s], or None.
        wall: Time that the simulation took [s].
        folder: Folder of the results.
        files: The files written.
    """
    change = trajectory.energy - trajectory.energy[0]
    tips = {
        name: {'unit': unit, 'peak': float(abs(trajectory.tips[:, k]).max())}
        for k, (name, unit) in enumerate(zip(trajectory.tip_names, trajectory.tip_units))
    }
    return {
        'robot': trajectory.robot_name,
        'method': trajectory.method,
        't_end': float(trajectory.t[-1]),
        'dt': dt,
        'step_limit': limit,
        'samples': len(trajectory),
        'energy_start': float(trajectory.energy[0]),
        'energy_end': float(trajectory.energy[-1]),
        'energy_change': float(change[-1]),
        'energy_change_largest': float(abs(change).max()),
        'tip_deflections': tips,
        'final_configuration': dict(zip(trajectory.names, trajectory.q[-1].tolist())),
        'final_velocity': dict(zip(trajectory.velocity_names, trajectory.qd[-1].tolist())),
        'wall_time': wall,
        'real_time_factor': float(trajectory.t[-1]) / wall,
        'folder': str(folder),
        'files': [str(path) for path in files],
        'base_wrench_peak': _base_wrench(robot, trajectory),
    }


def _base_wrench(robot: Any, trajectory: 'Trajectory') -> dict[str, float]:
    """Return the largest wrench on a prescribed base by coordinate; nothing for another."""
    if robot.base_motion != 'prescribed':
        return {}
    names = trajectory.velocity_names[:6]
    return dict(zip(names, abs(trajectory.tau[:, :6]).max(axis=0).tolist()))


def print_summary(summary: dict[str, Any]) -> None:
    """Print the result of `summarise`."""
    print(
        f'{summary["robot"]}: {summary["samples"]} samples, {summary["t_end"]:g} s by '
        f'{summary["method"]} with dt = {summary["dt"]:.6g} s'
    )
    print(
        f'energy: {summary["energy_start"]:.6g} J to {summary["energy_end"]:.6g} J, '
        f'change {summary["energy_change"]:.3g} J, '
        f'largest change {summary["energy_change_largest"]:.3g} J '
        '(work, losses and integration error)'
    )
    for name, force in summary['base_wrench_peak'].items():
        unit = 'N' if name.rpartition('/')[2].startswith('t') else 'N m'
        print(f'peak of the wrench on {name}: {force:.4g} {unit}')
    for name, tip in summary['tip_deflections'].items():
        print(f'peak of {name}: {tip["peak"]:.4g} {tip["unit"]}')
    print(
        f'wall time {summary["wall_time"]:.3g} s with first compiling, real-time factor '
        f'{summary["real_time_factor"]:.3g} (above 1 is faster than real time)'
    )
    names = ', '.join(Path(path).name for path in summary['files'])
    print(f'wrote {names} into the folder')
    print(summary['folder'])
