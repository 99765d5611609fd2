# SPDX-License-Identifier: Apache-2.0
"""The inertia of a payload, checked."""

from __future__ import annotations

import logging
from typing import Any

from flexdyn_ros.arguments import real_matrix, real_number, real_vector
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.records.inertia import Inertia, inertia_problem
import numpy as np

# Part of the largest entry by which an inertia may miss symmetry.
TOLERANCE = 1e-9

_logger = logging.getLogger('flexdyn_ros')


def payload_body(mass: Any, com: Any, inertia: Any) -> Inertia:
    """
    Return a payload's inertia; see `Dynamics.set_payload`.

    Raises:
        ArgumentError: If the mass or a principal moment is negative, or the inertia not
            symmetric.
    """
    mass = real_number('mass', mass)
    if mass < 0.0:
        raise ArgumentError('mass', f'is {mass}, expected zero or more')
    x, y, z = real_vector('com', com, 3)
    moments = real_matrix('inertia', inertia, (3, 3))
    scale = max(np.abs(moments).max(), np.finfo(float).tiny)
    if np.abs(moments - moments.T).max() > TOLERANCE * scale:
        raise ArgumentError('inertia', 'is not symmetric')
    problem = inertia_problem(mass, moments, ('positive',))
    if problem is not None:
        raise ArgumentError('inertia', f'is impossible: {problem}')
    doubt = inertia_problem(mass, moments, ('triangle',))
    if doubt is not None:
        _logger.warning('The inertia of a payload is doubtful: %s.', doubt)
    xx, xy, xz, yx, yy, yz, zx, zy, zz = (0.5 * (moments + moments.T)).ravel().tolist()
    return Inertia(mass, (x, y, z), ((xx, xy, xz), (yx, yy, yz), (zx, zy, zz)))
