# SPDX-License-Identifier: Apache-2.0
"""What all nodes share: life cycle, parameters, topics, transforms and diagnostics."""
