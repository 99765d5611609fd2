# SPDX-License-Identifier: Apache-2.0
"""The torque of the inverse dynamics node: its inputs, its terms and its publication."""
