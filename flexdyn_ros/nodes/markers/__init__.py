# SPDX-License-Identifier: Apache-2.0
"""Markers of the deflection markers node."""
