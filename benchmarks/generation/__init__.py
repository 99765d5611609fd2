# SPDX-License-Identifier: Apache-2.0
"""Writes docs/generation.md: an example through every pass, and what each pass is worth."""
