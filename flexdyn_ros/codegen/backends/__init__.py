# SPDX-License-Identifier: Apache-2.0
"""Backends of `Dynamics` on generated code, and their common parts."""
