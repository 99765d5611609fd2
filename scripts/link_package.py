# SPDX-License-Identifier: Apache-2.0
"""
Make a virtual environment an ament prefix that holds this package, by links into the sources.

Launch files and `ros2 run` look for executables in lib/<package> and for shared files in
share/<package>. pip puts neither there. Links, like `colcon build --symlink-install`, so that a
change in a source file takes effect at once.
"""

from importlib.metadata import entry_points
from pathlib import Path
import shutil
import sys

PACKAGE = 'flexdyn_ros'
FOLDERS = ('launch', 'examples', 'config', 'rviz', 'urdf')
ROOT = Path(__file__).resolve().parents[1]


def link(source: Path, place: Path) -> None:
    """Put a symbolic link to a source at a place, in place of any former file."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_symlink() or place.is_file():
        place.unlink()
    elif place.is_dir():
        shutil.rmtree(place)
    place.symlink_to(source)


def main() -> None:
    """Link executables, shared folders and the index marker."""
    prefix = Path(sys.argv[1]).absolute()
    share = prefix / 'share' / PACKAGE
    link(
        ROOT / 'resource' / PACKAGE,
        prefix / 'share' / 'ament_index' / 'resource_index' / 'packages' / PACKAGE,
    )
    link(ROOT / 'package.xml', share / 'package.xml')
    for folder in FOLDERS:
        link(ROOT / folder, share / folder)
    for entry in entry_points(group='console_scripts'):
        if entry.module.split('.')[0] == PACKAGE:
            link(prefix / 'bin' / entry.name, prefix / 'lib' / PACKAGE / entry.name)


if __name__ == '__main__':
    main()
