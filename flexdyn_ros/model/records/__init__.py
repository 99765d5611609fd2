# SPDX-License-Identifier: Apache-2.0
"""Frozen records of the robot as loaded, in SI units: values that compare and hash."""
