# SPDX-License-Identifier: Apache-2.0
"""Random trees with random loops, flexible and rank-deficient ones, against particles."""

from dataclasses import replace
from functools import lru_cache

import flexdyn_ros as fd
from flexdyn_ros.codegen.tracing.functions import functions_of
from flexdyn_ros.dynamics.functions import FUNCTIONS
from flexdyn_ros.errors import ArgumentError, UnattainableMotion, UnknownName
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.particle_loops import ParticleLoops, with_loop
from oracles.random_robots import random_robot_urdf, random_state
import pytest

RIGID = {'flexible': 0.0, 'kinds': ('revolute', 'continuous', 'prismatic')}
BENDING = {'flexible': 0.6, 'max_modes': 1, 'kinds': ('revolute', 'continuous')}
# Options of the random robot, its seed, and loops: links and directions.
CASES = {
    'point': (RIGID, 3, 6, [(6, 0, 'tx ty tz')]),
    'hinge': (RIGID, 4, 8, [(8, 2, 'rx ry tx ty tz')]),
    'weld': (RIGID, 5, 8, [(8, 0, 'rx ry rz tx ty tz')]),
    'slide': (RIGID, 6, 7, [(7, 1, 'rx ry rz ty tz')]),
    'plane': (RIGID, 7, 5, [(5, 0, 'tz')]),
    'two loops': (RIGID, 8, 9, [(8, 1, 'tx ty tz'), (9, 0, 'ty tz')]),
    'said twice': (RIGID, 9, 7, [(7, 0, 'tx ty tz'), (7, 0, 'tx ty tz')]),
    'too many': (RIGID, 10, 4, [(4, 0, 'rx ry rz tx ty tz'), (3, 0, 'tx ty tz')]),
    'flexible': (BENDING, 11, 4, [(4, 0, 'tx ty tz')]),
    'flexible weld': (BENDING, 12, 4, [(4, 1, 'rx ry rz tx ty tz')]),
    'mimic': ({**RIGID, 'mimic': True}, 13, 7, [(7, 0, 'tx tz')]),
    'floating': ({**RIGID, 'kinds': ('floating', 'revolute', 'quaternion')}, 15, 4,
                 [(4, 1, 'rx rz tx ty tz')]),
    'small': (RIGID, 16, 3, [(3, 0, 'tx tz')]),
    'small and flexible': (BENDING, 17, 2, [(2, 0, 'tx ty')]),
    'many axes': ({**RIGID, 'kinds': ('multi_axis', 'planar')}, 14, 3, [(3, 0, 'rx ry tx tz')]),
}


@lru_cache(maxsize=None)
def build(name):
    """Return robot, our dynamics, the particles, and a state that meets the loops."""
    options, seed, n_joints, loops = CASES[name]
    text = random_robot_urdf(seed, n_joints, tree=False, **options)
    bare = fd.load_robot(text)
    rng = np.random.default_rng(seed)
    q, qd, _ = random_state(bare, rng)
    q[bare.nq - bare.n_modes:] = 0.0
    for number, (first, second, constrain) in enumerate(loops):
        ends = f'link{first}', f'link{second}'
        text = with_loop(text, reference_dynamics(bare), q, f'loop{number}', *ends, constrain)
    robot = fd.load_robot(text)
    dyn = reference_dynamics(robot)
    if name in ('said twice', 'too many', 'mimic'):
        start = q
    else:
        start = dyn.closed_chains.space.moved(q, 0.05 * rng.normal(size=robot.nv))
    q, qd = dyn.project(start, qd)
    return robot, dyn, ParticleLoops(robot), (q, qd, rng.normal(size=robot.nv) * 5.0)


@pytest.fixture(params=list(CASES))
def case(request):
    """Return a robot with loops, twice modelled, with a state."""
    return build(request.param)


def tolerance(robot, particles, q):
    """Return the round-off of ten digits, by the condition of mass and constraints."""
    mass = particles.model.mass_matrix(q)
    size = np.sqrt(np.diag(mass))
    s = np.linalg.svd(particles.jacobian(q) / size, compute_uv=False)
    s = s[s > 1e-9 * s[0]]
    condition = np.linalg.cond(mass / np.outer(size, size))
    return max(1e-9, 1e-14 * condition * s[0] / s[-1])


def test_states_are_projected(case):
    robot, dyn, particles, (q, qd, _) = case
    assert np.abs(dyn.loop_gaps(q)).max() < 1e-11
    assert np.abs(particles.jacobian(q) @ qd).max() < 1e-10


def test_jacobian_and_its_rate(case):
    _, dyn, particles, (q, qd, _) = case
    assert_agree(dyn.loop_jacobian(q), particles.jacobian(q), 1e-11)
    assert_agree(dyn.loop_bias(q, qd), particles.bias(q, qd), 1e-9)


def test_forward_dynamics_and_constraint_forces(case):
    robot, dyn, particles, (q, qd, tau) = case
    wrenches = {'link1': [1.0, -2.0, 3.0, 0.5, 0.2, -0.1]}
    for given in (None, wrenches):
        qdd, forces = particles.motion(q, qd, tau, given)
        limit = tolerance(robot, particles, q)
        assert_agree(dyn.forward_dynamics(q, qd, tau, wrenches=given), qdd, limit)
        ours = dyn.constraint_forces(q, qd, tau, wrenches=given)
        assert_agree(ours, forces, 100 * limit)


def test_inverse_dynamics_returns_to_the_motion(case):
    """All joints have motors: the smallest torques make the motion, and no others are needed."""
    robot, dyn, particles, (q, qd, tau) = case
    qdd = dyn.forward_dynamics(q, qd, tau)
    own = dyn.inverse_dynamics(q, qd, qdd)
    limit = 10 * tolerance(robot, particles, q)
    assert_agree(dyn.forward_dynamics(q, qd, own), qdd, limit)
    # The loops carry the missing part: the difference is in the range of A^T.
    a = particles.jacobian(q)
    left = own - tau
    carried = np.linalg.lstsq(a.T, left, rcond=1e-10)[0]
    assert_agree(a.T @ carried, left, 1e-6)


def test_hybrid_dynamics_makes_the_joint_motion(case):
    """With modal forces zero, the torques make forward dynamics return the accelerations."""
    robot, dyn, particles, (q, qd, tau) = case
    tau = np.concatenate((tau[:robot.n_joints], np.zeros(robot.n_modes)))
    qdd = dyn.forward_dynamics(q, qd, tau)
    torques, modal = dyn.hybrid_dynamics(q, qd, qdd[:robot.n_joints])
    limit = 100 * tolerance(robot, particles, q)
    assert_agree(modal, qdd[robot.n_joints:], limit)
    again = dyn.forward_dynamics(q, qd, np.concatenate((torques, np.zeros(robot.n_modes))))
    assert_agree(again, qdd, limit)


def test_prescribed_accelerations_of_the_frames(case):
    """The closing frames accelerate as prescribed, as far as the rank lets them."""
    robot, dyn, particles, (q, qd, tau) = case
    wanted = np.random.default_rng(1).normal(size=len(robot.constraint_names))
    a = particles.jacobian(q)
    wanted = a @ np.linalg.lstsq(a, wanted, rcond=1e-10)[0]
    given, row = {}, 0
    for loop in robot.loops:
        given[loop.name] = wanted[row: row + len(loop.constrain)]
        row += len(loop.constrain)
    qdd, _ = particles.motion(q, qd, tau, accelerations=wanted)
    ours = dyn.forward_dynamics(q, qd, tau, loop_accelerations=given)
    assert_agree(ours, qdd, tolerance(robot, particles, q))
    assert_agree(dyn.loop_jacobian(q) @ ours + dyn.loop_bias(q, qd), wanted, 1e-7)


def test_forces_in_the_free_directions():
    """Given forces (class I), and such that follow the constraint forces (class II)."""
    robot, dyn, particles, (q, qd, tau) = build('point')
    moments = np.array([0.3, -0.2, 0.5])
    loop = robot.loops[0]
    axes = dyn.frame_pose(q, loop.frame2)[:3, :3]
    wrench = np.concatenate(([0, 0, 0], axes @ moments))
    # Both frames are at one place, so that a moment on each is action and reaction.
    by_wrench = dyn.forward_dynamics(q, qd, tau, wrenches={
        loop.frame1: wrench, loop.frame2: -wrench})
    assert_agree(
        dyn.forward_dynamics(q, qd, tau, loop_forces={loop.name: moments}), by_wrench, 1e-10
    )
    coupling = np.array([[0.1, 0.0, 0.2], [0.0, -0.1, 0.0], [0.05, 0.0, 0.0]])
    given = {loop.name: coupling}
    qdd = dyn.forward_dynamics(q, qd, tau, loop_forces=given)
    force = dyn.constraint_forces(q, qd, tau, loop_forces=given)
    assert_agree(
        dyn.forward_dynamics(q, qd, tau, loop_forces={loop.name: coupling @ force}), qdd, 1e-9
    )
    assert_agree(dyn.loop_jacobian(q) @ qdd, -dyn.loop_bias(q, qd), 1e-9)
    again = dyn.inverse_dynamics(q, qd, qdd, loop_forces=given)
    assert_agree(dyn.forward_dynamics(q, qd, again, loop_forces=given), qdd, 1e-8)


@pytest.mark.parametrize('name', ['small', 'small and flexible', 'plane'])
def test_generated_code(name):
    """Generated Python, and source in all languages through the same functions."""
    robot, dyn, _, (q, qd, tau) = build(name)
    generated = fd.Dynamics(robot, backend='python')
    assert_agree(generated.forward_dynamics(q, qd, tau), dyn.forward_dynamics(q, qd, tau), 1e-8)
    assert_agree(generated.loop_gaps(q), dyn.loop_gaps(q), 1e-12)
    assert_agree(generated.loop_jacobian(q), dyn.loop_jacobian(q), 1e-11)
    assert_agree(generated.loop_bias(q, qd), dyn.loop_bias(q, qd), 1e-10)


def test_generated_source():
    robot, dyn, _, (q, qd, _) = build('small')
    wanted = 'mass_matrix+bias_vector+loop_jacobian+loop_bias'
    code = fd.generate(robot, wanted, 'python', optimise=False)
    mass, bias, a, gamma = code.compile_python()(list(q), list(qd))
    assert_agree(np.reshape(mass, (robot.nv, -1)), dyn.mass_matrix(q), 1e-10)
    assert_agree(bias, dyn.bias_vector(q, qd), 1e-10)
    assert_agree(np.reshape(a, (-1, robot.nv)), dyn.loop_jacobian(q), 1e-10)
    assert_agree(gamma, dyn.loop_bias(q, qd), 1e-10)
    assert [output.shape for output in code.outputs][2:] == [(2, robot.nv), (2,)]
    for language in ('c', 'fortran'):
        assert 'loop_jacobian' in fd.generate(
            robot, 'loop_jacobian', language, optimise='quick').source
    bare = fd.load_robot(random_robot_urdf(3, 3))
    with pytest.raises(ArgumentError, match='no <loop>'):
        fd.generate(bare, 'loop_jacobian')
    for name in (name for name, each in FUNCTIONS.items() if each.by_rank):
        with pytest.raises(ArgumentError, match=r'mass_matrix\+bias_vector\+loop_jacobian'):
            fd.generate(robot, name)
    offered = functions_of(robot)
    assert 'forward_dynamics' not in offered and 'loop_bias' in offered
    assert 'loop_bias' not in functions_of(bare)


def test_payloads_and_gravity_count():
    robot, _, _, (q, qd, tau) = build('small')
    dyn = fd.Dynamics(robot, backend='python')
    before = dyn.forward_dynamics(q, qd, tau)
    dyn.set_payload('link3', 2.0, (0.1, 0, 0), np.eye(3) * 0.01)
    dyn.set_gravity((0, 0, 0))
    changed = dyn.forward_dynamics(q, qd, tau)
    other = reference_dynamics(robot)
    other.set_payload('link3', 2.0, (0.1, 0, 0), np.eye(3) * 0.01)
    other.set_gravity((0, 0, 0))
    assert_agree(changed, other.forward_dynamics(q, qd, tau), 1e-9)
    assert np.abs(changed - before).max() > 1e-3
    dyn.clear_payload()
    dyn.set_gravity(robot.gravity)
    assert np.array_equal(dyn.forward_dynamics(q, qd, tau), before)


def test_energy_balance_of_a_flexible_loop():
    """Loops do no work: the power of friction and motors is the change of the energy."""
    robot, dyn, _, (q, qd, tau) = build('flexible')
    qdd = dyn.forward_dynamics(q, qd, tau)
    h = 1e-6
    space = dyn.closed_chains.space
    energies = []
    for sign in (1.0, -1.0):
        at = space.moved(q, sign * h * qd)
        rate = qd + sign * h * qdd
        energies.append(dyn.kinetic_energy(at, rate) + dyn.potential_energy(at))
    power = (energies[0] - energies[1]) / (2 * h)
    losses = dyn.friction_vector(qd) + dyn.elastic_vector(q, qd)
    at_rest = dyn.elastic_vector(q, 0 * qd)
    assert power == pytest.approx(qd @ (tau - losses + at_rest), rel=1e-5)


def test_names_and_shapes_of_what_is_given():
    robot, dyn, _, (q, qd, tau) = build('point')
    with pytest.raises(UnknownName, match='loop0'):
        dyn.forward_dynamics(q, qd, tau, loop_accelerations={'lop': [0, 0, 0]})
    with pytest.raises(ArgumentError, match='loop_forces'):
        dyn.forward_dynamics(q, qd, tau, loop_forces={'loop0': [0, 0]})
    with pytest.raises(ArgumentError, match='must map'):
        dyn.constraint_forces(q, qd, tau, loop_forces=[1, 2, 3])
    bare = reference_dynamics(fd.load_robot(random_robot_urdf(3, 3, **RIGID)))
    zero = np.zeros(bare.robot.nv)
    with pytest.raises(UnknownName, match='There are none'):
        bare.forward_dynamics(zero, zero, zero, loop_forces={'loop0': [0]})
    assert bare.constraint_forces(zero, zero, zero).shape == (0,)
    ours = bare.project(zero, zero + 1)
    assert np.array_equal(ours[0], zero) and np.array_equal(ours[1], zero + 1)
    out = np.empty_like(zero), np.empty_like(zero)
    assert bare.project(zero, zero + 1, out=out)[1] is out[1]
    assert np.array_equal(out, ours)
    short = zero[:-1]
    for call in (lambda: bare.constraint_forces(zero, short, zero), lambda: bare.loop_gaps(short),
                 lambda: bare.loop_jacobian(short), lambda: bare.loop_bias(zero, short)):
        with pytest.raises(ArgumentError, match='has shape'):
            call()
    with pytest.raises(fd.FlexdynError, match='no loops'):
        bare.loop_report(zero)


def test_motions_that_passive_joints_would_have_to_make():
    """Actuated joints too few: the passive joint that needs a torque is named."""
    robot, _, _, (q, qd, tau) = build('point')
    names = robot.joint_names
    limp = replace(robot, actuated=(names[0],))
    dyn = reference_dynamics(limp)
    qdd = dyn.forward_dynamics(q, qd, tau)
    with pytest.raises(UnattainableMotion) as caught:
        dyn.inverse_dynamics(q, qd, qdd)
    assert caught.value.coordinate in names[1:]
    only = np.zeros(robot.nv)
    only[0] = 3.0
    qdd = dyn.forward_dynamics(q, qd, only)
    # With three motors for as many freedoms the torque is the one that was there.
    able = reference_dynamics(replace(robot, actuated=tuple(names[:3])))
    own = able.inverse_dynamics(q, qd, qdd)
    assert_agree(own, only, 1e-6)
