# SPDX-License-Identifier: Apache-2.0
"""Models adjusted to modes that are measured on a bench."""
