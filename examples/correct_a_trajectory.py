#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A correction by topic and by service. Run: python3 correct_a_trajectory.py [PICTURE.png]."""

import sys

import flexdyn_ros as fd
from flexdyn_ros.nodes.inverse_dynamics_node import InverseDynamicsNode
import rclpy
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

URDF = 'package://flexdyn_ros/urdf/two_link_arm.urdf.xacro'
SPRING = """<flexdyn version="1.0"><joint_dynamics joint="joint1" stiffness="3000"
damping="3" rotor_inertia="0.05"/></flexdyn></robot>"""


def main():
    text = fd.load_robot(URDF, xacro_arguments={'modes': '0'}).descriptions[0]
    rclpy.init()
    user, answers = rclpy.create_node('user'), []
    arm = InverseDynamicsNode(parameter_overrides=[Parameter(k, value=v) for k, v in {
        'robot_description': text.replace('</robot>', SPRING), 'timeout': 9.0,
        'trajectory_output': 'corrected_positions'}.items()])
    name, executor, joints = arm.get_name(), rclpy.get_global_executor(), ['joint1', 'joint2']
    all(map(executor.add_node, (arm, user)))
    driver = user.create_publisher(JointState, 'joint_states', 1)
    plans = user.create_publisher(JointTrajectory, f'{name}/trajectory_in', 1)
    user.create_subscription(JointTrajectory, f'{name}/trajectory_out', answers.append, 1)
    service = user.create_client(Trigger, f'{name}/correct_trajectory')
    state = JointState(name=joints, position=[-1.2, 0.6], velocity=[0.0, 0.0])
    plan = JointTrajectory(joint_names=joints, points=[JointTrajectoryPoint(positions=[-0.5] * 2)])
    plan.header.frame_id, plan.points[0].time_from_start.sec = 'plan', 1

    def wait_for(condition):
        while not condition():
            driver.publish(state)
            executor.spin_once(timeout_sec=0.02)
    wait_for(lambda: arm.active and arm.measured.complete and service.service_is_ready()
             and plans.get_subscription_count())
    plans.publish(plan)
    wait_for(lambda: answers)
    arm.set_parameters([Parameter('correction.max_acceleration', value=1.0)])
    done = service.call_async(Trigger.Request())  # the same trajectory with this limit
    wait_for(lambda: done.done() and len(answers) > 1)
    print('service:', done.result().message)
    if len(sys.argv) > 1:
        import matplotlib.pyplot as plt
        for each, style, at in zip(answers, ('-', '--'), ('', ', at most 1 rad/s^2')):
            t = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in each.points]
            plt.plot(t, [p.velocities for p in each.points], style, label=[j + at for j in joints])
        plt.legend(loc='lower right').axes.set(xlabel='time [s]', ylabel='velocity [rad/s]')
        plt.savefig(sys.argv[1])
    arm.destroy_node()


if __name__ == '__main__':
    main()
