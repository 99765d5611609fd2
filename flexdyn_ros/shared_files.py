# SPDX-License-Identifier: Apache-2.0
"""Folder of the shared files of this package: ready robots, launch and parameter files."""

from __future__ import annotations

from pathlib import Path

from flexdyn_ros.errors import FlexdynError

PACKAGE = 'flexdyn_ros'


def shared_folder() -> Path:
    """
    Return the folder that holds urdf/, launch/, config/ and rviz/ of this package.

    In a checkout, which an editable install and a symlinked workspace lead to, it is the folder of
    the sources. An installed package lies somewhere below its prefix, and its shared files are in
    share/flexdyn_ros of that prefix. Pip, colcon and Debian packages agree on that.

    Raises:
        FlexdynError: The package was installed without them.
    """
    package = Path(__file__).resolve().parent
    candidates = [package.parent]
    candidates += [folder / 'share' / PACKAGE for folder in package.parents]
    for folder in candidates:
        if (folder / 'package.xml').is_file() and (folder / 'urdf').is_dir():
            return folder
    raise FlexdynError(
        f'The shared files of {PACKAGE} are missing: no folder share/{PACKAGE} lies beside or '
        f'above {package}. Install the package again with pip or colcon.'
    )
