# SPDX-License-Identifier: Apache-2.0
"""Links, headings, commands, launch files and tables of the documents."""

import re
import shlex

from clean_environment import ROOT
from flexdyn_ros.cli.main import build_parser
from flexdyn_ros.errors import FlexdynError
import pytest

PAGES = sorted(
    path for path in (*ROOT.glob('*.md'), *(ROOT / 'docs').rglob('*.md'), ROOT / 'urdf/README.md')
    if path.parent.name != 'generated')
LINK = re.compile(r'\]\(([^)\s]+)\)')
FENCE = re.compile(r'^```.*?^```\n', re.DOTALL | re.MULTILINE)
GENERATED = '/generated/'  # written by docs/conf.py; `make docs` checks links to them


def prose(path):
    """Return the text of a page without its blocks of code."""
    return FENCE.sub('', path.read_text(encoding='utf-8'))


def anchors(path):
    """Return the anchors of a page's headings, as GitHub and myst write them."""
    found = set()
    for title in re.findall(r'^#+ (.*)$', prose(path), re.MULTILINE):
        title = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', title).lower()
        slug = re.sub(r'[^\w\- ]', '', title).strip().replace(' ', '-')
        found.add(slug if slug not in found else f'{slug}-1')
    return found


@pytest.mark.parametrize('page', PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page):
    for link in LINK.findall(prose(page)):
        address, _, anchor = link.partition('#')
        if '://' in address or address.startswith(GENERATED):
            continue
        target = (page.parent / address).resolve() if address else page
        assert target.exists(), link
        if anchor and target.suffix == '.md':
            assert anchor in anchors(target), link


@pytest.mark.parametrize('page', PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_text_of_tables_and_elements_is_lost(page):
    """A bar in a cell, as in [rad | m], starts a new one unless it is escaped."""
    text = re.sub(r'<!--.*?-->', '', prose(page), flags=re.DOTALL)
    plain = re.sub(r'`[^`]*`|^    .*', '', text, flags=re.MULTILINE)
    assert not re.search(r'(?<!\\)<[a-z/].*', plain), 'browsers drop unknown elements'
    for table in re.findall(r'(?:^\|.*\n)+', text, re.MULTILINE):
        rows = [len(re.findall(r'(?<!\\)\|', row)) for row in table.splitlines()]
        assert set(rows) == {rows[0]}, table.splitlines()[[n != rows[0] for n in rows].index(True)]


def commands(program):
    """Yield page and words of the calls of a program in blocks of code."""
    for page in PAGES:
        text = re.sub(r'\\\n\s*', '', page.read_text(encoding='utf-8'))
        for line in re.findall(rf'^(?:    )?({program} .*)$', text, re.MULTILINE):
            yield page.name, shlex.split(line, comments=True)[len(program.split()):]


def test_commands_of_documents_are_calls_of_the_parser():
    """Those that the tests of the blocks do not run: they name files of the reader."""
    parser, found = build_parser(), 0
    for page, words in commands('flexdyn'):
        try:
            call = parser.parse_args(words)
        except (FlexdynError, SystemExit) as error:
            pytest.fail(f'{page}: flexdyn {" ".join(words)}: {error}')
        found += call.run is not None
    assert found > 40


def test_launch_files_of_documents_exist_with_their_arguments():
    shared = (ROOT / 'flexdyn_ros' / 'nodes' / 'node_launch.py').read_text(encoding='utf-8')
    found = 0
    for page, (package, *words) in commands('ros2 launch'):
        if package != 'flexdyn_ros':
            continue
        files = [ROOT / folder / words[0] for folder in ('launch', 'examples')]
        text = shared + ''.join(file.read_text('utf-8') for file in files if file.exists())
        for name in [word.partition(':=')[0] for word in words[1:]]:
            assert f"'{name}'" in text, (page, words)
        assert any(file.exists() for file in files), (page, words)
        found += 1
    assert found > 8
