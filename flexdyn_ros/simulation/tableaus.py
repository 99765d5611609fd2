# SPDX-License-Identifier: Apache-2.0
"""Butcher tableaus of the Runge-Kutta methods that the simulation offers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
import math
from typing import Optional

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.simulation.hairer_method import HAIRER_A, HAIRER_B, HAIRER_C


@dataclass(frozen=True)
class Tableau:
    """
    A Runge-Kutta method, k_i = f(t + c_i h, y + h sum_j a_ij k_j), y += h sum_i b_i k_i.

    Attributes:
        name: The name that `simulate` takes as `method`.
        order: Order of convergence.
        a: Coefficients, one row a stage, strictly lower-triangular of explicit methods.
        b: Weights of the stages.
        c: Times of the stages as fractions of the step.
        real_limit: Largest stable |lambda| h for a decaying motion, lambda < 0.
        imaginary_limit: The same for an undamped oscillation; 0 where it always grows.
        rho_infinity: Of generalised-alpha, the spectral radius at infinite frequency.
    """

    name: str
    order: int
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    c: tuple[float, ...]
    real_limit: float
    imaginary_limit: float
    rho_infinity: Optional[float] = None

    @property
    def stages(self) -> int:
        """Number of evaluations a step."""
        return len(self.b)

    @property
    def adaptive(self) -> bool:
        """Whether its steps follow from tolerances."""
        return not self.b


def _number(digits: str) -> float:
    """Return the double nearest to a decimal number or a fraction."""
    return float(Fraction(digits))


# Coefficients and stability limits: Hairer, Norsett and Wanner, Solving Ordinary Differential
# Equations I, table II.1.1 and II.1.2; Hairer and Wanner, volume II, section IV.2.
MIDPOINT = Tableau(
    name='rk2',
    order=2,
    a=((), (0.5,)),
    b=(0.0, 1.0),
    c=(0.0, 0.5),
    real_limit=2.0,
    imaginary_limit=0.0,
)
RK4 = Tableau(
    name='rk4',
    order=4,
    a=((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)),
    b=(1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0),
    c=(0.0, 0.5, 0.5, 1.0),
    real_limit=2.785,
    imaginary_limit=2.828,
)
# At the limits its polynomial R(z) = 1 + sum_k z^(k+1) b A^k 1 leaves the unit circle.
RK10 = Tableau(
    name='rk10',
    order=10,
    a=((), *(
        tuple(_number(row.get(j, '0')) for j in range(1, stage))
        for stage, row in enumerate(HAIRER_A, start=2)
    )),
    b=tuple(map(_number, HAIRER_B)),
    c=tuple(map(_number, HAIRER_C)),
    real_limit=2.704,
    imaginary_limit=1.161,
)

# With the rules of its own that `implicit_midpoint.py` states.
IMPLICIT = Tableau(
    name='implicit',
    order=2,
    a=((0.5,),),
    b=(1.0,),
    c=(0.5,),
    real_limit=math.inf,
    imaginary_limit=math.inf,
)
# With the recursion of `generalised_alpha.py`. The radius damps unresolved vibrations, and gives a
# vibration with omega dt = 0.3 a damping ratio of 2e-6.
GENERALISED_ALPHA = Tableau(
    name='generalised_alpha',
    order=2,
    a=((1.0,),),
    b=(1.0,),
    c=(1.0,),
    real_limit=math.inf,
    imaginary_limit=math.inf,
    rho_infinity=0.9,
)

# The explicit methods of a fixed step.
TABLEAUS: dict[str, Tableau] = {method.name: method for method in (MIDPOINT, RK4, RK10)}
# Those whose steps follow from tolerances, by their highest order: see `adaptive.py`.
ADAPTIVE: dict[str, Tableau] = {
    name.lower(): Tableau(name, order, (), (), (), math.inf, math.inf)
    for name, order in (
        ('RK45', 5), ('DOP853', 8), ('Radau', 5), ('BDF', 5), ('LSODA', 12), ('CVODE', 5))
}


def find_tableau(name: str) -> Tableau:
    """
    Return the tableau of a method.

    Args:
        name: "rk2" (midpoint), "rk4" (classical), "rk10" (Hairer's with 17 stages), "implicit",
            "generalised_alpha", or one of ADAPTIVE, in letters of any case.

    Raises:
        ArgumentError: No method has this name.
    """
    implicit = {each.name: each for each in (IMPLICIT, GENERALISED_ALPHA)}
    known = {**TABLEAUS, **implicit, **ADAPTIVE}
    if not isinstance(name, str) or name.lower() not in known:
        methods = ', '.join(['auto', *(each.name for each in known.values())])
        raise ArgumentError('method', f'is {name!r}, and must be one of {methods}')
    return known[name.lower()]
