# SPDX-License-Identifier: Apache-2.0
"""Closed chains: motion and forces under constraints, and states that meet them."""
