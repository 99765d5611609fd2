# SPDX-License-Identifier: Apache-2.0
"""Linear state space about a state, static equilibrium, and frequencies over speed and pose."""

from flexdyn_ros.linearisation.linear_system import LinearSystem
from flexdyn_ros.linearisation.state_space import linearise

__all__ = ['linearise', 'LinearSystem']
