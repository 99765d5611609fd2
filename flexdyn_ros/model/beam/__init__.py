# SPDX-License-Identifier: Apache-2.0
"""From the data of a beam to its modes: cross-sections, mode shapes, the vibration problem."""
