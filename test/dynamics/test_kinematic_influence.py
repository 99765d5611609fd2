# SPDX-License-Identifier: Apache-2.0
"""The method of kinematic influence against the recursions and the particles, to 1e-10."""

from copy import deepcopy
from functools import lru_cache
import pickle

import flexdyn_ros as fd
from flexdyn_ros.dynamics import (
    accelerations,
    articulated_body,
    energy,
    flexible_body,
    frame_kinematics,
    mass_matrix,
    newton_euler,
    placement,
    reference,
)
from flexdyn_ros.errors import ArgumentError
import numpy as np
from oracles.compare import (
    assert_agree,
    assert_generalised_agree,
    assert_matrices_agree,
    reference_dynamics,
)
from oracles.particle_model import ParticleModel
from oracles.random_robots import random_robot_urdf, random_state
from oracles.robot_kinds import random_wrenches, ROBOTS
import pytest
from validation.robots import example_robot

TOLERANCE = 1e-10
EXAMPLES = {
    'nonlinear_mode': ('flexible_beam', {'modes_z': '1', 'hardening': '1e5'}),
    'strain_wave_joints': (
        'cobot7', {'elastic_joints': 'true', 'joint_spring': 'strain_wave', 'modes': '2'},
    ),
    'segments': (
        'segmented_arm', {'segments': '3', 'directions': 'x y z', 'joint_spring': 'true'},
    ),
    'free_base': ('satellite_arm', {}),
    'prescribed_base': (
        'satellite_arm', {'base_motion': 'prescribed', 'modes': '2', 'payload_mass': '3'},
    ),
    'sections_and_statics': ('telescopic_boom', {}),
}
MECHANISMS = {
    'four_bar': ('four_bar', {'modes': '1', 'constrain': 'rx rz tx ty tz'}),
    'hslm': ('hslm', {}),
    'delta': ('delta', {'modes': '0', 'payload_mass': '0.5'}),
}


def by_influence(robot, **options):
    """Return the dynamics by the method of kinematic influence."""
    return fd.Dynamics(robot, formulation='kinematic_influence', **options)


@lru_cache(maxsize=None)
def build(name):
    """Return a robot, its dynamics by both formulations, and a state."""
    if name in ROBOTS:
        robot, seed = fd.load_robot(random_robot_urdf(**ROBOTS[name])), ROBOTS[name]['seed']
    else:
        file, arguments = {**EXAMPLES, **MECHANISMS}[name]
        robot, seed = example_robot(file, **arguments), 3
    state = random_state(robot, np.random.default_rng(seed))
    return robot, by_influence(robot), reference_dynamics(robot), state


@pytest.fixture(params=[*ROBOTS, *EXAMPLES])
def case(request):
    """Return a robot without loops."""
    return build(request.param)


def assert_terms_agree(robot, ours, theirs, q, qd, qdd):
    """Assert that two models agree in every term."""
    wrenches = random_wrenches(robot)
    arguments = {
        'inverse_dynamics': (q, qd, qdd, wrenches), 'bias_vector': (q, qd),
        'gravity_vector': (q,), 'coriolis_vector': (q, qd), 'friction_vector': (qd,),
        'elastic_vector': (q, qd), 'inertia_vector': (q, qdd),
        'external_force_vector': (q, wrenches),
    }
    for name, given in arguments.items():
        found = [getattr(model, name)(*given) for model in (ours, theirs)]
        assert_generalised_agree(robot, *found, TOLERANCE, name)
    assert_matrices_agree(ours.mass_matrix(q), theirs.mass_matrix(q), TOLERANCE)
    assert_agree(ours.kinetic_energy(q, qd), theirs.kinetic_energy(q, qd), TOLERANCE, 'kinetic')
    found = [model.potential_energy(q) for model in (ours, theirs)]
    assert_agree(*found, TOLERANCE, 'potential', floor=1.0)
    for frame in {robot.frame_names[0], robot.frame_names[-2], robot.frame_names[-1]}:
        for name, given in {
            'frame_pose': (q, frame), 'jacobian': (q, frame), 'jacobian_rate_qd': (q, qd, frame),
        }.items():
            found = [getattr(model, name)(*given) for model in (ours, theirs)]
            assert_agree(*found, TOLERANCE, f'{name} of {frame}')


def solved_to(mass):
    """Return the tolerance of accelerations that a mass matrix is solved for."""
    return max(TOLERANCE, 1e3 * np.finfo(float).eps * np.linalg.cond(mass))


def test_every_term_as_by_the_recursions(case):
    """Every method that is a term or a frame's motion, on robots of every kind."""
    robot, ours, theirs, state = case
    assert (ours.backend, ours.formulation) == ('reference', 'kinematic_influence')
    assert theirs.formulation == 'recursive'
    assert_terms_agree(robot, ours, theirs, *state)


@pytest.mark.parametrize('name', [
    'flexible_root', 'mimics', 'floating', 'multi_axis', 'spherical', 'payload_on_beam',
])
def test_every_term_as_by_particles(name):
    """The same by brute force, which shares no code with either formulation."""
    robot, ours, _, state = build(name)
    assert_terms_agree(robot, ours, ParticleModel(robot), *state)


def test_motion_as_by_the_recursions(case):
    """Forward and hybrid dynamics with wrenches, to the rounding of the mass matrix."""
    robot, ours, theirs, (q, qd, qdd) = case
    wrenches = random_wrenches(robot)
    tau = theirs.inverse_dynamics(q, qd, qdd, wrenches)
    tolerance = solved_to(theirs.mass_matrix(q))
    found = [model.forward_dynamics(q, qd, tau, wrenches) for model in (ours, theirs)]
    assert_agree(*found, tolerance)
    ours_j, ours_m = ours.hybrid_dynamics(q, qd, qdd[:robot.n_joints], wrenches)
    tau_j, qdd_m = theirs.hybrid_dynamics(q, qd, qdd[:robot.n_joints], wrenches)
    assert_agree(ours_j, tau_j, tolerance)
    assert_agree(ours_m, qdd_m, tolerance)


@pytest.mark.parametrize('name', ['flexible_chain', 'three_modes'])
def test_undeformed_and_at_rest(name):
    """Where rotation formulas are 0/0, and nothing moves."""
    robot, ours, theirs, (_, qd, qdd) = build(name)
    q = robot.neutral_configuration()
    assert_matrices_agree(ours.mass_matrix(q), theirs.mass_matrix(q), TOLERANCE)
    for rate in (qd, 0 * qd):
        found = [model.inverse_dynamics(q, rate, qdd) for model in (ours, theirs)]
        assert_generalised_agree(robot, *found, TOLERANCE)


@pytest.mark.parametrize('name', MECHANISMS)
def test_loops(name):
    """Constraint Jacobians and biases, closed states, motion and constraint forces."""
    robot, ours, theirs, (q, qd, qdd) = build(name)
    q, qd = theirs.project(robot.neutral_configuration() + 0.05 * q, qd)
    again = ours.project(q, qd)
    assert_agree(again[0], q, 1e-8)
    for call in ('loop_jacobian', 'loop_bias'):
        given = (q,) if call == 'loop_jacobian' else (q, qd)
        assert_agree(getattr(ours, call)(*given), getattr(theirs, call)(*given), TOLERANCE, call)
    tau = np.where(np.arange(robot.nv) < 1, 5.0, 0.0)
    found = [model.forward_dynamics(q, qd, tau) for model in (ours, theirs)]
    assert_agree(*found, 1e-8)
    found = [model.constraint_forces(q, qd, tau) for model in (ours, theirs)]
    assert_agree(*found, 1e-8)


def test_derivatives():
    """By state and by parameters, through the same dual numbers."""
    robot, ours, theirs, (q, qd, qdd) = build('floating')
    for name in ('inverse_dynamics_derivatives', 'forward_dynamics_derivatives'):
        for a, b in zip(getattr(ours, name)(q, qd, qdd), getattr(theirs, name)(q, qd, qdd)):
            assert_agree(a, b, 1e-8, name)
    robot, ours, theirs, (q, qd, qdd) = build('strain_wave_joints')
    chosen = ['link7/mass', 'link7/com', 'link7/inertia', 'joint2/viscous']
    for name in ('inverse_dynamics_parameter_derivatives',
                 'forward_dynamics_parameter_derivatives'):
        found = [getattr(model, name)(q, qd, qdd, chosen) for model in (ours, theirs)]
        assert_agree(*found, 1e-8, name)


def test_prescribed_base():
    """The base's acceleration given: the same motion, the same wrench on the base."""
    robot, ours, theirs, (q, qd, qdd) = build('prescribed_base')
    base = [0.1, -0.2, 0.3, 0.4, 0.1, -0.3]
    found = [m.forward_dynamics(q, qd, qdd, base_acceleration=base) for m in (ours, theirs)]
    assert_agree(*found, solved_to(theirs.mass_matrix(q)))
    found = [m.inverse_dynamics(q, qd, a) for m, a in zip((ours, theirs), found)]
    assert_generalised_agree(robot, *found, 1e-8)


def test_loads_copies_and_batches():
    """Payload and gravity at run time, cleared bit for bit; copies keep the formulation."""
    robot, _, _, (q, qd, qdd) = build('flexible_chain')
    ours, theirs = by_influence(robot), reference_dynamics(robot)
    before = ours.inverse_dynamics(q, qd, qdd)
    link = next(link.name for link in robot.links if link.mode_names)
    for model in (ours, theirs):
        model.set_payload(link, 1.3, (0.3, -0.2, 0.1), np.diag([0.02, 0.03, 0.025]))
        model.set_gravity((3.0, -2.0, -5.0))
    assert_terms_agree(robot, ours, theirs, q, qd, qdd)
    for copy in (deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert copy.formulation == 'kinematic_influence'
        found = [model.inverse_dynamics(q, qd, qdd) for model in (copy, ours)]
        assert np.array_equal(*found)
    rows = ours.batch.mass_matrix(np.stack((q, 0.5 * q)))
    assert np.array_equal(rows[0], ours.mass_matrix(q))
    ours.clear_payload()
    ours.set_gravity(robot.gravity)
    assert np.array_equal(ours.inverse_dynamics(q, qd, qdd), before)


def test_simulation_takes_it():
    """A few steps of a hanging beam by both formulations."""
    robot, ours, theirs, (q, qd, _) = build('nonlinear_mode')
    found = [fd.simulate(m, 0.1 * q, 0 * qd, None, 0.001, 5e-5) for m in (ours, theirs)]
    assert_agree(found[0].q, found[1].q, TOLERANCE)


def test_it_runs_without_the_recursions(monkeypatch):
    """Every method still answers when all that the recursions rest on is gone."""
    robot, _, _, (q, qd, qdd) = build('floating')

    def gone(*given, **named):
        raise AssertionError('a recursion was called')

    wanted = {
        'placements', 'propagate', 'body_wrench', 'deflect', 'carry_wrench', 'carry_twist',
        'factorise', 'solve', 'poses', 'body_twists', 'joint_motion',
    }
    modules = (
        accelerations, articulated_body, energy, flexible_body, frame_kinematics, mass_matrix,
        newton_euler, placement,
    )
    for module in modules:
        for name in wanted & set(vars(module)):
            monkeypatch.setattr(module, name, gone)
    for name in ('generalised_forces', 'mass_matrix'):
        monkeypatch.setattr(reference, name, gone)
    with pytest.raises(AssertionError, match='recursion'):
        reference_dynamics(robot).inverse_dynamics(q, qd, qdd)
    ours = by_influence(robot)
    wrenches = random_wrenches(robot)
    tau = ours.inverse_dynamics(q, qd, qdd, wrenches)
    assert_agree(ours.forward_dynamics(q, qd, tau, wrenches), qdd, 1e-7)
    ours.hybrid_dynamics(q, qd, qdd[:robot.n_joints], wrenches)
    for name in ('bias_vector', 'coriolis_vector', 'elastic_vector', 'kinetic_energy'):
        getattr(ours, name)(q, qd)
    for name in ('gravity_vector', 'potential_energy', 'mass_matrix'):
        getattr(ours, name)(q)
    frame = robot.frame_names[-1]
    for name in ('frame_pose', 'jacobian'):
        getattr(ours, name)(q, frame)
    ours.jacobian_rate_qd(q, qd, frame)
    ours.inverse_dynamics_derivatives(q, qd, qdd)


def test_wrong_choices_name_the_right_ones():
    """An unknown formulation or approximation, uncompiled code, a missing recursion."""
    robot, ours, _, (q, qd, qdd) = build('nonlinear_mode')
    with pytest.raises(ArgumentError, match='"lagrange".*recursive.*kinematic_influence'):
        fd.Dynamics(robot, formulation='lagrange')
    with pytest.raises(ArgumentError, match='not compiled, and backend is "c"'):
        by_influence(robot, backend='c')
    with pytest.raises(ArgumentError, match='"small".*undeformed_inertia.*lumped_mass'):
        by_influence(robot, approximations=['small'])
    with pytest.raises(ArgumentError, match='formulation is "recursive"'):
        fd.Dynamics(robot, approximations='lumped_mass')
    with pytest.raises(ArgumentError, match='solves with the mass matrix'):
        ours.forward_dynamics(q, qd, qdd, method='recursive')
    assert by_influence(robot, backend='reference').backend == 'reference'


def test_first_order_rotations_are_refused_where_they_matter():
    """King's rotations have no place in it, unless nothing hangs on the link."""
    text = random_robot_urdf(seed=12, n_joints=2, flexible=1.0, tree=False)
    linear = text.replace(' geometric_stiffening="false"', '').replace(
        '<flexible_link link', '<flexible_link rotation="linear" link'
    )
    with pytest.raises(ArgumentError, match='has rotation="linear".*formulation="recursive"'):
        by_influence(fd.load_robot(linear))
    alone = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint><flexdyn version="1.0">'
        '<flexible_link link="b" rotation="linear"><beam tip="1 0 0" young="7e10" area="1e-4" '
        'iz="1e-9" mass="1"><bending axis="y" modes="2"/></beam></flexible_link></flexdyn></robot>'
    )
    robot = fd.load_robot(alone)
    state = random_state(robot, np.random.default_rng(1))
    assert_terms_agree(robot, by_influence(robot), reference_dynamics(robot), *state)
