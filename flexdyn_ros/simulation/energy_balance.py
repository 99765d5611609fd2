# SPDX-License-Identifier: Apache-2.0
"""
Energy balance of a simulated motion, and the step that keeps it.

The energy gained equals work less losses. The residual is the error of the method.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, Callable, Optional

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.simulation.divergence import SimulationDiverged
from flexdyn_ros.simulation.frequencies import natural_modes, stiffness_matrix
from flexdyn_ros.simulation.record import Trajectory
from flexdyn_ros.simulation.tableaus import Tableau
import numpy as np

# Runs, where the step is left open, until the energy balance is kept.
MOST_RUNS = 5
# Of energies and work: tolerance of rounding.
_ROUNDING = 1e-12
# Of the tolerance: aim of a proposed step.
_AIM = 0.25


class EnergyNotKept(UserWarning):
    """A simulated motion does not keep its energy balance to the tolerance."""


@dataclass(frozen=True)
class Imbalance:
    """
    An energy balance that is not kept.

    Attributes:
        residual: Largest energy that is neither work nor losses [J].
        kinetic: Largest kinetic energy [J].
        time: Of the sample before which the residual changes most [s].
        coordinate: The mode, spring or joint that needs a shorter step.
        step: A sufficient step, if the error falls with the method's order [s]. Of an adaptive
            method a sufficient relative tolerance, if the error falls with it [-].
        adaptive: Whether it is the tolerance.
    """

    residual: float
    kinetic: float
    time: float
    coordinate: str
    step: float
    adaptive: bool

    def __str__(self) -> str:
        """Return the sentences of the warning."""
        asks = 'smaller tolerance: about rtol' if self.adaptive else 'shorter step: about dt'
        return (
            f'The energy balance of the simulated motion is off by {self.residual:.3g} J, with '
            f'{self.kinetic:.3g} J of kinetic energy at most. "{self.coordinate}", near t = '
            f'{self.time:.4g} s, needs a {asks}={self.step:.2g}. '
            'Trajectory.residual is the error over time; energy_tolerance is the accepted one.'
        )


def find_imbalance(
    dyn: Any, motion: Trajectory, method: Tableau, dt: float, tolerance: float
) -> Optional[Imbalance]:
    """
    Return the fault of the energy balance of a motion, or None.

    Args:
        dyn: The dynamics.
        motion: The motion.
        method: The method.
        dt: Its step [s]; of an adaptive method its relative tolerance.
        tolerance: Accepted error, of the largest kinetic energy.
    """
    residual = motion.residual
    worst, kinetic = float(np.max(np.abs(residual))), float(motion.kinetic.max())
    sizes = (np.abs(each).max() for each in (motion.energy, motion.work, motion.dissipated))
    accepted = max(tolerance * kinetic, _ROUNDING * max(sizes))
    if not worst > accepted:  # nor where work is not known
        return None
    k = int(np.argmax(np.abs(np.diff(residual)))) + 1
    power = 1.0 if method.adaptive else 1.0 / method.order
    step = dt * min(0.5, (_AIM * accepted / worst) ** power)
    digit = 10.0 ** (math.floor(math.log10(step)) - 1)
    return Imbalance(
        worst, kinetic, float(motion.t[k]),
        _coordinate(dyn, motion.q[k], motion.qd[k], method.order),
        math.floor(step / digit) * digit, method.adaptive,
    )


def balanced_motion(
    run: Callable[[float], Trajectory],
    imbalance: Callable[[Trajectory, float], Optional[Imbalance]],
    step: float, runs: int, period: Optional[float],
) -> tuple[Trajectory, Optional[Imbalance]]:
    """
    Run with shorter and shorter steps until the energy balance is kept.

    Args:
        run: Returns the motion at a step [s].
        imbalance: Returns the fault of the balance of a motion at a step [s], or None.
        step: Of the first run [s].
        runs: The most runs.
        period: A multiple of the steps [s], or None.

    Returns:
        The motion of the last run, and the fault of its balance, or None.

    Raises:
        SimulationDiverged: The last run diverged.
    """
    for left in reversed(range(runs)):
        if period:
            step = period / math.ceil(period / step)
        try:
            motion = run(step)
        except SimulationDiverged:
            if not left:
                raise
            step *= 0.5
            continue
        found = imbalance(motion, step)
        if found is None:
            break
        step = found.step
    return motion, found


def _coordinate(dyn: Any, q: np.ndarray, qd: np.ndarray, order: int) -> str:
    """
    Return the coordinate whose motion a method of some order resolves worst.

    That of the natural mode with the largest energy times frequency^order, by its strain; of a
    robot without stiffness the fastest joint.
    """
    robot = dyn.robot
    names = robot.coordinate_names
    try:
        mass, stiffness = dyn.mass_matrix(q), stiffness_matrix(dyn, q)
        rates, shapes = natural_modes(mass, stiffness)
    except (ArithmeticError, FlexdynError, np.linalg.LinAlgError):
        rates = np.zeros(0)
    if not rates.any():
        return names[int(np.argmax(np.abs(qd)))]
    bent = np.zeros(robot.nv)
    bent[robot.n_joints:] = q[robot.nq - robot.n_modes:]
    momentum, position = shapes.T @ mass @ qd, rates * (shapes.T @ mass @ bent)
    shape = shapes[:, int(np.argmax((momentum**2 + position**2) * rates**order))]
    return names[int(np.argmax(np.abs(shape * (stiffness @ shape))))]
