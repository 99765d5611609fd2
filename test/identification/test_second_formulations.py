# SPDX-License-Identifier: Apache-2.0
"""Regressor and estimates against programs that share no code with them."""

from dataclasses import replace

import flexdyn_ros as fd
from flexdyn_ros.identification.base_parameters import base_parameters
from flexdyn_ros.identification.bodies import body_of, ten_numbers
from flexdyn_ros.identification.physical_problem import PhysicalProblem
from flexdyn_ros.identification.regressor import inertial_regressor, known_forces
from flexdyn_ros.identification.torque_model import TorqueModel
from flexdyn_ros.model.records.inertia import Inertia
import numpy as np
import pytest
from simulated_arms import described_arm, FLEXIBLE, fourier_motion, recorded, true_arm


@pytest.mark.oracle
@pytest.mark.parametrize('vendor', [False, True])
def test_the_regressor_is_pinocchios(vendor):
    pin = pytest.importorskip('pinocchio', reason='Pinocchio is not installed')
    from oracles.vendor_robots import robots_folder

    if vendor:
        text = (robots_folder() / 'ur_description/urdf/ur5_robot.urdf').read_text()
        robot = fd.load_robot(text)
    else:
        robot = described_arm()
        text = robot.descriptions[0]
    model = pin.buildModelFromXML(text)
    data = model.createData()
    random = np.random.default_rng(0)
    q, qd, qdd = random.normal(size=(3, 6, robot.nv))
    links = [model.names[k] for k in range(1, model.njoints)]
    links = [robot.joint(name).child for name in links]
    ours = inertial_regressor(robot, q, qd, qdd, links).reshape(6, robot.nv, -1, 10)
    for k in range(6):
        theirs = pin.computeJointTorqueRegressor(model, data, q[k], qd[k], qdd[k])
        theirs = theirs.reshape(robot.nv, -1, 10)
        # Their inertia is xx xy yy xz yz zz, about the joint's origin.
        order = [0, 1, 2, 3, 4, 6, 9, 5, 7, 8]
        assert np.allclose(ours[k], theirs[:, :, order], atol=1e-10)


def test_the_regressor_gives_inverse_dynamics():
    robot = described_arm()
    random = np.random.default_rng(1)
    q, qd, qdd = random.normal(size=(3, 20, 3))
    dyn = fd.Dynamics(robot, backend='reference')
    exact = np.array([dyn.inverse_dynamics(*each) for each in zip(q, qd, qdd)])
    assert np.allclose(known_forces(robot, q, qd, qdd), exact, atol=1e-12)
    links = ('link1', 'link2', 'link3')
    numbers = np.concatenate([ten_numbers(robot.link(link).inertia) for link in links])
    rigid = inertial_regressor(robot, q, qd, qdd, links) @ numbers
    rotors = [joint.dynamics.reflected_inertia for joint in robot.joints]
    losses = np.array([dyn.friction_vector(each) for each in qd])
    assert np.allclose(rigid + rotors * qdd + losses, exact, atol=1e-10)


@pytest.mark.parametrize('form', ['', 'rotation="linear"', 'deflection="linearised"', 'spring'])
def test_samples_pass_through_every_form_of_the_dynamics(form):
    arm, drives = described_arm().descriptions
    extension = [drives, FLEXIBLE.replace('inertial="hub"', f'inertial="hub" {form}')]
    if form == 'spring':
        table = '<spring points="-0.02 -300, 0 0, 0.02 300"/><friction viscous="3"'
        extension = drives.replace('<friction viscous="3"', table)
    robot = fd.load_robot(arm, extension=extension)
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 7, robot.nv))
    q[:, 3:] *= 0.01
    dyn = fd.Dynamics(robot, backend='reference')
    exact = np.array([dyn.inverse_dynamics(*each) for each in zip(q, qd, qdd)])
    assert robot.n_modes and np.allclose(known_forces(robot, q, qd, qdd), exact, atol=1e-10)


def test_friction_is_that_of_least_squares_by_scipy():
    from scipy.optimize import least_squares

    arm = described_arm()
    random = np.random.default_rng(2)
    true = true_arm(arm, random)
    known = replace(true, joints=tuple(
        replace(joint, dynamics=replace(joint.dynamics, friction=arm.joint(
            joint.name).dynamics.friction)) for joint in true.joints))
    state = np.random.default_rng(3)
    motion = recorded(true, state, noise=0.1)
    t, q, qd, qdd = fourier_motion(3, np.random.default_rng(3))
    rigid = np.array([
        fd.Dynamics(replace(known, joints=tuple(
            replace(j, dynamics=replace(j.dynamics, friction=type(j.dynamics.friction)()))
            for j in known.joints)), backend='reference').inverse_dynamics(*each)
        for each in zip(q[::20], qd[::20], qdd[::20])])

    def residual(x):
        return (rigid + x[:3] * qd[::20] + x[3:] * np.tanh(qd[::20] / 0.02)
                - motion.tau[::20]).ravel()

    fitted = least_squares(residual, np.ones(6), method='lm')
    spread = np.sqrt(np.diag(np.linalg.inv(fitted.jac.T @ fitted.jac))) * 0.1
    found = fd.identify(known, motion, inertia=False, friction=['viscous', 'coulomb'])
    for k, joint in enumerate(arm.joint_names):
        for place, term in ((k, 'viscous'), (k + 3, 'coulomb')):
            estimate = found.parameters[f'{joint}/{term}']
            # Scipy takes each twentieth sample.
            assert abs(estimate.value - fitted.x[place]) < 4.0 * spread[place]
            assert estimate.deviation < spread[place]


def test_the_physical_body_is_the_minimum_that_scipy_finds():
    from scipy.optimize import minimize

    random = np.random.default_rng(4)
    body = Inertia(2.0, (0.1, 0.0, 0.05), ((0.02, 0.0, 0.0), (0.0, 0.03, 0.0), (0.0, 0.0, 0.02)))
    described = np.array(ten_numbers(body))
    base = described + 0.2 * np.abs(described).max() * random.normal(size=10)
    base[4] = -0.05  # no body has this
    root = random.normal(size=(10, 10))
    weights = 50.0 * root @ root.T
    problem = PhysicalProblem(
        np.eye(10), base, weights, described, 1, np.zeros(10, bool), np.ones(10, bool),
        np.ones(10), np.tile([-np.inf, np.inf], (10, 1)))
    values, covariance = problem.solve()
    found = body_of(values)
    moments = np.linalg.eigvalsh(np.array(found.matrix))
    assert found.mass > 0.0 and moments[0] > 0.0 and moments[2] < moments[0] + moments[1]
    assert np.linalg.eigvalsh(covariance)[0] > 0.0

    def pseudo(lower):
        # Any lower triangle is a pseudo-inertia: feasible by construction.
        matrix = np.zeros((4, 4))
        matrix[np.tril_indices(4)] = lower
        return matrix @ matrix.T

    def numbers(p):
        second, first = p[:3, :3], p[:3, 3]
        inertia = np.trace(second) * np.eye(3) - second
        return np.array([p[3, 3], *first, *np.diag(inertia), inertia[0, 1], inertia[0, 2],
                         inertia[1, 2]])

    def pseudo_of(ten):
        xx, yy, zz, xy, xz, yz = ten[4:]
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        p = np.zeros((4, 4))
        p[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
        p[:3, 3] = p[3, :3] = ten[1:4]
        p[3, 3] = ten[0]
        return p

    prior = pseudo_of(described)

    def total(lower):
        p = pseudo(lower)
        miss = numbers(p) - base
        ratio = np.linalg.solve(prior, p)
        return 0.5 * miss @ weights @ miss + np.trace(ratio) - np.log(np.linalg.det(ratio))

    start = np.linalg.cholesky(prior)[np.tril_indices(4)]
    least = minimize(total, start, method='BFGS', options={'gtol': 1e-6})
    ours = total(np.linalg.cholesky(pseudo_of(values))[np.tril_indices(4)])
    assert ours <= least.fun + 1e-6
    assert np.allclose(values, numbers(pseudo(least.x)), rtol=1e-2, atol=1e-3)


def test_base_parameters_of_a_planar_arm_are_the_textbooks():
    # One joint about the vertical: one number. Two more about parallel horizontal axes.
    arm = described_arm()
    model = TorqueModel(arm, arm.joint_names, (), rotors=False)
    base = base_parameters(model, model.shapes(None), model.values, np.ones(30, dtype=bool))
    assert len(base.columns) == 15
    names = [base.name(k, model.names) for k in range(15)]
    assert 'link1/izz +1 link2/iyy +0.16 link3/mass +1 link3/iyy' in names
    assert 'link2/mx +0.4 link3/mass' in names
    assert 'link2/izz +0.16 link3/mass' in names


def test_friction_at_low_velocity_is_among_the_base_parameters():
    arm = described_arm()
    model = TorqueModel(arm, arm.joint_names, ('coulomb', 'stribeck'))
    shapes = [replace(shape, stribeck=0.01) for shape in model.shapes(None)]
    base = base_parameters(model, shapes, model.values, np.ones(len(model.names), dtype=bool))
    found = {model.names[column] for column in base.columns}
    assert {'joint1/stribeck', 'joint2/stribeck', 'joint3/stribeck'} <= found


def test_units_are_those_of_the_joint():
    """The Stanford arm has one sliding joint, the third."""
    robot = fd.load_robot('package://flexdyn_ros/urdf/stanford_arm.urdf.xacro')
    model = TorqueModel(robot, robot.joint_names, ('viscous', 'coulomb'), inertia=False)
    units = dict(zip(model.names, model.units))
    turning, sliding = robot.joint_names[1:3]
    assert (units[f'{turning}/viscous'], units[f'{turning}/coulomb']) == ('N m s/rad', 'N m')
    assert (units[f'{sliding}/viscous'], units[f'{sliding}/coulomb']) == ('N s/m', 'N')
