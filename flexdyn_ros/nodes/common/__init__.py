# SPDX-License-Identifier: Apache-2.0
"""Common parts of all nodes: life cycle, parameters, topics, transforms and diagnostics."""
