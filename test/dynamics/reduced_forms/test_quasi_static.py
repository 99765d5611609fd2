# SPDX-License-Identifier: Apache-2.0
"""Quasi-static modes against closed forms, the exact equations, and slow motions of the exact."""

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError, NotYetSupported, SingularMassMatrix
from flexdyn_ros.nodes.arm.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.arm.deflection import ModalEquations
from flexdyn_ros.nodes.arm.joint_motion import JointSample
from flexdyn_ros.quasi_static.static_deflection import DeflectionNotFound, StaticDeflection
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.random_robots import random_robot_urdf, random_state
from oracles.small_robots import arm
import pytest
from scipy.optimize import brentq

MASS, REACH, INERTIA, SPRING, ROTOR = 1.4, 0.5, 0.2, 900.0, 0.05
ELASTIC = f"""
<robot name="elastic"><link name="base"/><link name="link"><inertial><origin xyz="{REACH} 0 0"/>
<mass value="{MASS}"/><inertia ixx="1" iyy="1" izz="{INERTIA}" ixy="0" ixz="0" iyz="0"/>
</inertial></link><joint name="joint" type="continuous"><parent link="base"/><child link="link"/>
<axis xyz="0 0 1"/></joint><flexdyn version="1.0"><gravity xyz="0 -9.81 0"/>
<joint_dynamics joint="joint" stiffness="{SPRING}" damping="3" rotor_inertia="{ROTOR}"/>
{{more}}</flexdyn></robot>
"""
BEAM = """
<robot name="swing"><link name="base"/><link name="beam"/><joint name="hub" type="continuous">
<parent link="base"/><child link="beam"/><axis xyz="0 0 1"/></joint>
<flexdyn version="1.0"><gravity xyz="0 0 0"/><flexible_link link="beam">
<beam tip="1 0 0" young="{young}" iz="2e-8" mass="0.7"><bending axis="y" modes="2"/>
<point_mass at="1" mass="0.4"/></beam></flexible_link></flexdyn></robot>
"""
ROBOTS = {
    'chain': {'seed': 12, 'n_joints': 3, 'flexible': 1.0, 'tree': False,
              'kinds': ('revolute', 'prismatic')},
    'mimics': {'seed': 16, 'n_joints': 5, 'flexible': 0.4, 'mimic': True,
               'kinds': ('revolute', 'continuous', 'prismatic')},
    'floating': {'seed': 17, 'n_joints': 3, 'kinds': ('floating', 'revolute'), 'flexible': 0.8},
    'multi_axis': {'seed': 20, 'n_joints': 3, 'kinds': ('multi_axis', 'quaternion', 'revolute'),
                   'flexible': 0.8},
}


def elastic(**options):
    """Return the dynamics of a link on an elastic joint."""
    return reference_dynamics(fd.load_robot(ELASTIC.format(more=options.get('more', ''))))


def test_elastic_joint_in_closed_form():
    """K d = -(I q'' + m g r cos(q + d)), I about the joint; the motor has its own inertia more."""
    dyn = elastic()
    about = INERTIA + MASS * REACH**2
    q, qdd = 0.4, 7.0

    def left(d):
        return SPRING * d + about * qdd + MASS * 9.81 * REACH * np.cos(q + d)

    expected = brentq(left, -0.5, 0.5, xtol=1e-15)
    tau, found = fd.QuasiStatic(dyn).inverse_dynamics([q], [2.0], [qdd])
    assert_agree(found, [expected], 1e-10)
    torque = (ROTOR + about) * qdd + MASS * 9.81 * REACH * np.cos(q + expected)
    assert_agree(tau, [torque], 1e-10)


@pytest.mark.parametrize('name', list(ROBOTS))
def test_it_solves_the_exact_equations_at_rest_of_the_modes(name):
    """Modal forces vanish, torques are those of the exact robot, and accelerations come back."""
    robot = fd.load_robot(random_robot_urdf(**ROBOTS[name], max_modes=1))
    dyn = reference_dynamics(robot)
    quasi = fd.QuasiStatic(dyn)
    q, qd, qdd = random_state(robot, np.random.default_rng(1))
    n, m = robot.n_joints, robot.n_modes
    assert m
    own, rate, acceleration = q[: quasi.n_positions], 0.5 * qd[:n], 0.5 * qdd[:n]
    wrenches = {robot.frame_names[-1]: [1.0, -2.0, 3.0, 0.2, 0.1, -0.3]}
    tau, deflection = quasi.inverse_dynamics(own, rate, acceleration, wrenches)
    assert np.any(deflection)
    rest = np.zeros(m)
    whole = quasi.configuration(own, deflection)
    exact = dyn.inverse_dynamics(
        whole, [*rate, *rest], [*acceleration, *rest], wrenches)
    assert_agree(exact, [*tau, *rest], 1e-9)
    back, again = quasi.forward_dynamics(own, rate, tau, wrenches)
    assert_agree(back, acceleration, 1e-8)
    assert_agree(again, deflection, 1e-8)


def test_the_node_finds_the_same_deflection():
    """Mode flexible_quasi_static of the inverse dynamics node."""
    robot = fd.load_robot(random_robot_urdf(**ROBOTS['chain'], max_modes=1))
    dyn = reference_dynamics(robot)
    q, qd, qdd = (v[: robot.n_joints] for v in random_state(robot, np.random.default_rng(1)))
    sample = JointSample(0.0, q, qd, qdd)
    state = ModalEquations(dyn, ArmCoordinates(robot)).at(sample)
    _, deflection = fd.QuasiStatic(dyn).inverse_dynamics(q, qd, qdd)
    assert_agree(state.delta, deflection, 1e-8)


def test_segments_mode_springs_and_backlash():
    """Modes of every kind: a chain, a hardening spring and a gear with backlash."""
    robot = fd.load_robot(ELASTIC.format(more='').replace(
        f'stiffness="{SPRING}" damping="3" rotor_inertia="{ROTOR}"/>',
        f'rotor_inertia="{ROTOR}"><spring points="-0.03 -500, -0.01 0, 0 0, 0.01 0, 0.03 500"/>'
        '</joint_dynamics>'))
    dyn = reference_dynamics(robot)
    tau, deflection = fd.QuasiStatic(dyn).inverse_dynamics([0.3], [1.0], [4.0])
    assert abs(deflection[0]) > 0.01
    forces = dyn.inverse_dynamics([0.3, *deflection], [1.0, 0.0], [4.0, 0.0])
    assert_agree(forces, [*tau, 0.0], 1e-9)
    law = '<mode_spring mode="segment2_z" polynomial="0 0 1e4"/>'
    segments = BEAM.format(young=1e9).replace(
        '<beam tip="1 0 0"', '<segments count="4" directions="z" tip="1 0 0"').replace(
        '<bending axis="y" modes="2"/>', '').replace('</beam>', '</segments>').replace(
        '</flexible_link>', f'{law}</flexible_link>')
    dyn = reference_dynamics(fd.load_robot(segments))
    tau, deflection = fd.QuasiStatic(dyn).inverse_dynamics([0.3], [1.0], [4.0])
    rest = np.zeros(len(deflection))
    forces = dyn.inverse_dynamics([0.3, *deflection], [1.0, *rest], [4.0, *rest])
    assert_agree(forces, [*tau, *rest], 1e-9)


def motion(t):
    """Return angle, rate and acceleration of a motion that starts from rest very smoothly."""
    return t**7, 7 * t**6, 42 * t**5


def test_deflection_along_a_motion_is_right_to_second_order():
    """
    Against the exact modes along a prescribed motion, for stiffness k and 4 k.

    Deflections are of order 1/k, their error of order 1/k^2, that of the torque of order 1/k.
    """
    errors = []
    for young in (4e10, 16e10):
        dyn = fd.Dynamics(fd.load_robot(BEAM.format(young=young)), backend='python')
        steps = 500 if young < 1e11 else 1000
        delta, rate = _follow(dyn, steps)
        q, qd, qdd = motion(1.0)
        tau, found = fd.QuasiStatic(dyn).inverse_dynamics([q], [qd], [qdd])
        exact, _ = dyn.hybrid_dynamics([q, *delta], [qd, *rate], [qdd])
        errors.append((np.abs(found - delta).max(), abs(tau[0] - exact[0])))
    (deflection, torque), (less_deflection, less_torque) = errors
    assert 13.0 < deflection / less_deflection < 19.0
    assert 3.4 < torque / less_torque < 4.6


def _follow(dyn, steps):
    """Return deflections and their rates at t = 1 of free modes along `motion`, by rk4."""
    def rates(t, y):
        q, qd, qdd = motion(t)
        _, accelerations = dyn.hybrid_dynamics([q, *y[:2]], [qd, *y[2:]], [qdd])
        return np.concatenate((y[2:], accelerations))

    y, h = np.zeros(4), 1.0 / steps
    for k in range(steps):
        t = k * h
        a = rates(t, y)
        b = rates(t + h / 2, y + h / 2 * a)
        c = rates(t + h / 2, y + h / 2 * b)
        d = rates(t + h, y + h * c)
        y = y + h / 6 * (a + 2 * b + 2 * c + d)
    return y[:2], y[2:]


def test_simulation_comes_near_the_exact_one_as_stiffness_grows():
    """Joint motion under a torque that begins smoothly: the error goes with 1/k."""
    errors = []
    for young in (4e9, 16e9):
        dyn = fd.Dynamics(fd.load_robot(BEAM.format(young=young)), backend='python')
        exact = fd.simulate(
            dyn, np.zeros(3), np.zeros(3), lambda t, q, qd: [20 * t**5, 0.0, 0.0], 1.0, 2e-3)
        slow = fd.simulate_quasi_static(
            fd.QuasiStatic(dyn), [0.0], [0.0], lambda t, q, qd: [20 * t**5], 1.0, 0.02)
        assert slow.q.shape == (51, 3)
        assert not np.any(slow.qd[:, 1:])
        assert slow.method == 'rk4, modes quasi-static'
        errors.append(abs(slow.q[-1, 0] - exact.q[-1, 0]))
    assert 3.4 < errors[0] / errors[1] < 4.6


def test_rigid_arms_move_as_ever():
    """Without modes it is the dynamics of the arm."""
    dyn = reference_dynamics(fd.load_robot(arm()))
    quasi = fd.QuasiStatic(dyn)
    q, qd, tau = [0.3, -0.4], [1.0, 2.0], [0.5, -0.7]
    qdd, deflection = quasi.forward_dynamics(q, qd, tau)
    assert deflection.shape == (0,)
    assert_agree(qdd, dyn.forward_dynamics(q, qd, tau), 1e-12)
    swing = fd.simulate_quasi_static(quasi, q, qd, tau, 0.1, 0.01)
    np.testing.assert_allclose(swing.q, fd.simulate(dyn, q, qd, tau, 0.1, 0.01).q, rtol=1e-12)


@pytest.mark.parametrize('base', ['free', 'prescribed'])
def test_moving_bases(base):
    """A base that floats takes part with its six coordinates; a prescribed one is driven."""
    dyn = elastic(more=f'<base motion="{base}"/>') if base == 'prescribed' else reference_dynamics(
        fd.load_robot(random_robot_urdf(**ROBOTS['floating'], max_modes=1)))
    robot, quasi = dyn.robot, fd.QuasiStatic(dyn)
    q0 = robot.neutral_configuration()[: quasi.n_positions]
    qd0 = np.zeros(robot.n_joints)
    given = {'base_acceleration': [0.0, 3.0, 0.0, 0.0, 0.0, 0.5]} if base == 'prescribed' else {}
    run = fd.simulate_quasi_static(quasi, q0, qd0, None, 0.05, 0.01, **given)
    q, qd = run.q[-1], run.qd[-1]
    own, rate = q[: quasi.n_positions], qd[: robot.n_joints]
    qdd, deflection = quasi.forward_dynamics(own, rate, np.zeros(robot.n_joints), **given)
    assert_agree(q[quasi.n_positions:], deflection, 1e-8)
    rest = np.zeros(robot.n_modes)
    forces = dyn.inverse_dynamics(q, qd, [*qdd, *rest])
    expected = np.zeros(robot.nv)
    if base == 'prescribed':
        assert_agree(qdd[:6], given['base_acceleration'], 1e-14)
        expected[:6] = run.tau[-1, :6]
        assert np.any(expected)
    assert_agree(forces, expected, 1e-8, floor=1.0)


def test_errors_say_what_to_do():
    """Loops, modes without springs, loads beyond buckling, shapes, and massless joints."""
    loop = '<loop name="tie" frame1="link" frame2="base" constrain="ty"/>'
    with pytest.raises(NotYetSupported, match='quasi-static form of a robot with loops'):
        fd.QuasiStatic(elastic(more=loop))
    quasi = fd.QuasiStatic(elastic())
    with pytest.raises(ArgumentError, match='"q" has shape'):
        quasi.inverse_dynamics([0.0, 0.0], [0.0], [0.0])
    with pytest.raises(ArgumentError, match='"torque" has shape'):
        fd.simulate_quasi_static(quasi, [0.0], [0.0], [0.0, 1.0], 1.0, 0.1)
    with pytest.raises(ArgumentError, match=r'"torque" is a function .* \(t, q, qd\)'):
        fd.simulate_quasi_static(quasi, [0.0], [0.0], lambda t: [0.0], 1.0, 0.1)
    with pytest.raises(ArgumentError, match='as returned at t = 0 s'):
        fd.simulate_quasi_static(quasi, [0.0], [0.0], lambda t, q, qd: [np.nan], 1.0, 0.1)
    with pytest.raises(DeflectionNotFound, match='may buckle'):
        StaticDeflection(elastic()).find(lambda delta: 1e3 * (1.0 + delta**2))
    bare = ELASTIC.format(more='').replace(
        f'stiffness="{SPRING}" damping="3" rotor_inertia="{ROTOR}"', 'damping="1"')
    bare = bare.replace(f'value="{MASS}"', 'value="0"').replace(f'izz="{INERTIA}"', 'izz="0"')
    with pytest.raises(SingularMassMatrix, match='joint'):
        fd.QuasiStatic(reference_dynamics(fd.load_robot(bare))).forward_dynamics(
            [0.0], [0.0], [1.0])
