# SPDX-License-Identifier: Apache-2.0
"""Runs of Exudyn: generalised-alpha steps of one size, tips kept at the sample times."""

from __future__ import annotations

from typing import Any

import numpy as np
from validation.other_codes.motion import SAMPLES

# Of the largest residual. Exudyn's own 1e-8 lies below rounding for bars this stiff along
# themselves (E A = 5e8 N), and Newton's method then stagnates.
_RELATIVE, _ABSOLUTE = 1e-6, 1e-7


def run(system: Any, t_end: float, dt: float) -> None:
    """
    Integrate an assembled system.

    Args:
        system: Exudyn's MainSystem.
        t_end: Duration [s].
        dt: Time step [s], a whole fraction of the time between samples.
    """
    import exudyn
    settings = exudyn.SimulationSettings()
    integration = settings.timeIntegration
    integration.endTime = t_end
    integration.numberOfSteps = round(t_end / dt)
    integration.generalizedAlpha.spectralRadius = 0.9
    integration.newton.useModifiedNewton = True
    integration.newton.relativeTolerance = _RELATIVE
    integration.newton.absoluteTolerance = _ABSOLUTE
    integration.verboseMode = 0
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = t_end / (SAMPLES - 1)
    settings.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse
    system.SolveDynamic(settings)


def kept(system: Any, sensor: int) -> np.ndarray:
    """Return the values that a sensor kept at the sample times, without the times."""
    values = np.asarray(system.GetSensorStoredData(sensor))
    if len(values) != SAMPLES:
        raise ValueError(f'Exudyn kept {len(values)} samples in place of {SAMPLES}')
    return values[:, 1:]
