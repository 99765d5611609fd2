# SPDX-License-Identifier: Apache-2.0
"""The robot as loaded: frozen records of links, joints, loops and springs, in SI units."""
