# SPDX-License-Identifier: Apache-2.0
"""Recorder and player of identification_node."""
