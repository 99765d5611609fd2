# SPDX-License-Identifier: Apache-2.0
"""The search for programs with fewer operations: a network of polynomials and its divisors."""
