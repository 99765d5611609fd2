# SPDX-License-Identifier: Apache-2.0
"""The torque of the inverse dynamics node: what enters it, what it contains, what is published."""
