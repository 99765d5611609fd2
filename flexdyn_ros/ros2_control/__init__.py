# SPDX-License-Identifier: Apache-2.0
"""The package for ros2_control that is written for a robot."""

from flexdyn_ros.ros2_control.package import control_package

__all__ = ['control_package']
