# SPDX-License-Identifier: Apache-2.0
"""Paths of a tip in several codes, one on the other, and their distances over time."""

from __future__ import annotations

from pathlib import Path
from typing import Mapping

import numpy as np
from validation.other_codes.motion import distances, sample_times, TipMotion
from validation.studies import COLOURS, new_figure, save_figure

_SMALLEST = 3e-8  # distance shown [m]


def draw_tips(
    path: Path, motions: Mapping[str, TipMotion], t_end: float, plane: tuple[int, int]
) -> None:
    """
    Draw the paths in a plane, and the distances from the first motion.

    Args:
        path: Of the picture.
        motions: By name; the others are compared with the first.
        t_end: Duration [s].
        plane: The two axes of the ground that are shown.
    """
    figure = new_figure(11.0, 4.4)
    left, right = figure.subplots(1, 2)
    times, styles = sample_times(t_end), ('-', '--', '-.', ':', (0, (5, 1)), (0, (1, 1)), '-')
    (first, reference), *others = motions.items()
    left.plot(*reference.tip[:, plane].T, color='0.75', linewidth=6, label=first)
    for k, (label, motion) in enumerate(others):
        left.plot(*motion.tip[:, plane].T, color=COLOURS[k], linestyle=styles[k], label=label)
        far = distances(motion, reference)
        right.semilogy(times[1:], np.maximum(far[1:], _SMALLEST), color=COLOURS[k],
                       linestyle=styles[k], linewidth=1.2, label=label)
    left.plot(*reference.tip[0, plane], 'o', color='black', markersize=4)
    left.annotate('start', reference.tip[0, plane], (6, -4), textcoords='offset points')
    names = 'xyz'
    left.set(xlabel=f'{names[plane[0]]} [m]', ylabel=f'{names[plane[1]]} [m]',
             title='Path of the tip')
    left.legend(frameon=False, fontsize='small')
    right.axhline(1e-3, color='black', linestyle=':', linewidth=1)
    right.annotate('1 mm', (times[0], 1e-3), (0, 4), textcoords='offset points')
    right.set(xlabel='time [s]', ylabel='[m]', ylim=(_SMALLEST, 1e-2),
              title=f'Distance from: {first}')
    right.legend(frameon=False, fontsize='small', ncols=2, loc='lower center')
    save_figure(figure, path.parent, path.name)
