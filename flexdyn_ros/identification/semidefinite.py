# SPDX-License-Identifier: Apache-2.0
"""
The solvers of physical parameters: Clarabel through cvxpy where installed, else Newton's method.

Both minimise the same sum over pseudo-inertias (`PhysicalProblem`). The log-determinants make it a
semidefinite program with exponential cones (Boyd and Vandenberghe, Convex Optimization, 2004).
All rows of the motions enter through a triangle of the size of the base parameters, by QR.
"""

from __future__ import annotations

import logging
from time import perf_counter
import warnings

from flexdyn_ros.identification.physical_problem import MASS_BASIS, PhysicalProblem
import numpy as np

NEWTON = "Newton's method on log-determinants"
CLARABEL = 'Clarabel through cvxpy'
_logger = logging.getLogger('flexdyn_ros')


def solved(problem: PhysicalProblem) -> tuple[np.ndarray, np.ndarray, str]:
    """
    Return the physical parameters (p,), their covariance (p, p), and the solver that found them.

    A failure of Clarabel is logged. Newton's method, which is always there, then solves.

    Raises:
        ArgumentError: Bounds leave no possible body near the description.
    """
    before, solver = perf_counter(), CLARABEL
    problem.start()  # refuses bounds
    try:
        values = by_clarabel(problem)
        covariance = problem.covariance(values)
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != 'PanicException':
            raise  # the PanicException of Rust is no Exception
        if not isinstance(error, ImportError):
            _logger.warning('Clarabel fails (%s: %s). %s solves instead. Update clarabel.',
                            type(error).__name__, str(error).strip().partition('\n')[0], NEWTON)
        solver = NEWTON
        values, covariance = problem.solve()
    _logger.info('Physical parameters: %s, %.2f s.', solver, perf_counter() - before)
    return values, covariance, solver


def by_clarabel(problem: PhysicalProblem) -> np.ndarray:
    """
    Return the physical parameters (p,) of least objective.

    Parameters are scaled to a curvature of one, bodies to the description's pseudo-inertia.

    Raises:
        ImportError: cvxpy or Clarabel is not installed.
        ArithmeticError: The solver does not converge. Its own errors pass too.
    """
    import clarabel  # noqa: F401  (the solver that cvxpy calls)
    import cvxpy

    values, priors, centre = problem.start()
    curvature = problem.terms(values, problem.weight, priors, centre)[2]
    scale = 1.0 / np.sqrt(np.maximum(np.diag(curvature), 1e-300))
    free = np.flatnonzero(problem.free)
    unknown = cvxpy.Variable(len(free))
    place = np.zeros((len(values), len(free)))
    place[free, np.arange(len(free))] = scale[free]
    held = np.where(problem.free, 0.0, values)
    x = place @ unknown + held
    sizes, vectors = np.linalg.eigh(problem.information)
    root = np.linalg.qr(np.sqrt(np.maximum(sizes, 0.0))[:, None] * vectors.T, mode='r')
    terms = [0.5 * cvxpy.sum_squares(
        root @ problem.regrouping @ place @ unknown
        - root @ (problem.base - problem.regrouping @ held))]
    for k, prior in enumerate(priors):
        own = slice(10 * k, 10 * k + 10)
        if problem.free[own].any():
            inner = np.linalg.inv(np.linalg.cholesky(prior))
            units = inner @ MASS_BASIS @ inner.T
            body = sum(x[10 * k + j] * units[j] for j in range(10))
            terms.append(problem.weight[10 * k] * (cvxpy.trace(body) - cvxpy.log_det(body)))
    for limit, near, where, sign in problem.barriers(centre):
        if where.any():
            gap, tie = sign * (x[where] - limit[where]), problem.weight[where]
            terms.append((tie / near[where]) @ gap - tie @ cvxpy.log(gap))
    program = cvxpy.Problem(cvxpy.Minimize(sum(terms)))
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', UserWarning)  # of an inaccurate solution: see the status
        program.solve(solver=cvxpy.CLARABEL)
    if program.status != cvxpy.OPTIMAL:
        raise ArithmeticError(f'its status is {program.status}')
    found = np.where(problem.free, place @ unknown.value, values)
    if not np.isfinite(problem.terms(found, problem.weight, priors, centre)[0]):
        raise ArithmeticError('its result is no possible body')
    return found
