# SPDX-License-Identifier: Apache-2.0
"""
CVODE of SUNDIALS as one of scipy's solvers, by scikit-sundae (extra `sundials`).

It takes backward differentiation formulas of order 1 to 5 in Nordsieck's form, whose polynomial is
the dense output of a step (A. C. Hindmarsh and others, SUNDIALS: suite of nonlinear and
differential/algebraic equation solvers, ACM Transactions on Mathematical Software 31, 2005).
"""

from __future__ import annotations

import math
from typing import Any, Callable, Optional

import numpy as np
from scipy.integrate import DenseOutput, OdeSolver
from sksundae.cvode import CVODE

Rate = Callable[[float, np.ndarray], np.ndarray]


class CvodeSolver(OdeSolver):
    """Steps of CVODE from t0 to t_bound, see `scipy.integrate.OdeSolver`."""

    t: float
    y: np.ndarray

    def __init__(
        self, fun: Rate, t0: float, y0: np.ndarray, t_bound: float, max_step: float = math.inf,
        rtol: float = 1e-3, atol: Any = 1e-6, jac: Optional[Rate] = None,
    ):
        """Prepare; the arguments are those of scipy's `BDF`."""
        super().__init__(fun, t0, y0, t_bound, False)

        def rate(t: float, y: np.ndarray, found: np.ndarray) -> None:
            found[:] = self.fun(t, y)

        def slopes(t: float, y: np.ndarray, rate: np.ndarray, found: np.ndarray) -> None:
            assert jac is not None
            found[:] = jac(t, y)

        self._cvode = CVODE(
            rate, rtol=rtol, atol=atol, max_step=max_step if math.isfinite(max_step) else 0.0,
            jacfn=None if jac is None else slopes)
        self._cvode.init_step(t0, self.y)

    def _step_impl(self) -> tuple[bool, Optional[str]]:
        found = self._cvode.step(self.t_bound, 'onestep', self.t_bound)
        if found.success and found.t == self.t:  # it returns to its last step from a sample
            found = self._cvode.step(self.t_bound, 'onestep', self.t_bound)
        if not found.success:
            return False, found.message
        self.t, self.y = found.t, found.y
        return True, None

    def _dense_output_impl(self) -> CvodeOutput:
        return CvodeOutput(self.t_old, self.t, self._cvode)


class CvodeOutput(DenseOutput):
    """The state within the last step, until the solver does another one."""

    def __init__(self, t_old: float, t: float, cvode: CVODE):
        """Prepare."""
        super().__init__(t_old, t)
        self._cvode = cvode

    def _call_impl(self, t: np.ndarray) -> np.ndarray:
        found = [self._cvode.step(each, 'normal').y for each in np.atleast_1d(t).tolist()]
        return np.array(found).T if t.ndim else np.array(found[0])
