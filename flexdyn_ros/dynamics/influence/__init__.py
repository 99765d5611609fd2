# SPDX-License-Identifier: Apache-2.0
"""Dynamics by the method of kinematic influence (Graves)."""
