# SPDX-License-Identifier: Apache-2.0
"""Mass and inertia of links and of what joints carry: hubs, composite bodies, loads of beams."""
