# SPDX-License-Identifier: Apache-2.0
"""Controllers that contain a model: closed forms of their errors, and steps without Python."""

from pathlib import Path

from codegen.compiled import needs_compiler
import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError, UnknownName
from flexdyn_ros.simulation import ComputedTorque, TorqueTable, TrackingTorque
from flexdyn_ros.simulation.implicit_midpoint import ImplicitMidpoint
from flexdyn_ros.simulation.runge_kutta import RungeKutta
import numpy as np
import pytest
from simulated_robots import FLEXIBLE_PENDULUM, PENDULUM, TUMBLER

URDF = Path(__file__).resolve().parents[2] / 'urdf'
KP, KD = 64.0, 9.6  # [1/s^2, 1/s]: 8 rad/s, damped to 0.6
RUBBING = FLEXIBLE_PENDULUM.replace(
    '<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><dynamics damping="0.5" friction="0.4"/>')


def rigid_arm():
    """Return the seven-joint arm with rigid links."""
    return fd.load_robot(
        URDF / 'cobot7.urdf.xacro', xacro_arguments={'flexible_forearm': 'false'})


def error_at(t, start):
    """Return the solution of e'' + KD e' + KP e = 0 from rest."""
    decay, rate = 0.5 * KD, np.sqrt(KP - 0.25 * KD**2)
    return start * np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t))


@pytest.mark.parametrize('name', ['rigid', 'flexible'])
def test_errors_decay_as_the_linear_equation_says(name):
    """Of an arm of one joint, and of a flexible arm whose modes the model takes from the state."""
    dyn = fd.Dynamics(fd.load_robot(PENDULUM if name == 'rigid' else FLEXIBLE_PENDULUM))
    t = np.linspace(0.0, 1.0, 21)
    reference = 0.3 * np.sin(2.0 * t)[:, np.newaxis]
    law = ComputedTorque(dyn.robot, dyn, t, reference, kp=KP, kd=KD)
    wanted = np.array([law.reference.with_curvature(x) for x in np.linspace(0, 1, 1001)])
    q, qd = np.zeros(dyn.robot.nq), np.zeros(dyn.robot.nv)
    q[0], qd[0] = 0.2, wanted[0, 1, 0]
    motion = fd.simulate(dyn, q, qd, law, 1.0, 1e-3, 'rk4')
    error = wanted[:, 0, 0] - motion.q[:, 0]
    assert error == pytest.approx(error_at(motion.t, -0.2), abs=2e-6)
    if name == 'flexible':
        assert np.abs(motion.q[:, 1:]).max() > 1e-4


def test_feed_forward_of_an_exact_model_needs_no_feedback():
    """A start on the reference stays on it, for an arm of seven joints with friction."""
    robot = rigid_arm()
    dyn = fd.Dynamics(robot)
    t = np.linspace(0.0, 0.5, 11)
    reference = np.outer(np.sin(3.0 * t), np.linspace(0.2, 0.6, 7)) + 0.3
    law = ComputedTorque(robot, dyn, t, reference, feed_forward=True)
    q, qd = law.reference(0.0)
    motion = fd.simulate(dyn, q, qd, law, 0.5, 5e-4, 'rk4', energy_tolerance=None, force=True)
    assert motion.q[-1] == pytest.approx(law.reference(0.5)[0], abs=1e-5)
    without = fd.simulate(dyn, q, qd, None, 0.5, 1e-3, 'implicit', energy_tolerance=None)
    assert np.abs(without.q[-1] - law.reference(0.5)[0]).max() > 0.1


def test_a_rigid_model_follows_worse_than_the_flexible_one():
    """The model of rigid links leaves an error that the model with modes does not."""
    dyn = fd.Dynamics(fd.load_robot(FLEXIBLE_PENDULUM))
    rigid = FLEXIBLE_PENDULUM
    for line in ('<bending axis="y" modes="1"/>', '<bending axis="z" modes="2"/>',
                 '<torsion modes="1"/>'):
        rigid = rigid.replace(line, '')
    model = fd.Dynamics(fd.load_robot(rigid))
    assert model.robot.n_modes == 0
    t = np.linspace(0.0, 1.0, 21)
    reference = 0.4 * (1.0 - np.cos(4.0 * t))[:, np.newaxis]
    worst = {}
    for each in (dyn, model):
        law = ComputedTorque(dyn.robot, each, t, reference, kp=KP, kd=KD)
        motion = fd.simulate(dyn, np.zeros(5), np.zeros(5), law, 1.0, 1e-3, 'rk4')
        wanted = np.array([law.reference(x)[0][0] for x in motion.t])
        worst[each] = np.abs(motion.q[:, 0] - wanted).max()
    assert worst[dyn] < 3e-4 < 1e-3 < worst[model]


@needs_compiler
@pytest.mark.parametrize('method', ['rk4', 'implicit'])
@pytest.mark.parametrize('feed_forward', [False, True])
@pytest.mark.parametrize('name', ['flexible', 'arm'])
def test_steps_without_python_give_the_numbers_of_the_reference(
        name, feed_forward, method, monkeypatch):
    """With friction, integral action and modes, to 1e-12 of the largest number."""
    robot = rigid_arm() if name == 'arm' else fd.load_robot(RUBBING)
    t = np.array([0.0, 0.01, 0.03])
    q = np.outer([0.0, 0.01, 0.02], np.linspace(1.0, 2.0, robot.n_joints))
    gain = 1e-3 if feed_forward else 1.0
    runs = []
    for backend in ('reference', 'python', 'c'):
        dyn = fd.Dynamics(robot, backend)
        if backend == 'c':
            for integrator in (RungeKutta, ImplicitMidpoint):
                monkeypatch.setattr(integrator, 'step', lambda *_: pytest.fail('in Python'))
        law = ComputedTorque(
            robot, dyn, t, q, kp=gain * KP, kd=gain * KD, ki=10.0, feed_forward=feed_forward)
        runs.append(fd.simulate(
            dyn, np.zeros(robot.nq), np.full(robot.nv, 0.1), law, 0.0205, 1e-3, method,
            energy_tolerance=None, force=True))
    for each in ('q', 'qd', 'tau', 'work', 'dissipated'):
        theirs = [getattr(run, each) for run in runs]
        for found in theirs[1:]:
            assert np.abs(found - theirs[0]).max() <= 1e-12 * np.abs(theirs[0]).max(), each


def crank(arguments=None, friction=0.0):
    """Return a four-bar, a closed state at rest, and times and angles for its crank."""
    losses = f'<joint_dynamics joint="{{}}"><friction coulomb="{friction}"/></joint_dynamics>'
    extension = ''.join(losses.format(name) for name in ('crank', 'coupler')) if friction else ''
    robot = fd.load_robot(
        URDF / 'four_bar.urdf.xacro', xacro_arguments=arguments,
        extension=f'<flexdyn version="1.0">{extension}</flexdyn>')
    assert robot.actuated_coordinates == ('crank',)
    q, qd = fd.Dynamics(robot).project(robot.neutral_configuration(), np.zeros(robot.nv))
    t = np.linspace(0.0, 1.0, 21)
    return robot, q, qd, t, q[0] + 0.2 + 0.5 * (1.0 - np.cos(3.0 * t))[:, np.newaxis]


@pytest.mark.parametrize('arguments', [None, {'modes': '1', 'constrain': 'rx rz tx ty tz'}])
def test_the_crank_of_a_loop_follows_as_the_linear_equation_says(arguments):
    """Passive joints and a coupler that bends are free in the model; rigid and repeated loops."""
    robot, q, qd, t, reference = crank(arguments)
    dyn = fd.Dynamics(robot)
    law = ComputedTorque(robot, dyn, t, reference, kp=KP, kd=KD)
    motion = fd.simulate(dyn, q, qd, law, 0.5, 5e-4, 'rk4', energy_tolerance=None)
    wanted = np.array([law.reference(x) for x in motion.t])
    start = wanted[0, 0, 0] - q[0], wanted[0, 1, 0]
    decay, rate = 0.5 * KD, np.sqrt(KP - 0.25 * KD**2)
    error = error_at(motion.t, start[0]) + start[1] / rate * (
        np.exp(-decay * motion.t) * np.sin(rate * motion.t))
    assert wanted[:, 0, 0] - motion.q[:, 0] == pytest.approx(error, abs=1e-6)
    assert not motion.tau[:, 1:].any() and np.ptp(motion.q[:, 1]) > 0.1


@needs_compiler
@pytest.mark.parametrize('method', ['rk4', 'implicit', 'auto'])
@pytest.mark.parametrize('name', ['rigid', 'bent'])
def test_steps_of_loops_without_python_give_the_numbers_of_the_reference(
        name, method, monkeypatch):
    """Tables, PD, PID and computed torque on a crank, to 1e-12 of the largest number."""
    bent = {'modes': '1', 'constrain': 'rx rz tx ty tz'} if name == 'bent' else None
    robot, q, qd, t, reference = crank(bent, friction=0.3)
    forces = np.zeros((len(t), robot.nv))
    forces[:, 0] = np.cos(9.0 * t)
    gains = {'kp': 30.0, 'kd': 2.0, 'joints': ['crank']}

    def laws(dyn):
        return [
            forces[0], TorqueTable(t, forces), TrackingTorque(robot, t, reference, **gains),
            TrackingTorque(robot, t, reference, None, forces, ki=20.0, **gains),
            ComputedTorque(robot, dyn, t, reference, kp=KP, kd=KD, ki=10.0),
        ]

    runs = []
    for backend in ('reference', 'python', 'c'):
        dyn = fd.Dynamics(robot, backend)
        if backend == 'c':
            for integrator in (RungeKutta, ImplicitMidpoint):
                monkeypatch.setattr(integrator, 'step', lambda *_: pytest.fail('in Python'))
        runs.append([
            fd.simulate(dyn, q, qd, law, 0.0205, 1e-3, method, energy_tolerance=None, force=True)
            for law in laws(dyn)])
    for expected, *found in zip(*runs):
        for each in ('q', 'qd', 'tau', 'work', 'kinetic'):
            theirs = getattr(expected, each)
            for run in found:
                close = 1e-12 * max(np.abs(theirs).max(), 1e-3)
                assert np.abs(getattr(run, each) - theirs).max() <= close, each


def test_bad_models_are_named():
    """Other joints, quaternions, feed-forward of loops."""
    robot, tumbler = fd.load_robot(PENDULUM), fd.load_robot(TUMBLER)
    with pytest.raises(UnknownName, match='shoulder'):
        ComputedTorque(robot, fd.Dynamics(fd.load_robot(FLEXIBLE_PENDULUM)), [0.0], [[0.0]])
    with pytest.raises(ArgumentError, match='quaternion'):
        ComputedTorque(tumbler, fd.Dynamics(tumbler), [0.0], [[0.0] * 6])
    loop = fd.Dynamics(fd.load_robot(URDF / 'four_bar.urdf.xacro'))
    with pytest.raises(ArgumentError, match='has loops.* TrackingTorque'):
        ComputedTorque(loop.robot, loop, [0.0], [[0.0]], feed_forward=True)
