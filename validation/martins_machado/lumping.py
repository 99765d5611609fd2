# SPDX-License-Identifier: Apache-2.0
"""Convergence of segments to the continuous beam: static deflection and clamped frequencies."""

from __future__ import annotations

from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.simulation.frequencies import stiffness_matrix
import numpy as np
from validation.case import Progress, Row, Verdict
from validation.case_file import expected, inputs, make_rows
from validation.registry import Code
from validation.robots import example_robot
from validation.studies import frequencies_hz, reference

# All joints but those of the last link's segments are held, which makes it a clamped beam.
_CLAMPED = 'link3/'


def convergence(progress: Progress) -> list[Row]:
    """Return the rows."""
    counts = inputs('mm_lumped_convergence')['segments']
    beam = expected('mm_lumped_convergence', 'centred')[0]
    errors = [_frequencies(n, 'reference')[0] / beam - 1.0 for n in (9, 17)]
    ratio = errors[0] / errors[1]
    return make_rows('mm_lumped_convergence', {
        'deflection': [_deflection(_arm(n, 'reference')) for n in counts],
        'frequencies': _frequencies(5, 'reference'),
        'stiffer': Verdict(
            min(errors) > 0.0 and abs(ratio - 2.0) < 0.2,
            f'first frequency {100 * errors[0]:.2f} and {100 * errors[1]:.2f} percent high with 9 '
            f'and 17 segments, a ratio of {ratio:.2f}',
        ),
        'centred': _frequencies(33, 'centred')[:3],
    })


def _arm(segments: int, placement: str) -> Robot:
    return example_robot('segmented_arm', segments=str(segments), placement=placement)


def _frequencies(segments: int, placement: str) -> np.ndarray:
    arm = _arm(segments, placement)
    return frequencies_hz(arm, lambda name: name.startswith(_CLAMPED))


def _deflection(arm: Robot) -> float:
    """Return the deflection of the last link's tip under a small force, over F L^3 / 3 EI."""
    dyn, rest = reference(arm), np.zeros(arm.nv)
    free = [k for k, name in enumerate(arm.coordinate_names) if name.startswith(_CLAMPED)]
    across = dyn.jacobian(rest, 'tip')[1, free]
    force = inputs('mm_lumped_convergence')['load']
    angles = np.linalg.solve(stiffness_matrix(dyn, rest)[np.ix_(free, free)], across * force)
    segments = arm.link('link3').segments
    assert segments is not None
    beam = segments.beam
    assert beam.young is not None and beam.iz is not None
    continuous = force * beam.length**3 / (3.0 * beam.young * beam.iz)
    return float(across @ angles / continuous)


CODE = {'mm_lumped_convergence': Code(convergence)}
