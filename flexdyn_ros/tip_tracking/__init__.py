# SPDX-License-Identifier: Apache-2.0
"""Torques that move the tip of a flexible arm along a path in space."""

from flexdyn_ros.tip_tracking.boundary_value_problem import TipTrajectory
from flexdyn_ros.tip_tracking.inversion import stable_inversion
from flexdyn_ros.tip_tracking.tip_path import TipPath

__all__ = ['stable_inversion', 'TipTrajectory', 'TipPath']
