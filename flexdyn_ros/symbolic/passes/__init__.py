# SPDX-License-Identifier: Apache-2.0
"""Passes over programs, one a file: each returns an equal program with fewer operations."""
