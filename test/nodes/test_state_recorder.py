# SPDX-License-Identifier: Apache-2.0
"""Joint states that identification_node keeps, and those that it drops."""

from arms import rigid_arm
from contexts import end_context, new_context
import flexdyn_ros as fd
from flexdyn_ros.nodes.identification.recorder import StateRecorder
from flexdyn_ros.nodes.identification_node import IdentificationNode
from inverse_dynamics_cases import NAMES
from node_in_process import overrides
from node_processes import joint_state
import pytest

pytestmark = pytest.mark.ros


def state(when, names=NAMES):
    """Return a state of the arm at a time [s]."""
    return joint_state(names, [0.1] * len(names), [0.0] * len(names), when)


@pytest.fixture
def recorder():
    """Return a recorder of the rigid arm that records."""
    made = StateRecorder(fd.load_robot(rigid_arm()))
    made.recording = True
    return made


def test_repeated_names_and_old_stamps_are_not_kept(recorder):
    for message in (state(1.0), state(1.0), state(0.5), state(2.0, ('elbow', *NAMES)),
                    state(2.0, ('elbow',)), state(3.0)):
        recorder.take(message)
    assert recorder.duration == pytest.approx(2.0)


def test_a_recording_without_end_does_not_fill_the_memory(recorder, monkeypatch):
    monkeypatch.setattr('flexdyn_ros.nodes.identification.recorder.MOST_STATES', 3)
    for k in range(9):
        recorder.take(state(1.0 + k))
    assert recorder.full
    assert recorder.duration == pytest.approx(2.0)


def test_a_stamp_in_the_future_does_not_end_the_recording():
    context = new_context()
    node = IdentificationNode(context=context, parameter_overrides=overrides({
        'autostart': False, 'robot_description': rigid_arm(), 'play': False}))
    node.trigger_configure()
    node.trigger_activate()
    assert node.stage == 'recording'
    for when in (1.0, 2e9, 2.0):
        node._states.callback(state(when))
    assert node.diagnostic_values()['recorded'] == pytest.approx(1.0)
    assert node.diagnostic_values()['dropped/stamp_in_future'] == 1
    node.end()
    end_context(context, node)
