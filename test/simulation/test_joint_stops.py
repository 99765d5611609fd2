# SPDX-License-Identifier: Apache-2.0
"""Joint stops with restitution 0: closed forms, an impact located by hand, compiled steps."""

from pathlib import Path

from codegen.compiled import needs_compiler
import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.simulation import TorqueTable
from flexdyn_ros.simulation.implicit_midpoint import ImplicitMidpoint
import numpy as np
from oracles.random_robots import inertial_xml
import pytest

URDF = Path(__file__).resolve().parents[2] / 'urdf'
ROD = inertial_xml(1.2, [0.4, 0.0, 0.05], np.diag([0.01, 0.06, 0.06]))
PLAIN = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
PLAIN += '</inertial>'


def block(dynamics='', extension='', follower=''):
    """Return the dynamics of a block of 2 kg on rails from -0.5 m to 0.3 m."""
    text = f'<robot name="block"><link name="base"/><link name="block">{PLAIN}</link>'
    text += ('<joint name="rail" type="prismatic"><parent link="base"/><child link="block"/>'
             '<axis xyz="1 0 0"/><limit lower="-0.5" upper="0.3" effort="1" velocity="1"/>'
             f'{dynamics}</joint>')
    if follower:
        text += f'<link name="other">{PLAIN}</link>{follower}'
    extension = extension and f'<flexdyn version="1.0">{extension}</flexdyn>'
    return fd.Dynamics(fd.load_robot(f'{text}{extension}</robot>'))


def arm(shoulder='revolute', limit=0.4):
    """Return the dynamics of two rods in a vertical plane, the first with a stop."""
    return fd.Dynamics(fd.load_robot(f"""
<robot name="arm">
  <link name="base"/><link name="upper">{ROD}</link><link name="fore">{ROD}</link>
  <joint name="shoulder" type="{shoulder}"><parent link="base"/><child link="upper"/>
    <origin rpy="0 {limit if shoulder == 'fixed' else 0} 0"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="{limit}" effort="1" velocity="1"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/>
    <origin xyz="0.8 0 0"/><axis xyz="0 1 0"/></joint>
</robot>"""))


@pytest.mark.parametrize('speed', [1.0, 0.37, -0.9])
def test_a_block_runs_to_its_stop_and_rests_there(speed):
    """At its stop exactly, from the step in which it meets it; its energy is dissipated."""
    motion = fd.simulate(block(), [0.0], [speed], None, 1.5, 0.7e-3, stops=True)
    assert motion.method == 'implicit'
    limit = 0.3 if speed > 0.0 else -0.5
    moving = motion.t < limit / speed
    assert motion.q[moving, 0] == pytest.approx(speed * motion.t[moving], abs=1e-13)
    at_rest = motion.t >= limit / speed
    assert motion.q[at_rest, 0].tolist() == [limit] * int(at_rest.sum())
    assert not motion.qd[at_rest].any()
    assert motion.dissipated[-1] == pytest.approx(speed**2, rel=1e-12)


def test_a_block_pushed_against_its_stop_leaves_it_when_pulled():
    """No rebound and no sticking: the exact parabola from the moment at which the force turns."""
    force = TorqueTable([0.0, 1.0], [[8.0], [-4.0]], 'hold')
    motion = fd.simulate(block(), [0.0], [0.0], force, 1.3, 1e-3, stops=True)
    pushed, pulled = motion.t <= 1.0, motion.t >= 1.0
    fall = np.sqrt(2.0 * 0.3 / 4.0)  # time of 0.3 m at 4 m/s^2
    assert motion.q[pushed, 0] == pytest.approx(
        np.where(motion.t[pushed] < fall, 2.0 * motion.t[pushed]**2, 0.3), abs=1e-12)
    assert motion.q[pulled, 0] == pytest.approx(0.3 - (motion.t[pulled] - 1.0)**2, abs=1e-12)


def test_a_stop_and_friction_of_one_joint_are_one_impulse():
    """Friction of 3 N slows the block to its stop; against it a force must pass both."""
    dyn = block('<dynamics friction="3"/>')
    motion = fd.simulate(dyn, [0.0], [1.0], None, 0.6, 1e-3, stops=True)
    end = 1.0 - np.sqrt(1.0 - 2.0 * 1.5 * 0.3)  # over 1.5 m/s^2
    before = motion.t < end / 1.5
    assert motion.q[before, 0] == pytest.approx(
        motion.t[before] - 0.75 * motion.t[before]**2, abs=1e-12)
    assert motion.q[-1, 0] == 0.3
    for force, moves in ((2.9, False), (-2.9, False), (500.0, False), (-3.1, True)):
        found = fd.simulate(dyn, [0.3], [0.0], [force], 0.1, 1e-3, stops=True)
        assert (found.q[-1, 0] != 0.3) == moves, force


def impact(dyn, limit, q, qd):
    """Return time and state when the first joint meets its stop, after the impact."""
    motion = fd.simulate(dyn, q, qd, None, 0.3, 1e-4, 'rk10', energy_tolerance=None)
    k = int(np.argmax(motion.q[:, 0] > limit)) - 1
    lower, upper, q, qd = 0.0, 1e-4, motion.q[k], motion.qd[k]
    for _ in range(50):
        middle = 0.5 * (lower + upper)
        beyond = fd.simulate(dyn, q, qd, None, middle, middle, 'rk10').q[-1, 0] > limit
        lower, upper = (lower, middle) if beyond else (middle, upper)
    at = fd.simulate(dyn, q, qd, None, lower, lower, 'rk10')
    q, qd = at.q[-1], at.qd[-1]
    column = np.linalg.inv(dyn.mass_matrix(q))[:, 0]
    return motion.t[k] + lower, q, qd - column * qd[0] / column[0]


def test_an_arm_at_its_stop_moves_as_one_whose_joint_is_fixed():
    """Second order through the impact, located by hand, and from then on."""
    limit = 0.4
    q, qd, end = [-0.2, 0.5], [1.5, -2.0], 0.4
    when, at, after = impact(arm(), limit, q, qd)
    rest = fd.simulate(
        arm('fixed', limit), at[1:], after[1:], None, end - when, 1e-4, 'rk10',
        energy_tolerance=None)
    errors = []
    for dt in (2e-3, 1e-3, 5e-4):
        motion = fd.simulate(arm(), q, qd, None, end, dt, stops=True)
        later = motion.t > when
        assert (motion.q[later, 0] == limit).all()
        assert not motion.qd[later, 0].any()
        errors.append(abs(motion.q[-1, 1] - rest.q[-1, 0]))
    assert errors[0] < 2e-5
    assert errors[2] < errors[0] / 8.0


def test_energy_is_balanced_over_impacts(recwarn):
    """Work and losses, impacts included, explain the energy; nothing warns."""
    motion = fd.simulate(arm(), [-0.2, 0.5], [1.5, -2.0], [3.0, 0.0], 1.0, 1e-3, stops=True)
    assert np.abs(motion.residual).max() < 1e-4 * motion.kinetic.max()
    assert not recwarn.list
    assert motion.dissipated[-1] > 0.1 * motion.kinetic.max()


def test_stops_of_elastic_joints_and_of_followers():
    """On the link side of the spring; of a follower at -2 times the position, offset by 0.1."""
    spring = block(extension='<joint_dynamics joint="rail" stiffness="2000" rotor_inertia="3" '
                             'damping="40"/>')
    motion = fd.simulate(spring, [0.0, 0.0], [1.0, 0.0], None, 3.0, 1e-3, stops=True)
    assert motion.q.sum(axis=1).max() < 0.3 + 1e-9
    assert motion.q[:, 0].max() > 0.31
    assert np.abs(motion.residual).max() < 1e-4 * motion.kinetic.max()
    follower = ('<joint name="second" type="prismatic"><parent link="base"/><child link="other"/>'
                '<axis xyz="1 0 0"/><limit lower="-0.3" upper="5" effort="1" velocity="1"/>'
                '<mimic joint="rail" multiplier="-2" offset="0.1"/></joint>')
    found = fd.simulate(block(follower=follower), [0.0], [1.0], None, 1.0, 1e-3, stops=True)
    assert found.q[-1, 0] == pytest.approx(0.2, abs=1e-15)


@needs_compiler
@pytest.mark.parametrize('name', ['arm', 'cobot7', 'elastic'])
def test_compiled_steps_give_the_numbers_of_python(name, monkeypatch):
    """With several stops hit at speed, friction, modes and an elastic joint."""
    if name == 'arm':
        robot, q, qd = arm().robot, [-0.2, 0.5], [1.5, -2.0]
    elif name == 'elastic':
        robot = block('<dynamics friction="2"/>', '<joint_dynamics joint="rail" damping="4" '
                      'stiffness="2000" rotor_inertia="3"/>').robot
        q, qd = [0.29, 0.0], [1.0, 0.0]
    else:
        robot = fd.load_robot(URDF / 'cobot7.urdf.xacro')
        limits = np.array([joint.limit.upper for joint in robot.joints if joint.coordinate_names])
        q, qd = np.zeros(robot.nv), np.zeros(robot.nv)
        q[:7], qd[:7] = limits - 0.01, np.linspace(1.0, 3.0, 7)
    runs = []
    for backend in ('reference', 'python', 'c'):
        if backend == 'c':
            monkeypatch.setattr(ImplicitMidpoint, 'step', lambda *_: pytest.fail('in Python'))
        runs.append(fd.simulate(
            fd.Dynamics(robot, backend), q, qd, None, 0.0305 if name != 'arm' else 0.3, 1e-3,
            stops=True, energy_tolerance=None))
    for each in ('q', 'qd', 'work', 'dissipated', 'kinetic'):
        theirs = [getattr(run, each) for run in runs]
        for found in theirs[1:]:
            assert np.abs(found - theirs[0]).max() <= 1e-12 * np.abs(theirs[0]).max(), each
    assert runs[0].dissipated[-1] > 0.01


def test_what_stops_need_is_named():
    """The implicit method, and a start inside."""
    with pytest.raises(ArgumentError, match='need method="implicit"'):
        fd.simulate(block(), [0.0], [1.0], None, 0.1, 1e-3, 'rk4', stops=True)
    with pytest.raises(ArgumentError, match='"rail" 0.1 beyond its stop'):
        fd.simulate(block(), [0.4], [1.0], None, 0.1, 1e-3, stops=True)
