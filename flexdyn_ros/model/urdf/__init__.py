# SPDX-License-Identifier: Apache-2.0
"""Links and joints of a URDF, checked and put into the order of their tree."""
