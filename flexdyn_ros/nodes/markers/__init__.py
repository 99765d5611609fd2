# SPDX-License-Identifier: Apache-2.0
"""What the deflection markers node draws."""
