# SPDX-License-Identifier: Apache-2.0
"""The motion of an arm from messages, free of ROS: coordinates, states and derived motion."""
