# SPDX-License-Identifier: Apache-2.0
"""Chains in the SDOF notation: read into URDF text, and written from robots."""
