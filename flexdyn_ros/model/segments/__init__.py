# SPDX-License-Identifier: Apache-2.0
"""Pseudo-rigid segments: a beam as rigid bodies with springs between them."""
