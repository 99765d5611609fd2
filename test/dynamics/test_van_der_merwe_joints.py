# SPDX-License-Identifier: Apache-2.0
"""Van der Merwe's open chains: joints of several axes, every digit that the work prints."""

from functools import lru_cache

import flexdyn_ros as fd
import numpy as np
from oracles.compare import load_data
from oracles.compare import reference_dynamics
from oracles.gimbal_chain import chain_urdf
from oracles.particle_model import ParticleModel
import pytest

CASES = load_data('van_der_merwe')
PRINTED = 1e-9  # the work prints up to seven digits, and these numbers are short
DERIVED = 2e-9


@lru_cache(maxsize=None)
def chain(case, **options):
    """Return the robot and the dynamics of a case's chain."""
    data = CASES[case]
    text = chain_urdf(data['links'], data['gravity'], base=data.get('base', (0, 0, 0)), **options)
    robot = fd.load_robot(text)
    return robot, reference_dynamics(robot)


def close(ours, theirs, tolerance):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance)


def test_rotation_about_three_axes():
    """The work maps the other way: its matrix is the transpose of the pose's."""
    data = CASES['rotation_matrix']
    link = {'gamma': [0] * 6, 'axes': [0, 1, 2], 'mass': 1, 'com': [0] * 3, 'inertia_com': [1] * 3}
    dyn = reference_dynamics(fd.load_robot(chain_urdf([link], (0, 0, 0))))
    close(dyn.frame_pose(data['angles'], 'link1')[:3, :3].T, data['matrix'], DERIVED)


def test_kinematics_of_the_stanford_arm():
    """Default joint spaces and the place of the tip, with lengths for the letters."""
    data = CASES['stanford_kinematics']
    lengths = {'h': 0.7, 'o': 0.2, 'r': 0.9, 'l': 0.3, 'm': 0.1, '0': 0.0}
    links = []
    for link in data['links']:
        gamma = [-lengths[x[1:]] if x[0] == '-' else lengths[x] for x in link['gamma']]
        links.append({**link, 'gamma': gamma, 'mass': 1, 'com': [0] * 3, 'inertia_com': [1] * 3})
    robot = fd.load_robot(chain_urdf(links, (0, 0, 0)))
    dyn = reference_dynamics(robot)
    assert robot.nv == data['total_dof']
    q = robot.neutral_configuration()
    q[robot.joint_names.index('joint2/tx')] = lengths['r']
    place = lengths['r'] + lengths['l'] + lengths['m'], lengths['h'], -lengths['o']
    assert data['tip_at_zero'] == ['r + l + m', 'h', '-o']
    close(dyn.frame_pose(q, 'tip')[:3, 3], place, 1e-15)
    column = 0
    for number, printed in enumerate(data['columns'], 1):
        jacobian = dyn.jacobian(q, f'link{number}')
        own = np.vstack((jacobian[3:], jacobian[:3]))[:, column: column + len(printed[0])]
        if number == 2:  # the frame that slides is at r, the work's at the gimbal's centre
            own[3:, 0] -= np.cross([0, 0, 1], [lengths['r'], 0, 0])
        close(own, printed, 1e-15)
        column += len(printed[0])


@lru_cache(maxsize=None)
def cut_stanford_arm():
    """Return data, robot, dynamics and the motion of the arm with joints of six axes."""
    data = CASES['stanford_inverse_dynamics']
    robot, dyn = chain('stanford_inverse_dynamics', cut=True)
    q, qd = np.zeros(robot.nv), np.zeros(robot.nv)
    moved = [k for k, name in enumerate(robot.joint_names) if name.startswith('joint')]
    q[moved], qd[moved] = data['q'], data['qd']
    return data, robot, dyn, q, qd


@pytest.mark.parametrize('number', [1, 2, 3, 4])
def test_motion_of_each_link(number):
    """Velocities and accelerations of the printed frames, gravity as the base's acceleration."""
    data, _, dyn, q, qd = cut_stanford_arm()
    rotation = dyn.frame_pose(q, f'link{number}')[:3, :3]
    velocity = dyn.jacobian(q, f'link{number}') @ qd
    acceleration = dyn.jacobian_rate_qd(q, qd, f'link{number}')
    acceleration[:3] -= data['gravity']
    for ours, name in ((velocity, f'v_{number}'), (acceleration, f'a_{number}')):
        own = np.concatenate((rotation.T @ ours[3:], rotation.T @ ours[:3]))
        close(own, data['printed'][name], PRINTED)


@pytest.mark.parametrize('number', [1, 2, 3, 4])
def test_force_at_each_joint(number):
    """What passes each joint and acts on each link, read off the six axes of the cuts."""
    data, robot, dyn, q, qd = cut_stanford_arm()
    tau = dyn.inverse_dynamics(q, qd, np.zeros(robot.nv))

    def passed(k):
        at = robot.joint_names.index(f'cut{k}/rx')
        return tau[at: at + 6]

    force = passed(number)
    close(force, data['printed'][f'f_{number}'], PRINTED)
    if number < 4:
        carried = np.array(data['printed'][f'X_{number + 1}_{number}']).T
        force = force - carried @ passed(number + 1)
    close(force, data['printed'][f'F_{number}'], PRINTED)


@pytest.mark.parametrize('number', [1, 2, 3, 4])
def test_spatial_inertia_and_transforms(number):
    """The six-axis joint's own block of the mass matrix is a spatial inertia."""
    data = CASES['stanford_inverse_dynamics']
    links = data['links'][number - 1: number]
    robot = fd.load_robot(chain_urdf(links, (0, 0, 0), cut=True))
    dyn = reference_dynamics(robot)
    q = np.zeros(robot.nv)
    own = dyn.mass_matrix(q)[-6:, -6:]
    close(own, data['printed'][f'I_{number}'], PRINTED)
    if number == 1:
        close(own[:3, :3], data['printed']['Ibar_1'], PRINTED)
    _, _, dyn, q, _ = cut_stanford_arm()
    inner = dyn.frame_pose(q, f'link{number - 1}') if number > 1 else np.eye(4)
    outer = np.linalg.solve(inner, dyn.frame_pose(q, f'link{number}'))
    a, b = outer[:3, :3].T, outer[:3, 3]
    transform = np.block([[a, np.zeros((3, 3))], [a @ np.cross(b, np.eye(3)), a]])
    close(transform, data['printed'][f'X_{number}_{number - 1}'], PRINTED)


def test_torques_of_the_stanford_arm():
    data = CASES['stanford_inverse_dynamics']
    _, dyn = chain('stanford_inverse_dynamics')
    close(dyn.inverse_dynamics(data['q'], data['qd'], [0] * 5), data['printed']['tau'], PRINTED)


def valve_motion(t):
    """Return joint values, rates and accelerations of the valve task, and the gripper's load."""
    data = CASES['valve_task']
    first = t == '1.0-' or float(str(t).rstrip('+-')) < 1.0
    start, stop = data['q'][:2] if first else data['q'][1:]
    duration = data['phases'][0 if first else 1]
    s = (float(str(t).rstrip('+-')) - (0.0 if first else data['phases'][0])) / duration
    way = np.subtract(stop, start)
    return (
        start + (3 * s**2 - 2 * s**3) * way, (6 * s - 6 * s**2) / duration * way,
        (6 - 12 * s) / duration**2 * way, 0.0 if first else data['moment'],
    )


@pytest.mark.parametrize('sample', CASES['valve_task']['tau'], ids=lambda s: str(s['t']))
def test_valve_task(sample):
    """A joint that turns and slides at once; the moment opposes the gripper in phase two."""
    robot, dyn = chain('stanford_inverse_dynamics')
    q, qd, qdd, moment = valve_motion(sample['t'])
    along = dyn.frame_pose(q, 'tip')[:3, 0]
    wrench = {'tip': np.concatenate(([0, 0, 0], -moment * along))}
    tau = dyn.inverse_dynamics(q, qd, qdd, wrenches=wrench)
    # The work positions are given to nine digits.
    close(tau, sample['tau'], 5e-8)
    particles = ParticleModel(robot).inverse_dynamics(q, qd, qdd, wrenches=wrench)
    close(tau, particles, 1e-12)


def test_valve_task_reaches_the_tap():
    data = CASES['valve_task']
    _, dyn = chain('stanford_inverse_dynamics')
    pose = dyn.frame_pose(data['q'][1], 'tip')
    close(pose[:3, 3], data['tip'], 2e-9)
    close(pose[:3, 0], data['tip_x'], 2e-9)


def test_several_axes_at_once():
    """Joints of four, three and two axes, turning and sliding, against all derived figures."""
    data = CASES['several_axes_at_once']
    robot, dyn = chain('several_axes_at_once')
    expected = data['expected']
    q, qd, qdd = (np.array(data[name]) for name in ('q', 'qd', 'qdd'))
    close(dyn.inverse_dynamics(q, qd, qdd), expected['tau'], DERIVED)
    close(ParticleModel(robot).inverse_dynamics(q, qd, qdd), expected['tau'], DERIVED)
    close(dyn.forward_dynamics(q, qd, expected['tau']), qdd, 1e-6)
    pose = dyn.frame_pose(q, 'tip')
    close(pose[:3, 3], expected['tip_position_base'], DERIVED)
    rotation = pose[:3, :3].T
    for ours, name in (
        (dyn.jacobian(q, 'tip') @ qd, 'tip_velocity_tip_frame'),
        (dyn.jacobian_rate_qd(q, qd, 'tip'), 'tip_bias_acceleration_tip_frame'),
    ):
        own = np.concatenate((rotation @ ours[3:], rotation @ ours[:3]))
        close(own, expected[name], DERIVED)


def test_columns_and_their_rates():
    """The joint space of a joint of four axes, and what it does in a time."""
    data = CASES['several_axes_at_once']
    _, dyn = chain('several_axes_at_once')
    q, qd = np.array(data['q']), np.array(data['qd'])
    wanted, h = data['expected'], 1e-6

    def columns(at):
        pose = dyn.frame_pose(at, 'link1')
        jacobian = dyn.jacobian(at, 'link1')[:, :4]
        rotation = pose[:3, :3].T
        spins, slides = rotation @ jacobian[3:], rotation @ jacobian[:3]
        # At the gimbal's centre, which the slide leaves where it is.
        reach = np.array([at[3], 0, 0])
        return np.vstack((spins, slides - np.cross(spins.T, reach).T))

    close(columns(q), wanted['phi_1'], DERIVED)
    rate = (columns(q + h * qd) - columns(q - h * qd)) / (2 * h)
    close(rate, wanted['phidot_1'], 1e-8)
