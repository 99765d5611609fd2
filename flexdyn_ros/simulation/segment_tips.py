# SPDX-License-Identifier: Apache-2.0
"""Tip deflections of links in segments, exact for any angles of the passive joints."""

from __future__ import annotations

from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.records.segments import tip_deflection
import numpy as np

Names = tuple[str, ...]
# What rotation about each axis does to the tip, its unit, and its place in `tip_deflection`.
_TIPS = {'z': ('tip_y', 'm', 0), 'y': ('tip_z', 'm', 1), 'x': ('tip_twist', 'rad', 2)}


def segment_tips(robot: Robot, q: np.ndarray) -> tuple[Names, Names, np.ndarray]:
    """
    Return names, units and values of the tip deflections of links in segments.

    Args:
        robot: The robot.
        q: Configurations, (T, nq).

    Returns:
        Names, units, and the deflections in beam axes, (T, n_tips) [m, rad].
    """
    names: list[str] = []
    units: list[str] = []
    columns: list[np.ndarray] = []
    for link in robot.links:
        if link.segments is None:
            continue
        first = robot.nq - robot.n_modes + robot.mode_names.index(link.mode_names[0])
        angles = q[:, first : first + len(link.mode_names)]
        values = tip_deflection(link.segments, angles) if len(q) else np.zeros((0, 3))
        for axis, (suffix, unit, place) in _TIPS.items():
            if axis in link.segments.directions:
                names.append(f'{link.name}/{suffix}')
                units.append(unit)
                columns.append(values[:, place])
    return tuple(names), tuple(units), np.array(columns).reshape(len(columns), len(q)).T
