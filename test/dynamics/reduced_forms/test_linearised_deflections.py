# SPDX-License-Identifier: Apache-2.0
"""The linearised small-deflection model against expansions of the particles, and by hand."""

import flexdyn_ros as fd
import numpy as np
from oracles.compare import (
    assert_agree,
    assert_consistent,
    assert_generalised_agree,
    assert_matrices_agree,
    assert_slope_in_q,
    reference_dynamics,
)
from oracles.expansion import linearised_places, scaled
from oracles.linearised_robots import build, ONE_BEAM, ROBOTS, wrenches_on
import pytest
from thinned import thinned

TOLERANCE = 1e-9


# Each adds a kind of joint or of payload to those of the others.
DEFAULT = ('planar', 'multi_axis', 'payload_on_beam', 'mimics')


@pytest.fixture(params=thinned([name for name in ROBOTS if name != 'two'], DEFAULT))
def case(request):
    """Return a robot, twice modelled, with a state."""
    return build(request.param)


def test_forces(case):
    """Torques and modal forces of a motion under wrenches."""
    robot, dyn, expanded, (q, qd, qdd) = case
    wrenches = wrenches_on(robot)
    given = (q, qd, qdd, wrenches)
    ours, theirs = (model.inverse_dynamics(*given) for model in (dyn, expanded))
    assert_generalised_agree(robot, ours, theirs, TOLERANCE)


def test_mass_matrix_and_energies(case):
    """The matrix, entry by entry, and the energies that it and gravity belong to."""
    _, dyn, expanded, (q, qd, _) = case
    matrix = dyn.mass_matrix(q)
    theirs = expanded.mass_matrix(q)
    size = np.sqrt(np.abs(np.diag(theirs))) + 1e-3
    assert np.max(np.abs(matrix - theirs) / np.outer(size, size)) < TOLERANCE
    assert_agree(dyn.kinetic_energy(q, qd), 0.5 * qd @ matrix @ qd, 1e-12)
    assert_agree(dyn.potential_energy(q), expanded.potential_energy(q), TOLERANCE, floor=1.0)


def test_frames(case):
    """Poses, Jacobians and their rates; the forces of wrenches follow from the Jacobian."""
    robot, dyn, expanded, (q, qd, _) = case
    wrenches = wrenches_on(robot)
    by_jacobian = np.zeros(robot.nv)
    for frame, wrench in wrenches.items():
        for name, given in (
            ('frame_pose', (q, frame)), ('jacobian', (q, frame)),
            ('jacobian_rate_qd', (q, qd, frame)),
        ):
            ours, theirs = (getattr(model, name)(*given) for model in (dyn, expanded))
            assert_agree(ours, theirs, TOLERANCE, name)
        by_jacobian -= dyn.jacobian(q, frame).T @ wrench
    assert_agree(dyn.external_force_vector(q, wrenches), by_jacobian, 1e-12)


def test_it_is_consistent_in_its_own_terms(case):
    """M is symmetric, M qdd + bias is the force, terms add up, and accelerations come back."""
    robot, dyn, _, (q, qd, qdd) = case
    _, places = linearised_places(robot)
    q = scaled(q, [robot.nq - robot.nv + k for k in places], 0.01)
    wrenches = wrenches_on(robot)
    matrix = dyn.mass_matrix(q)
    assert_matrices_agree(matrix, matrix.T, 1e-14)
    assert np.linalg.eigvalsh(matrix)[0] > 0.0
    assert_consistent(dyn, q, qd, qdd, wrenches, ('auto', 'recursive', 'cholesky'))
    n = robot.n_joints
    torque, modal = dyn.hybrid_dynamics(q, qd, qdd[:n], wrenches)
    whole = dyn.inverse_dynamics(q, qd, np.concatenate((qdd[:n], modal)), wrenches)
    assert_agree(whole, np.concatenate((torque, np.zeros(robot.n_modes))), 1e-11)


@pytest.mark.parametrize('name', ['chain', 'root'])
def test_forces_are_lagranges_equations_of_its_energies(name):
    """By central differences of the two energies, in rates of change along a motion."""
    robot, dyn, _, (q, qd, qdd) = build(name)
    assert robot.nq == robot.nv
    step = 1e-5

    def momentum(at, rate):
        return dyn.mass_matrix(at) @ rate

    ahead, behind = (
        momentum(q + s * qd + 0.5 * s * s * qdd, qd + s * qdd) for s in (step, -step)
    )
    forces = (ahead - behind) / (2.0 * step)
    for k in range(robot.nv):
        moved = step * np.eye(robot.nv)[k]
        for sign in (1.0, -1.0):
            at = q + sign * moved
            energy = dyn.kinetic_energy(at, qd) - dyn.potential_energy(at)
            forces[k] -= sign * energy / (2.0 * step)
    losses = dyn.friction_vector(qd) + dyn.elastic_vector(0 * q, qd)
    assert_agree(forces + losses, dyn.inverse_dynamics(q, qd, qdd), 1e-7)


@pytest.mark.parametrize('name', ['chain', 'planar', 'payload_on_beam'])
def test_error_falls_with_the_deflection(name):
    """By the square in the rows of the modes, by the cube in those of the joints."""
    robot, dyn, _, state = build(name)
    exact = reference_dynamics(robot)
    q_places, v_places = linearised_places(robot)
    other = [k for k in range(robot.nv) if k not in v_places]
    errors = []
    for e in (0.02, 0.01):
        given = [scaled(v, p, e) for v, p in zip(state, (q_places, v_places, v_places))]
        off = np.abs(dyn.inverse_dynamics(*given) - exact.inverse_dynamics(*given))
        errors.append((off[other].max(), off[v_places].max()))
    (joints, modes), (joints_half, modes_half) = errors
    assert 7.0 < joints / joints_half < 9.0
    assert 3.6 < modes / modes_half < 4.4
    given = [scaled(v, p, 0.0) for v, p in zip(state, (q_places, v_places, v_places))]
    ours, theirs = (m.inverse_dynamics(*given) for m in (dyn, exact))
    assert_agree(ours, theirs, 1e-13)


@pytest.mark.parametrize('drawn_in', [True, False])
def test_one_beam_by_hand(drawn_in):
    """
    A beam with a tip mass m on a hub, deflecting along phi = (x / L)^2, written out by hand.

    A point at x stands at (x - g(x) delta^2 / 2, phi delta) in the turning frame, with
    g = int_0^x phi'^2 = 4 x^3 / (3 L^4). To second order in delta
    2 T = (I + A delta^2) w^2 + 2 B w delta' + C delta'^2 with, M the mass of the beam,
    I = (M/3 + m) L^2, B = (M/4 + m) L, C = M/5 + m and A = C - (4/15) M - (4/3) m; without the
    drawing in A = C. With k = 4 E I / L^3 the equations follow.
    """
    length, mass, tip, iz = 1.3, 0.7, 0.4, 2e-8
    more = '' if drawn_in else 'geometric_stiffening="false"'
    robot = fd.load_robot(ONE_BEAM.format(length=length, mass=mass, tip=tip, iz=iz, more=more))
    i, b, c = (mass / 3 + tip) * length**2, (mass / 4 + tip) * length, mass / 5 + tip
    a = c - drawn_in * (4 / 15 * mass + 4 / 3 * tip)
    k = 4 * 1e9 * iz / length**3
    dyn = reference_dynamics(robot)
    (angle, x), (w, v), (w1, v1) = (0.4, 0.11), (1.7, -0.6), (-2.0, 3.0)
    tau = dyn.inverse_dynamics((angle, x), (w, v), (w1, v1))
    torque = (i + a * x * x) * w1 + b * v1 + 2 * a * x * v * w
    force = c * v1 + b * w1 - a * x * w * w + k * x
    assert_agree(tau, [torque, force], 1e-12)
    assert_agree(dyn.mass_matrix((angle, x)), [[i + a * x * x, b], [b, c]], 1e-12)


@pytest.mark.parametrize(('form', 'softening'), [
    ('exact', 'drawn in'), ('linearised', 'drawn in'), ('undeformed_kinetic_energy', 'none'),
    ('first_order_rotations', 'not drawn in'),
])
def test_stiffness_of_a_turning_beam(form, softening):
    """At speed w the mode of the beam above has the stiffness k - A w^2, by the form."""
    length, mass, tip, iz, speed = 1.3, 0.7, 0.4, 2e-8, 12.0
    text = ONE_BEAM.format(length=length, mass=mass, tip=tip, iz=iz, more='')
    robot = fd.reduced(fd.load_robot(text), form)
    dyn = reference_dynamics(robot)
    c = mass / 5 + tip
    a = {'drawn in': c - 4 / 15 * mass - 4 / 3 * tip, 'not drawn in': c, 'none': 0.0}[softening]
    by_q, _, _ = dyn.inverse_dynamics_derivatives([0.4, 0.0], [speed, 0.0], [0.0, 0.0])
    assert by_q[1, 1] == pytest.approx(4 * 1e9 * iz / length**3 - a * speed**2, rel=1e-10)


@pytest.mark.parametrize(('name', 'backend'), thinned(
    [('two', 'c'), ('mimics', 'python')], lambda name, backend: name == 'mimics',
))
def test_generated_backends(name, backend):
    """The same numbers from generated code, with gravity and wrenches as arguments."""
    robot, plain, _, (q, qd, qdd) = build(name)
    q = scaled(q, linearised_places(robot)[0], 0.1)
    dyn = fd.Dynamics(fd.reduced(robot, 'linearised'), backend=backend)
    wrenches = wrenches_on(robot)
    tau = plain.inverse_dynamics(q, qd, qdd)
    assert_agree(dyn.forward_dynamics(q, qd, tau), qdd, 1e-8)
    assert_matrices_agree(dyn.mass_matrix(q), plain.mass_matrix(q), 1e-12)
    frame = robot.frame_names[-1]
    assert_agree(dyn.jacobian(q, frame), plain.jacobian(q, frame), 1e-12)
    assert_agree(dyn.potential_energy(q), plain.potential_energy(q), 1e-12)
    other = reference_dynamics(plain.robot)
    for model in (dyn, other):
        model.set_gravity((1.0, 2.0, -3.0))
    forces = other.inverse_dynamics(q, qd, qdd, wrenches)
    assert_agree(dyn.inverse_dynamics(q, qd, qdd, wrenches), forces, 1e-12)


def test_derivatives():
    """By dual numbers, by the graph, and by differences."""
    robot, reference, _, (q, qd, qdd) = build('two')
    q = scaled(q, linearised_places(robot)[0], 0.1)
    generated = fd.Dynamics(fd.reduced(robot, 'linearised'), backend='python')
    found = reference.inverse_dynamics_derivatives(q, qd, qdd)
    others = generated.inverse_dynamics_derivatives(q, qd, qdd)
    for ours, theirs in zip(found, others):
        assert_agree(ours, theirs, 1e-11)
    assert_slope_in_q(reference, found[0], q, qd, qdd)
    tau = reference.inverse_dynamics(q, qd, qdd)
    for ours, theirs in zip(
        reference.forward_dynamics_derivatives(q, qd, tau),
        generated.forward_dynamics_derivatives(q, qd, tau),
    ):
        assert_agree(ours, theirs, 1e-8)
    given = (q, qd, qdd, ['link2/mass', 'link1/bending_y1/stiffness'])
    assert_agree(
        reference.inverse_dynamics_parameter_derivatives(*given),
        generated.inverse_dynamics_parameter_derivatives(*given), 1e-11,
    )


@pytest.mark.usefixtures('simplified_once')
@pytest.mark.parametrize('function', thinned(
    ['mass_matrix', 'mass_matrix_factors', 'hybrid_dynamics'], ('mass_matrix_factors',),
))
def test_generated_source(function):
    """Sources of the equations, exported; U D U^T is the matrix."""
    robot, dyn, _, (q, qd, qdd) = build('two')
    q = scaled(q, linearised_places(robot)[0], 0.1)
    code = fd.generate(
        fd.reduced(robot, 'linearised'), function, 'python', optimise=function == 'mass_matrix',
    ).compile_python()
    if function == 'mass_matrix':
        assert_matrices_agree(np.array(code(q)), dyn.mass_matrix(q), 1e-12)
    elif function == 'hybrid_dynamics':
        joint_qdd = qdd[:robot.n_joints]
        for ours, theirs in zip(
            code(q, qd, joint_qdd), dyn.hybrid_dynamics(q, qd, joint_qdd)
        ):
            assert_agree(ours, theirs, 1e-9)
    else:
        from flexdyn_ros.dynamics.articulated_body import factor_order
        from flexdyn_ros.dynamics.assemble import assemble

        upper, diagonal = map(np.array, code(q))
        order = factor_order(assemble(robot, {p.link: p.inertia for p in robot.payloads}))
        assert_matrices_agree(
            upper @ np.diag(diagonal) @ upper.T, dyn.mass_matrix(q)[np.ix_(order, order)], 1e-11
        )


@pytest.mark.parametrize('form', ['linearised', 'undeformed_kinetic_energy'])
@pytest.mark.parametrize('base', ['free', 'prescribed'])
def test_moving_bases(base, form):
    """Accelerations give back the forces, and the base's own are as given."""
    hub = ('<link name="base"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" '
           'ixy="0" ixz="0" iyz="0"/></inertial></link>')
    text = ONE_BEAM.format(length=1.0, mass=0.5, tip=0.2, iz=2e-8, more='')
    text = text.replace('<link name="base"/>', hub).replace(
        '<gravity', f'<base motion="{base}"/><gravity')
    robot = fd.reduced(fd.load_robot(text), form)
    q, qd, tau = robot.neutral_configuration(), 0.1 * np.arange(8), np.zeros(8)
    q[-1], tau[6] = 0.02, 0.5
    given = {'base_acceleration': [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]} if base == 'prescribed' else {}
    for backend in ('reference', 'python'):
        dyn = fd.Dynamics(robot, backend=backend)
        qdd = dyn.forward_dynamics(q, qd, tau, **given)
        forces = dyn.inverse_dynamics(q, qd, qdd)
        if given:
            assert_agree(qdd[:6], given['base_acceleration'], 1e-14)
            forces[:6] = 0.0
        assert_agree(forces, tau, 1e-12)


def test_energy_is_conserved():
    """A swing without losses keeps its energy to the order of the integrator."""
    robot = fd.load_robot(ONE_BEAM.format(length=1.0, mass=0.5, tip=0.2, iz=2e-8, more=''))
    dyn = reference_dynamics(robot)
    drifts = []
    for dt in (2e-3, 1e-3):
        swing = fd.simulate(dyn, [0.0, 0.05], [2.0, 0.0], None, 0.1, dt)
        drifts.append(np.abs(swing.energy - swing.energy[0]).max())
    assert drifts[1] < 1e-5 * swing.energy[0]
    assert drifts[0] / drifts[1] > 12.0
