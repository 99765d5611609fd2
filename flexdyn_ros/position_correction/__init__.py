# SPDX-License-Identifier: Apache-2.0
"""Motor positions that let an arm with elastic joints and links follow a rigid arm's motion."""

from flexdyn_ros.position_correction.correction import (
    corrected_positions,
    CorrectedMotion,
    CorrectionChoices,
)
from flexdyn_ros.position_correction.reference_motion import CorrectionRefused, TrajectoryPoints

__all__ = [
    'corrected_positions',
    'CorrectedMotion',
    'CorrectionChoices',
    'CorrectionRefused',
    'TrajectoryPoints',
]
