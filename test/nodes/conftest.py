# SPDX-License-Identifier: Apache-2.0
"""The fixtures that start nodes as processes and talk to them."""

import importlib.util
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_ROS = importlib.util.find_spec('rclpy') is None

OVER_DDS = sorted(
    path.name
    for path in Path(__file__).parent.glob('test_*.py')
    if '\npytestmark = pytest.mark.ros\n' in path.read_text(encoding='utf-8')
)
collect_ignore = OVER_DDS if WITHOUT_ROS else []


def pytest_terminal_summary(terminalreporter):
    """Print the tests that could not run."""
    if WITHOUT_ROS:
        terminalreporter.section('left out')
        terminalreporter.write_line(
            'rclpy is not installed here (`make test` installs it), so that these of test/nodes '
            f'did not run: {", ".join(OVER_DDS)}'
        )


@pytest.fixture(scope='session')
def isolated_ros():
    """Let node processes import the package from this repository; test/conftest.py isolates."""
    before = os.environ.get('PYTHONPATH')
    os.environ['PYTHONPATH'] = os.pathsep.join(filter(None, [str(ROOT), before]))
    yield
    if before is None:
        del os.environ['PYTHONPATH']
    else:
        os.environ['PYTHONPATH'] = before


@pytest.fixture
def probe(isolated_ros):
    """Return a probe node in the test's process."""
    from node_processes import Probe

    made = Probe()
    yield made
    made.close()


@pytest.fixture
def start(tmp_path, isolated_ros):
    """Return a function that starts a node process; at the end all must stop cleanly."""
    from node_processes import NodeProcess

    started = []

    def start_node(node, parameters, ros_arguments=()):
        started.append(NodeProcess(tmp_path, node, parameters, ros_arguments))
        return started[-1]

    yield start_node
    codes = [process.stop() for process in started]
    assert codes == [0] * len(codes), [process.log for process in started]


@pytest.fixture
def torque_node():
    """Return a function that makes an active inverse dynamics node in the test's process."""
    from node_in_process import TorqueNode

    made = []

    def make(parameters, **choices):
        made.append(TorqueNode(parameters, **choices))
        return made[-1]

    yield make
    for node in made:
        node.close()


@pytest.fixture
def active():
    """Return a function that makes an active node of a class in this process."""
    from arms import flexible_arm
    from contexts import end_context, new_context
    from node_in_process import overrides

    made = []

    def make(kind, **parameters):
        context = new_context()
        given = {'robot_description': flexible_arm(), 'autostart': False,
                 'backend': 'reference', **parameters}
        node = kind(context=context, parameter_overrides=overrides(given))
        made.append((context, node))
        node.trigger_configure()
        node.trigger_activate()
        assert node.active
        return node

    yield make
    for context, node in made:
        node.end()
        end_context(context, node)
