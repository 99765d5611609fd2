# SPDX-License-Identifier: Apache-2.0
"""Imports point one way: between the library's folders, and between folders inside them."""

import ast
from pathlib import Path
import re

from clean_environment import ROOT
import pytest

PACKAGE = ROOT / 'flexdyn_ros'
ORDER = {
    '': ('model', 'dynamics', 'symbolic', 'codegen'),
    'model': ('records', 'urdf', 'modal', 'beam', 'extension', 'sdof'),
    'codegen': ('tracing', 'export', 'compile', 'backends'),
}


def imported(node):
    """Yield the module of every import below a node that runs; type checkers read more."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == 'TYPE_CHECKING':
            continue
        if isinstance(child, ast.ImportFrom):
            yield child.module
        elif isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        yield from imported(child)


@pytest.mark.parametrize('folder', ORDER)
def test_folders_import_only_those_before_them(folder):
    """Every import of a later folder of the same parent is named."""
    order = ORDER[folder]
    prefix = '.'.join(('flexdyn_ros', folder)) if folder else 'flexdyn_ros'
    wrong, found = [], 0
    for position, name in enumerate(order):
        for path in sorted((PACKAGE / folder / name).rglob('*.py')):
            for module in imported(ast.parse(path.read_text(encoding='utf-8'))):
                later = [f'{prefix}.{other}' for other in order[position + 1:]]
                found += module.startswith(prefix)
                if any(f'{module}.'.startswith(f'{other}.') for other in later):
                    wrong.append(f'{path.relative_to(ROOT)}: {module}')
    assert found and not wrong


def test_modules_of_the_model_import_without_circles():
    """Imports inside functions and for type checkers count too."""
    imports = {}
    for path in (PACKAGE / 'model').rglob('*.py'):
        name = '.'.join(path.relative_to(ROOT).with_suffix('').parts)
        nodes = list(ast.walk(ast.parse(path.read_text(encoding='utf-8'))))
        imports[name] = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    done = set()
    while True:
        ready = {name for name in imports if not (imports[name] & set(imports)) - done} - done
        if not ready:
            break
        done |= ready
    assert len(done) > 30
    assert done == set(imports)


def test_the_page_lists_the_folders_of_the_model_in_their_order():
    """All folders of model/ are in the table of docs/architecture.md, none is invented."""
    page = (ROOT / 'docs' / 'architecture.md').read_text(encoding='utf-8')
    assert tuple(re.findall(r'^\| `model/(\w+)/`', page, re.MULTILINE)) == ORDER['model']
    folders = {Path(path).parent.name for path in (PACKAGE / 'model').glob('*/__init__.py')}
    assert folders == set(ORDER['model'])
