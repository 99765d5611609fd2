# SPDX-License-Identifier: Apache-2.0
"""Tolerances of zero where loops are solved, in Python (`closed_chains/`) and in C."""

# Pivots of the constraint Jacobian, A^T P = Q R, below this fraction of the first one.
RANK_TOLERANCE = 1e-9
# Constraints that repeat each other do so on closed configurations only. An error e [m | rad]
# makes their pivots grow to about e over the lengths of links; this allows for it.
TOLERANCE_OF_ERROR, LARGEST_TOLERANCE = 10.0, 1e-3
# Pivots of the mass matrix on the null space below this fraction of the largest: no inertia.
PIVOT_TOLERANCE = 1e-14
# Accelerations that loops cannot give, relative to the wanted ones, that draw a warning.
CONTRADICTION = 1e-6
# Forces left on passive joints, relative to the largest, that a motion may not need.
UNATTAINABLE = 1e-6
# Below this constraint error [m | rad] one set of spaces leads to the nearest closed state.
NEARLY_CLOSED = 1e-6
# Constraint errors below this, times the size of the constraint Jacobian, are closed [m | rad].
CLOSED = 1e-13
