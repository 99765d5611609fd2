# SPDX-License-Identifier: Apache-2.0
"""How beam modes converge: python -m benchmarks.mode_convergence."""
