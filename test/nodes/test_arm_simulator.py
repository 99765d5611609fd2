# SPDX-License-Identifier: Apache-2.0
"""The simulated arm, without ROS."""

from types import SimpleNamespace

from arms import flexible_arm, rigid_arm
from codegen.compiled import needs_compiler
import flexdyn_ros as fd
from flexdyn_ros.errors import FlexdynError, SingularMassMatrix
from flexdyn_ros.nodes.simulator.arm_simulator import ArmSimulator, SimulationStopped
from flexdyn_ros.nodes.simulator.joint_controller import JointController
from flexdyn_ros.simulation.implicit_midpoint import ImplicitMidpoint
import numpy as np
import pytest

NAMES = ('shoulder', 'elbow')


def simulator(urdf, step=0.001, kp=(), kd=(), **options):
    """Return a simulator of an arm."""
    dyn = fd.Dynamics(fd.load_robot(urdf))
    return ArmSimulator(dyn, NAMES, step, JointController(kp, kd, 2), **options)


def test_the_motion_is_that_of_the_library_with_the_same_step():
    arm = simulator(rigid_arm(), initial_positions=(0.1, 0.2))
    arm.effort = np.array([-5.0, 1.0])
    arm.advance(0.05)
    dyn = fd.Dynamics(fd.load_robot(rigid_arm()))
    motion = fd.simulate(dyn, [0.1, 0.2], [0.0, 0.0], [-5.0, 1.0], 0.05, 0.001)
    assert np.allclose(arm.q, motion.q[-1], rtol=1e-12)
    assert np.allclose(arm.qd, motion.qd[-1], rtol=1e-12)
    assert arm.time == pytest.approx(0.05)


def test_the_step_is_shortened_for_fast_modes_and_stiff_controllers():
    soft = simulator(flexible_arm(young=2e9), step=0.01)
    stiff = simulator(flexible_arm(young=8e9), step=0.01)
    assert stiff.fastest_rate == pytest.approx(2.0 * soft.fastest_rate, rel=0.01)
    assert stiff.step * stiff.fastest_rate == pytest.approx(1.4)
    controlled = simulator(rigid_arm(), step=1.0, kp=(1e6,), kd=(10.0,))
    assert controlled.step < 0.005


def test_a_static_start_stays_at_rest_under_the_holding_torque():
    arm = simulator(flexible_arm(), initial_positions=(0.1, 0.2), static_deflection=True)
    dyn = fd.Dynamics(fd.load_robot(flexible_arm()))
    arm.effort = dyn.gravity_vector(arm.q)[:2]
    start = arm.q.copy()
    arm.advance(0.02)
    assert np.abs(arm.q - start).max() < 1e-8
    assert np.abs(start[2:]).max() > 1e-4


def test_a_reset_restores_the_state_and_keeps_the_time():
    arm = simulator(rigid_arm(), initial_positions=(0.1, 0.2))
    arm.effort[:] = 3.0
    arm.wrenches['fore'] = np.ones(6)
    arm.advance(0.02)
    arm.reset()
    assert arm.q.tolist() == [0.1, 0.2]
    assert arm.qd.tolist() == [0.0, 0.0]
    assert arm.effort.tolist() == [0.0, 0.0]
    assert arm.wrenches == {}
    assert arm.time == pytest.approx(0.02)


def test_gains_and_positions_of_the_wrong_number_are_refused():
    with pytest.raises(FlexdynError, match='pd.kp has 3 gains for 2 joints'):
        JointController((1.0, 2.0, 3.0), (), 2)
    with pytest.raises(FlexdynError, match='initial_positions has 1 elements'):
        simulator(rigid_arm(), initial_positions=(0.1,))


def test_a_massless_arm_is_refused():
    urdf = rigid_arm().replace('mass value="1"', 'mass value="0"')
    urdf = urdf.replace('ixx="0.01" iyy="0.05" izz="0.05"', 'ixx="0" iyy="0" izz="0"')
    with pytest.raises(FlexdynError, match='elbow'):
        simulator(urdf)
    assert issubclass(SingularMassMatrix, FlexdynError)


def test_a_motion_without_bound_stops():
    arm = simulator(rigid_arm())
    arm.step = 1.0
    arm.effort = np.array([1e200, -1e200])
    with pytest.raises(SimulationStopped, match='at 0 s'):
        arm.advance(5.0)


def with_friction(level):
    """Return the rigid arm with dry friction in both joints."""
    pair = f'<dynamics friction="{level}"/></joint>'
    head, *joints = rigid_arm().split('type="revolute"')
    assert len(joints) == 2
    return 'type="revolute"'.join([head, *(each.replace('</joint>', pair, 1) for each in joints)])


@needs_compiler
def test_dry_friction_holds_what_is_below_it_and_slides_as_in_the_library(monkeypatch):
    """The set-valued law in compiled steps: no creep, and the numbers of `simulate`."""
    monkeypatch.setattr(ImplicitMidpoint, 'step', lambda *_: pytest.fail('in Python'))
    arm = simulator(with_friction(50.0), initial_positions=(0.1, 0.2))
    assert (arm.method, arm.compiled, arm.step) == ('implicit', True, 0.001)
    for _ in range(100):
        arm.advance(0.01)
    assert arm.q.tolist() == [0.1, 0.2]
    arm.effort = np.array([-200.0, 30.0])
    arm.advance(0.02)
    dyn = fd.Dynamics(fd.load_robot(with_friction(50.0)))
    motion = fd.simulate(
        dyn, [0.1, 0.2], [0, 0], arm.effort, 0.02, 1e-3, energy_tolerance=None)
    assert np.abs(motion.q[-1] - [0.1, 0.2]).max() > 1e-3
    assert arm.q == pytest.approx(motion.q[-1], abs=1e-12)


@needs_compiler
@pytest.mark.parametrize('method', ['rk4', 'implicit'])
def test_controller_command_and_changing_wrenches_act_in_compiled_steps(method):
    """As in Python: the same numbers by the backend "reference", wrenches changed on the way."""
    ends = []
    for backend in ('c', 'reference'):
        dyn = fd.Dynamics(fd.load_robot(flexible_arm()), backend)
        controller = JointController((300.0, 200.0), (20.0,), 2)
        arm = ArmSimulator(dyn, NAMES, 5e-4, controller, (0.1, 0.2), method=method)
        assert arm.compiled == (backend == 'c')
        arm.effort = np.array([3.0, -2.0])
        controller.position, controller.velocity = np.array([0.3, 0.1]), np.array([0.2, 0.0])
        for force in (0.0, 5.0, -7.0):
            arm.wrenches['fore'] = np.array([0.0, force, 2.0 * force, 0.1, 0.0, 0.0])
            arm.advance(0.01)
        ends.append(np.append(arm.q, arm.qd))
    assert np.abs(ends[0]).max() > 0.1
    assert ends[0] == pytest.approx(ends[1], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(('effort', 'what'), [
    ((1e9, -1e9), 'is no longer finite'), ((0.0, 1e7), '"elbow" is beyond 1e'),
])
def test_a_state_that_is_not_plausible_is_refused_and_the_one_before_kept(effort, what):
    """Two joints under absurd torques, and one alone, whose motion stays finite."""
    urdf = rigid_arm() if effort[0] else rigid_arm().replace('type="revolute"', 'type="fixed"', 1)
    joints = NAMES if effort[0] else NAMES[1:]
    dyn = fd.Dynamics(fd.load_robot(urdf))
    arm = ArmSimulator(dyn, joints, 1e-3, JointController((), (), len(joints)))
    start = arm.q.copy()
    arm.effort = np.array(effort)[-len(joints):]
    with pytest.raises(SimulationStopped, match=what):
        for _ in range(100):
            arm.advance(0.01)
    assert np.abs(np.append(arm.q, arm.qd)).max() < 1e6
    arm.reset()
    arm.advance(0.01)
    assert arm.q == pytest.approx(start, abs=0.01)


def test_joints_stop_at_their_limits_on_demand():
    """A shoulder with a stop falls on it and stays; without stops it passes it."""
    assert rigid_arm().count('<limit lower="-3" upper="3"') == 2
    urdf = rigid_arm().replace('<limit lower="-3" upper="3"', '<limit lower="-0.2" upper="0.2"', 1)
    ends = [simulator(urdf, stops=stops) for stops in (True, False)]
    for arm in ends:
        for _ in range(30):
            arm.advance(0.01)
    assert abs(ends[0].q[0]) == 0.2
    assert abs(ends[1].q[0]) > 0.3
    with pytest.raises(FlexdynError, match='"shoulder" 0.1 beyond its stop'):
        simulator(urdf, stops=True, initial_positions=(0.3, 0.0))


def trajectory(names=NAMES, times=(1.0, 2.0), positions=((0.3, 0.2), (0.5, -0.1)), rates=None):
    """Return fields as of trajectory_msgs/JointTrajectory."""
    rates = rates or [[0.0] * len(names)] * len(times)
    return SimpleNamespace(joint_names=list(names), points=[
        SimpleNamespace(positions=place, velocities=rate, time_from_start=SimpleNamespace(
            sec=int(when), nanosec=round(1e9 * (when % 1.0))))
        for when, place, rate in zip(times, positions, rates)])


def test_the_joint_controller_follows_a_trajectory():
    arm = simulator(rigid_arm(), kp=(4000.0,), kd=(400.0,), initial_positions=(0.1, 0.2))
    arm.controller.follow(trajectory(('elbow',), positions=((0.4,), (0.0,))), NAMES, arm.time)
    arm.advance(0.5)
    assert arm.controller.position == pytest.approx([0.1, 0.3])
    assert arm.controller.velocity == pytest.approx([0.0, 0.3])
    arm.advance(2.0)
    assert arm.controller.position == pytest.approx([0.1, 0.0])
    assert np.abs(arm.q - [0.1, 0.0]).max() < 0.02
    arm.reset()
    assert arm.controller.trajectory is None
    assert arm.controller.position == pytest.approx([0.1, 0.2])


@pytest.mark.parametrize(('message', 'words'), [
    (trajectory(('shoulder', 'hip')), 'hip'), (trajectory(times=(2.0, 1.0)), 'rising times'),
    (trajectory(times=()), 'a trajectory must have'),
    (trajectory(('elbow',) * 2), 'more than once'),
    (trajectory(positions=((1.0,), (2.0, 3.0))), 'every'),
    (trajectory(positions=((np.nan, 0.0), (0.0, 0.0))), 'finite'),
])
def test_a_wrong_trajectory_is_refused(message, words):
    arm = simulator(rigid_arm(), kp=(4000.0,), kd=(400.0,))
    with pytest.raises(FlexdynError, match=words):
        arm.controller.follow(message, NAMES, 0.0)
    with pytest.raises(FlexdynError, match='set pd.kp'):
        simulator(rigid_arm()).controller.follow(trajectory(), NAMES, 0.0)
