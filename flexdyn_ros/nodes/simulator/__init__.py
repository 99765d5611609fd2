# SPDX-License-Identifier: Apache-2.0
"""The simulated arm of the forward dynamics node."""
