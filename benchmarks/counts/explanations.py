# SPDX-License-Identifier: Apache-2.0
"""Why a row is not below every published generator, or misses its aim."""

from __future__ import annotations

from benchmarks.counts.tables import Row

UNEXPLAINED = 'not explained yet.'
# Start of a row's label, and the reason.
REASONS: dict[str, str] = {}


def explanation(row: Row) -> str:
    """Return the reason for a row; the longest start of its label decides."""
    found = [start for start in REASONS if row.label.startswith(start)]
    return REASONS[max(found, key=len)] if found else UNEXPLAINED
