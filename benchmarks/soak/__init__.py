# SPDX-License-Identifier: Apache-2.0
"""Long runs of the inverse dynamics node: its memory stays flat, and it keeps answering."""
