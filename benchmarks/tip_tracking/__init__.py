# SPDX-License-Identifier: Apache-2.0
"""Stable inversion against rigid feed-forward, with exact and with wrong models."""
