# SPDX-License-Identifier: Apache-2.0
"""Nothing of another ROS reaches our programs, and no two runs meet."""

import os
from pathlib import Path
import socket
import subprocess
import sys

from clean_environment import (
    assert_isolated,
    environment_under,
    HOSTILE,
    hostile_environment,
    ROOT,
)
from flexdyn_ros import isolation
import pytest

LAUNCHER = ROOT / 'scripts' / 'env.sh'
in_own_environment = pytest.mark.skipif(
    not (Path(sys.prefix) / 'share/ament_index/resource_index/packages/rclpy').exists(),
    reason='ROS 2 is not part of this virtual environment: `make test` makes one that has it',
)


@pytest.fixture
def launcher_environment():
    """Return hostile variables, with this virtual environment as the one to use."""
    return hostile_environment(VENV=sys.prefix)


@in_own_environment
def test_launcher_in_a_hostile_shell(launcher_environment):
    """`scripts/env.sh`, which every make target uses, drops all of the variables."""
    environment = environment_under(LAUNCHER, launcher_environment)
    assert_isolated(environment, sys.prefix)


@in_own_environment
def test_ros_works_in_a_hostile_shell(launcher_environment):
    """A node starts: the wheels' libraries are found in spite of the inherited guard."""
    result = subprocess.run(
        [str(LAUNCHER), 'python', '-c',
         'import rclpy; rclpy.init(); rclpy.create_node("alone"); rclpy.shutdown()'],
        env=launcher_environment, capture_output=True, text=True, timeout=60,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, '', '')


def test_this_run_is_isolated():
    """The environment of this very run, however pytest was started, is safe."""
    assert os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'LOCALHOST'
    assert 1 <= int(os.environ['ROS_DOMAIN_ID']) <= 100
    assert os.environ['ROS_PYTHON_CHECK_FIELDS'] == '1'
    left = {
        name for name, value in HOSTILE.items()
        if os.environ.get(name) == value and name != '_ROS_WHEELS_BOOTSTRAP_COMPLETE'
    }
    assert not left


@in_own_environment
def test_pytest_by_hand_in_a_hostile_shell():
    """Pytest called without make starts itself again in a clean environment."""
    environment = hostile_environment()
    # This one keeps Python itself from starting, so that nothing of ours could run.
    del environment['PYTHONHOME']
    # Below `colcon test` these name the workspace's paths and the tests that it chose.
    for name in ('COLCON', 'PYTEST_ADDOPTS'):
        environment.pop(name, None)
    result = subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', f'{__file__}::test_this_run_is_isolated'],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert '1 passed' in result.stdout


def test_every_listed_variable_is_removed():
    """No hostile variable survives, and ordinary ones do."""
    ordinary = {'HOME': '/home/someone', 'PATH': '/usr/bin', 'LANG': 'C.UTF-8'}
    assert isolation.without_foreign({**ordinary, **HOSTILE}) == ordinary


def test_parallel_runs_have_domains_of_their_own():
    """Eight runs at once, each holding its domain until all have theirs."""
    command = [
        sys.executable, '-I', '-S', str(ROOT / 'scripts' / 'isolated.py'),
        'sh', '-c', 'echo $ROS_DOMAIN_ID; read line',
    ]
    runs = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    try:
        domains = [int(run.stdout.readline()) for run in runs]
    finally:
        for run in runs:
            run.communicate('\n', timeout=10)
    assert len(set(domains)) == len(runs)
    assert int(os.environ['ROS_DOMAIN_ID']) not in domains


def test_a_domain_in_use_is_passed_over(monkeypatch):
    """A domain on whose discovery port someone listens is not taken; a released one is."""
    monkeypatch.setattr(isolation, '_NAME', 'flexdyn_ros.test.{}')
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(('', 0))
        probe_port = free.getsockname()[1]
        monkeypatch.setattr(isolation, 'discovery_port', lambda domain_id: probe_port)
        with pytest.raises(RuntimeError, match='in use'):
            isolation.DomainClaim()
    monkeypatch.setattr(isolation, 'DOMAIN_IDS', range(7, 8))
    claim = isolation.DomainClaim()
    assert claim.domain_id == 7
    with pytest.raises(RuntimeError):
        isolation.DomainClaim()
    claim.release()
    isolation.DomainClaim().release()


def test_discovery_ports():
    """The ports that DDSI-RTPS 2.2 gives in its section 9.6.1.1, below Linux's own range."""
    assert isolation.discovery_port(0) == 7400
    assert isolation.discovery_port(1) == 7650
    assert max(isolation.discovery_port(domain) for domain in isolation.DOMAIN_IDS) < 32768


def test_launcher_reports_a_missing_command():
    """A command that is not there is named; the exit code is a shell's."""
    result = subprocess.run(
        [sys.executable, '-I', '-S', str(ROOT / 'scripts' / 'isolated.py'), 'no-such-thing'],
        capture_output=True, text=True, timeout=30,
    )
    assert result.returncode == 127
    assert result.stderr == 'no-such-thing: No such file or directory\n'
