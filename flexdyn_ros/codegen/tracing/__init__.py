# SPDX-License-Identifier: Apache-2.0
"""From a robot to a program: algorithms run on symbols, in the cheapest of their formulations."""
