# SPDX-License-Identifier: Apache-2.0
"""The robot model of a URDF and its flexdyn extension."""
