# SPDX-License-Identifier: Apache-2.0
"""Contents of the Python files of this repository."""

import ast
import sys

from clean_environment import ROOT


def syntax_nodes(*folders):
    """Yield (path below the repository, node) for every node of the syntax trees of folders."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob('*.py')):
            for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
                yield path.relative_to(ROOT), node


def imported_modules(*folders):
    """Return the top-level modules that the Python files of some folders import."""
    modules = set()
    for _, node in syntax_nodes(*folders):
        if isinstance(node, ast.Import):
            modules |= {alias.name.split('.')[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules.add(node.module.split('.')[0])
    return modules - set(sys.stdlib_module_names) - {'flexdyn_ros'}
