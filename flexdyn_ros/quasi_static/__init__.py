# SPDX-License-Identifier: Apache-2.0
"""Modes that follow the joint motion statically: a reduced form of the equations of motion."""

from flexdyn_ros.quasi_static.dynamics import QuasiStatic
from flexdyn_ros.quasi_static.simulation import simulate_quasi_static

__all__ = ['QuasiStatic', 'simulate_quasi_static']
