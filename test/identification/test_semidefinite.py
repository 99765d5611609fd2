# SPDX-License-Identifier: Apache-2.0
"""The two solvers of physical parameters find the same, and a failure of the first is caught."""

import logging
import sys

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.identification import semidefinite
from flexdyn_ros.identification.bodies import ten_numbers
from flexdyn_ros.identification.physical_problem import PhysicalProblem
from flexdyn_ros.identification.regressor import known_forces
from flexdyn_ros.identification.report import report_text
from flexdyn_ros.identification.semidefinite import by_clarabel, CLARABEL, NEWTON, solved
from flexdyn_ros.model.records.inertia import Inertia
import numpy as np
import pytest
from simulated_arms import described_arm, fourier_motion

NEEDS = 'the extra "identification" is not installed: pip install cvxpy-base clarabel'
BODY = Inertia(2.0, (0.1, 0.0, 0.05), ((0.02, 0.0, 0.0), (0.0, 0.03, 0.0), (0.0, 0.0, 0.02)))


def problem(seed=4, bounds=True):
    """Return two bodies, the second known to have no mass, and three losses, two alone."""
    random = np.random.default_rng(seed)
    described = np.array([*ten_numbers(BODY), *np.zeros(10), 3.0, 0.0, 1.0])
    free = np.r_[np.ones(10), np.zeros(10), np.ones(3)].astype(bool)
    free[5] = seed % 2 == 0
    regrouping = np.zeros((12, 23))
    regrouping[:10, :10], regrouping[10:, 20:22] = np.eye(10), np.eye(2)
    regrouping[0, 22] = 0.4
    base = regrouping @ described + 0.06 * random.normal(size=12)
    base[4] = -0.05  # no body has this
    root = random.normal(size=(9, 12))
    limits = np.tile([-np.inf, np.inf], (23, 1))
    if bounds:
        limits[20], limits[22, 1] = (2.0, 3.5), 1.4
    return PhysicalProblem(
        regrouping, base, 80.0 * root.T @ root, described, 2,
        np.r_[np.zeros(20), np.ones(3)].astype(bool), free, np.linspace(0.5, 1.5, 23), limits)


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('bounds', [False, True])
def test_clarabel_and_newton_find_the_same(seed, bounds):
    pytest.importorskip('cvxpy', reason=NEEDS)
    pytest.importorskip('clarabel', reason=NEEDS)
    case = problem(seed, bounds)
    (values, covariance), theirs = case.solve(), by_clarabel(case)
    _, priors, centre = case.start()
    least, other = (case.terms(x, case.weight, priors, centre)[0] for x in (values, theirs))
    assert other == pytest.approx(least, rel=1e-7, abs=1e-7)
    deviations = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(values - theirs)[case.free] < 1e-2 * deviations[case.free])
    assert np.array_equal(values[~case.free], theirs[~case.free])
    found = solved(case)
    assert found[2] == CLARABEL and np.array_equal(found[0], theirs)
    assert np.allclose(found[1], covariance, rtol=1e-2, atol=1e-4 * np.abs(covariance).max())


class PanicException(BaseException):
    """Stands for that of Rust, which is no Exception."""


@pytest.mark.parametrize('error', [
    PanicException('called `Option::unwrap()`'), ValueError('no cone'), ArithmeticError('status')])
def test_a_failure_is_caught(monkeypatch, caplog, error):
    """Newton's method solves, and one line names the failure."""
    def failing(_):
        raise error

    monkeypatch.setattr(semidefinite, 'by_clarabel', failing)
    case = problem()
    with caplog.at_level(logging.INFO, 'flexdyn_ros'):
        values, _, solver = solved(case)
    assert solver == NEWTON and np.array_equal(values, case.solve()[0])
    warning, line = (record.getMessage() for record in caplog.records)
    assert type(error).__name__ in warning and str(error) in warning
    assert line.startswith(f'Physical parameters: {NEWTON}, ')


@pytest.mark.parametrize('error', [PanicException('panic'), None])
def test_failures_of_the_library_itself_are_caught(monkeypatch, error):
    """An error of cvxpy, and a result that is not optimal."""
    cvxpy = pytest.importorskip('cvxpy', reason=NEEDS)
    pytest.importorskip('clarabel', reason=NEEDS)

    def failing(*_, **__):
        if error is not None:
            raise error

    monkeypatch.setattr(cvxpy.Problem, 'solve', failing)
    case = problem()
    values, _, solver = solved(case)
    assert solver == NEWTON and np.array_equal(values, case.solve()[0])


def test_stops_and_wrong_bounds_are_not_caught(monkeypatch):
    def stopped(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(semidefinite, 'by_clarabel', stopped)
    with pytest.raises(KeyboardInterrupt):
        solved(problem())
    case = problem()
    case.bounds[0] = -2.0, -1.0  # of a mass
    with pytest.raises(ArgumentError, match='bounds'):
        solved(case)


@pytest.mark.parametrize('missing', ['', 'cvxpy'])
def test_the_report_names_the_solver(monkeypatch, caplog, missing):
    """That of the extra where it is installed, and without a warning the other one elsewhere."""
    if missing:
        monkeypatch.setitem(sys.modules, missing, None)
    else:
        pytest.importorskip('cvxpy', reason=NEEDS)
        pytest.importorskip('clarabel', reason=NEEDS)
    arm = described_arm()
    t, q, qd, qdd = fourier_motion(3, np.random.default_rng(1), 4.0)
    tau = known_forces(arm, q, qd, qdd)
    found = fd.identify(arm, fd.Motion(t, q, tau=tau), friction='default', delay=0.0)
    assert found.solver == found.record()['solver'] == (NEWTON if missing else CLARABEL)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert f'- Physical parameters: {found.solver}.' in report_text(found, [])
    loose = fd.identify(
        arm, fd.Motion(t, q, tau=tau), friction='default', delay=0.0, physical=False)
    assert loose.solver == ''
