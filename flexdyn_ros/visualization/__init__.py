# SPDX-License-Identifier: Apache-2.0
"""Appearance of an arm: its visual meshes, bent by modes and segments, and their colours."""
