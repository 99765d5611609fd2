# SPDX-License-Identifier: Apache-2.0
"""Pictures of the mode shapes of links."""

from __future__ import annotations

import math
import os
from typing import Any, Union

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.figures import grid, line, save
from flexdyn_ros.model.beam.body import link_body
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.modal import ModalArrays
from flexdyn_ros.model.records.robot import Robot
import numpy as np

_COLUMNS = 4
_POINTS = 101
# Title, places along the link (n,), translation (n, 3) and rotation (n, 3) of a mode.
Shape = tuple[str, np.ndarray, np.ndarray, np.ndarray]


def save_mode_shapes(robot: Robot, path: Union[str, os.PathLike[str]]) -> None:
    """
    Draw displacement and rotation of each mode of beams and files along its link, as PNG or SVG.

    Args:
        robot: The robot.
        path: The file to write.

    Raises:
        ArgumentError: No link has such modes.
        FlexdynError: matplotlib is not installed.
    """
    shapes = [shape for link in robot.links for shape in _shapes(link)]
    if not shapes:
        raise ArgumentError('plot', 'needs a link with modes of a beam or a file')
    _save(shapes, path)


def save_file_shapes(arrays: ModalArrays, path: Union[str, os.PathLike[str]]) -> None:
    """
    Draw each mode of a file along the link, as PNG or SVG.

    Args:
        arrays: The contents of the file.
        path: The file to write.

    Raises:
        FlexdynError: matplotlib is not installed.
    """
    rates = np.sqrt(np.diag(arrays.stiffness) / np.diag(arrays.modal_mass))
    titles = [f'mode {number}: {rate / (2.0 * math.pi):.4g} Hz' for number, rate in
              zip(arrays.mode_numbers.tolist(), rates.tolist())]
    _save(_file_shapes(arrays, titles), path)


def _save(shapes: list[Shape], path: Union[str, os.PathLike[str]]) -> None:
    columns = min(len(shapes), _COLUMNS)
    rows = math.ceil(len(shapes) / columns)
    figure, panels = grid(rows, columns, (3.6 * columns, 2.6 * rows))
    for axes in panels.flat[len(shapes):]:
        axes.remove()
    for axes, (title, along, translation, rotation) in zip(panels.flat, shapes):
        style: dict[str, Any] = {'marker': '.', 'markersize': 3}
        if np.unique(along).size < len(along):  # nodes of a solid: no line from one to the next
            style['linestyle'] = 'none'
        turns = not translation.any()
        values, name = (rotation, 'θ') if turns else (translation, 'u')
        for a, axis in enumerate('xyz'):
            if turns or np.abs(values[:, a]).max() > 1e-6 * np.abs(values).max():
                axes.plot(along, values[:, a], label=f'{name}{axis}', **{**line(a), **style})
        axes.set_title(title, fontsize='small')
        axes.legend(fontsize='x-small')
        axes.axhline(0.0, color='0.7', linewidth=0.6)
        axes.set_xlabel('along the link [m]', fontsize='x-small')
        axes.set_ylabel('rotation [rad]' if turns else 'deflection [m]', fontsize='x-small')
    save(figure, path)


def _file_shapes(arrays: ModalArrays, titles: list[str]) -> list[Shape]:
    places = arrays.node_positions
    tip = places[int(np.argmax(np.linalg.norm(places, axis=1)))]
    along = np.round(places @ tip / np.linalg.norm(tip), 9)
    order = np.argsort(along, kind='stable')
    return [(title, along[order], arrays.translation[k][order], arrays.rotation[k][order])
            for k, title in enumerate(titles)]


def _shapes(link: Link) -> list[Shape]:
    """Return the shapes of the modes of a link."""
    if link.segments is not None or not link.mode_names:
        return []
    body = link_body(link)
    titles = [f'{mode.name}: {mode.frequency / (2.0 * math.pi):.4g} Hz' for mode in body.modes]
    if link.modal is not None and link.modal.arrays is not None:
        return _file_shapes(link.modal.arrays, titles)
    assert link.beam is not None and body.centre_line is not None
    fractions = np.linspace(0.0, 1.0, _POINTS)
    nodes = [body.node_at(body.centre_line(x)) for x in fractions]
    translation = np.stack([node.translation for node in nodes], axis=1)
    rotation = np.stack([node.rotation for node in nodes], axis=1)
    return [(title, fractions * link.beam.length, translation[k], rotation[k])
            for k, title in enumerate(titles)]
