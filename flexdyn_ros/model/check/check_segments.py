# SPDX-License-Identifier: Apache-2.0
"""What is doubtful in a link in segments: how far its stiffness is from the beam's."""

from __future__ import annotations

from flexdyn_ros.model.check.findings import Finding
from flexdyn_ros.model.check.findings import WARNING
from flexdyn_ros.model.robot.link import Link

# Static deflections off by more than this fraction are reported.
COARSE = 0.02


def segment_findings(link: Link) -> list[Finding]:
    """Return whether a link has too few segments to bend as its beam does."""
    segments = link.segments
    if segments is None:
        return []
    n = segments.count
    # Static deflection of the tip under a force, as a fraction of the beam's: see segments.py.
    ratio = (2 * n * n - 3 * n + 1) / (2 * n * n)
    advice = 'Write placement="centred", whose error is of second order'
    if segments.placement == 'centred':
        ratio, advice = 1.0 - 0.25 / (n - 1) ** 2, 'Take more segments'
    bending = set(segments.directions) - {'x'}
    if not bending or 1.0 - ratio <= COARSE:
        return []
    return [
        Finding(
            WARNING,
            'link',
            link.name,
            f'{n} segments, placement="{segments.placement}", let the tip bend by '
            f'{100.0 * ratio:.3g} percent of the deflection of their beam',
            advice,
        )
    ]
