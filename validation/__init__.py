# SPDX-License-Identifier: Apache-2.0
"""Every published case with its numbers beside ours: run by name, written as one page."""
