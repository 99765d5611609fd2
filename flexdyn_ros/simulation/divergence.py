# SPDX-License-Identifier: Apache-2.0
"""The error of a simulated motion that grows without bound."""

from __future__ import annotations

import math
from typing import Optional

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.simulation.record import Trajectory
from flexdyn_ros.simulation.stability import StepLimit
from flexdyn_ros.simulation.tableaus import Tableau

NOT_FINITE = 'is no longer finite'


class SimulationDiverged(FlexdynError):
    """
    A simulated motion grew without bound, or stopped being a number.

    Attributes:
        time: Time of the last good sample [s], zero where there is none.
        coordinate: The coordinate that grew first, or fastest.
        step_limit: Largest stable time step of the linearised robot [s]; None where unknown.
        trajectory: The motion up to `time`.
    """

    def __init__(
        self, trajectory: Trajectory, coordinate: str, method: Tableau, dt: float,
        limit: Optional[StepLimit], problem: str = NOT_FINITE,
    ):
        self.time = float(trajectory.t[-1]) if trajectory.t.size else 0.0
        self.coordinate = coordinate
        self.step_limit = None if limit is None else limit.step
        self.trajectory = trajectory
        step = f'with dt = {dt:.6g} s'
        if method.adaptive:
            step = f'at any step of {method.name}'
            advice = 'Check the torque and the initial state, or use method="Radau" or "BDF"'
        elif limit is None:
            advice = 'Use a smaller dt'
        elif dt > limit.step:
            advice = (
                f'Use a dt below {limit.step:.3g} s, which {method.name} needs for the '
                f'{limit.cause}'
            )
        elif not method.imaginary_limit and limit.step < math.inf:
            advice = (
                f'{method.name} amplifies undamped vibrations at any dt: use method="rk4", or a '
                'much smaller dt'
            )
        else:
            within = f'dt is within the limit of {limit.step:.3g} s for small vibrations'
            within = within if limit.step < math.inf else 'No vibration limits dt'
            advice = f'{within}: check the torque and the initial state, or use a smaller dt'
        super().__init__(
            f'The simulation diverged after t = {self.time:.6g} s: coordinate "{coordinate}" '
            f'{problem} {step}. {advice}.'
        )


class Diverged(Exception):
    """
    A stage of a step could not be computed.

    Attributes:
        coordinate: The coordinate with the largest motion.
        problem: Its fault, in words.
    """

    def __init__(self, coordinate: str, problem: str = NOT_FINITE):
        self.coordinate, self.problem = coordinate, problem
        super().__init__(coordinate)
