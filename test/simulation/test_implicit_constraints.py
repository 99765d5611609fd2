# SPDX-License-Identifier: Apache-2.0
"""The implicit method on prescribed bases and with loops: closed forms, order, dry friction."""

from pathlib import Path

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.simulation.stability import step_limit
import numpy as np
import pytest
from simulated_robots import FLEXIBLE_PENDULUM, PENDULUM
import xacro

URDF = Path(__file__).resolve().parents[2] / 'urdf'
BODY = ('<inertial><mass value="{0}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial>')
LOOP_JOINTS = ('crank', 'coupler', 'rocker')


def sled(friction):
    """Return the dynamics of 2 kg on rails across a prescribed base of 5 kg."""
    return fd.Dynamics(fd.load_robot(f"""
<robot name="sled">
  <link name="base">{BODY.format(5)}</link><link name="block">{BODY.format(2)}</link>
  <joint name="rail" type="prismatic"><parent link="base"/><child link="block"/>
    <axis xyz="1 0 0"/><limit lower="-0.5" upper="0.3" effort="1" velocity="1"/>
    <dynamics friction="{friction}"/></joint>
  <flexdyn version="1.0"><base motion="prescribed"/><gravity xyz="0 0 0"/></flexdyn>
</robot>"""))


def four_bar(friction=0.0, damping=0.0, smoothing=0.01, **arguments):
    """Return the dynamics of the four-bar with losses in its joints."""
    losses = ''.join(
        f'<joint_dynamics joint="{name}"><friction viscous="{damping}" coulomb="{friction}" '
        f'smoothing_velocity="{smoothing}"/></joint_dynamics>' for name in LOOP_JOINTS)
    robot = fd.load_robot(
        URDF / 'four_bar.urdf.xacro', xacro_arguments={k: str(v) for k, v in arguments.items()},
        extension=f'<flexdyn version="1.0">{losses}</flexdyn>')
    return fd.Dynamics(robot)


def start(dyn, crank, speed):
    """Return a closed state."""
    return dyn.project([crank, 0.0, 0.0], [speed, 0.0, 0.0], hold=['crank'])


@pytest.mark.parametrize('friction', [3.0, 5.0])
def test_a_block_on_an_accelerated_base_sticks_or_slides(friction):
    """At 2 m/s^2 it needs 4 N: it stays, or falls behind by the rest; the wrench moves both."""
    dyn, a = sled(friction), [2.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    q = dyn.robot.neutral_configuration()
    motion = fd.simulate(dyn, q, np.zeros(7), None, 0.3, 1e-3, 'implicit', base_acceleration=a)
    behind = max(4.0 - friction, 0.0) / 2.0
    assert motion.q[:, 0] == pytest.approx(motion.t**2, abs=1e-12)
    assert motion.q[:, 7] == pytest.approx(-0.5 * behind * motion.t**2, abs=1e-12)
    wrench = 5.0 * 2.0 + 2.0 * (2.0 - behind)
    assert motion.tau[1:, 0] == pytest.approx(wrench, rel=1e-9)
    assert motion.work == pytest.approx(wrench * motion.t**2, abs=1e-9)
    assert motion.dissipated == pytest.approx(
        friction * 0.5 * behind * motion.t**2, abs=1e-9)


def test_a_base_at_rest_is_ground():
    """The numbers of the arm on ground, joint stops included."""
    losses = '<axis xyz="0 1 0"/><dynamics damping="0.5" friction="0.4"/>'
    text = FLEXIBLE_PENDULUM.replace('<axis xyz="0 1 0"/>', losses).replace('"-3"', '"-0.05"')
    text = text.replace('upper="3"', 'upper="0.05"')
    fixed = fd.Dynamics(fd.load_robot(text))
    carried = fd.Dynamics(fd.load_robot(text.replace(
        '</flexdyn>', '<base motion="prescribed"/><payload link="base" mass="1" ixx="1" iyy="1" '
        'izz="1"/></flexdyn>')))
    on_ground = fd.simulate(fixed, np.zeros(5), np.zeros(5), None, 0.2, 1e-3, 'implicit',
                            stops=True, energy_tolerance=None)
    q = carried.robot.neutral_configuration()
    moving = fd.simulate(carried, q, np.zeros(11), None, 0.2, 1e-3, 'implicit', stops=True)
    assert on_ground.q[-1, 0] == 0.05
    assert moving.q[:, 7:] == pytest.approx(on_ground.q, abs=1e-12)


def test_the_order_on_a_base_that_swings_is_two():
    """Against the tenth order, the base driven by a function of the time."""
    text = PENDULUM.replace('</robot>', '<flexdyn version="1.0"><base motion="prescribed"/>'
                            '</flexdyn></robot>').replace(
        '<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><dynamics damping="0.5"/>').replace(
        '<link name="base"/>', f'<link name="base">{BODY.format(1)}</link>')
    dyn = fd.Dynamics(fd.load_robot(text))
    q, qd = np.append([0, 0, 0, 0, 0, 0, 1.0], 0.3), np.zeros(7)

    def base(t, q, qd):
        return [3.0 * np.cos(5.0 * t), 0.0, 1.0, 0.0, 2.0 * np.sin(4.0 * t), 0.0]

    ends = [
        fd.simulate(dyn, q, qd, None, 0.5, dt, method, base_acceleration=base).q[-1]
        for method, dt in (('rk10', 5e-3), ('implicit', 1e-2), ('implicit', 5e-3))
    ]
    errors = [np.abs(end - ends[0]).max() for end in ends[1:]]
    assert errors[0] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize(
    ('constrain', 'backend'),
    [('tx tz', 'c'), ('rx rz tx ty tz', 'c'), ('tx tz', 'reference')],
)
def test_the_order_with_loops_is_two(constrain, backend):
    """A damped four-bar against the tenth order, also with constraints that repeat each other."""
    dyn = four_bar(damping=0.2, constrain=constrain)
    q, qd = start(dyn, 0.4, 3.0)
    exact = fd.simulate(dyn, q, qd, [0.5, 0.0, 0.0], 0.2, 1e-3, 'rk10')
    errors, steps = [], fd.Dynamics(dyn.robot, backend)
    for dt in (4e-3, 2e-3):
        motion = fd.simulate(steps, q, qd, [0.5, 0.0, 0.0], 0.2, dt, 'implicit',
                             energy_tolerance=None)
        assert max(np.abs(dyn.loop_gaps(each)).max() for each in motion.q) < 1e-11
        errors.append(np.abs(motion.q[-1] - exact.q[-1]).max())
    assert errors[0] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)


def test_a_four_bar_rests_on_the_friction_of_all_its_joints():
    """A load that its joints hold stays for a second, exactly; a little more moves it."""
    dyn = four_bar(friction=0.8)
    q, rest = start(dyn, 0.7, 0.0)
    rates = dyn.project(q, [1.0, 0.0, 0.0], hold=['crank'])[1] / 1.0
    hold = dyn.inverse_dynamics(q, rest, rest)
    # The power of friction in all joints over the speed of the crank.
    most = 0.8 * np.abs(rates).sum() / abs(rates[0])
    for share, moves in ((0.99, False), (-0.99, False), (1.01, True)):
        tau = hold + [share * most, 0.0, 0.0]
        motion = fd.simulate(dyn, q, rest, tau, 1.0 if not moves else 0.1, 1e-3, 'implicit')
        assert (np.abs(motion.q - q).max() > 1e-9) == moves, share


def test_a_four_bar_with_friction_moves_as_by_a_sharp_smoothed_law():
    """Sliding to rest, against small steps of rk4 with friction smoothed over 1e-4 rad/s."""
    q, qd = start(four_bar(), 0.9, 2.0)
    motion = fd.simulate(four_bar(friction=1.5), q, qd, None, 0.12, 1e-3, 'implicit')
    sharp = fd.simulate(
        four_bar(friction=1.5, smoothing=2e-3), q, qd, None, 0.12, 2e-4, 'rk4',
        energy_tolerance=None)
    assert np.abs(motion.q[-1] - q).max() > 0.05
    assert motion.q == pytest.approx(sharp.q[::5], abs=2e-4)
    assert np.abs(motion.residual).max() < 1e-4 * motion.kinetic.max()


def test_a_loop_stops_at_the_stop_of_one_joint():
    """The whole mechanism is at rest with its crank, closed."""
    found = xacro.process_file(str(URDF / 'four_bar.urdf.xacro')).toprettyxml()
    dyn = fd.Dynamics(fd.load_robot(found.replace('upper="314.1592653589793"', 'upper="0.5"', 1)))
    q, qd = start(dyn, 0.3, 2.0)
    motion = fd.simulate(dyn, q, qd, [5.0, 0.0, 0.0], 0.3, 1e-3, stops=True)
    assert motion.q[-1, 0] == pytest.approx(0.5, abs=1e-9)
    assert motion.q[:, 0].max() < 0.5 + 1e-8
    assert np.abs(motion.qd[-1]).max() < 1e-9
    assert np.abs(dyn.loop_gaps(motion.q[-1])).max() < 1e-9
    assert np.abs(motion.residual).max() < 1e-4 * motion.kinetic.max()


def test_the_motion_that_loops_leave_chooses_the_method():
    """Damping that the inertia of the closed mechanism resolves, and damping that it does not."""
    for damping, method in ((5.0, 'rk4'), (2000.0, 'implicit')):
        dyn = four_bar(damping=damping)
        q, qd = start(dyn, 0.3, 1.0)
        limit = step_limit(dyn, q)
        motion = fd.simulate(dyn, q, qd, None, 0.01, 1e-3, energy_tolerance=None)
        assert (motion.method, limit > 1e-3) == (method, method == 'rk4')
        rates = qd / qd[0]
        inertia = rates @ dyn.mass_matrix(q) @ rates
        assert limit == pytest.approx(2.785 * inertia / (damping * (rates @ rates)), rel=1e-4)


def test_what_is_not_supported_is_named():
    """Driven loops, and other ways to hold them."""
    dyn = four_bar(friction=1.0)
    q, qd = start(dyn, 0.3, 1.0)
    for choice in ({'drift': 'baumgarte'}, {'drift': 'none'},
                   {'loop_accelerations': {dyn.robot.loops[0].name: [0.0, 0.0]}}):
        with pytest.raises(ArgumentError, match='drift="projection" alone'):
            fd.simulate(dyn, q, qd, None, 0.1, 1e-3, 'implicit', **choice)
        assert fd.simulate(dyn, q, qd, None, 0.01, 1e-3, **choice).method == 'rk4'
