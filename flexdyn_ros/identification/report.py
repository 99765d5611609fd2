# SPDX-License-Identifier: Apache-2.0
"""Files of an identification: URDF, report in Markdown with pictures, JSON."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence, Union

from flexdyn_ros.figures import COLOURS, column, legend, line, MEASURED, save
from flexdyn_ros.identification.friction import DESCRIBED
from flexdyn_ros.identification.motion import Motion
from flexdyn_ros.identification.signals import irregular_stamps
from flexdyn_ros.output_files import json_text, new_folder, write_text

# An `Identification`, whose module imports this one.
Found = Any


def write_report(found: Found, folder: Union[str, os.PathLike[str]]) -> list[Path]:
    """Write all files into a folder, which is made; return their paths."""
    from flexdyn_ros.identification.description import identified_urdf

    urdf = identified_urdf(found.model.robot, found.robot)
    place = new_folder(folder)
    pictures = [f'torques_{k + 1}.png' for k in range(len(found.motions))]
    files = [write_text(place / f'{found.robot.name.replace("/", "_")}.urdf', urdf)]
    for motion, name in zip(found.motions, pictures):
        files.append(save(torque_figure(found, motion), place / name))
    files.append(write_text(place / 'report.md', report_text(found, pictures)))
    files.append(write_text(place / 'identification.json', json_text(found.record()) + '\n'))
    return files


def report_text(found: Found, pictures: Sequence[str]) -> str:
    """Return the report, with the pictures that it shows."""
    path, statistics, names = found.path, found.statistics, found.model.coordinates
    residuals = [
        ('torque', statistics.torque_rms),
        ('residual of the description', statistics.described_rms),
        ('residual', statistics.residual_rms),
        ('residual, physical parameters', statistics.physical_rms),
        *((f'residual on motion {k + 1}, fitted without it', each)
          for k, each in enumerate(statistics.cross_validation)),
    ]
    missing = [term for term in found.model.terms if term not in DESCRIBED]
    lines = [
        f'# Identification of {found.robot.name}', '', '## Warnings', '',
        *(f'- {each}' for each in found.warnings or ['None.']), '', '## Signal path', '',
        f'- Positions and torques: Butterworth filter of order 4 at {path.cutoff:.4g} Hz, '
        'forwards and backwards.',
        f'- Rate of the samples {path.rate:.5g} Hz, of the rows {path.row_rate:.4g} Hz.',
        *(f'- Motion {k + 1}: {_irregular(motion)}' for k, motion in enumerate(found.motions)),
        f'- The delay of torques behind positions, {1e3 * path.delay:.3g} ms, is removed.',
        f'- Left out: {path.trimmed:.3g} s at ends, at gaps and around torques above '
        f'{path.saturation} of the effort limit.',
        f'- Rows {statistics.samples}, motions {len(found.motions)}; condition number '
        f'{statistics.condition:.4g}.',
        *([f'- Physical parameters: {found.solver}.'] if found.solver else []), '',
        '## Residuals, root mean square, filtered [N m | N]', '',
        *_table(['', *names], ([label, *(f'{x:.4g}' for x in row)] for label, row in residuals)),
        '', *(f'![Measured and predicted torque]({name})' for name in pictures), '',
        '## Not identifiable', '',
        *(f'- {reason}: {", ".join(names)}.' for reason, names in found.unidentified.items()),
        '', '## Parameters', '',
        'Parameters that the motions leave open follow the description. Their deviation is about '
        'their size.', '', *_table(*_estimates(found.parameters)), '',
        '## Base parameters, by least squares', '',
        *_table(*_estimates(found.base_parameters)), '', '## Shapes of friction', '',
        *_table(['joint', 'smoothing velocity', 'stribeck velocity', 'presliding length'],
                ([joint.name, f'{shape.smoothing:.3g}', f'{shape.stribeck:.3g}',
                  f'{shape.presliding:.3g}']
                 for joint, shape in zip(found.model.joints, found.shapes))), '',
    ]
    if missing:
        lines += [f'The URDF does not hold: {", ".join(missing)}. The predicted torques do.', '']
    return '\n'.join(lines)


def torque_figure(found: Found, motion: Motion) -> Any:
    """Return a figure of measured and predicted torque and their difference, joint by joint."""
    predicted = found.torque(motion)
    names = motion.names or found.model.coordinates
    figure, rows = column(len(names), 1.6, 11.0)
    for k, (axes, name) in enumerate(zip(rows, names)):
        measured = found.gains[name] * motion.tau[:, k]
        axes.plot(motion.t, measured, color=MEASURED, lw=0.8, label='measured')
        axes.plot(motion.t, predicted[:, k], label='predicted', **line(0))
        axes.plot(motion.t, measured - predicted[:, k], lw=0.5, color=COLOURS[1],
                  label='difference')
        axes.set_ylabel(f'{name}\n[N m | N]', fontsize=8)
    legend(rows[0])
    rows[-1].set_xlabel('time [s]')
    return figure


def _irregular(motion: Motion) -> str:
    """Return the way to even samples, and the source of velocities."""
    repeats, gaps = irregular_stamps(motion.t)
    rates = 'quintic splines of positions' if motion.qd is None else 'the sensors'
    return (f'{len(motion.t)} samples, {repeats} repeated stamps left out, {gaps} gaps not '
            f'bridged; linear between samples; velocities from {rates}.')


def _estimates(found: Mapping[str, Any]) -> tuple[list[str], Iterable[list[str]]]:
    rows = ([name.replace('|', ' '), f'{each.value:.5g}', f'{each.deviation:.2g}',
             each.unit.replace('|', 'or')] for name, each in found.items())
    return ['parameter', 'value', 'deviation', 'unit'], rows


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f'| {" | ".join(heads)} |', '|---' * len(heads) + '|',
            *(f'| {" | ".join(row)} |' for row in rows)]
