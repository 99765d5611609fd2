# SPDX-License-Identifier: Apache-2.0
"""Simulation: integrate a robot's motion, keep it, plot it."""

from flexdyn_ros.simulation.computed_torque import ComputedTorque
from flexdyn_ros.simulation.divergence import SimulationDiverged
from flexdyn_ros.simulation.energy_balance import EnergyNotKept
from flexdyn_ros.simulation.integrate import simulate
from flexdyn_ros.simulation.record import Trajectory
from flexdyn_ros.simulation.stability import StepTooLarge
from flexdyn_ros.simulation.torque_laws import TorqueTable, TrackingTorque

__all__ = [
    'ComputedTorque', 'EnergyNotKept', 'simulate', 'SimulationDiverged', 'StepTooLarge',
    'TorqueTable', 'TrackingTorque', 'Trajectory',
]
