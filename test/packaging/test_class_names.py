# SPDX-License-Identifier: Apache-2.0
"""One name, one class: a search for a class finds it."""

import ast

from source_files import syntax_nodes


def test_no_two_classes_share_a_name():
    """In the installed package, the validation cases and the benchmarks together."""
    places = {}
    for path, node in syntax_nodes('flexdyn_ros', 'validation', 'benchmarks'):
        if isinstance(node, ast.ClassDef):
            places.setdefault(node.name, []).append(f'{path}:{node.lineno}')
    assert len(places) > 200
    assert not {name: found for name, found in places.items() if len(found) > 1}
