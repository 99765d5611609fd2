# SPDX-License-Identifier: Apache-2.0
"""A ROS domain of its own for the node tests, and the fixtures that start nodes."""

import importlib.util
import os
from pathlib import Path

from flexdyn_ros.isolation import DomainClaim
from flexdyn_ros.isolation import network_variables
import pytest

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_ROS = importlib.util.find_spec('rclpy') is None

OVER_DDS = (
    'test_closed_loop.py',
    'test_deflection_markers_node.py',
    'test_forward_dynamics_node.py',
    'test_inverse_dynamics_node.py',
    'test_launch_files.py',
    'test_trajectory_over_dds.py',
)
collect_ignore = list(OVER_DDS) if WITHOUT_ROS else []


def pytest_terminal_summary(terminalreporter):
    """Say aloud what could not be tested."""
    if WITHOUT_ROS:
        terminalreporter.section('left out')
        terminalreporter.write_line(
            f'rclpy is not installed, so these of test/nodes did not run: {", ".join(OVER_DDS)}'
        )


@pytest.fixture(scope='session')
def isolated_ros(tmp_path_factory):
    """Keep DDS on this machine and in a domain that no parallel run shares."""
    claim = DomainClaim()
    settings = {
        **network_variables(claim.domain_id),
        'ROS_LOG_DIR': str(tmp_path_factory.mktemp('ros_log')),
        'ROS_PYTHON_CHECK_FIELDS': '1',
        'PYTHONPATH': os.pathsep.join(filter(None, [str(ROOT), os.environ.get('PYTHONPATH')])),
    }
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    yield claim.domain_id
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    claim.release()


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
