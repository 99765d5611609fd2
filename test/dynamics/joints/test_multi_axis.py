# SPDX-License-Identifier: Apache-2.0
"""Joints of several axes against chains of one-axis joints and Pinocchio's composite joints."""

import flexdyn_ros as fd
from flexdyn_ros.errors import SingularMassMatrix
import numpy as np
from oracles.compare import reference_dynamics
import pytest
from validation.van_der_merwe.gimbal_chain import AXES, body, joint, origin

GRAVITY = (1.0, -2.0, -9.0)
COM, MOMENTS, MASS = (0.1, -0.2, 0.3), (0.02, 0.03, 0.04), 1.7
PLACES = ((0.3, -0.1, 0.2), (0.5, 0.4, -0.3))
SUBSETS = (AXES, ('rx', 'rz', 'tx'), ('ry', 'tx', 'tz'), ('ty',), ('rx', 'ry', 'rz'))


def two_bodies(axes, extension=''):
    """Return the text of two bodies behind joints of the same axes."""
    links = body('a', MASS, COM, MOMENTS) + body('b', MASS, COM, MOMENTS)
    joints = joint('first', 'floating', 'base', 'a', origin(PLACES[0]))
    joints += joint('second', 'floating', 'a', 'b', origin(PLACES[1]))
    inner = ''.join(
        f'<multi_axis_joint joint="{name}" axes="{" ".join(axes)}"{extension}/>'
        for name in ('first', 'second')
    )
    return _robot(links + joints, inner)


def _robot(parts, inner=''):
    gravity = ' '.join(map(str, GRAVITY))
    return (
        f'<robot name="r"><link name="base"/>{parts}<flexdyn version="1.0">'
        f'<gravity xyz="{gravity}"/>{inner}</flexdyn></robot>'
    )


def one_axis_chain(axes):
    """Return the text of the same bodies, with a link between any two axes."""
    parts, parent = '', 'base'
    for name, place in zip(('a', 'b'), PLACES):
        for k, axis in enumerate(axes):
            last = k == len(axes) - 1
            child = name if last else f'{name}{k}'
            inner = '<axis xyz="{}"/>'.format(' '.join(str(int(c == axis[1])) for c in 'xyz'))
            inner += '<limit lower="-9" upper="9" effort="1" velocity="1"/>'
            kind = 'revolute' if axis[0] == 'r' else 'prismatic'
            where = origin(place if k == 0 else (0, 0, 0))
            parts += joint(f'{name}_{axis}', kind, parent, child, where, inner)
            parts += body(name, MASS, COM, MOMENTS) if last else f'<link name="{child}"/>'
            parent = child
    return _robot(parts)


@pytest.mark.parametrize('axes', SUBSETS, ids=' '.join)
def test_like_a_chain_of_one_axis_joints(axes):
    """Massless links between the axes change nothing."""
    robots = [fd.load_robot(text) for text in (two_bodies(axes), one_axis_chain(axes))]
    ours, theirs = (reference_dynamics(robot) for robot in robots)
    q, qd, qdd = np.random.default_rng(2).normal(size=(3, 2 * len(axes)))
    for name, given in (
        ('inverse_dynamics', (q, qd, qdd)), ('forward_dynamics', (q, qd, qdd)),
        ('mass_matrix', (q,)),
        ('coriolis_vector', (q, qd)), ('jacobian', (q, 'b')), ('jacobian_rate_qd', (q, qd, 'b')),
        ('frame_pose', (q, 'b')), ('kinetic_energy', (q, qd)), ('potential_energy', (q,)),
    ):
        np.testing.assert_allclose(
            getattr(ours, name)(*given), getattr(theirs, name)(*given), rtol=1e-10, atol=1e-10,
            err_msg=name,
        )


@pytest.mark.parametrize('axes', SUBSETS, ids=' '.join)
def test_pinocchio_composite_joints(axes):
    pin = pytest.importorskip('pinocchio', reason='Pinocchio is not installed')
    kinds = {
        'rx': pin.JointModelRX, 'ry': pin.JointModelRY, 'rz': pin.JointModelRZ,
        'tx': pin.JointModelPX, 'ty': pin.JointModelPY, 'tz': pin.JointModelPZ,
    }
    model, parent = pin.Model(), 0
    model.gravity = pin.Motion(np.array(GRAVITY), np.zeros(3))
    for place in PLACES:
        composite = pin.JointModelComposite()
        for axis in axes:
            composite.addJoint(kinds[axis]())
        parent = model.addJoint(parent, composite, pin.SE3(np.eye(3), np.array(place)), 'j')
        inertia = pin.Inertia(MASS, np.array(COM), np.diag(MOMENTS))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    dyn = reference_dynamics(fd.load_robot(two_bodies(axes)))
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 2 * len(axes)))
    data = model.createData()
    np.testing.assert_allclose(
        dyn.inverse_dynamics(q, qd, qdd), pin.rnea(model, data, q, qd, qdd), atol=1e-11
    )
    upper = np.triu(pin.crba(model, data, q))
    np.testing.assert_allclose(dyn.mass_matrix(q), upper + np.triu(upper, 1).T, atol=1e-11)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(dyn.forward_dynamics(q, qd, tau), qdd, atol=1e-9)


@pytest.mark.parametrize('rotation', ['', ' rotation="quaternion"'], ids=['angles', 'quaternion'])
def test_energy_is_conserved(rotation):
    """Two bodies in ball joints that slide along x too, swinging freely."""
    robot = fd.load_robot(two_bodies(('rx', 'ry', 'rz', 'tx'), rotation))
    dyn = reference_dynamics(robot)
    q, qd = robot.neutral_configuration(), np.zeros(robot.nv)
    qd[:4] = 1.0, -0.5, 0.8, 0.1
    run = fd.simulate(dyn, q, qd, None, t_end=0.3, dt=2e-3)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-8 * max(1.0, np.abs(run.energy).max())


def test_angles_and_quaternion_are_one_joint():
    """The same rotation and angular velocity give the same outward inverse dynamics."""
    axes = ('rx', 'ry', 'rz')
    angles = fd.load_robot(two_bodies(axes))
    quaternion = fd.load_robot(two_bodies(axes, ' rotation="quaternion"'))
    ours, theirs = reference_dynamics(angles), reference_dynamics(quaternion)
    q, qd = np.random.default_rng(4).normal(size=(2, 6))
    p = quaternion.neutral_configuration()
    for k, frame in enumerate(('a', 'b')):
        inner = ours.frame_pose(q, 'a') if k else np.eye(4)
        r = (inner.T[:3, :3] @ ours.frame_pose(q, frame)[:3, :3])
        w = 0.5 * np.sqrt(1.0 + np.trace(r))
        p[4 * k: 4 * k + 4] = [
            (r[2, 1] - r[1, 2]) / (4 * w), (r[0, 2] - r[2, 0]) / (4 * w),
            (r[1, 0] - r[0, 1]) / (4 * w), w,
        ]
    # Relative angular velocities in body axes are the quaternions' rates.
    map_to = np.linalg.solve(_spins(theirs, p), _spins(ours, q))
    assert theirs.kinetic_energy(p, map_to @ qd) == pytest.approx(ours.kinetic_energy(q, qd))
    assert theirs.potential_energy(p) == pytest.approx(ours.potential_energy(q))
    np.testing.assert_allclose(
        map_to.T @ theirs.mass_matrix(p) @ map_to, ours.mass_matrix(q), atol=1e-12
    )
    np.testing.assert_allclose(
        map_to.T @ theirs.gravity_vector(p), ours.gravity_vector(q), atol=1e-12
    )


def _spins(dyn, q):
    return np.vstack([dyn.jacobian(q, frame)[3:] for frame in ('a', 'b')])


def test_gimbal_lock_is_named():
    robot = fd.load_robot(two_bodies(('rx', 'ry', 'rz')))
    q = np.zeros(6)
    q[1] = 0.5 * np.pi
    for backend in ('reference', 'python'):
        with pytest.raises(SingularMassMatrix, match='gimbal lock') as caught:
            fd.Dynamics(robot, backend=backend).forward_dynamics(q, np.zeros(6), np.zeros(6))
        assert caught.value.coordinate.startswith('first/')
