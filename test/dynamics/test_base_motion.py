# SPDX-License-Identifier: Apache-2.0
"""
<base motion="free|prescribed"> with flexible links.

There are three second formulations. One is particles, whose momentum is a sum of m v. Another is a
floating joint written in the URDF. The third is gravity in place of a base's acceleration
(d'Alembert).
"""

from functools import lru_cache
import re

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.configuration import quaternion_matrix
import numpy as np
from oracles.compare import (
    assert_agree,
    assert_generalised_agree,
    assert_matrices_agree,
    reference_dynamics,
)
from oracles.particle_model import ParticleModel
from oracles.random_robots import random_robot_urdf, random_state
import pytest

TOLERANCE = 1e-10
BASE = slice(0, 6)


def urdf(motion, gravity='0 0 0', seed=12, name='world', **options):
    """Return a random flexible chain on a base that moves so; its root link is `name`."""
    settings = {'n_joints': 3, 'flexible': 1.0, 'tree': False, 'kinds': ('revolute',)} | options
    text = random_robot_urdf(seed, **settings)
    text = re.sub(r'<gravity[^>]*/>', '', text).replace('"link0"', f'"{name}"')
    given = f'<gravity xyz="{gravity}"/><base motion="{motion}"/>'
    return re.sub('</flexdyn>', f'{given}</flexdyn>', text, count=1)


@lru_cache(maxsize=None)
def build(motion, gravity='0 0 0', **options):
    """Return robot, dynamics, particles and a state."""
    robot = fd.load_robot(urdf(motion, gravity, **options))
    state = random_state(robot, np.random.default_rng(3))
    return robot, reference_dynamics(robot), ParticleModel(robot), state


def momentum_rate(particles, q, qd, qdd):
    """Return the rates of the particles' momentum and angular momentum about the origin, (6,)."""
    motion = particles.motion(q, np.array([qd]), np.array([qdd]))
    place, force = motion.points.value[0], motion.masses[:, None] * motion.points.accel[0]
    return np.concatenate((force.sum(axis=0), np.cross(place, force).sum(axis=0)))


def in_root_axes(q, wrench):
    """Return a wrench on the base, in its axes at its origin, about the root's origin, (6,)."""
    rotation = quaternion_matrix(q[3:7])
    force, moment = rotation @ wrench[:3], rotation @ wrench[3:]
    return np.concatenate((force, moment + np.cross(q[:3], force)))


@pytest.mark.parametrize('motion', ['free', 'prescribed'])
def test_the_base_is_the_first_joint(motion):
    """Names, sizes and frames; the base is not actuated by default."""
    robot, *_ = build(motion)
    names = tuple(f'base_motion/{axis}' for axis in ('tx', 'ty', 'tz', 'rx', 'ry', 'rz'))
    assert robot.base_motion == motion
    assert robot.joint_names[:6] == names
    assert (robot.joints[0].name, robot.joints[0].type) == ('base_motion', 'floating')
    assert robot.nq == robot.nv + 1
    assert 'base_motion' not in robot.actuated
    # The random robot has a "world" of its own.
    assert robot.frame_names[:2] == ('base_motion/world', 'world')
    plain = fd.load_robot(urdf(motion, name='bus'))
    assert plain.frame_names[:2] == ('world', 'bus')
    assert fd.load_robot(urdf('fixed', name='bus')).frame_names[0] == 'bus'


def test_a_joint_of_that_name_is_refused():
    text = urdf('free').replace('"joint1"', '"base_motion"')
    with pytest.raises(fd.FlexdynError, match='has a joint "base_motion"'):
        fd.load_robot(text)


@pytest.mark.parametrize('options', [
    {'seed': 12}, {'seed': 25}, {'seed': 26, 'tree': True, 'n_joints': 4},
    {'seed': 31, 'mimic': True, 'kinds': ('revolute', 'prismatic')},
], ids=str)
def test_against_particles(options):
    """Mass matrix, inverse dynamics, momentum and poses on a moving base, gravity on."""
    robot, dyn, particles, (q, qd, qdd) = build('free', '1 2 -9', **options)
    assert_matrices_agree(dyn.mass_matrix(q), particles.mass_matrix(q), TOLERANCE)
    ours, theirs = (model.inverse_dynamics(q, qd, qdd) for model in (dyn, particles))
    assert_generalised_agree(robot, ours, theirs, TOLERANCE)
    motion = particles.motion(q, np.array([qd]), np.array([0.0 * qd]))
    place, flow = motion.points.value[0], motion.masses[:, None] * motion.points.rate[0]
    momentum = np.concatenate((flow.sum(axis=0), np.cross(place, flow).sum(axis=0)))
    assert_agree(in_root_axes(q, dyn.mass_matrix(q)[BASE] @ qd), momentum, TOLERANCE)


@pytest.mark.parametrize('seed', [12, 25, 27])
def test_free_momentum_is_constant(seed):
    """For any torques of the joints, internal forces keep the momentum of all particles."""
    robot, dyn, particles, (q, qd, tau) = build('free', seed=seed)
    tau = np.concatenate((np.zeros(6), 20.0 * tau[6:]))
    qdd = dyn.forward_dynamics(q, qd, tau)
    rate = momentum_rate(particles, q, qd, qdd)
    motion = particles.motion(q, np.array([qd]), np.array([qdd]))
    size = np.sum(np.abs(motion.masses[:, None] * motion.points.accel[0]))
    assert np.max(np.abs(rate)) < TOLERANCE * size


def test_it_is_the_floating_joint_that_one_may_write():
    """The same numbers as with a floating joint in the URDF."""
    robot, dyn, _, (q, qd, qdd) = build('free', '0 0 -9.81', name='bus')
    joint = (
        '<link name="rest"/><joint name="float" type="floating"><parent link="rest"/>'
        '<child link="bus"/></joint></robot>'
    )
    text = urdf('fixed', '0 0 -9.81', name='bus').replace('</robot>', joint)
    written = reference_dynamics(fd.load_robot(text))
    assert np.array_equal(
        dyn.inverse_dynamics(q, qd, qdd), written.inverse_dynamics(q, qd, qdd)
    )


# --- prescribed ------------------------------------------------------------------------------


@pytest.mark.parametrize('backend', ['reference', 'python'])
@pytest.mark.parametrize('method', ['auto', 'recursive', 'cholesky'])
def test_the_base_follows_and_its_wrench_is_a_result(backend, method):
    """Newton and Euler for all particles: the wrench is their momentum's rate less gravity."""
    robot, _, particles, (q, qd, tau) = build('prescribed', '1 2 -9')
    dyn = fd.Dynamics(robot, backend=backend)
    base = np.array([0.3, -1.2, 0.7, 0.5, -0.4, 0.9])
    qdd = dyn.forward_dynamics(q, qd, tau, method=method, base_acceleration=base)
    assert np.array_equal(qdd[BASE], base)
    found = dyn.inverse_dynamics(q, qd, qdd)
    assert_agree(found[6:], tau[6:], 1e-9)
    motion = particles.motion(q, np.array([qd]), np.array([qdd]))
    weight = motion.masses[:, None] * particles.gravity
    fall = np.cross(motion.points.value[0], weight).sum(axis=0)
    expected = momentum_rate(particles, q, qd, qdd) - [*weight.sum(axis=0), *fall]
    assert_agree(in_root_axes(q, found[BASE]), expected, TOLERANCE)


def test_hybrid_dynamics_gives_the_wrench_first():
    """Base and joints prescribed, modes free: the first six torques are the base's."""
    robot, dyn, particles, (q, qd, qdd) = build('prescribed')
    ours = dyn.hybrid_dynamics(q, qd, qdd[:robot.n_joints])
    theirs = particles.hybrid_dynamics(q, qd, qdd[:robot.n_joints])
    assert_agree(ours[0][BASE], theirs[0][BASE], 1e-9)
    assert_agree(ours[1], theirs[1], 1e-9)
    # Without a given acceleration the first six entries are the wrench, as on a free base.
    whole = np.concatenate((qdd[:robot.n_joints], ours[1]))
    tau = dyn.inverse_dynamics(q, qd, whole)
    assert_agree(dyn.forward_dynamics(q, qd, tau), whole, 1e-8)


def test_an_accelerating_base_is_gravity_the_other_way():
    """D'Alembert: a base pushed along x, and the arm at rest in gravity along -x."""
    pushed = fd.load_robot(urdf('prescribed'))
    fallen = fd.load_robot(urdf('fixed', '-2 0 0'))
    q = np.concatenate((pushed.neutral_configuration()[:7], [0.3, -0.4, 0.2]))
    q = np.concatenate((q, np.zeros(pushed.n_modes)))
    rest = np.zeros(pushed.nv - 6)
    motion = fd.simulate(
        reference_dynamics(pushed), q, np.zeros(pushed.nv), None, 0.004, 2e-4,
        base_acceleration=[2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    )
    still = fd.simulate(reference_dynamics(fallen), q[7:], rest, None, 0.004, 2e-4)
    assert np.allclose(motion.q[:, 7:], still.q, rtol=0.0, atol=1e-9)
    assert motion.q[-1, 0] == pytest.approx(0.5 * 2.0 * 0.004**2)
    assert not np.allclose(motion.q[-1, 7:], q[7:], atol=1e-6)
    # The pushing wrench is recorded: at first the whole mass, less the arm's yielding part.
    assert motion.tau[0, 0] > 0.0
    assert np.array_equal(motion.tau[:, 6:], np.zeros((len(motion), pushed.nv - 6)))


def test_a_base_that_turns_as_a_function_of_time():
    """Callables are called at every stage; without one the velocity stays."""
    robot = fd.load_robot(urdf('prescribed'))
    dyn = reference_dynamics(robot)
    speed = np.zeros(robot.nv)
    speed[5] = 0.4

    def shaken(t, q, qd):
        return [0.0, 0.0, 0.0, 0.0, 0.0, 300.0 * np.cos(600.0 * t)]

    q = robot.neutral_configuration()
    motion = fd.simulate(dyn, q, speed, None, 0.004, 2e-4, base_acceleration=shaken)
    assert motion.qd[:, 5] == pytest.approx(0.4 + 0.5 * np.sin(600.0 * motion.t), abs=1e-6)
    motion = fd.simulate(dyn, q, speed, None, 0.004, 2e-4)
    assert np.array_equal(motion.qd[:, :6], np.tile(speed[:6], (len(motion), 1)))


@pytest.mark.parametrize(('motion', 'given', 'word'), [
    ('free', [0.0] * 6, 'the base is free'),
    ('fixed', [0.0] * 6, 'the base is fixed'),
    ('prescribed', [0.0] * 5, 'base_acceleration'),
    ('prescribed', [0.0, 0.0, 0.0, 0.0, 0.0, np.nan], 'base_acceleration'),
])
def test_what_is_wrong_with_an_acceleration_is_reported(motion, given, word):
    robot = fd.load_robot(urdf(motion))
    dyn, q, rest = fd.Dynamics(robot), robot.neutral_configuration(), np.zeros(robot.nv)
    with pytest.raises(ArgumentError, match=word):
        dyn.forward_dynamics(q, rest, rest, base_acceleration=given)
    with pytest.raises(ArgumentError, match=word):
        fd.simulate(dyn, q, rest, None, 0.01, 0.01, base_acceleration=given)


def test_a_torque_on_a_prescribed_base_is_refused():
    """It could have no effect; so is one that a controller returns later."""
    robot = fd.load_robot(urdf('prescribed'))
    dyn = fd.Dynamics(robot, 'reference')
    q, rest = robot.neutral_configuration(), np.zeros(robot.nv)
    for torque in (np.ones(robot.nv), lambda t, q, qd: np.ones(robot.nv)):
        with pytest.raises(ArgumentError, match='is not zero on the base'):
            fd.simulate(dyn, q, rest, torque, 0.01, 0.01)


def test_a_coordinate_without_inertia_is_named():
    """Also where the base is held."""
    text = (
        '<robot name="r"><link name="bus"/><link name="empty"/><joint name="j" type="continuous">'
        '<parent link="bus"/><child link="empty"/></joint><flexdyn version="1.0">'
        '<base motion="prescribed"/></flexdyn></robot>'
    )
    dyn = fd.Dynamics(fd.load_robot(text))
    q, rest = dyn.robot.neutral_configuration(), np.zeros(7)
    with pytest.raises(fd.FlexdynError, match='"j" moves no inertia'):
        dyn.forward_dynamics(q, rest, rest, base_acceleration=[0.0] * 6)
