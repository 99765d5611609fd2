# SPDX-License-Identifier: Apache-2.0
"""A node with the topics of inverse_dynamics_node that copies states, in one executor of rclpy."""

from array import array

from geometry_msgs.msg import WrenchStamped
import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import qos_profile_sensor_data, QoSProfile, QoSReliabilityPolicy
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory


class CopyNode(LifecycleNode):
    """Publishes positions as efforts."""

    def __init__(self):
        """Create the topics."""
        super().__init__(
            'inverse_dynamics_node', automatically_declare_parameters_from_overrides=True)
        newest = QoSProfile(depth=1, reliability=QoSReliabilityPolicy.BEST_EFFORT)
        self.commands = self.create_publisher(Float64MultiArray, '~/commands', 1)
        self.torques = self.create_publisher(JointState, '~/joint_torques', 1)
        self.create_subscription(JointState, 'joint_states', self._copy, newest)
        for kind, topic, profile in (
            (MultiDOFJointState, 'multi_dof_joint_states', newest),
            (JointTrajectory, '~/reference', 1), (JointTrajectory, '~/trajectory_in', 1),
            (WrenchStamped, '~/wrench', qos_profile_sensor_data),
        ):
            self.create_subscription(kind, topic, lambda message: None, profile)

    def _copy(self, message: JointState) -> None:
        values = array('d', message.position)
        self.commands.publish(Float64MultiArray(data=values))
        state = JointState(name=message.name, effort=values)
        state.header.stamp = message.header.stamp
        self.torques.publish(state)


def main() -> None:
    """Run the node."""
    rclpy.init()
    executor = SingleThreadedExecutor()
    executor.add_node(CopyNode())
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
