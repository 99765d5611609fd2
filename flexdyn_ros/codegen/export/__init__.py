# SPDX-License-Identifier: Apache-2.0
"""From a program to code: C, Python, Fortran, kernels, machine code, instructions."""
