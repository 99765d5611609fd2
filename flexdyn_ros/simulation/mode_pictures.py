# SPDX-License-Identifier: Apache-2.0
"""Pictures of the mode shapes of links."""

from __future__ import annotations

import math
import os
from typing import Any, Union

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.beam.body import link_body
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.output_files import new_file
from flexdyn_ros.simulation.plot import figure_class
import numpy as np

_COLUMNS = 4
_POINTS = 101


def save_mode_shapes(robot: Robot, path: Union[str, os.PathLike[str]]) -> None:
    """
    Draw displacement and rotation of each mode of beams and files along its link, as PNG.

    Args:
        robot: The robot.
        path: The file to write.

    Raises:
        ArgumentError: No link has such modes.
        FlexdynError: matplotlib is not installed.
    """
    shapes = [shape for link in robot.links for shape in _shapes(link)]
    if not shapes:
        raise ArgumentError('plot', 'has nothing to draw: no link has modes of a beam or a file')
    rows = math.ceil(len(shapes) / _COLUMNS)
    figure = figure_class()(
        figsize=(3.6 * min(len(shapes), _COLUMNS), 2.6 * rows), constrained_layout=True
    )
    for place, (title, along, translation, rotation) in enumerate(shapes, start=1):
        axes = figure.add_subplot(rows, min(len(shapes), _COLUMNS), place)
        style: dict[str, Any] = {'marker': '.', 'markersize': 3}
        for a, axis in enumerate('xyz'):
            if np.abs(translation[:, a]).max() > 1e-6 * np.abs(translation).max():
                axes.plot(along, translation[:, a], label=f'u{axis}', **style)
            if not np.abs(translation).max():
                axes.plot(along, rotation[:, a], '--', label=f'θ{axis}', **style)
        axes.set_title(title, fontsize='small')
        axes.legend(fontsize='x-small')
        axes.axhline(0.0, color='0.7', linewidth=0.6)
        axes.set_xlabel('along the link [m]', fontsize='x-small')
    with new_file(path) as file:
        figure.savefig(file, dpi=130, format='png')


def _shapes(link: Link) -> list[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """Return title, places along the link, translation (n, 3) and rotation (n, 3) of its modes."""
    if link.segments is not None or not link.mode_names:
        return []
    body = link_body(link)
    if link.modal is not None and link.modal.arrays is not None:
        arrays = link.modal.arrays
        tip = np.array(link.modal.tip)
        along = arrays.node_positions @ tip / np.linalg.norm(tip)
        order = np.argsort(along, kind='stable')
        along, translation = along[order], arrays.translation[:, order]
        rotation = arrays.rotation[:, order]
    else:
        assert link.beam is not None and body.centre_line is not None
        fractions = np.linspace(0.0, 1.0, _POINTS)
        nodes = [body.node_at(body.centre_line(x)) for x in fractions]
        along = fractions * link.beam.length
        translation = np.stack([node.translation for node in nodes], axis=1)
        rotation = np.stack([node.rotation for node in nodes], axis=1)
    return [
        (f'{mode.name}: {mode.frequency / (2.0 * math.pi):.4g} Hz', along, translation[k],
         rotation[k])
        for k, mode in enumerate(body.modes)
    ]
