# SPDX-License-Identifier: Apache-2.0
"""The ROS 2 nodes: parameters in, library call, message out."""
