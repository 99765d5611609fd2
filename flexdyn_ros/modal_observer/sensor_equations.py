# SPDX-License-Identifier: Apache-2.0
"""Readings of sensors on the arm in a state of motion."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Sequence

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.beam.body import beam_field
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.records.sensor import MountedSensor
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np

_STEP = 1e-6  # of differences

# From q, qd and qdd, (nv,) each, to a reading.
Reading = Callable[[np.ndarray, np.ndarray, np.ndarray], float]


class SensorEquations:
    """
    The readings of sensors, from the state and the acceleration of all coordinates.

    A force/torque sensor reads the force of a joint that is held at zero in its place. Inverse
    dynamics of the robot with that joint computes it.
    """

    def __init__(self, dyn: Dynamics, sensors: Sequence[MountedSensor]):
        """
        Prepare.

        Args:
            dyn: The dynamics, under the loads of the description.
            sensors: The sensors.

        Raises:
            ArgumentError: A sensor has no noise.
        """
        for sensor in sensors:
            if not 0.0 < sensor.noise < np.inf:
                raise ArgumentError('sensors', f'has "{sensor.name}" of noise {sensor.noise}, '
                                               'expected a positive number')
        self._dyn = dyn
        self.sensors = tuple(sensors)
        self._readings = [self._reading(sensor) for sensor in sensors]

    def __call__(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Return the readings, (sensors,), in a state with the acceleration qdd, (nv,) each."""
        return np.array([reading(q, qd, qdd) for reading in self._readings])

    def _reading(self, sensor: MountedSensor) -> Reading:
        if sensor.measures in ('motor_position', 'link_position'):
            return _of_row(_position_row(self._dyn.robot, sensor))
        if sensor.measures == 'strain':
            return _of_row(_strain_row(self._dyn.robot, sensor))
        if sensor.measures in ('force', 'torque'):
            return _transmitted(self._dyn, sensor)
        return self._inertial(sensor)

    def _inertial(self, sensor: MountedSensor) -> Reading:
        dyn, frame, axis = self._dyn, sensor.frame, np.array(sensor.axis)

        def turn(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> float:
            return float(axis @ dyn.frame_pose(q, frame)[:3, :3].T
                         @ (dyn.jacobian(q, frame)[3:] @ qd))

        def acceleration(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> float:
            moved = dyn.jacobian(q, frame)[:3] @ qdd + dyn.jacobian_rate_qd(q, qd, frame)[:3]
            return float(axis @ dyn.frame_pose(q, frame)[:3, :3].T @ (moved - dyn.robot.gravity))

        return turn if sensor.measures == 'angular_velocity' else acceleration


def _of_row(row: np.ndarray) -> Reading:
    return lambda q, qd, qdd: float(row @ q)


def _position_row(robot: Robot, sensor: MountedSensor) -> np.ndarray:
    names = [sensor.frame]
    if sensor.measures == 'link_position':
        names.append(f'{sensor.frame}/elastic')
    return np.isin(robot.coordinate_names, names).astype(float)


def _strain_row(robot: Robot, sensor: MountedSensor) -> np.ndarray:
    """
    Return the strain along the beam of unit modes, (nv,): stretch + z k_y - y k_z.

    k_y and k_z are the curvatures about y and z, y and z the place on the cross-section
    (Timoshenko, Young and Weaver, Vibration Problems in Engineering, 1974, section 5.7).
    """
    link = robot.link(sensor.frame)
    assert link.beam is not None
    strain = beam_field(link.beam, np.array([sensor.at])).strain[:, 0]
    _, y, z = sensor.distance * (np.array(link.beam.axes).T @ np.array(sensor.axis))
    row = np.zeros(robot.nv)
    for name, each in zip(link.mode_names, strain):
        row[robot.coordinate_names.index(name)] = each[0] + z * each[4] - y * each[5]
    return row


def _transmitted(dyn: Dynamics, sensor: MountedSensor) -> Reading:
    robot = dyn.robot
    kind = 'prismatic' if sensor.measures == 'force' else 'revolute'
    opened = replace(robot, joints=tuple(
        replace(joint, type=kind, axis=sensor.axis) if joint.name == sensor.frame else joint
        for joint in robot.joints))
    own = Dynamics(opened, dyn.backend)
    place = opened.coordinate_names.index(sensor.frame)

    def reading(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> float:
        q, qd, qdd = (np.insert(values, place, 0.0) for values in (q, qd, qdd))
        return float(own.inverse_dynamics(q, qd, qdd)[place])

    return reading


def differences(
    function: Callable[[np.ndarray], np.ndarray], at: np.ndarray, step: float = _STEP
) -> np.ndarray:
    """Return the derivative of a vector by central differences."""
    return np.transpose([
        (function(at + move) - function(at - move)) / (2.0 * step)
        for move in step * np.eye(len(at))])
