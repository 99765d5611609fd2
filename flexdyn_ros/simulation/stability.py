# SPDX-License-Identifier: Apache-2.0
"""The largest time step for which an integration method is stable."""

from __future__ import annotations

import math
from typing import Any, Optional, Union

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.simulation.frequencies import fastest_rates
from flexdyn_ros.simulation.tableaus import find_tableau, Tableau
import numpy as np


def step_limit(dyn: Any, q: Any, method: Union[str, Tableau] = 'rk4') -> Optional[float]:
    """
    Return the largest time step [s] for which small vibrations about q, (nq,), stay bounded.

    It is the method's stability limit over the largest eigenvalue of the linearised robot, modes,
    springs, dampers and friction counted, gravity not. Where damping is light that is 2.8 / (2 pi
    times the highest natural frequency) for rk4, and 1.16 in place of 2.8 for rk10. A method that
    lets any undamped vibration grow (rk2) gets its limit for decaying motions.

    Returns:
        The limit, infinite for a robot without stiffness and damping; None where it cannot be
        computed, as for a massless moving link.
    """
    tableau = method if isinstance(method, Tableau) else find_tableau(method)
    try:
        decaying, oscillating = fastest_rates(dyn, np.asarray(q, dtype=float))
    except (ArithmeticError, FlexdynError, np.linalg.LinAlgError):
        return None
    limits = [math.inf]
    if decaying > 0.0:
        limits.append(tableau.real_limit / decaying)
    if oscillating > 0.0:
        limits.append((tableau.imaginary_limit or tableau.real_limit) / oscillating)
    return min(limits)
