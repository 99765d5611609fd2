# SPDX-License-Identifier: Apache-2.0
"""Speed of the compiled backend against Pinocchio and against its own requirements."""
