# SPDX-License-Identifier: Apache-2.0
"""Study of geometric stiffening: a rotating beam and a loaded column against printed values."""
