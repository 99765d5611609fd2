# SPDX-License-Identifier: Apache-2.0
"""Files that a robot description names: plain paths, file:// and package:// addresses."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional
from urllib.parse import unquote
from urllib.parse import urlsplit

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.shared_files import PACKAGE
from flexdyn_ros.shared_files import shared_folder

# Variables that list folders with packages: ROS 1 sources, and the prefixes of an ament install.
_SOURCE_PATH = 'ROS_PACKAGE_PATH'
_PREFIX_PATH = 'AMENT_PREFIX_PATH'


def find_package(package: str) -> Optional[Path]:
    """
    Return the share folder of a ROS package, or None where it is not found.

    The ament index is asked first, where it can be imported; then the folders of
    AMENT_PREFIX_PATH and ROS_PACKAGE_PATH are looked through. This package finds its own files
    without any of them.
    """
    if package == PACKAGE:
        try:
            return shared_folder()
        except FlexdynError:
            return None
    try:
        from ament_index_python.packages import get_package_share_directory

        return Path(get_package_share_directory(package))
    except (ImportError, LookupError, ValueError, OSError):
        pass
    for prefix in _folders(_PREFIX_PATH):
        if (prefix / 'share' / package / 'package.xml').is_file():
            return prefix / 'share' / package
    for folder in _folders(_SOURCE_PATH):
        for candidate in (folder / package, folder):
            if candidate.name == package and (candidate / 'package.xml').is_file():
                return candidate
    return None


def _folders(variable: str) -> list[Path]:
    return [Path(p) for p in os.environ.get(variable, '').split(os.pathsep) if p]


def resolve_file(address: str, base_dir: Optional[Path]) -> Path:
    """
    Return the path of the file that an address in a description names.

    Args:
        address: A path, "file:///path" or "package://package/path".
        base_dir: Folder that relative paths start from; None where there is none.

    Raises:
        ValueError: The package or file is missing; the text continues `file="address"`.
    """
    path = _path_of(address, base_dir)
    looked = '' if str(path) == address else f' (looked at {path})'
    if not path.exists():
        raise ValueError(f'does not exist{looked}')
    # A shell's <(command) is a pipe.
    if not (path.is_file() or path.is_fifo()):
        raise ValueError(f'is not a file{looked}')
    return path


def _path_of(address: str, base_dir: Optional[Path]) -> Path:
    scheme, separator, rest = address.partition('://')
    if not address.strip():
        raise ValueError('is empty where a file belongs')
    if not separator:
        path = Path(address).expanduser()
        if path.is_absolute():
            return path
        if base_dir is None:
            raise ValueError('is relative, and the description came as text; give base_dir')
        return base_dir / path
    if scheme == 'file':
        return Path(unquote(urlsplit(address).path))
    if scheme == 'package':
        package, _, inside = rest.partition('/')
        folder = find_package(package)
        if folder is None:
            raise ValueError(
                f'names package "{package}", which is neither in the ament index nor in '
                f'{_SOURCE_PATH}'
            )
        return folder / inside
    raise ValueError(f'has the unknown scheme "{scheme}://"; known are package:// and file://')
