# SPDX-License-Identifier: Apache-2.0
"""From a beam's data to its modes: shapes, the vibration problem, body, inertia."""
