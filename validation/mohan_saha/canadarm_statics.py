# SPDX-License-Identifier: Apache-2.0
"""The Canadarm without integration: mass matrix, torques of the desired motion, frequencies."""

from __future__ import annotations

import numpy as np
from validation.case import Progress, Row
from validation.case_file import inputs, make_rows
from validation.mohan_saha.canadarm import canadarm, JOINTS, path, rigid_torque
from validation.registry import Code
from validation.studies import clamped_free, frequencies_hz, reference, ROOTS


def rigid(progress: Progress) -> list[Row]:
    """Return the rows about the arm of rigid links."""
    times = inputs('ms_canadarm')['times']
    fine = np.arange(0.0, 10.0005, 0.002)
    torques = np.abs([rigid_torque(t) for t in fine])
    peaks = np.argmax(torques, axis=0)
    angles, rates, _ = zip(*(path(t) for t in times))
    return make_rows('ms_canadarm', {
        'mass_matrix': reference(canadarm(0)).mass_matrix(np.zeros(JOINTS)),
        'angles': angles,
        'rates': rates,
        'torques': [rigid_torque(t) for t in times],
        'peak_torques': np.max(torques, axis=0),
        'peak_times': fine[peaks],
        'rest_at_the_end': path(10.0)[1],
    })


def frequencies(progress: Progress) -> list[Row]:
    """Return the rows about natural frequencies and shapes."""
    found = {}
    for modes in (1, 2, 3):
        robot = canadarm(modes)
        found[f'free_{modes}'] = frequencies_hz(robot)
        found[f'locked_{modes}'] = frequencies_hz(robot, lambda name: '/' in name)
    bent = np.concatenate((path(10.0)[0], np.zeros(2 * JOINTS)))
    found['free_at_the_end'] = frequencies_hz(canadarm(2), q=bent)
    b = np.array(ROOTS[:2])
    ratio = (np.sin(b) + np.sinh(b)) / (np.cos(b) + np.cosh(b))
    tips = (np.sin(b) - np.sinh(b)) - ratio * (np.cos(b) - np.cosh(b))
    # At the clamped end, as printed: sin 0 + sinh 0 - ratio (cos 0 + cosh 0).
    found['printed_shape_at_the_clamp'] = -2.0 * ratio / tips
    found['shape_at_the_clamp'] = clamped_free(0.0, 2)[0]
    found['tip_of_the_shape'] = np.abs(tips)
    return make_rows('ms_canadarm_frequencies', found)


CODE = {
    'ms_canadarm': Code(rigid),
    'ms_canadarm_frequencies': Code(frequencies),
}
