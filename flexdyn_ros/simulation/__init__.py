# SPDX-License-Identifier: Apache-2.0
"""Simulation: integrate a robot's motion, keep it, plot it."""

from flexdyn_ros.simulation.divergence import SimulationDiverged
from flexdyn_ros.simulation.integrate import simulate
from flexdyn_ros.simulation.record import Trajectory

__all__ = ['simulate', 'SimulationDiverged', 'Trajectory']
