# SPDX-License-Identifier: Apache-2.0
"""Writes docs/generation.md: an example through every pass, and the worth of each pass."""
