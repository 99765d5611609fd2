# SPDX-License-Identifier: Apache-2.0
"""Errors of each reduced form against the exact equations."""
