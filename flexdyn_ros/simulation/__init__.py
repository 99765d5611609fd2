# SPDX-License-Identifier: Apache-2.0
"""Simulation: integrate a robot's motion, keep it, plot it."""

from flexdyn_ros.simulation.divergence import SimulationDiverged
from flexdyn_ros.simulation.integrate import simulate
from flexdyn_ros.simulation.record import Trajectory
from flexdyn_ros.simulation.torque_laws import TorqueTable
from flexdyn_ros.simulation.torque_laws import TrackingTorque

__all__ = [
    'simulate', 'SimulationDiverged', 'TorqueTable', 'TrackingTorque', 'Trajectory',
]
