# SPDX-License-Identifier: Apache-2.0
"""Identification of a robot's parameters from recorded motions."""

from flexdyn_ros.identification.identification import Estimate, Identification
from flexdyn_ros.identification.identify import identify
from flexdyn_ros.identification.modes import identify_modes, VibrationMode
from flexdyn_ros.identification.motion import Motion

__all__ = ['Estimate', 'identify', 'identify_modes', 'Identification', 'Motion', 'VibrationMode']
