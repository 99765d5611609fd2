# SPDX-License-Identifier: Apache-2.0
"""Active damping of an arm's first modes by torques of its joints."""

from flexdyn_ros.active_damping.design import ActiveDamping, damping_controller

__all__ = ['ActiveDamping', 'damping_controller']
