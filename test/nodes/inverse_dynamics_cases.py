# SPDX-License-Identifier: Apache-2.0
"""Common parts of tests of the inverse dynamics node: a rigid arm, its states, its torques."""

from arms import rigid_arm
import flexdyn_ros as fd
from node_processes import joint_state
import numpy as np
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy

NODE = 'inverse_dynamics_node'
COMMANDS = f'/{NODE}/commands'
LATCHED = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
BEST_EFFORT = QoSProfile(depth=5, reliability=QoSReliabilityPolicy.BEST_EFFORT)
NAMES = ('shoulder', 'elbow')
STATE = joint_state(NAMES, (0.2, 0.3), (0.4, -0.5))
ROBOT = rigid_arm(extra='<dynamics damping="0.7" friction="0.3"/>')


def expected(urdf, q, qd=(0.0, 0.0), qdd=(0.0, 0.0)):
    """Return the library's joint torques with the modes at zero."""
    dyn = fd.Dynamics(fd.load_robot(urdf))
    modes = [0.0] * dyn.robot.n_modes
    return dyn.inverse_dynamics([*q, *modes], [*qd, *modes], [*qdd, *modes])[:2]


def sending(probe, message=STATE, topic='joint_states', qos=10):
    """Return a function that publishes a message again and again."""
    return lambda: probe.publish(topic, message, qos)


def wait_for_torque(probe, commands, torque, what, meanwhile):
    """Wait until the newest command is this torque."""
    probe.wait_for(
        lambda: commands and len(commands[-1].data) == len(torque)
        and np.allclose(commands[-1].data, torque, rtol=1e-9, atol=1e-9),
        f'{what}: {torque}, last {commands[-1:]}',
        meanwhile,
    )


def set_parameter(probe, name, value):
    """Set one parameter through the node's service and return its result."""
    kinds = {
        str: (ParameterType.PARAMETER_STRING, 'string_value'),
        float: (ParameterType.PARAMETER_DOUBLE, 'double_value'),
        bool: (ParameterType.PARAMETER_BOOL, 'bool_value'),
        list: (ParameterType.PARAMETER_DOUBLE_ARRAY, 'double_array_value'),
    }
    kind, field = kinds[type(value)]
    parameter = Parameter(name=name, value=ParameterValue(type=kind, **{field: value}))
    request = SetParameters.Request(parameters=[parameter])
    return probe.call(SetParameters, f'/{NODE}/set_parameters', request).results[0]
