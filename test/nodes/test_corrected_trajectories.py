# SPDX-License-Identifier: Apache-2.0
"""Positions that the inverse dynamics node corrects, by topic and by service."""

from types import SimpleNamespace

from arms import elastic_joint_arm
from contexts import end_context, new_context
import flexdyn_ros as fd
from flexdyn_ros.nodes import trajectory_correction_node
from flexdyn_ros.nodes.positions.position_correction import PositionCorrection
from flexdyn_ros.position_correction.motor_motion import ElasticArm
from flexdyn_ros.tip_tracking.static_tracking import equilibrium
from node_in_process import overrides
from node_processes import joint_state, trajectory
import numpy as np
import pytest
from rclpy.serialization import serialize_message
from std_srvs.srv import Trigger

pytestmark = pytest.mark.ros
NAMES = ('shoulder', 'elbow')
ROBOT = elastic_joint_arm(stiffness=2500.0)
STEP = np.poly1d([70.0, -315.0, 540.0, -420.0, 126.0, 0.0, 0.0, 0.0, 0.0, 0.0])
START, END = np.array([-0.3, 0.6]), np.array([0.1, 0.2])
PARAMETERS = {
    'robot_description': ROBOT, 'backend': 'c', 'trajectory_output': 'corrected_positions',
    'timeout': 30.0}


def plan(start, end):
    """Return a trajectory of one second from rest to rest."""
    points = [
        (t, start + (end - start) * STEP(t), *((end - start) * STEP.deriv(k)(t) for k in (1, 2)))
        for t in np.linspace(0.0, 1.0, 41)]
    return trajectory(NAMES, *points)


def lead(q, qd=(0.0, 0.0), qdd=(0.0, 0.0)):
    """Return the lead of the shoulder's motor without damping: torque over stiffness."""
    dyn = fd.Dynamics(fd.load_robot(ROBOT), 'reference')
    modes = [0.0]
    return dyn.inverse_dynamics([*q, *modes], [*qd, *modes], [*qdd, *modes])[2] / 2500.0


def correct(made):
    """Call the service and return its response."""
    return made.answer(
        made.node.trajectories._on_correct, Trigger.Request(), Trigger.Response())


def test_the_trajectory_leads_the_links_and_starts_at_the_command(torque_node):
    made = torque_node(PARAMETERS)
    assert not correct(made).success
    command = START + (lead(START), 0.0)
    made.state(joint_state(NAMES, command, (0.0, 0.0)))
    message = plan(START, END)
    message.header.frame_id = 'anywhere'
    (found,) = made.trajectory(message)
    assert found.header == message.header and found.joint_names == message.joint_names
    t = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in found.points])
    q, qd, qdd = (np.array([getattr(p, name) for p in found.points])
                  for name in ('positions', 'velocities', 'accelerations'))
    assert q[0].tolist() == command.tolist()
    assert q[-1] == pytest.approx(END + (lead(END), 0.0), abs=1e-9)
    middle = np.argmin(np.abs(t - 0.4))
    links = [(END - START) * STEP.deriv(k)(t[middle]) for k in range(3)]
    wanted = lead(START + links[0], *links[1:])
    # The damper of the spring, of 5 N m s/rad, delays the lead by 2 ms.
    assert q[middle, 0] - START[0] - links[0][0] == pytest.approx(wanted, abs=1e-3)
    assert q[middle, 1] == pytest.approx(START[1] + links[0][1], abs=1e-9)
    assert not qd[[0, -1]].any() and not qdd[[0, -1]].any()
    # The service does the same with the later changes.
    answer = correct(made)
    # It names the trajectory, of which several users may send some.
    assert answer.success and answer.message.startswith(
        '~/trajectory_out, frame_id "anywhere", stamp 0.000000000: corrected by up')
    made.set(correction__max_correction=1e-3)
    answer = correct(made)
    assert not answer.success and 'more than max_correction 0.001' in answer.message
    assert answer.message.startswith('frame_id "anywhere", stamp 0.000000000: shoulder is ')
    assert not made.trajectory(message)


def test_the_present_command_is_the_reference_while_there_is_one(torque_node):
    made = torque_node({**PARAMETERS, 'reference_timeout': 30.0})
    command = START + (lead(START), 0.0)
    made.state(joint_state(NAMES, command + 2e-3, (0.0, 0.0)))
    reference = trajectory(NAMES, (0.0, command, (0.0, 0.0), (0.0, 0.0)))
    made.reference(reference)
    (found,) = made.trajectory(plan(START, END))
    assert found.points[0].positions.tolist() == command.tolist()


def test_nonsense_is_refused_and_the_next_trajectory_is_answered(torque_node):
    made = torque_node(PARAMETERS)
    message = plan(START, END)
    assert not made.trajectory(message)
    assert 'the present command is unknown: shoulder: never received' in correct(made).message
    made.state(joint_state(NAMES, START + (lead(START), 0.0), (0.0, 0.0)))
    for field, values, why in (
            ('positions', [np.nan, 0.0], 'point 3 has positions that are not finite'),
            ('accelerations', [], 'point 3 has 0 accelerations, expected 2'),
            ('velocities', [1e300, 0.0], 'numbers exceed 10000')):
        wrong = plan(START, END)
        setattr(wrong.points[3], field, values)
        assert not made.trajectory(wrong)
        assert why in correct(made).message
    assert not made.trajectory(plan(START + 0.1, END))
    assert 'shoulder starts 0.1' in correct(made).message
    assert len(made.trajectory(message)) == 1
    assert not made.node.failures


def test_a_newer_trajectory_replaces_one_that_is_being_corrected(torque_node):
    """And the end of activity drops the remaining work."""
    made = torque_node(PARAMETERS)
    made.state(joint_state(NAMES, START + (lead(START), 0.0), (0.0, 0.0)))
    service = made.node.trajectories
    made.node.trajectories._subscription.callback(serialize_message(plan(START, START)))
    (found,) = made.trajectory(plan(START, END))
    assert found.points[-1].positions[1] == pytest.approx(END[1], abs=1e-9)
    service._subscription.callback(serialize_message(plan(START, END)))
    answer = service._correction._work.answer
    made.node.trigger_deactivate()
    made.wait_for(answer.done)
    assert 'not active any more' in str(answer.exception())


def test_long_messages_are_refused_before_they_are_read(torque_node):
    made = torque_node(PARAMETERS)
    made.node.trajectories._newest = bytes(5_000_000)
    assert 'more than 4000000' in correct(made).message
    message = plan(START, END)
    message.points = list(message.points) * 500
    made.node.trajectories._newest = serialize_message(message)
    made.state(joint_state(NAMES, START, (0.0, 0.0)))
    assert 'it has 20500 points, more than 20000' in correct(made).message


def test_the_arm_stands_where_a_trajectory_from_there_begins():
    """The tip's components are chosen where the motors stand: at zero the arm is singular."""
    dyn = fd.Dynamics(fd.load_robot('package://flexdyn_ros/urdf/cobot7.urdf.xacro'))
    dyn.set_payload('tool', 4.0, [0.0, 0.0, 0.1], 0.01 * np.eye(3))
    correction = PositionCorrection(SimpleNamespace(
        dyn=dyn, parameters={'correction.frame': '', 'correction.outputs': []}))
    motors, modes = np.array([0.3, 0.5, 0.2, -1.2, -0.3, 0.8, 0.4]), np.zeros(2)
    tip = dyn.frame_pose(equilibrium(dyn, np.append(motors, modes), 'motors'), 'tool')
    standing = correction.standing(motors)
    assert np.abs(standing - motors).max() > 1e-4
    assert dyn.frame_pose(np.append(standing, modes), 'tool') == pytest.approx(tip, abs=1e-9)
    for outputs in (['x', 'y'], ['x'] * 7, ['w']):
        with pytest.raises(fd.FlexdynError, match='outputs|No output'):
            ElasticArm(dyn, '', outputs, motors)


def test_without_control_msgs_the_proxy_is_not_configured(monkeypatch):
    """It names the package, and stays."""
    monkeypatch.setattr(trajectory_correction_node, 'FollowJointTrajectory', None)
    context = new_context()
    node = trajectory_correction_node.TrajectoryCorrectionNode(
        context=context,
        parameter_overrides=overrides({'robot_description': ROBOT, 'autostart': False}))
    node.trigger_configure()
    assert node.robot is None
    assert 'needs control_msgs, which is not installed' in node.diagnostics._message
    end_context(context, node)


def test_the_mode_needs_motor_side_states(torque_node):
    made = torque_node({**PARAMETERS, 'measured_side': 'link'}, activate=False)
    made.node.trigger_configure()
    assert made.node.robot is None
    assert 'they need measured_side motor' in made.message
    efforts = torque_node({'robot_description': ROBOT})
    assert 'trajectory_output corrected_positions' in correct(efforts).message
    assert efforts.node.set_parameters(overrides({'correction.shaping': 'some'}))[0].reason
