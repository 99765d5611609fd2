# SPDX-License-Identifier: Apache-2.0
"""Cases of other publications and textbooks: stiffening beams, a column, a linkage."""
