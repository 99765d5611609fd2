# SPDX-License-Identifier: Apache-2.0
"""Convergence of beam modes: python -m benchmarks.mode_convergence."""
