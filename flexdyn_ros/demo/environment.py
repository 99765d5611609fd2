# SPDX-License-Identifier: Apache-2.0
"""The environment of the demonstration's processes: one ROS, this machine, a domain of its own."""

from __future__ import annotations

import os
from pathlib import Path
import sys
from typing import Union

import flexdyn_ros
from flexdyn_ros.isolation import (
    isolated_environment,
    network_variables,
    PATH_VARIABLES,
    steers_network,
)

ISOLATED = 'FLEXDYN_DEMO_ISOLATED'  # marks an environment that was made here
UNCLAIMED = 0  # a domain id for processes that do not use DDS
ROS_MARKER = Path('share/ament_index/resource_index/packages/rclpy')
GUARD = '_ROS_WHEELS_BOOTSTRAP_COMPLETE'  # stops ROS wheels from setting up their libraries


def has_own_ros() -> bool:
    """Return whether ROS 2 is part of this Python's environment, as its wheels are."""
    return (Path(sys.prefix) / ROS_MARKER).exists()


def is_foreign() -> bool:
    """Return whether the shell has search paths that this Python's own ROS must not see."""
    found = any(map(os.environ.get, (*PATH_VARIABLES, GUARD)))
    return found and ISOLATED not in os.environ and has_own_ros()


def variables(domain_id: int, log_folder: Union[str, Path]) -> dict[str, str]:
    """
    Return all variables for a process.

    Where ROS is part of this Python's environment, every search path of the calling shell is
    dropped. Elsewhere ROS comes from the shell that sourced it, and its paths stay; variables that
    steer the network never do.

    Args:
        domain_id: The claimed domain.
        log_folder: Folder of the logs of ROS.
    """
    if has_own_ros():
        found = isolated_environment(os.environ, Path(sys.prefix), domain_id)
    else:
        found = {name: value for name, value in os.environ.items() if not steers_network(name)}
        found.update(network_variables(domain_id))
        if found.get('ROS_DISTRO') == 'humble':
            found['ROS_LOCALHOST_ONLY'] = '1'  # its name for ROS_AUTOMATIC_DISCOVERY_RANGE
    source = str(Path(flexdyn_ros.__file__).resolve().parents[1])
    found['PYTHONPATH'] = os.pathsep.join(filter(None, [source, found.get('PYTHONPATH')]))
    # The arithmetic of a few joints gains nothing from threads; several processes share the cores.
    found.update(OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1', MKL_NUM_THREADS='1')
    found.update(MPLBACKEND='Agg', PYTHONUNBUFFERED='1', RCUTILS_COLORIZED_OUTPUT='0')
    found.update({'ROS_LOG_DIR': str(log_folder), ISOLATED: '1'})
    return found
