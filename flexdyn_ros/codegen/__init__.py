# SPDX-License-Identifier: Apache-2.0
"""Generation of source code from the algorithms of `flexdyn_ros.dynamics`."""

from flexdyn_ros.errors import NotYetSupported


def generate(robot, function, language='c', optimise=True, arguments=()):
    """
    Generate the source code of one function of a robot; not available yet.

    Raises:
        NotYetSupported: Always.
    """
    raise NotYetSupported(
        f'generation of "{function}" in {language} is not available yet',
        name=robot.name,
        advice='Use the methods of Dynamics',
    )
