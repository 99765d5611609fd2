# SPDX-License-Identifier: Apache-2.0
"""
Fetch vendors' robot descriptions from PyPI for the demo, without their meshes.

The package example-robot-data unpacks to some 400 MB, nearly all of it meshes; dynamics needs
the URDF text alone. The files go to share/example-robot-data in the environment, under the same
names as in the package.
"""

from pathlib import Path
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = Path(__file__).resolve().parents[1]
INSIDE = 'cmeel.prefix/share/example-robot-data/'


def pinned() -> str:
    """Return the requirement line of the package, as the tests pin it."""
    lines = (ROOT / 'requirements' / 'test.txt').read_text().splitlines()
    return next(line for line in lines if line.startswith('example-robot-data=='))


def is_text(name: str) -> bool:
    """Tell whether a file of the package is a description, a manifest or a licence."""
    path = Path(name)
    return path.suffix == '.urdf' or path.name == 'package.xml' or 'LICENSE' in path.name


def from_installed(target: Path) -> bool:
    """Copy the texts when the package is installed as a whole; tell whether it was."""
    source = Path(sysconfig.get_paths()['purelib']) / INSIDE
    if not source.is_dir():
        return False
    for path in source.rglob('*'):
        if path.is_file() and is_text(path.name):
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    return True


def from_index(target: Path) -> None:
    """Download the package and unpack the texts."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, '-m', 'pip', 'download', '--quiet', '--no-deps',
             '--only-binary=:all:', '--dest', folder, pinned()],
            check=True,
        )
        with zipfile.ZipFile(next(Path(folder).glob('*.whl'))) as wheel:
            for name in wheel.namelist():
                if is_text(name) and name.startswith(INSIDE):
                    place = target / name[len(INSIDE):]
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(wheel.read(name))


def main() -> None:
    """Fill share/example-robot-data, once."""
    target = Path(sys.argv[1]).absolute() / 'share' / 'example-robot-data'
    marker = target / '.version'
    if marker.is_file() and marker.read_text() == pinned():
        return
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    if not from_installed(target):
        from_index(target)
    marker.write_text(pinned())


if __name__ == '__main__':
    main()
