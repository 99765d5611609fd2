# SPDX-License-Identifier: Apache-2.0
"""A shell in which another ROS is sourced, and the part of it that must remain."""

import json
import os
from pathlib import Path
import subprocess

ROOT = Path(__file__).resolve().parents[2]

HOSTILE = {
    'AMENT_PREFIX_PATH': '/opt/ros/other',
    'CMAKE_PREFIX_PATH': '/opt/ros/other',
    'COLCON_PREFIX_PATH': '/opt/ros/other',
    'CYCLONEDDS_URI': '<CycloneDDS><Domain id="any"/></CycloneDDS>',
    'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4',
    'FASTDDS_DEFAULT_PROFILES_FILE': '/nonexistent/profiles.xml',
    'FASTDDS_ENVIRONMENT_FILE': '/nonexistent/environment.json',
    'FASTRTPS_DEFAULT_PROFILES_FILE': '/nonexistent/profiles.xml',
    'LD_LIBRARY_PATH': '/opt/ros/other/lib',
    'PYTHONHOME': '/nonexistent/python',
    'PYTHONPATH': '/nonexistent/site-packages',
    'RMW_FASTRTPS_USE_QOS_FROM_XML': '1',
    'RMW_IMPLEMENTATION': 'rmw_that_does_not_exist',
    'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET',
    'ROS_DISCOVERY_SERVER': '192.0.2.1:11811',
    'ROS_DISTRO': 'other',
    'ROS_DOMAIN_ID': '0',
    'ROS_LOCALHOST_ONLY': '0',
    'ROS_LOG_DIR': '/nonexistent/log',
    'ROS_STATIC_PEERS': '192.0.2.1',
    'SKIP_DEFAULT_XML_FILE': '0',
    '_ROS_WHEELS_BOOTSTRAP_COMPLETE': '1',
}
"""Every variable that may lead elsewhere, with a value that breaks a reader of it."""

PRINT_ENVIRONMENT = 'import json, os; print(json.dumps(dict(os.environ)))'


def hostile_environment(**changes):
    """Return this process' environment with everything hostile set."""
    return {**os.environ, **HOSTILE, **changes}


def environment_under(launcher, environment):
    """Return the environment of a Python started by `scripts/env.sh`."""
    result = subprocess.run(
        [str(launcher), 'python', '-c', PRINT_ENVIRONMENT],
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def assert_isolated(environment, prefix):
    """Assert that an environment has the ROS of one prefix, on this machine alone."""
    expected = {
        'AMENT_PREFIX_PATH': str(prefix),
        'FASTDDS_DEFAULT_PROFILES_FILE': str(ROOT / 'flexdyn_ros' / 'fastdds_profile.xml'),
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        'SKIP_DEFAULT_XML_FILE': '1',
    }
    assert {name: environment.get(name) for name in expected} == expected
    assert 1 <= int(environment['ROS_DOMAIN_ID']) <= 100
    assert environment['ROS_LOG_DIR'] != HOSTILE['ROS_LOG_DIR']
    set_anew = {*expected, 'ROS_DOMAIN_ID', 'ROS_LOG_DIR'}
    # The wheels put their own libraries here; see the next check.
    set_anew |= {'LD_LIBRARY_PATH', '_ROS_WHEELS_BOOTSTRAP_COMPLETE'}
    left = {name for name in HOSTILE if name in environment} - set_anew
    assert not left, f'still set: {sorted(left)}'
    foreign = [
        entry for entry in environment.get('LD_LIBRARY_PATH', '').split(os.pathsep)
        if entry and not Path(entry).is_relative_to(prefix)
    ]
    assert not foreign, f'libraries of others: {foreign}'
