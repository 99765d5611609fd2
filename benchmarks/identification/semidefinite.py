# SPDX-License-Identifier: Apache-2.0
"""The physical parameters of an identification by cvxpy and Clarabel, beside Newton's method."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Callable, Optional
from unittest import mock

from flexdyn_ros.identification.physical_problem import MASS_BASIS, PhysicalProblem
import numpy as np


def solved_twice(identified: Callable[[], Any]) -> tuple[Any, Optional[str]]:
    """
    Return an identification, and a sentence on its physical parameters by both methods.

    Args:
        identified: Identifies a robot, with physical parameters.
    """
    problems: list[tuple[PhysicalProblem, np.ndarray, float]] = []
    solve = PhysicalProblem.solve

    def watched(problem: PhysicalProblem) -> Any:
        start = perf_counter()
        found = solve(problem)
        problems.append((problem, found[0], perf_counter() - start))
        return found

    with mock.patch.object(PhysicalProblem, 'solve', watched):
        found = identified()
    problem, ours, seconds = problems[-1]
    try:
        theirs, own_seconds = _by_clarabel(problem)
    except ImportError as error:
        print(f'Clarabel is left out, {error}: pip install cvxpy-base clarabel')
        return found, None
    least = [_total(problem, values) for values in (ours, theirs)]
    return found, (
        f'The method of Newton finds physical parameters with the objective {least[0]:.6f} in '
        f'{seconds:.2f} s.\nClarabel (`pip install cvxpy-base clarabel`) finds {least[1]:.6f} '
        f'in {own_seconds:.2f} s.')


def _prior(problem: PhysicalProblem) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the described pseudo-inertias and values, as `PhysicalProblem.solve` takes them."""
    values = problem._start()
    lacking = problem.positive & (problem.described <= 0.0)
    centre = np.where(lacking, values, np.where(problem.positive, problem.described, 1.0))
    return [problem._pseudo(values, k) for k in range(problem.bodies)], centre


def _total(problem: PhysicalProblem, values: np.ndarray) -> float:
    priors, centre = _prior(problem)
    return float(problem._terms(values, problem.weight, priors, centre)[0])


def _by_clarabel(problem: PhysicalProblem) -> tuple[np.ndarray, float]:
    """Return the parameters of least objective and the time that they take [s]."""
    import clarabel  # noqa: F401  (the solver that cvxpy calls)
    import cvxpy

    start = perf_counter()
    priors, centre = _prior(problem)
    x = cvxpy.Variable(len(problem.described))
    sizes, vectors = np.linalg.eigh(problem.information)
    root = np.sqrt(np.maximum(sizes, 0.0))[:, None] * vectors.T
    terms = [0.5 * cvxpy.sum_squares(root @ problem.regrouping @ x - root @ problem.base)]
    for k, prior in enumerate(priors):
        body = sum(x[10 * k + j] * MASS_BASIS[j] for j in range(10))
        terms.append(problem.weight[10 * k] * (
            cvxpy.trace(np.linalg.inv(prior) @ body) - cvxpy.log_det(body)))
    losses = problem.free & problem.positive
    tie = problem.weight[losses]
    terms.append(tie @ (x[losses] / centre[losses]) - tie @ cvxpy.log(x[losses]))
    held = ~problem.free
    limits = [x[held] == problem.described[held]] if held.any() else []
    cvxpy.Problem(cvxpy.Minimize(sum(terms)), limits).solve(solver=cvxpy.CLARABEL)
    return np.asarray(x.value), perf_counter() - start
