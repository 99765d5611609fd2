# SPDX-License-Identifier: Apache-2.0
"""How fast the inverse dynamics node answers joint states over DDS."""
