# SPDX-License-Identifier: Apache-2.0
"""Tip deflections of flexible links over a motion."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from flexdyn_ros.model.beam.body import beam_field
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.records.segments import tip_deflection
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np

Names = tuple[str, ...]
# A shape that moves the tip less than this, of its unit deflection, stands still there.
_STILL = 1e-9
# Motion of the tip by a family, its unit, and its place in displacement, then rotation.
_TIP_SUFFIX = {'bending_y': ('tip_y', 'm', 1), 'bending_z': ('tip_z', 'm', 2),
               'torsion': ('tip_twist', 'rad', 3), 'axial': ('tip_x', 'm', 0)}
# Motion of the tip by rotation about each axis, its unit, and its place in `tip_deflection`.
_SEGMENT_TIPS = {'z': ('tip_y', 'm', 0), 'y': ('tip_z', 'm', 1), 'x': ('tip_twist', 'rad', 2)}
_families: WeakKeyDictionary[Dynamics, tuple[Names, Names, np.ndarray]] = WeakKeyDictionary()


def tip_deflections(dyn: Dynamics, q: np.ndarray) -> tuple[Names, Names, np.ndarray]:
    """
    Return names, units and values of the tip deflections of a robot's flexible links.

    The modes' shapes at the tip, mostly one, times their coordinates sum up to it.

    Args:
        dyn: The dynamics, which also keys the shapes found once a robot.
        q: Configurations, (T, nq).

    Returns:
        Names, units, and the deflections in beam axes, (T, n_tips) [m | rad].
    """
    if dyn not in _families:
        _families[dyn] = _family_tips(dyn.robot)
    names, units, selection = _families[dyn]
    segment_names, segment_units, values = _segment_tips(dyn.robot, q)
    tips = np.hstack([q @ selection.T, values])
    return names + segment_names, units + segment_units, tips


def _family_tips(robot: Robot) -> tuple[Names, Names, np.ndarray]:
    """Return names and units of tip deflections, and the matrix (n_tips, nq) that gives them."""
    names: list[str] = []
    units: list[str] = []
    rows: list[np.ndarray] = []
    size, first_mode = robot.nq, robot.nq - robot.n_modes
    index = {name: first_mode + k for k, name in enumerate(robot.mode_names)}
    for link in robot.links:
        if link.beam is None:
            continue
        if link.beam.families:
            field = beam_field(link.beam, np.ones(1))
            at_tip = np.concatenate((field.translation[:, 0], field.rotation[:, 0]), axis=1)
        for family in link.beam.families:
            suffix, unit, place = _TIP_SUFFIX[family.kind]
            row = np.zeros(size)
            for name, value in zip(link.mode_names, at_tip[:, place]):
                row[index[name]] = value if abs(value) > _STILL else 0.0
            names.append(link.full_name(suffix))
            units.append(unit)
            rows.append(row)
    return tuple(names), tuple(units), np.array(rows).reshape(len(rows), size)


def _segment_tips(robot: Robot, q: np.ndarray) -> tuple[Names, Names, np.ndarray]:
    """Return names, units and tip deflections of links in segments, exact for any angles."""
    names: list[str] = []
    units: list[str] = []
    columns: list[np.ndarray] = []
    for link in robot.links:
        if link.segments is None:
            continue
        first = robot.nq - robot.n_modes + robot.mode_names.index(link.mode_names[0])
        angles = q[:, first : first + len(link.mode_names)]
        values = tip_deflection(link.segments, angles) if len(q) else np.zeros((0, 3))
        for axis, (suffix, unit, place) in _SEGMENT_TIPS.items():
            if axis in link.segments.directions:
                names.append(link.full_name(suffix))
                units.append(unit)
                columns.append(values[:, place])
    return tuple(names), tuple(units), np.array(columns).reshape(len(columns), len(q)).T
