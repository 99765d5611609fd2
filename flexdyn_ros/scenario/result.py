# SPDX-License-Identifier: Apache-2.0
"""Results of a scenario: one motion of all parts, and figures of merit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Optional

from flexdyn_ros.scenario.load import Scenario
from flexdyn_ros.simulation.record import Trajectory
import numpy as np

# Arrays of a motion with one row a sample.
_ROWS = ('t', 'q', 'qd', 'tau', 'energy', 'kinetic', 'potential', 'work', 'dissipated', 'tips')


@dataclass(frozen=True)
class ScenarioRun:
    """
    Results of a scenario.

    Attributes:
        scenario: The scenario.
        motion: The motion. At a change of payload the energy that it brings or takes counts as
            work.
        step: Time step [s].
        limit: Largest stable step at the start [s], or None.
        wall_time: Duration of the computation [s].
        references: By joint, the wanted positions at the times of the motion, (T,) [rad | m].
        frames: By link of outputs.frames, positions in the root frame, (T, 3) [m].
    """

    scenario: Scenario
    motion: Trajectory
    step: float
    limit: Optional[float]
    wall_time: float
    references: dict[str, np.ndarray]
    frames: dict[str, np.ndarray]

    def summary(self) -> dict[str, Any]:
        """Return figures of merit by name: errors of joints, torques, tips, the final state."""
        motion, tracking = self.motion, {}
        for name, wanted in self.references.items():
            error = motion.coordinate(name) - wanted
            tracking[name] = {
                'largest': float(np.abs(error).max()), 'final': float(error[-1]),
                'rms': float(np.sqrt(np.mean(error**2)))}
        peaks = np.abs(motion.tau).max(axis=0).tolist()
        joints = len(motion.velocity_names) - len(motion.mode_names)
        return {
            'tracking_errors': tracking,
            'largest_torques': dict(zip(motion.velocity_names[:joints], peaks)),
        }


def joined_motion(parts: list[Trajectory]) -> Trajectory:
    """Return the parts as one motion; where two meet, the sample of the later one stays."""
    if len(parts) == 1:
        return parts[0]
    found: dict[str, Any] = {
        name: np.concatenate([
            *(getattr(each, name)[:-1] for each in parts[:-1]), getattr(parts[-1], name)])
        for name in _ROWS}
    events = np.concatenate([each.events for each in parts])
    methods = list(dict.fromkeys(each.method for each in parts))
    return replace(parts[0], **found, events=events, method=', '.join(methods))
