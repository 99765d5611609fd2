# SPDX-License-Identifier: Apache-2.0
"""
Print the lines of code that setup.py installs, by folder.

A line of code holds at least one token that is no comment and no docstring; blank lines hold
none. C files and headers are counted without blank lines and comments.
"""

import ast
import io
from pathlib import Path
import re
import sys
import tokenize

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / 'flexdyn_ros'
SHARED = ('launch',)
NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER, tokenize.ENCODING,
}
C_COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.DOTALL)


def python_lines(text: str) -> int:
    """Return the number of lines of code of a Python file."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        # Texts that stand alone: docstrings of modules, classes, functions and attributes.
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, 'value', None), str):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def c_lines(text: str) -> int:
    """Return the number of lines of code of a C file."""
    return sum(bool(line.strip()) for line in C_COMMENT.sub('', text).splitlines())


def counts() -> dict[str, int]:
    """Return the lines of code by folder below the package, and of shared Python files."""
    found: dict[str, int] = {}
    for base in (PACKAGE, *(ROOT / folder for folder in SHARED)):
        for path in sorted(base.rglob('*')):
            count = {'.py': python_lines, '.c': c_lines, '.h': c_lines}.get(path.suffix)
            if count is not None:
                folder = str(path.parent.relative_to(ROOT))
                found[folder] = found.get(folder, 0) + count(path.read_text(encoding='utf-8'))
    return found


def main() -> int:
    """Print the table; with a folder, only the files below it."""
    below = sys.argv[1] if len(sys.argv) > 1 else ''
    chosen = {name: lines for name, lines in counts().items() if name.startswith(below)}
    for name, lines in sorted(chosen.items()):
        print(f'{lines:7d}  {name}')
    print(f'{sum(chosen.values()):7d}  in all')
    return 0


if __name__ == '__main__':
    sys.exit(main())
