# SPDX-License-Identifier: Apache-2.0
"""Version, changelog, citation, licences and placeholders of a release."""

import re
import subprocess

from clean_environment import ROOT
import flexdyn_ros
import pytest
import yaml

# Data, texts and generated files; folders carry the licence of the repository.
WITHOUT_COMMENTS = (
    '.md', '.png', '.gif', '.svg', '.npz', '.csv', '.json', '.rst', '.typed', '.msg', '.txt',
    '.rviz', '.urdf', 'COLCON_IGNORE', 'LICENSE', 'resource/flexdyn_ros', '.gitignore',
)
PAGE = (ROOT / 'docs' / 'publishing.md').read_text(encoding='utf-8')


def tracked_files():
    """Return the files of the repository, or skip where this copy is none."""
    if not (ROOT / '.git').exists():
        pytest.skip('this copy has no list of its files: it is no git repository')
    done = subprocess.run(
        ['git', 'ls-files'], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def test_every_file_names_its_licence():
    """Data of tests and formats without comments are left out."""
    files = [
        name for name in tracked_files()
        if not name.endswith(WITHOUT_COMMENTS) and not name.startswith('test/data/')
    ]
    assert len(files) > 500
    missing = [
        name for name in files if (text := (ROOT / name).read_text(encoding='utf-8'))
        and 'SPDX-License-Identifier: Apache-2.0' not in text[:1500]
    ]
    assert not missing


def test_citation_and_documents_have_the_version():
    citation = yaml.safe_load((ROOT / 'CITATION.cff').read_text(encoding='utf-8'))
    assert citation['version'] == flexdyn_ros.__version__
    assert citation['license'] == 'Apache-2.0' and citation['cff-version'] == '1.2.0'
    changelog = (ROOT / 'CHANGELOG.rst').read_text(encoding='utf-8')
    assert f'({citation["date-released"]})' in changelog


def test_the_changelog_is_in_the_form_of_ros():
    """The parser of bloom reads versions, dates and entries."""
    changelog = pytest.importorskip('catkin_pkg.changelog', reason='catkin_pkg is not installed')
    found = changelog.get_changelog_from_path(str(ROOT), 'flexdyn_ros')
    (version, date, content) = next(found.foreach_version())
    assert flexdyn_ros.__version__.startswith(version)
    assert date.year >= 2026
    assert len(content) > 5


def test_every_placeholder_is_in_the_list_of_the_publisher():
    """Each place that has one is named, and each place named has one."""
    rows = re.findall(r'^\| `([^`]+)` \| (.+?) \|', PAGE, re.MULTILINE)
    places = {name for _, cell in rows for name in re.findall(r'`([^`]+)`', cell)}
    assert len(rows) >= 4
    for placeholder, cell in rows:
        for name in re.findall(r'`([^`]+)`', cell):
            assert placeholder in (ROOT / name).read_text(encoding='utf-8'), (placeholder, name)
    text = {
        name: (ROOT / name).read_text(encoding='utf-8') for name in tracked_files()
        if name.endswith(('.md', '.xml', '.cff', '.py', '.yaml', '.rst', '.cfg', '.toml'))
        and not name.startswith(('test/', 'docs/publishing.md'))
    }
    having = {name for name, content in text.items() if 'example.com' in content}
    assert having <= places, having - places


def test_the_matrix_covers_the_supported_distributions():
    workflow = yaml.safe_load((ROOT / '.github/workflows/ci.yaml').read_text(encoding='utf-8'))
    matrix = workflow['jobs']['industrial_ci']['strategy']['matrix']
    readme = (ROOT / 'README.md').read_text(encoding='utf-8')
    supported = re.search(r'^\| ROS 2 \| ([\w, ]+) \|', readme, re.MULTILINE)[1]
    assert matrix['distribution'] == supported.lower().split(', ')
    assert {'humble', 'jazzy', 'kilted', 'rolling'} <= set(matrix['distribution'])
    assert any(machine.endswith('-arm') for machine in matrix['machine'])
    assert any(not machine.endswith('-arm') for machine in matrix['machine'])
