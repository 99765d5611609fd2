# SPDX-License-Identifier: Apache-2.0
"""The implicit method: closed forms of dry friction and damping, its order, conservation."""

from itertools import product
from pathlib import Path

import flexdyn_ros as fd
from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.simulation import TorqueTable, TrackingTorque
from flexdyn_ros.simulation.dry_friction import friction_impulses, FrictionLevels
from flexdyn_ros.simulation.implicit_midpoint import ImplicitMidpoint
import numpy as np
import pytest
from simulated_robots import FLEXIBLE_PENDULUM, PENDULUM, TUMBLER

URDF = Path(__file__).resolve().parents[2] / 'urdf'
INERTIA = 1e-4  # [kg m^2]


def wheel(dynamics='', extension='', follower='', backend='auto'):
    """Return the dynamics of a wheel, with another one that follows it where required."""
    body = ('<inertial><mass value="1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" '
            'ixz="0" iyz="0"/></inertial>')
    joint = '<joint name="{0}" type="continuous"><parent link="base"/><child link="{1}"/>'
    joint += '<axis xyz="0 0 1"/>{2}</joint>'
    text = f'<link name="base"/><link name="wheel">{body}</link>'
    text += joint.format('axle', 'wheel', dynamics)
    if follower:
        text += f'<link name="other">{body}</link>' + joint.format('second', 'other', follower)
    extension = extension and f'<flexdyn version="1.0">{extension}</flexdyn>'
    return fd.Dynamics(fd.load_robot(f'<robot name="wheel">{text}{extension}</robot>'), backend)


def test_a_joint_stops_by_dry_friction_and_stays():
    """At the first step, within h v0 / 2 of the analytic stop, exactly at rest from then on."""
    h, level = 1e-3, 1.0
    motion = fd.simulate(wheel('<dynamics friction="1"/>'), [0.0], [1.0], None, 0.1, h)
    assert motion.method == 'implicit'
    assert motion.qd[1:].tolist() == [[0.0]] * 100
    assert abs(motion.q[-1, 0] - INERTIA / (2.0 * level)) < 0.5 * h
    assert motion.dissipated[-1] == pytest.approx(0.5 * INERTIA, rel=1e-12)


def test_sliding_is_exact_up_to_the_step_that_stops():
    """A constant deceleration of c / J; the stop is off by less than h^2 c / J."""
    h, v0, level = 1e-3, 1.0, 2e-3
    motion = fd.simulate(
        wheel(f'<dynamics friction="{level}"/>'), [0.0], [v0], None, 0.1, h, 'implicit')
    fall = level / INERTIA
    t = motion.t[motion.t < v0 / fall - h]
    assert motion.qd[: len(t), 0] == pytest.approx(v0 - fall * t, abs=1e-12)
    assert motion.q[: len(t), 0] == pytest.approx(v0 * t - 0.5 * fall * t**2, abs=1e-14)
    assert abs(motion.q[-1, 0] - v0**2 / (2.0 * fall)) < fall * h**2
    assert motion.qd[-1, 0] == 0.0


@pytest.mark.parametrize('stribeck', [1.0, 1.5])
def test_pushed_below_its_break_away_it_does_not_creep(stribeck):
    """Ten seconds at 0.99 of the level leave it where it was; 1.01 of it moves it."""
    dyn = wheel(extension=(
        '<joint_dynamics joint="axle"><friction viscous="0" coulomb="1" '
        f'stribeck="{stribeck}" stribeck_velocity="0.1"/></joint_dynamics>'))
    still = fd.simulate(dyn, [0.3], [0.0], [0.99 * stribeck], 10.0, 1e-2)
    assert still.method == 'implicit'
    assert np.abs(still.q - 0.3).max() < 1e-9
    moved = fd.simulate(dyn, [0.3], [0.0], [1.01 * stribeck], 0.1, 1e-3)
    assert moved.q[-1, 0] > 0.3 + 0.9 * 0.5 * (1.01 * stribeck - stribeck) / INERTIA * 0.01


def test_stick_and_slip_of_a_pulled_joint():
    """A spring pulled at constant speed: it sticks, breaks away, slips as a sine, and sticks."""
    stiffness, pull, slip, stick = 0.5, 0.2, 0.05, 0.1  # [N m/rad], [rad/s], [N m] twice
    dyn = wheel(extension=(
        f'<joint_dynamics joint="axle"><friction viscous="0" coulomb="{slip}" '
        f'stribeck="{stick}" stribeck_velocity="1e-4"/></joint_dynamics>'))
    law = TrackingTorque(dyn.robot, [0.0, 10.0], [[0.0], [10.0 * pull]], kp=stiffness)
    motion = fd.simulate(dyn, [0.0], [0.0], law, 1.5, 1e-4, energy_tolerance=None)
    leaves, rate = stick / (stiffness * pull), np.sqrt(stiffness / INERTIA)
    stretch = (stick - slip) / stiffness
    lasts = 2.0 * (np.pi - np.arctan(stretch * rate / pull)) / rate
    after = np.clip(motion.t - leaves, 0.0, lasts)
    spring = stretch * np.cos(rate * after) + pull / rate * np.sin(rate * after)
    exact = pull * (after + leaves) - slip / stiffness - spring
    again = motion.t < 2.0 * leaves - 0.1
    assert motion.q[motion.t < leaves, 0].tolist() == [0.0] * int((motion.t < leaves).sum())
    assert motion.q[again, 0] == pytest.approx(exact[again], abs=4e-4)
    assert motion.q[again, 0][-1] == pytest.approx(exact[again][-1], abs=2e-4)
    assert exact[again][-1] > 0.19


def test_a_sprung_joint_that_rubs_loses_a_constant_amplitude_a_half_period():
    """2 c / k, until it stops inside the band c / k; each half period about c / k to one side."""
    stiffness, level, start = 0.5, 0.01, 0.3
    dyn = wheel(f'<dynamics friction="{level}"/>')
    law = TrackingTorque(dyn.robot, [0.0], [[0.0]], kp=stiffness)
    motion = fd.simulate(
        dyn, [start], [0.0], law, 0.8, 1e-4, 'implicit', energy_tolerance=None)
    half = np.pi / np.sqrt(stiffness / INERTIA)
    k = np.minimum((motion.t / half).astype(int), round(start / (2.0 * level / stiffness)) - 1)
    amplitude = start - (2 * k + 1) * level / stiffness
    exact = (-1.0)**k * (
        amplitude * np.cos(np.pi * (motion.t / half - k)) + level / stiffness)
    sliding = motion.t < 6.0 * half
    assert motion.q[sliding, 0] == pytest.approx(exact[sliding], abs=1e-3)
    assert motion.qd[-1, 0] == 0.0
    assert abs(motion.q[-1, 0]) <= level / stiffness


@pytest.mark.parametrize('backend', ['reference', 'c'])
def test_joints_that_follow_rub_too(backend):
    """A follower at twice the angle doubles its level of 0.4 on top of the leader's 1."""
    dyn = wheel(
        '<dynamics friction="1"/>', backend=backend,
        follower='<dynamics friction="0.4"/><mimic joint="axle" multiplier="-2"/>')
    assert not fd.simulate(dyn, [0.0], [0.0], [1.79], 0.1, 1e-3).q.any()
    assert fd.simulate(dyn, [0.0], [0.0], [1.81], 0.1, 1e-3).q[-1, 0] > 0.01


@pytest.mark.parametrize('damping', [1e-3, 0.1, 1e3])
def test_damping_alone_decays_as_the_exponential_at_any_step(damping):
    """The rate is v0 exp(-d t / J), exactly, from resolved to far beyond the limit."""
    dyn = wheel(f'<dynamics damping="{damping}"/>')
    motion = fd.simulate(dyn, [0.0], [1.0], None, 0.02, 1e-3, 'implicit')
    expected = np.exp(-damping * motion.t / INERTIA)
    assert motion.qd[:, 0] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_vibrations_keep_their_energy():
    """A spring of 10 Hz over 100 periods, and one of 5 kHz that no explicit step resolves."""
    for stiffness in (2.0 * (20.0 * np.pi)**2 * INERTIA / 4.0, 5e4):
        dyn = wheel(extension=(
            f'<joint_dynamics joint="axle" stiffness="{stiffness}" rotor_inertia="1e-4"/>'))
        motion = fd.simulate(dyn, [0.0, 0.1], [0.0, 0.0], None, 10.0, 1e-3, 'implicit')
        assert np.ptp(motion.energy) < 1e-9 * motion.energy[0]
        assert np.ptp(motion.kinetic) > 0.5 * motion.energy[0]


@pytest.mark.parametrize('text', [PENDULUM, TUMBLER, FLEXIBLE_PENDULUM])
def test_the_order_is_two(text):
    """Errors against the tenth order fall by four with half the step."""
    text = text.replace('<bending axis="y" modes="1"/>',
                        '<bending axis="y" modes="1" damping_ratio="0.02"/>')
    text = text.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><dynamics damping="0.5"/>')
    dyn = fd.Dynamics(fd.load_robot(text))
    q = np.array(dyn.robot.neutral_configuration())
    q[dyn.robot.nq - dyn.robot.n_modes:] = 0.01
    qd = np.linspace(0.5, 1.0, dyn.robot.nv)
    tau = 0.3 * np.ones(dyn.robot.nv)
    exact = fd.simulate(dyn, q, qd, tau, 0.02, 1e-4, 'rk10').q[-1]
    errors = [
        np.abs(fd.simulate(
            dyn, q, qd, tau, 0.02, dt, 'implicit', energy_tolerance=None).q[-1] - exact).max()
        for dt in (2e-4, 1e-4)
    ]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.08)


def test_impulses_meet_the_law_and_are_those_of_all_cases_tried():
    """Random mobilities of up to five joints, against all combinations of slip and stick."""
    generator = np.random.default_rng(4)
    for _ in range(60):
        n = int(generator.integers(1, 6))
        root = generator.normal(size=(n, n))
        mobility = root @ root.T + 0.05 * np.eye(n)
        free, bound = generator.normal(size=n), generator.uniform(0.05, 1.0, size=n)
        impulse, velocity = friction_impulses(mobility, free, -bound, bound)
        assert velocity == pytest.approx(free + mobility @ impulse, abs=1e-12)
        assert (np.abs(impulse) <= bound * (1.0 + 1e-12)).all()
        slips = velocity != 0.0
        assert impulse[slips] == pytest.approx(-(bound * np.sign(velocity))[slips])
        assert _by_cases(mobility, free, bound) == pytest.approx(impulse, abs=1e-10)


def _by_cases(mobility, free, bound):
    """Return the impulses by trying each joint at rest and slipping either way."""
    n = len(free)
    for signs in product((-1.0, 0.0, 1.0), repeat=n):
        signs = np.array(signs)
        at_rest = signs == 0.0
        impulse = -bound * signs
        if at_rest.any():
            pushed = (free + mobility @ impulse)[at_rest]
            impulse[at_rest] = -np.linalg.solve(mobility[np.ix_(at_rest, at_rest)], pushed)
        velocity = free + mobility @ impulse
        if (np.abs(impulse) <= bound + 1e-14).all() and (
                (velocity * signs)[~at_rest] > 0.0).all():
            return impulse
    raise AssertionError('no case meets the law')


def test_an_arm_rests_on_its_friction_and_moves_beyond():
    """Seven joints stick at once under torques below their levels, coupled by the arm."""
    robot = fd.load_robot(
        URDF / 'cobot7.urdf.xacro', xacro_arguments={'flexible_forearm': 'false'})
    dyn, rest = fd.Dynamics(robot), np.zeros(robot.nv)
    q = np.array([0.3, 0.5, -0.2, 1.0, 0.4, -0.7, 0.1])
    levels = FrictionLevels(assemble(robot, {}).friction, robot.nv)
    assert levels.at.tolist() == list(range(7))
    push = levels(rest) * [1, -1, 1, 1, -1, -1, 1]
    still = fd.simulate(dyn, q, rest, dyn.gravity_vector(q) + 0.9 * push, 1.0, 1e-3, 'implicit')
    assert np.abs(still.q - q).max() < 1e-12
    free = fd.simulate(dyn, q, rest, dyn.gravity_vector(q) + 1.2 * push, 0.1, 1e-3, 'implicit',
                       energy_tolerance=None)
    assert np.abs(free.q[-1] - q).max() > 1e-3


@pytest.mark.parametrize('name', ['wheel', 'tumbler', 'flexible', 'arm'])
def test_compiled_steps_give_the_numbers_of_python(name, monkeypatch):
    """With feedback, wrenches, quaternions, modes and joints that stop and start."""
    if name == 'wheel':
        robot = wheel('<dynamics damping="0.01" friction="0.05"/>').robot
        torque = TrackingTorque(robot, [0.0, 0.05], [[0.0], [0.3]], kp=5.0, kd=0.02, ki=10.0)
        wrenches = {'wheel': [0, 0, 0, 0, 0, 0.01]}
    elif name == 'arm':
        robot, wrenches = fd.load_robot(URDF / 'cobot7.urdf.xacro'), None
        torque = TorqueTable([0.0, 0.05], np.outer([1.0, -1.0], np.linspace(1.0, 20.0, robot.nv)))
    else:
        robot = fd.load_robot(TUMBLER if name == 'tumbler' else FLEXIBLE_PENDULUM.replace(
            '<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><dynamics damping="0.5" friction="0.4"/>'))
        torque, wrenches = None, {robot.frame_names[-1]: [0.3, 0.1, 0.2, 0.0, 0.1, 0.0]}
    q, rest = robot.neutral_configuration(), np.linspace(0.1, 0.5, robot.nv)
    runs = []
    for backend in ('reference', 'c'):
        if backend == 'c':
            monkeypatch.setattr(ImplicitMidpoint, 'step', lambda *_: pytest.fail('in Python'))
        runs.append(fd.simulate(fd.Dynamics(robot, backend), q, rest, torque, 0.0525, 1e-3,
                                'implicit', wrenches=wrenches, energy_tolerance=None))
    for each in ('q', 'qd', 'work', 'dissipated', 'tau', 'kinetic'):
        theirs, ours = (getattr(run, each) for run in runs)
        assert np.abs(ours - theirs).max() <= 1e-11 * np.abs(theirs).max(), each


def test_the_method_is_chosen_by_what_bounds_the_step():
    """Friction beyond the step takes it; a resolved joint and a mode do not."""
    resolved = wheel('<dynamics damping="1e-3"/>')
    assert fd.simulate(resolved, [0.0], [1.0], None, 0.01, 1e-3).method == 'rk4'
    assert fd.simulate(resolved, [0.0], [1.0], None, 0.6, 0.3, energy_tolerance=None
                       ).method == 'implicit'
    assert fd.simulate(wheel('<dynamics friction="1"/>'), [0.0], [1.0], None, 0.01, None
                       ).method == 'implicit'
