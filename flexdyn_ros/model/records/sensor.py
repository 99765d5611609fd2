# SPDX-License-Identifier: Apache-2.0
"""A sensor on the arm: its place, its quantity, its noise."""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.model.records.base import Record, Vector3

# Quantities of a joint, with their units; all others are those of a link.
AT_JOINTS = ('motor_position', 'link_position', 'force', 'torque')


@dataclass(frozen=True, repr=False)
class MountedSensor(Record):
    """
    One measured quantity.

    Attributes:
        name: Its name.
        measures: motor_position, link_position, angular_velocity, acceleration, force, torque or
            strain.
        frame: Name of a joint for `AT_JOINTS`, of a link for the others.
        axis: Unit vector of the measured direction in that frame; of a strain gauge, from the
            beam's axis to the gauge.
        noise: Standard deviation of one reading [rad | m, rad/s, m/s^2, N, N m, 1].
        at: Of a strain gauge: fraction of the beam's length.
        distance: Of a strain gauge: from the beam's axis [m].
    """

    name: str
    measures: str
    frame: str
    noise: float
    axis: Vector3 = (1.0, 0.0, 0.0)
    at: float = 0.0
    distance: float = 0.0
