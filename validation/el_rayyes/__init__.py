# SPDX-License-Identifier: Apache-2.0
"""Cases of El-Rayyes's thesis of 1990."""
