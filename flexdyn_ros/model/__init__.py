# SPDX-License-Identifier: Apache-2.0
"""The robot model: what a URDF and its flexdyn extension describe."""
