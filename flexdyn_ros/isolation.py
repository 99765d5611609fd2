# SPDX-License-Identifier: Apache-2.0
"""
Run ROS programs apart from every other ROS on the machine and on the network.

`make demo` and `make test` must neither reach a robot nearby nor pick up libraries of another ROS
that the shell has sourced. This module removes the variables of such a shell. It then sets, never
inherits, those that keep DDS traffic on this machine and in a domain that no parallel run uses.

It imports the standard library alone, so that it also works before any environment is there.
"""

import os
from pathlib import Path
import random
import socket
from typing import Dict, Mapping, Optional

PROFILE = Path(__file__).resolve().with_name('fastdds_profile.xml')

PATH_VARIABLES = (
    'AMENT_PREFIX_PATH',
    'CMAKE_MODULE_PATH',
    'CMAKE_PREFIX_PATH',
    'COLCON_PREFIX_PATH',
    'LD_LIBRARY_PATH',
    'PYTHONPATH',
)
"""Search paths through which one ROS finds its packages, libraries and modules."""

NETWORK_PREFIXES = (
    'CYCLONEDDS_',
    'FASTDDS_',
    'FASTRTPS_',
    'RCL_',
    'RCUTILS_',
    'RMW_',
    'ROS_',
    'ZENOH_',
)
NETWORK_VARIABLES = ('NDDS_DISCOVERY_PEERS', 'NDDS_QOS_PROFILES', 'SKIP_DEFAULT_XML_FILE')
NEUTRAL = ('ROS_DISTRO', 'ROS_PYTHON_VERSION', 'ROS_VERSION', 'RMW_IMPLEMENTATION')
"""Variables that describe the ROS in use; a ROS that is chosen keeps them."""

OTHER_PREFIXES = ('AMENT_', 'COLCON_', '_ROS_WHEELS_')
OTHER_VARIABLES = ('PYTHONHOME', 'PYTHONSTARTUP', 'PYTHONUSERBASE')

DOMAIN_IDS = range(1, 101)
"""
Ids whose ports stay below 32768, where Linux starts to assign ports of its own.

See "The ROS_DOMAIN_ID" in the ROS 2 documentation.
"""

_NAME = 'flexdyn_ros.dds_domain.{}'


def steers_network(variable: str) -> bool:
    """Return whether an environment variable can change the communication of ROS programs."""
    return variable not in NEUTRAL and (
        variable in NETWORK_VARIABLES or variable.startswith(NETWORK_PREFIXES)
    )


def is_foreign(variable: str) -> bool:
    """Return whether an environment variable can affect ROS, DDS or Python's imports."""
    return (
        steers_network(variable)
        or variable in (*PATH_VARIABLES, *NEUTRAL, *OTHER_VARIABLES)
        or variable.startswith(OTHER_PREFIXES)
    )


def without_foreign(environment: Mapping[str, str]) -> Dict[str, str]:
    """Return a copy of the environment without every variable that `is_foreign`."""
    return {name: value for name, value in environment.items() if not is_foreign(name)}


def network_variables(domain_id: int) -> Dict[str, str]:
    """
    Return the variables that keep DDS on this machine.

    Args:
        domain_id: The domain claimed for this run, see `DomainClaim`.

    The profile makes discovery quick; a default profile in the working directory is not read.
    """
    return {
        'FASTDDS_DEFAULT_PROFILES_FILE': str(PROFILE),
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        'ROS_DOMAIN_ID': str(domain_id),
        'SKIP_DEFAULT_XML_FILE': '1',
    }


def isolated_environment(
    environment: Mapping[str, str], prefix: Path, domain_id: int
) -> Dict[str, str]:
    """
    Return an environment in which only the ROS of `prefix` exists, on this machine alone.

    Args:
        environment: The environment to start from, usually `os.environ`.
        prefix: The virtual environment with the ROS 2 packages.
        domain_id: The domain claimed for this run, see `DomainClaim`.
    """
    prefix = Path(prefix).absolute()
    clean = without_foreign(environment)
    clean['PATH'] = os.pathsep.join([str(prefix / 'bin'), clean.get('PATH', os.defpath)])
    clean['AMENT_PREFIX_PATH'] = str(prefix)
    clean['ROS_LOG_DIR'] = str(prefix / 'log' / 'ros')
    clean.update(network_variables(domain_id))
    return clean


class DomainClaim:
    """
    A DDS domain id of this run alone, as long as the process that claimed it runs.

    The claim is a socket in Linux's abstract namespace. It reaches exactly as far as DDS on this
    machine does (the network namespace). It needs no file, and ends with the process. Ids on whose
    discovery port some participant already listens are skipped.

    Attributes:
        domain_id: The id claimed.
    """

    def __init__(self) -> None:
        candidates = list(DOMAIN_IDS)
        # Not seeded by the caller: two runs that start together should not try the same ids.
        random.SystemRandom().shuffle(candidates)
        for domain_id in candidates:
            claim = _claim(domain_id)
            if claim is not None:
                self.domain_id = domain_id
                self._claim = claim
                return
        raise RuntimeError(
            f'All {len(candidates)} DDS domains are in use on this machine. '
            'Stop other ROS programs first.'
        )

    def keep_across_exec(self) -> None:
        """Keep the claim in the program that replaces this process."""
        self._claim.set_inheritable(True)

    def release(self) -> None:
        """Release the domain."""
        self._claim.close()


def discovery_port(domain_id: int) -> int:
    """
    Return the UDP port on which participants of a domain listen for others.

    DDSI-RTPS 2.2, section 9.6.1.1: PB + DG * domainId + d0.
    """
    return 7400 + 250 * domain_id


def _claim(domain_id: int) -> Optional[socket.socket]:
    """Return the socket that stands for the claim, or None when the domain is in use."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        claim.bind('\0' + _NAME.format(domain_id))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(('', discovery_port(domain_id)))
    except OSError:
        claim.close()
        return None
    return claim
