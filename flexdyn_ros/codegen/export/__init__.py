# SPDX-License-Identifier: Apache-2.0
"""From a program to code: C, Python and Fortran."""
