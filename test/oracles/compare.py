# SPDX-License-Identifier: Apache-2.0
"""Comparisons with a stated relative tolerance, and data files."""

from __future__ import annotations

from pathlib import Path

import flexdyn_ros as fd
import numpy as np
import yaml

DATA = Path(__file__).resolve().parent.parent / 'data'


def load_data(name: str) -> dict:
    """Return test/data/<name>.yaml."""
    return yaml.safe_load((DATA / f'{name}.yaml').read_text(encoding='utf-8'))


def relative_error(ours, theirs, floor: float = 1e-3) -> float:
    """Return the largest difference over the largest reference value, at least `floor`."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    assert ours.shape == theirs.shape, f'{ours.shape=} but {theirs.shape=}'
    if theirs.size == 0:
        return 0.0
    return float(np.max(np.abs(ours - theirs)) / max(floor, np.max(np.abs(theirs))))


def assert_agree(ours, theirs, tolerance: float, what: str = '', floor: float = 1e-3) -> None:
    """Assert that two arrays agree to `tolerance` relative to the largest reference value."""
    assert np.all(np.isfinite(ours)), f'{what}: not finite: {ours}'
    error = relative_error(ours, theirs, floor)
    assert error <= tolerance, f'{what}: relative error {error:.3g} > {tolerance:.3g}'


def assert_generalised_agree(robot, ours, theirs, tolerance: float, what: str = '') -> None:
    """Assert agreement of (nv,) vectors, joints and modes each against their own scale."""
    n = robot.n_joints
    assert_agree(ours[:n], theirs[:n], tolerance, f'{what}, joints')
    assert_agree(ours[n:], theirs[n:], tolerance, f'{what}, modes')


def assert_matrices_agree(ours, theirs, tolerance: float, what: str = '') -> None:
    """Assert |difference_ij| <= tolerance * sqrt(M_ii M_jj) of two mass matrices."""
    assert ours.shape == theirs.shape
    if theirs.size == 0:
        return
    size = np.sqrt(np.maximum(np.diag(theirs), 1e-9))
    error = np.max(np.abs(ours - theirs) / np.outer(size, size))
    assert error <= tolerance, f'{what}: relative error {error:.3g} > {tolerance:.3g}'


def reference_dynamics(robot) -> fd.Dynamics:
    """Return Dynamics in plain Python: a new robot takes no generation of code."""
    return fd.Dynamics(robot, backend='reference')


def assert_slope_in_q(dyn, found, q, qd, qdd, tolerance: float = 1e-6) -> None:
    """Assert that a matrix is d(inverse dynamics)/dq, by central differences."""
    columns = [
        (dyn.inverse_dynamics(q + d, qd, qdd) - dyn.inverse_dynamics(q - d, qd, qdd)) / 2e-6
        for d in 1e-6 * np.eye(dyn.robot.nv)
    ]
    assert_agree(found, np.array(columns).T, tolerance)


def assert_consistent(dyn, q, qd, qdd, wrenches, methods):
    """Assert that M qdd + bias is the force, terms add up, and accelerations come back."""
    matrix, tau = dyn.mass_matrix(q), dyn.inverse_dynamics(q, qd, qdd, wrenches)
    rest = dyn.bias_vector(q, qd)
    terms = (
        dyn.gravity_vector(q) + dyn.coriolis_vector(q, qd) + dyn.friction_vector(qd)
        + dyn.elastic_vector(q, qd)
    )
    assert_agree(terms, rest, 1e-12)
    assert_agree(dyn.inertia_vector(q, qdd), matrix @ qdd, 1e-12)
    assert_agree(matrix @ qdd + rest + dyn.external_force_vector(q, wrenches), tau, 1e-12)
    for method in methods:
        found = dyn.forward_dynamics(q, qd, tau, wrenches, method=method)
        assert_agree(found, qdd, 1e-8, method)
        assert_agree(dyn.inverse_dynamics(q, qd, found, wrenches), tau, 1e-12, method)
