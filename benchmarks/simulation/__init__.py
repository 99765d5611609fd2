# SPDX-License-Identifier: Apache-2.0
"""Wall time of simulated motions: against the dynamics inside, other codes, and longer chains."""
