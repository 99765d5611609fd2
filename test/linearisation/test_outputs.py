# SPDX-License-Identifier: Apache-2.0
"""C and D: against differences of a second formulation, strains in closed form."""

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError, UnknownName
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.displaced import displaced
from oracles.random_robots import random_robot_urdf
import pytest
from scipy.spatial.transform import Rotation

STEP = 1e-5
LENGTH, YOUNG, INERTIA = 1.3, 7e10, 2e-8


def measured(dyn, q, qd, tau, frame, start):
    """Return pose, velocity and specific force of a frame, (15,)."""
    pose, jacobian = dyn.frame_pose(q, frame), dyn.jacobian(q, frame)
    turn = Rotation.from_matrix(pose[:3, :3] @ start[:3, :3].T).as_rotvec()
    qdd = dyn.forward_dynamics(q, qd, tau)
    acceleration = (jacobian @ qdd + dyn.jacobian_rate_qd(q, qd, frame))[:3]
    force = pose[:3, :3].T @ (acceleration - dyn.robot.gravity)
    return np.concatenate((pose[:3, 3], turn, jacobian @ qd, force))


@pytest.mark.parametrize('speed', [0.0, 1.0])
@pytest.mark.parametrize('kinds', [
    ('revolute', 'prismatic'), ('floating', 'revolute'), ('quaternion', 'planar', 'revolute')])
def test_outputs_are_derivatives_of_another_formulation(kinds, speed):
    """Central differences of the kinematic influence, quaternions and modes included."""
    if 'floating' in kinds:
        text = random_robot_urdf(3, 3, kinds=('revolute',), max_modes=2).replace(
            '</flexdyn>', '<base motion="free"/></flexdyn>')
    else:
        text = random_robot_urdf(5, 3, kinds=kinds, max_modes=2)
    robot = fd.load_robot(text)
    other = fd.Dynamics(robot, 'reference', formulation='kinematic_influence')
    rng = np.random.default_rng(4)
    nv, n = robot.nv, robot.n_joints
    scale = np.where(np.arange(nv) < n, 0.4, 0.01)
    q = displaced(robot, robot.neutral_configuration(), scale * rng.normal(size=nv))
    qd, tau = speed * scale * rng.normal(size=nv), scale * rng.normal(size=nv)
    frame = robot.frame_names[-1]
    names = [f'{frame}/{group}' for group in ('pose', 'velocity', 'acceleration')]
    _, _, c, d = fd.linearise(reference_dynamics(robot), q, qd, tau, outputs=names)
    start = other.frame_pose(q, frame)

    def difference(by_q, by_qd, by_tau):
        ahead, behind = (
            measured(other, displaced(robot, q, s * by_q), qd + s * by_qd, tau + s * by_tau,
                     frame, start) for s in (STEP, -STEP))
        return (ahead - behind) / (2.0 * STEP)

    zero = np.zeros(nv)
    for k, unit in enumerate(np.eye(nv)):
        columns = ((c[:, k], difference(unit, zero, zero)),
                   (c[:, nv + k], difference(zero, unit, zero)))
        if k < n:
            columns += ((d[:, k], difference(zero, zero, unit)),)
        for found, expected in columns:
            for part in (slice(0, 12), slice(12, 15)):
                assert_agree(
                        found[part], expected[part], 2e-6, robot.coordinate_names[k], 0.1)


def cantilever(modes=8, more=''):
    """Return a clamped uniform beam in the x-y plane, without gravity."""
    return fd.load_robot(
        '<robot name="cantilever"><link name="beam"/><link name="tip"/><joint name="end" '
        f'type="fixed"><origin xyz="{LENGTH} 0 0"/><parent link="beam"/><child link="tip"/>'
        '</joint><flexdyn version="1.0"><gravity xyz="0 0 0"/><flexible_link link="beam" '
        f'geometric_stiffening="false"><beam tip="end" young="{YOUNG}" iz="{INERTIA}" '
        f'mass="2"><bending axis="y" modes="{modes}"/></beam></flexible_link>{more}</flexdyn>'
        '</robot>')


def test_strain_of_a_cantilever_under_a_force_at_its_tip():
    """-F (L - x) y / EI at a distance y from the neutral axis (Timoshenko)."""
    robot = cantilever()
    dyn, force, y = reference_dynamics(robot), 40.0, 0.02
    deflection = fd.QuasiStatic(dyn).inverse_dynamics(
        [], [], [], {'tip': [0.0, force, 0.0, 0.0, 0.0, 0.0]})[1]
    rest = np.zeros(robot.nv)
    names = [f'beam/strain@{x},{y},0' for x in (0.0, 0.3, 0.6)]
    _, _, c, _ = fd.linearise(dyn, rest, rest, rest, outputs=names)
    expected = [-force * LENGTH * (1.0 - x) * y / (YOUNG * INERTIA) for x in (0.0, 0.3, 0.6)]
    # Eight modes carry all but a few percent of the moment at the root.
    assert c[:, :robot.nv] @ deflection == pytest.approx(expected, rel=0.06)
    assert not c[:, robot.nv:].any()


def test_an_accelerometer_at_rest_measures_its_tilt():
    """The reading at a pendulum's tip tilted by an angle is g times it, and its acceleration."""
    robot = fd.load_robot(
        '<robot name="pendulum"><link name="base"/><link name="rod"><inertial><origin '
        'xyz="0 0 -0.5"/><mass value="1"/><inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link><joint name="pivot" type="continuous"><parent '
        'link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>')
    dyn = reference_dynamics(robot)
    system = fd.LinearSystem.about(dyn, [0.0], outputs=['rod/ax', 'rod/az', 'pivot/rate'])
    assert system.output_units == ('m/s^2', 'm/s^2', 'rad/s')
    # At the pivot itself no point accelerates: the remainder is gravity in turning axes.
    assert system.c[0] == pytest.approx([-9.81, 0.0])
    assert system.c[1] == pytest.approx([0.0, 0.0])
    assert system.c[2] == pytest.approx([0.0, 1.0])


@pytest.mark.parametrize('name, error', [
    ('tip/q', UnknownName), ('top/x', UnknownName), ('beam/strain@2,0,0', ArgumentError),
    ('beam/strain@a', ArgumentError), ('tip/strain@0,0,0', ArgumentError)])
def test_wrong_outputs_are_named(name, error):
    robot = cantilever(1)
    rest = np.zeros(robot.nv)
    with pytest.raises(error, match=r'top|tip|strain|q'):
        fd.linearise(reference_dynamics(robot), rest, rest, rest, outputs=[name])
