# SPDX-License-Identifier: Apache-2.0
"""The same flexible arms in other programs, in the same run."""
