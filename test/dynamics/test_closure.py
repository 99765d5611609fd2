# SPDX-License-Identifier: Apache-2.0
"""The methods of Dynamics against each other: closure, sums, symmetry, two solvers, identities."""

from functools import lru_cache

import flexdyn_ros as fd
import numpy as np
from oracles.compare import assert_agree, assert_matrices_agree, reference_dynamics
from oracles.random_robots import random_robot_urdf, random_state
import pytest

ROBOTS = {
    'rigid_tree': {'seed': 71, 'n_joints': 8, 'flexible': 0.0},
    'flexible_chain': {
        'seed': 72, 'n_joints': 4, 'flexible': 1.0, 'tree': False,
        'kinds': ('revolute', 'prismatic'),
    },
    'flexible_tree': {'seed': 73, 'n_joints': 6, 'flexible': 0.7, 'mimic': True},
    'three_modes': {'seed': 74, 'n_joints': 3, 'flexible': 1.0, 'max_modes': 3},
    'moving_bases': {'seed': 75, 'n_joints': 4, 'kinds': ('floating', 'planar', 'revolute')},
}


@lru_cache(maxsize=None)
def build(name):
    """Return robot, dynamics and a state."""
    robot = fd.load_robot(random_robot_urdf(**ROBOTS[name]))
    return robot, reference_dynamics(robot), random_state(robot, np.random.default_rng(4))


@pytest.fixture(params=list(ROBOTS))
def case(request):
    """Return a random robot with a state."""
    return build(request.param)


def moved(robot, q, change):
    """Return q after a small change of coordinates in which floating joints rest."""
    result, at_q, at_v = np.array(q), 0, 0
    for joint in robot.joints:
        size = len(joint.coordinate_names)
        if size != 6:
            result[at_q: at_q + size] += change[at_v: at_v + size]
        at_q += 7 if size == 6 else size
        at_v += size
    result[at_q:] += change[at_v:]
    return result


def wrenches_on(robot):
    """Return a wrench on the last link."""
    return {robot.links[-1].name: [3.0, -2.0, 5.0, 0.4, -0.6, 0.2]}


@pytest.mark.parametrize('method', ['recursive', 'cholesky'])
def test_forward_dynamics_undoes_inverse_dynamics(case, method):
    """forward(inverse(qdd)) == qdd to 1e-9, every term and a wrench on."""
    robot, dyn, (q, qd, qdd) = case
    wrenches = wrenches_on(robot)
    tau = dyn.inverse_dynamics(q, qd, qdd, wrenches=wrenches)
    back = dyn.forward_dynamics(q, qd, tau, wrenches=wrenches, method=method)
    assert_agree(back, qdd, 1e-9)


def test_recursive_forward_dynamics_equals_the_dense_solve(case):
    """The O(n) recursion and Cholesky on M differ by the condition of M at most."""
    robot, dyn, (q, qd, _) = case
    tau = np.random.default_rng(8).normal(size=robot.nv)
    recursive = dyn.forward_dynamics(q, qd, tau)
    dense = dyn.forward_dynamics(q, qd, tau, method='cholesky')
    tolerance = max(1e-10, 100 * np.finfo(float).eps * np.linalg.cond(dyn.mass_matrix(q)))
    assert_agree(recursive, dense, tolerance)


def test_hybrid_dynamics_closes(case):
    """With the modal accelerations it returns, inverse dynamics gives its joint torques."""
    robot, dyn, (q, qd, qdd) = case
    n = robot.n_joints
    wrenches = wrenches_on(robot)
    tau_j, modal = dyn.hybrid_dynamics(q, qd, qdd[:n], wrenches=wrenches)
    assert tau_j.shape == (n,) and modal.shape == (robot.n_modes,)
    tau = dyn.inverse_dynamics(q, qd, np.concatenate((qdd[:n], modal)), wrenches=wrenches)
    scale = max(1.0, np.max(np.abs(tau)))
    assert_agree(tau_j, tau[:n], 1e-10, 'joint torques')
    assert np.max(np.abs(tau[n:]), initial=0.0) <= 1e-9 * scale, 'modal forces must vanish'


def test_mass_matrix_is_symmetric_positive_definite(case):
    """At random states; and 1/2 qd M qd is the kinetic energy."""
    robot, dyn, _ = case
    rng = np.random.default_rng(6)
    for _ in range(3):
        q, qd, _ = random_state(robot, rng)
        matrix = dyn.mass_matrix(q)
        assert_matrices_agree(matrix, matrix.T, 1e-13)
        assert np.linalg.eigvalsh(matrix)[0] > 0.0
        energy = 0.5 * qd @ matrix @ qd
        assert dyn.kinetic_energy(q, qd) == pytest.approx(energy, rel=1e-12)


def test_terms_sum_to_the_whole(case):
    """Gravity + Coriolis + friction + elastic is the bias; with M qdd and wrenches the torque."""
    robot, dyn, (q, qd, qdd) = case
    bias = dyn.gravity_vector(q) + dyn.coriolis_vector(q, qd)
    bias = bias + dyn.friction_vector(qd) + dyn.elastic_vector(q, qd)
    assert_agree(dyn.bias_vector(q, qd), bias, 1e-12, 'bias')
    assert_agree(dyn.inertia_vector(q, qdd), dyn.mass_matrix(q) @ qdd, 1e-12, 'inertia')
    assert_agree(dyn.inverse_dynamics(q, qd, qdd), dyn.mass_matrix(q) @ qdd + bias, 1e-12)
    wrenches = wrenches_on(robot)
    external = dyn.external_force_vector(q, wrenches)
    whole = dyn.inverse_dynamics(q, qd, qdd, wrenches=wrenches)
    assert_agree(whole, dyn.inertia_vector(q, qdd) + bias + external, 1e-12, 'torque')


def test_wrenches_lower_the_torque_by_the_jacobian_transpose(case):
    """external_force_vector is minus J^T w, summed over frames."""
    robot, dyn, (q, qd, qdd) = case
    rng = np.random.default_rng(9)
    wrenches = {frame: rng.normal(size=6) for frame in robot.frame_names[-2:]}
    expected = -sum(dyn.jacobian(q, frame).T @ w for frame, w in wrenches.items())
    assert_agree(dyn.external_force_vector(q, wrenches), expected, 1e-12)
    change = dyn.inverse_dynamics(q, qd, qdd, wrenches=wrenches) - dyn.inverse_dynamics(q, qd, qdd)
    assert np.max(np.abs(change - expected)) <= 1e-12 * np.max(
        np.abs(dyn.inverse_dynamics(q, qd, qdd))
    )


def test_decoupled_factors_of_the_mass_matrix(case):
    """
    I = U D U^T, block by block from the tip, gives the recursive accelerations.

    Mohan and Saha's factorisation (equations 34 to 42) is the reverse Gaussian elimination of M;
    here it is done on the dense matrix.
    """
    robot, dyn, (q, qd, _) = case
    tau = np.random.default_rng(10).normal(size=robot.nv)
    matrix = dyn.mass_matrix(q)
    flipped = np.linalg.cholesky(matrix[::-1, ::-1])
    upper = flipped[::-1, ::-1]
    pivots = np.diag(upper) ** 2
    upper = upper / np.diag(upper)
    assert_agree(upper @ np.diag(pivots) @ upper.T, matrix, 1e-12)
    rest = tau - dyn.bias_vector(q, qd)
    forces = np.linalg.solve(upper, rest)
    accelerations = np.linalg.solve(upper.T, forces / pivots)
    tolerance = max(1e-10, 100 * np.finfo(float).eps * np.linalg.cond(matrix))
    assert_agree(dyn.forward_dynamics(q, qd, tau), accelerations, tolerance)


def test_jacobian_rate_is_the_frames_acceleration_at_rest_of_joints(case):
    """Differences of J qd along the motion, floating joints at rest."""
    robot, dyn, (q, qd, _) = case
    qd = np.array([
        0.0 if name.rsplit('/')[-1] in ('tx', 'ty', 'tz', 'rx', 'ry', 'rz') else rate
        for name, rate in zip(robot.coordinate_names, qd, strict=True)
    ])
    frame = robot.links[-1].name
    step = 1e-5
    ahead, behind = (
        dyn.jacobian(moved(robot, q, s * step * qd), frame) @ qd for s in (1, -1)
    )
    assert_agree(dyn.jacobian_rate_qd(q, qd, frame), (ahead - behind) / (2 * step), 1e-6)
