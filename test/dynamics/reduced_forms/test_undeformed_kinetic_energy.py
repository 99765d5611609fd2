# SPDX-License-Identifier: Apache-2.0
"""Inertia as of the undeformed arm, against Lagrange's equations of the particles' energies."""

from functools import lru_cache

import flexdyn_ros as fd
import numpy as np
from oracles.compare import (
    assert_agree,
    assert_consistent,
    assert_matrices_agree,
    assert_slope_in_q,
    reference_dynamics,
)
from oracles.displaced import displaced
from oracles.expansion import linearised_places, scaled
from oracles.particle_model import ParticleModel
from oracles.random_robots import random_robot_urdf, random_state
import pytest
from thinned import thinned

FORM = 'undeformed_kinetic_energy'
ROBOTS = {
    'chain': {'seed': 12, 'n_joints': 3, 'flexible': 1.0, 'tree': False,
              'kinds': ('revolute', 'revolute', 'prismatic')},
    'mimics': {'seed': 16, 'n_joints': 5, 'flexible': 0.4, 'mimic': True,
               'kinds': ('revolute', 'continuous', 'prismatic')},
    'floating': {'seed': 17, 'n_joints': 4, 'kinds': ('floating', 'revolute')},
    'two': {'seed': 49, 'n_joints': 2, 'flexible': 1.0, 'tree': False, 'kinds': ('revolute',)},
    'planar': {'seed': 18, 'n_joints': 4, 'kinds': ('planar', 'prismatic', 'continuous')},
    'multi_axis': {'seed': 20, 'n_joints': 4, 'kinds': ('multi_axis', 'quaternion', 'revolute')},
}


@lru_cache(maxsize=None)
def build(name):
    """Return the exact robot, its reduced dynamics, the particles and a state."""
    robot = fd.load_robot(random_robot_urdf(**ROBOTS[name], max_modes=1))
    dyn = reference_dynamics(fd.reduced(robot, FORM))
    rng = np.random.default_rng(ROBOTS[name]['seed'])
    return robot, dyn, ParticleModel(robot), random_state(robot, rng)


@pytest.fixture(params=['chain', 'mimics', 'floating', 'multi_axis'])
def case(request):
    """Return a robot, twice modelled, with a state."""
    return build(request.param)


def straight(robot, q):
    """Return a configuration without the deflections of links."""
    return scaled(q, linearised_places(robot)[0], 0.0)


def test_inertia_is_that_of_the_undeformed_arm(case):
    """All else is exact: gravity, frames, wrenches."""
    robot, dyn, particles, (q, qd, _) = case
    flat = straight(robot, q)
    assert_matrices_agree(dyn.mass_matrix(q), particles.mass_matrix(flat), 1e-10)
    assert_agree(dyn.kinetic_energy(q, qd), particles.kinetic_energy(flat, qd), 1e-10)
    assert_agree(dyn.gravity_vector(q), particles.gravity_vector(q), 1e-10)
    assert_agree(dyn.potential_energy(q), particles.potential_energy(q), 1e-10, floor=1.0)
    frame = robot.frame_names[-1]
    assert_agree(dyn.frame_pose(q, frame), particles.frame_pose(q, frame), 1e-10)
    assert_agree(dyn.jacobian(q, frame), particles.jacobian(q, frame), 1e-10)


@pytest.mark.parametrize('name', ['chain', 'mimics'])
def test_forces_are_lagranges_equations(name):
    """d/dt of the particles' momentum less the gradient of their energy, by differences."""
    robot, dyn, particles, (q, qd, qdd) = build(name)
    assert robot.nq == robot.nv
    step = 1e-5

    def momentum(s):
        at = q + s * qd + 0.5 * s * s * qdd
        return particles.mass_matrix(straight(robot, at)) @ (qd + s * qdd)

    forces = (momentum(step) - momentum(-step)) / (2.0 * step)
    for k, moved in enumerate(step * np.eye(robot.nv)):
        energies = [particles.kinetic_energy(straight(robot, q + d), qd) for d in (moved, -moved)]
        forces[k] -= (energies[0] - energies[1]) / (2.0 * step)
    forces += particles.gravity_vector(q) + particles.friction_vector(qd)
    forces += particles.elastic_vector(q, qd)
    assert_agree(dyn.inverse_dynamics(q, qd, qdd), forces, 1e-8)


def test_power_is_the_rate_of_energy(case):
    """On every kind of base and joint; losses apart."""
    robot, dyn, _, (q, qd, qdd) = case
    step = 1e-5

    def energy(s):
        at = displaced(robot, q, s * qd)
        return dyn.kinetic_energy(at, qd + s * qdd) + dyn.potential_energy(at)

    force = dyn.inverse_dynamics(q, qd, qdd) - dyn.friction_vector(qd)
    force -= dyn.elastic_vector(q, qd) - dyn.elastic_vector(q, 0 * qd)
    assert_agree(force @ qd, (energy(step) - energy(-step)) / (2.0 * step), 1e-7)


def test_it_is_consistent_in_its_own_terms(case):
    """M qdd + bias is the force, terms add up, and accelerations come back, both ways."""
    robot, dyn, _, (q, qd, qdd) = case
    wrenches = {robot.frame_names[-1]: [1.0, -2.0, 3.0, 0.2, 0.1, -0.3]}
    assert_consistent(dyn, q, qd, qdd, wrenches, ('recursive', 'cholesky'))
    assert_agree(
        dyn.external_force_vector(q, wrenches),
        -dyn.jacobian(q, robot.frame_names[-1]).T @ np.array(wrenches[robot.frame_names[-1]]),
        1e-11,
    )


def test_it_stands_any_deflection():
    """Its mass matrix is positive definite where the linearised one is not."""
    robot, dyn, _, (q, qd, qdd) = build('chain')
    bent = scaled(q, linearised_places(robot)[0], 50.0)
    assert np.linalg.eigvalsh(dyn.mass_matrix(bent))[0] > 0.0
    tau = dyn.inverse_dynamics(bent, qd, qdd)
    assert_agree(dyn.forward_dynamics(bent, qd, tau), qdd, 1e-7)


@pytest.mark.parametrize('name', ['chain', 'planar'])
def test_error_falls_with_the_deflection(name):
    """In proportion to it, but for the centrifugal loads that do not act on the modes."""
    robot, dyn, particles, state = build(name)
    exact = reference_dynamics(robot)
    q_places, v_places = linearised_places(robot)
    other = [k for k in range(robot.nv) if k not in v_places]
    errors = []
    for e in (2e-3, 1e-3):
        q, qd, qdd = (scaled(v, p, e) for v, p in zip(state, (q_places, v_places, v_places)))
        moving, starting = (
            np.abs(dyn.inverse_dynamics(q, v, qdd) - exact.inverse_dynamics(q, v, qdd))
            for v in (qd, 0 * qd)
        )
        errors.append((moving[other].max(), starting.max()))
    for more, less in zip(*errors):
        assert 1.9 < more / less < 2.1
    # The missing rest terms of the modes are the gradient of the exact kinetic energy.
    q, qd = (scaled(v, p, 0.0) for v, p in zip(state, (q_places, v_places)))
    lacking = exact.coriolis_vector(q, qd) - dyn.coriolis_vector(q, qd)
    step = 1e-5
    for place, k in zip(q_places, v_places):
        moved = step * np.eye(robot.nq)[place]
        energies = [particles.kinetic_energy(q + d, qd) for d in (moved, -moved)]
        slope = (energies[0] - energies[1]) / (2.0 * step)
        assert lacking[k] == pytest.approx(-slope, rel=1e-6, abs=1e-6)
    assert np.abs(lacking[v_places]).max() > 1e-3


@pytest.mark.parametrize(('name', 'backend'), thinned(
    [('floating', 'python'), ('two', 'c')], lambda name, backend: name == 'floating',
))
def test_generated_backends(name, backend):
    """The same numbers from generated code."""
    robot, plain, _, (q, qd, qdd) = build(name)
    dyn = fd.Dynamics(fd.reduced(robot, FORM), backend=backend)
    wrenches = {robot.frame_names[-1]: [1.0, -2.0, 3.0, 0.2, 0.1, -0.3]}
    tau = plain.inverse_dynamics(q, qd, qdd, wrenches)
    assert_agree(dyn.inverse_dynamics(q, qd, qdd, wrenches), tau, 1e-11)
    assert_agree(dyn.coriolis_vector(q, qd), plain.coriolis_vector(q, qd), 1e-11)
    tau = plain.inverse_dynamics(q, qd, qdd)
    assert_agree(dyn.forward_dynamics(q, qd, tau), qdd, 1e-8)
    assert_matrices_agree(dyn.mass_matrix(q), plain.mass_matrix(q), 1e-12)


def test_derivatives():
    """By dual numbers, by the graph, and by differences."""
    robot, reference, _, (q, qd, qdd) = build('two')
    generated = fd.Dynamics(fd.reduced(robot, FORM), backend='python')
    found = reference.inverse_dynamics_derivatives(q, qd, qdd)
    for ours, theirs in zip(found, generated.inverse_dynamics_derivatives(q, qd, qdd)):
        assert_agree(ours, theirs, 1e-11)
    assert_slope_in_q(reference, found[0], q, qd, qdd)
    tau = reference.inverse_dynamics(q, qd, qdd)
    by_q = reference.forward_dynamics_derivatives(q, qd, tau)[0]
    assert_agree(by_q, -np.linalg.solve(found[2], found[0]), 1e-7)


@pytest.mark.usefixtures('simplified_once')
def test_factors_of_the_mass_matrix():
    """U D U^T from the recursion is the matrix."""
    from flexdyn_ros.dynamics.articulated_body import factor_order
    from flexdyn_ros.dynamics.assemble import assemble

    robot, dyn, _, (q, _, _) = build('two')
    code = fd.generate(fd.reduced(robot, FORM), 'mass_matrix_factors', 'python').compile_python()
    upper, diagonal = map(np.array, code(q))
    order = factor_order(assemble(robot, {p.link: p.inertia for p in robot.payloads}))
    assert_matrices_agree(
        upper @ np.diag(diagonal) @ upper.T, dyn.mass_matrix(q)[np.ix_(order, order)], 1e-11
    )


def test_one_form_a_robot():
    """Links that are reduced in different ways are refused, by call and by description."""
    from flexdyn_ros.cli.info import torque_terms

    robot = build('chain')[0]
    first, second = [link.name for link in robot.links if link.mode_names][:2]
    one = fd.reduced(robot, FORM, first)
    assert any('inertia of the undeformed arm' in term for term in torque_terms(one))
    with pytest.raises(fd.FlexdynError, match='can have one reduced form'):
        fd.reduced(one, 'linearised', second)
    text = random_robot_urdf(**ROBOTS['chain'], max_modes=1)
    for name, form in ((first, FORM), (second, 'linearised')):
        text = text.replace(f'flexible_link link="{name}"',
                            f'flexible_link deflection="{form}" link="{name}"')
    with pytest.raises(fd.FlexdynError, match='can have one reduced form'):
        fd.load_robot(text)
    with pytest.raises(fd.FlexdynError, match='exact in the deflections'):
        fd.Dynamics(one, backend='reference', formulation='kinematic_influence')
