# SPDX-License-Identifier: Apache-2.0
"""Inputs of the modal observer node."""
