# SPDX-License-Identifier: Apache-2.0
"""
Check the English of documents and docstrings: `scripts/env.sh python scripts/prose.py [FILE ...]`.

The subject is a component and the verb the field's. A sentence has at most 25 words, counted as
a reader does: numbers, names in code, quotations, items of lists and cells of tables count. Lists
of numbers and formulas are no prose. Blocks of code are left out, and works cited in docstrings.
"""

import ast
from pathlib import Path
import re
import sys
from typing import Iterator

ROOT = Path(__file__).resolve().parents[1]
MOST_WORDS = 25
BANNED = re.compile(
    r'\b(tells?|told|says?|said|saying|knows?|counts? for nothing|goe?s by|whose turn|nothing is'
    r'|nobody|somebody|to be rid of|has it that|who(?:ever)? has)\b|(?<!-)\bwhat\b(?!:)',
    re.IGNORECASE,
)
"""Words that make a speaker of a component, or a noun of a clause."""


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and words of each sentence of a text in Markdown, RST or of a docstring."""
    prose = re.sub(r'```.*?```|<!--.*?-->', _blank, text, flags=re.DOTALL)
    lines = ['' if _NO_PROSE.match(line) else line for line in prose.split('\n')]
    # Items of lists and cells of tables end a sentence, as an empty line does.
    parts = [line.replace('|', '\0') if line.startswith('|') else line for line in lines]
    body = '\n'.join(re.sub(r'^\s*([-*]|\d+\.)\s+', '\0', part) or '\0' for part in parts)
    for found in re.finditer(r'[^\0.!?]+(?:[.!?](?!\s)[^\0.!?]+)*', body):
        yield body.count('\n', 0, found.start()) + 1, found.group()


_NO_PROSE = re.compile(r'\s*([#>]|!\[|\.\. |[-=~^]{3,})|    ')
_WORD = re.compile(r"\W*(?:[Aa]|[A-Za-z][a-z'-]+)\W*")
_CITATION = r'\([^()]*\b(?:18|19|20)\d\d\b[^()]*\)'
_SECTION = re.compile(r'^(?=(?:Args|Attributes|Raises|Returns|Yields):$)', re.MULTILINE)


def _blank(found: re.Match) -> str:
    return 'X' + '\n' * found.group().count('\n')


def faults(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and fault of each sentence that breaks a rule."""
    for line, sentence in sentences(re.sub(r'\]\([^)]*\)', ']', text)):
        words = re.findall(r'\S*\w\S*', sentence)
        prose = [word for word in words if _WORD.fullmatch(word)]
        if len(words) > MOST_WORDS and 2 * len(prose) > len(words):
            yield line, f'{len(words)} words: {" ".join(words[:6])} ...'
    plain = re.sub(rf'`[^`]+`|{_CITATION}|\[[^]\[]*\](?=\s|$)|"[^"\n]*"', _blank, text)
    for found in BANNED.finditer(plain):
        yield plain.count('\n', 0, found.start()) + 1, f'"{found.group()}"'


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield first line and text of a document, or of each docstring of a module."""
    source = path.read_text(encoding='utf-8')
    if path.suffix != '.py':
        yield 1, source
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            text = (ast.get_docstring(node) or '').partition('Examples:\n')[0]
            # What is indented in a section is prose, elsewhere it is code.
            prose, *sections = _SECTION.split(text, maxsplit=1)
            if prose:
                text = prose + ''.join(map(_items, sections))
                yield node.body[0].lineno, re.sub(_CITATION, _blank, text)


def _items(section: str) -> str:
    """Return a section of a docstring as a list with an item an argument."""
    return re.sub(r'^ +((?:\*{0,2}[\w, ]+: )?)', lambda m: '- ' * bool(m[1]), section, flags=re.M)


def main() -> int:
    """Print the faults of the files named, or of all; return 1 where there are any."""
    paths = [Path(word).resolve() for word in sys.argv[1:]] or [
        *ROOT.glob('*.md'), ROOT / 'CHANGELOG.rst', *(ROOT / 'docs').rglob('*.md'),
        *(ROOT / 'flexdyn_ros').rglob('*.py'), *(ROOT / 'examples').glob('*.py'),
    ]
    count = 0
    for path in sorted(paths):
        name = str(path.relative_to(ROOT))
        if not name.startswith('docs/generated/'):
            for first, text in texts(path):
                for line, fault in faults(text):
                    count += 1
                    print(f'{name}:{first + line - 1}: {fault}')
    return int(count > 0)


if __name__ == '__main__':
    sys.exit(main())
