# SPDX-License-Identifier: Apache-2.0
"""Derivatives of the dynamics: dual numbers, and composite bodies."""
