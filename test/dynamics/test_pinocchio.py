# SPDX-License-Identifier: Apache-2.0
"""Rigid dynamics against Pinocchio on every URDF of example-robot-data, to 1e-10."""

from functools import lru_cache
import re

import flexdyn_ros as fd
import numpy as np
from oracles.compare import assert_agree, assert_matrices_agree, reference_dynamics
from oracles.particle_model import ParticleModel
from oracles.pinocchio_oracle import pin, PinocchioOracle
from oracles.random_robots import random_state
from oracles.vendor_robots import (
    frictionless,
    on_floating_base,
    robots_folder,
    short_name,
    vendor_urdfs,
    without_geometry,
)
import pytest

pytestmark = pytest.mark.oracle
TOLERANCE = 1e-10
# Files that are wrong, and the faults; each must be refused by us.
REFUSED = {
    'alex_description/urdf/alex_psyonic_hands.urdf': 'mimic',  # leaders that do not exist
    'ur_description/urdf/ur3.urdf': 'name',  # the robot has no name; Pinocchio refuses it too
}
# Moving subtrees without mass: forward dynamics has no answer.
MASSLESS = {
    'romeo_description/urdf/romeo.urdf': 'Finger',
    'romeo_description/urdf/romeo_laas_small.urdf': 'gripper',
}
NAMES = [short_name(path) for path in vendor_urdfs()]
ON_BASES = {
    f'{name}+{kind}': (name, kind)
    for name in (
        'ur_description/urdf/ur5_robot.urdf', 'solo_description/robots/solo12.urdf',
        'kinova_description/robots/kinova.urdf', 'panda_description/urdf/panda.urdf',
    )
    for kind in ('floating', 'planar')
}


@lru_cache(maxsize=None)
def build(name):
    """Return robot, our dynamics and Pinocchio for a vendor's file."""
    name, base = ON_BASES.get(name, (name, None))
    text = without_geometry((robots_folder() / name).read_text(encoding='utf-8'))
    if base:
        text = on_floating_base(text, fd.load_robot(text).root, base)
    robot = frictionless(fd.load_robot(text))
    return robot, reference_dynamics(robot), PinocchioOracle(robot, pin.buildModelFromXML(text))


@pytest.fixture(params=[n for n in NAMES if n not in REFUSED] + list(ON_BASES))
def case(request):
    """Return a vendor's robot, twice modelled, with a state."""
    robot, dyn, oracle = build(request.param)
    rng = np.random.default_rng(len(request.param))
    return request.param, robot, dyn, oracle, random_state(robot, rng)


def test_there_are_dozens_of_robots():
    """The installed data set holds the robots that this test expects, or more."""
    assert len(NAMES) - len(REFUSED) >= 60
    assert set(REFUSED) <= set(NAMES)


@pytest.mark.parametrize('name', list(REFUSED))
def test_wrong_files_are_refused_with_the_reason(name):
    """A file with a broken mimic or without a name is an error that names it."""
    with pytest.raises(fd.FlexdynError, match=REFUSED[name]):
        fd.load_robot(robots_folder() / name)


def test_coriolis_matrix(case):
    """Entry by entry, on floating and planar bases too: both are of the one connection."""
    _, robot, dyn, oracle, (q, qd, _) = case
    ours, theirs = dyn.coriolis_matrix(q, qd), oracle.coriolis_matrix(q, qd)
    assert_agree(ours @ qd, theirs @ qd, TOLERANCE)
    atol = TOLERANCE * np.abs(theirs).max(initial=1e-9)
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=atol)


def test_torques_and_matrices(case):
    """Inverse dynamics, mass matrix, gravity and kinetic energy at a random state."""
    _, _, dyn, oracle, (q, qd, qdd) = case
    theirs = oracle.inverse_dynamics(q, qd, qdd)
    assert_agree(dyn.inverse_dynamics(q, qd, qdd), theirs, TOLERANCE, 'torque')
    assert_matrices_agree(dyn.mass_matrix(q), oracle.mass_matrix(q), TOLERANCE, 'mass matrix')
    assert_agree(dyn.gravity_vector(q), oracle.gravity_vector(q), TOLERANCE, 'gravity')
    kinetic, _ = oracle.energies(q, qd)
    assert dyn.kinetic_energy(q, qd) == pytest.approx(kinetic, rel=TOLERANCE, abs=1e-12)


def test_jacobian(case):
    """Pose, Jacobian and its rate of the last link."""
    _, robot, dyn, oracle, (q, qd, _) = case
    frame = robot.links[-1].name
    assert_agree(dyn.frame_pose(q, frame), oracle.frame_pose(q, frame), TOLERANCE, 'pose')
    assert_agree(dyn.jacobian(q, frame), oracle.jacobian(q, frame), TOLERANCE, 'Jacobian')
    theirs = oracle.jacobian_rate_qd(q, qd, frame)
    assert_agree(dyn.jacobian_rate_qd(q, qd, frame), theirs, TOLERANCE, 'Jacobian rate')


def test_accelerations(case):
    """
    Forward dynamics against aba: accelerations where M is well conditioned, else their forces.

    Two algorithms can differ by eps times the condition number; the forces M qdd cannot.
    """
    name, robot, dyn, oracle, (q, qd, qdd) = case
    tau = oracle.inverse_dynamics(q, qd, qdd)
    matrix = oracle.mass_matrix(q)
    if name in MASSLESS:
        assert np.linalg.eigvalsh(matrix)[0] < 1e-12
        with pytest.raises(fd.FlexdynError, match=MASSLESS[name]):
            dyn.forward_dynamics(q, qd, tau)
        return
    ours, theirs = (model.forward_dynamics(q, qd, tau) for model in (dyn, oracle))
    if robot.nv and np.linalg.cond(matrix) < 1e5:
        assert_agree(ours, theirs, TOLERANCE, 'acceleration')
    assert_agree(matrix @ ours, matrix @ qdd, TOLERANCE, 'force of the acceleration')


def test_pinocchios_own_mimic_joints():
    """Pinocchio's mimic option, where its parser offers it, gives the projected torque too."""
    name = 'panda_description/urdf/panda.urdf'
    text = without_geometry((robots_folder() / name).read_text(encoding='utf-8'))
    robot, dyn, _ = build(name)
    model = pin.buildModelFromXML(text, True)
    model.gravity = pin.Motion(np.array(robot.gravity_vector), np.zeros(3))
    q, qd, qdd = random_state(robot, np.random.default_rng(1))
    assert (model.nq, model.nv) == (robot.nq, robot.nv)
    torque = pin.rnea(model, model.createData(), q, qd, qdd)
    order = [model.joints[model.getJointId(n)].idx_v for n in robot.joint_names]
    assert order == list(range(robot.nv))
    assert_agree(dyn.inverse_dynamics(q, qd, qdd), torque, TOLERANCE)


@pytest.mark.parametrize('name', [
    'ur_description/urdf/ur5_robot.urdf', 'tiago_description/robots/tiago.urdf',
    'panda_description/urdf/panda.urdf', 'talos_data/robots/talos_full_v2.urdf',
])
def test_total_mass_is_the_sum_of_the_files_masses(name):
    """All forces are kept, in any place of a link."""
    text = without_geometry((robots_folder() / name).read_text(encoding='utf-8'))
    text = re.sub(r'<!--.*?-->', '', text, flags=re.DOTALL)
    masses = [float(m) for m in re.findall(r'<mass\s+value\s*=\s*["\']([^"\']+)', text)]
    assert len(masses) > 5
    assert fd.load_robot(text).total_mass == pytest.approx(sum(masses), rel=1e-12)


@pytest.mark.parametrize('name, base', [
    ('kinova_description/robots/kinova.urdf', None),
    ('panda_description/urdf/panda.urdf', None),
    ('ur_description/urdf/ur5_robot.urdf', 'floating'),
    ('ur_description/urdf/ur5_robot.urdf', 'planar'),
])
def test_particles_of_rigid_robots_agree_with_pinocchio(name, base):
    """Particles and Pinocchio give the same torque, mass matrix and Jacobian."""
    text = without_geometry((robots_folder() / name).read_text())
    if base:
        text = on_floating_base(text, fd.load_robot(text).root, base)
    robot = frictionless(fd.load_robot(text))
    model = ParticleModel(robot)
    oracle = PinocchioOracle(robot, pin.buildModelFromXML(text))
    q, qd, qdd = random_state(robot, np.random.default_rng(0))
    frame = robot.links[-1].name
    assert_agree(model.inverse_dynamics(q, qd, qdd), oracle.inverse_dynamics(q, qd, qdd), 1e-12)
    assert_agree(model.mass_matrix(q), oracle.mass_matrix(q), 1e-12)
    assert_agree(model.jacobian(q, frame), oracle.jacobian(q, frame), 1e-12)
    theirs = oracle.jacobian_rate_qd(q, qd, frame)
    assert_agree(model.jacobian_rate_qd(q, qd, frame), theirs, 1e-12)
