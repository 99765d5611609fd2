# SPDX-License-Identifier: Apache-2.0
"""Frames a second that a browser gets of a bending mesh."""
