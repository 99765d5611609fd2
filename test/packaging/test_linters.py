# SPDX-License-Identifier: Apache-2.0
"""The linters of ROS 2 packages, and the licence line of every source file."""

from pathlib import Path
import subprocess
import sys

from clean_environment import ROOT
import pytest

SOURCES = (
    'flexdyn_ros', 'launch', 'scripts', 'test', 'examples', 'benchmarks', 'validation', 'setup.py',
)
GOOGLE_SECTIONS = ('D406', 'D407', 'D413')
NAMES_AND_PROPERTIES = ('D401', 'D403')


def source_places():
    """Return the folders and files to check, as far as this copy of the package has them."""
    return [str(ROOT / place) for place in SOURCES if (ROOT / place).exists()]


def python_files():
    """Return every Python file of the package."""
    for place in map(Path, source_places()):
        yield from [place] if place.is_file() else sorted(place.rglob('*.py'))


@pytest.mark.slow
def test_flake8():
    """
    Style of ROS 2.

    In a process of its own: flake8 forks, and nodes of other tests have threads in this one.
    """
    pytest.importorskip(
        'ament_flake8', reason='ament_flake8 is not installed here: `make test` installs it'
    )
    config = Path(__file__).with_name('flake8.ini')
    call = 'import sys; from ament_flake8.main import main; sys.exit(main(sys.argv[1:]))'
    done = subprocess.run(
        [sys.executable, '-c', call, '--config', str(config), *source_places()],
        capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.slow
def test_pep257(capfd):
    """Docstrings of ROS 2, with Google's sections; ruff checks the mood."""
    main = pytest.importorskip(
        'ament_pep257.main', reason='ament_pep257 is not installed here: `make test` installs it'
    )
    ignored = [*GOOGLE_SECTIONS, *NAMES_AND_PROPERTIES]
    code = main.main(argv=['--add-ignore', *ignored, '--', *source_places()])
    complaints = [line for line in capfd.readouterr().out.splitlines() if ': D' in line]
    assert code == 0, '\n'.join(complaints)


def test_every_source_file_names_its_licence():
    """The first line, or the second after a #!, is the SPDX line."""
    files = list(python_files())
    assert len(files) > 50
    missing = []
    for path in files:
        lines = path.read_text(encoding='utf-8').splitlines()
        if lines and '# SPDX-License-Identifier: Apache-2.0' not in lines[:2]:
            missing.append(str(path.relative_to(ROOT)))
    assert not missing, f'without licence line: {missing}'


def test_shell_scripts_parse():
    """Bash accepts every script, and each stops at the first error."""
    scripts = [*sorted((ROOT / 'scripts').glob('*.sh')), ROOT / '.ci' / 'run']
    assert len(scripts) >= 5
    for script in scripts:
        subprocess.run(['bash', '-n', str(script)], check=True, timeout=10)
        assert 'set -euo pipefail' in script.read_text()
