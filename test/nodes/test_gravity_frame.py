# SPDX-License-Identifier: Apache-2.0
"""Gravity in a frame of TF: a tilted base, and transforms that are missing or fall silent."""

import math
import os

from diagnostic_msgs.msg import DiagnosticStatus
import flexdyn_ros as fd
from geometry_msgs.msg import TransformStamped
from inverse_dynamics_cases import COMMANDS, LATCHED, NODE, ROBOT, sending, wait_for_torque
import numpy as np
import pytest
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros

try:
    from tf2_msgs.msg import TFMessage
except ImportError:
    TFMessage = None

needs_tf2_msgs = pytest.mark.skipif(
    TFMessage is None,
    reason='tf2_msgs is not here: `make test` builds it where a C++ compiler is installed',
)
GRAVITY = [0.1, -0.2, -9.7]  # in the level frame
PARAMETERS = {
    'robot_description': ROBOT, 'gravity_frame': 'level', 'gravity': GRAVITY,
    'frame_prefix': 'left/', 'gravity_frame_timeout': 0.3, 'timeout': 30.0,
}


def transform(parent, child, axis, angle):
    """Return a TFMessage with one rotation about a frame axis."""
    made = TransformStamped(child_frame_id=child)
    made.header.frame_id = parent
    setattr(made.transform.rotation, axis, math.sin(angle / 2))
    made.transform.rotation.w = math.cos(angle / 2)
    return TFMessage(transforms=[made])


def torque(gravity):
    """Return the torque of the measured motion with gravity in the root frame."""
    dyn = fd.Dynamics(fd.load_robot(ROBOT))
    dyn.set_gravity(gravity)
    return dyn.inverse_dynamics([0.2, 0.3], [0.4, -0.5], [0.0, 0.0])


def told(statuses, level, words):
    """Return whether diagnostics contain words at a level."""
    return any(
        s.status[0].level == level and words in s.status[0].message for s in statuses)


@needs_tf2_msgs
def test_gravity_follows_the_tilt_of_the_base_and_stays_when_tf_falls_silent(probe, start):
    start(NODE, PARAMETERS)
    commands = probe.listen(Float64MultiArray, COMMANDS)
    statuses = probe.statuses()
    probe.wait_for(
        lambda: told(statuses, DiagnosticStatus.ERROR, 'TF does not connect level to left/base'),
        'the missing transform', sending(probe))
    assert not commands

    probe.publish('/tf_static', transform('mast', 'level', 'x', 0.4), LATCHED)
    tilts = {angle: transform('mast', 'left/base', 'y', angle) for angle in (0.2, -0.5)}

    def send(angle):
        probe.publish('/tf', tilts[angle])
        sending(probe)()

    gravity = {}
    for angle in tilts:
        c, s = math.cos(0.4), math.sin(0.4)
        in_mast = np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ GRAVITY
        c, s = math.cos(angle), math.sin(angle)
        gravity[angle] = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]).T @ in_mast
        wait_for_torque(
            probe, commands, torque(gravity[angle]), 'torque', lambda angle=angle: send(angle))
    probe.wait_for(
        lambda: told(statuses, DiagnosticStatus.WARN, 'the last direction of gravity is'),
        'the warning', sending(probe))
    assert np.allclose(commands[-1].data, torque(gravity[-0.5]), rtol=1e-9)


@needs_tf2_msgs
def test_the_log_warns_of_messages_whose_conversion_takes_long(torque_node, capfd):
    made = torque_node({'robot_description': ROBOT, 'gravity_frame': 'world'})
    made.node.inputs.gravity._topics._on_moving(TFMessage(transforms=[TransformStamped()] * 121))
    assert 'a message of TF has 121 transforms' in capfd.readouterr().err


def test_without_tf2_msgs_a_gravity_frame_is_refused(probe, start, tmp_path, monkeypatch):
    hidden = tmp_path / 'hidden' / 'tf2_msgs'
    hidden.mkdir(parents=True)
    (hidden / '__init__.py').write_text('raise ImportError("not installed")\n')
    monkeypatch.setenv('PYTHONPATH', str(hidden.parent), prepend=os.pathsep)
    node = start(NODE, PARAMETERS)
    probe.wait_for(lambda: 'gravity_frame needs tf2_msgs' in node.log, 'log line')
