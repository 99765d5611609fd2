# SPDX-License-Identifier: Apache-2.0
"""Corrected positions for arms without a torque interface."""
