# SPDX-License-Identifier: Apache-2.0
"""
Check the English of the repository: `scripts/env.sh python scripts/prose.py [FILE ...]`.

Documents, docstrings, and comments of all languages are prose. The subject is a component and the
verb the field's; a clause is no noun. A sentence has at most 25 words, counted as a reader does:
numbers, names in code, quotations, items of lists and cells of tables count. Lists of numbers and
formulas are no prose. Blocks of code are left out, and works cited in docstrings and comments.
"""

import ast
import inspect
import io
from pathlib import Path
import re
import sys
import tokenize
from typing import Iterator

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (
    'benchmarks', 'config', 'docs', 'examples', 'flexdyn_ros', 'interfaces', 'launch',
    'requirements', 'rviz', 'scripts', 'test', 'urdf', 'validation', '.ci', '.github',
)
HASH = (
    '.yaml', '.cfg', '.cff', '.toml', '.ini', '.sh', '.msg', '.action', '.txt', 'Makefile', 'run',
    '.importlinter', '.gitignore',
)
SLASH = '.c', '.h', '.hpp', '.cpp', '.html'
MARKUP = '.xml', '.urdf', '.xacro'
MOST_WORDS = 25
BANNED = re.compile(
    r'\b(tells?|told|says?|said|saying|knows?|counts? for nothing|goe?s by|whose turn|nothing is'
    r'|nobody|somebody|to be rid of|has it that|whom?|who(?:m?ever)|whatever|how(?![ -]to\b)'
    r'|(?:returns?|yields?|prints?|shows?|names|decides?|is|(?<!they )are|of|to|from|about|near)'
    r' where|(?:returns?|yields?|prints?|shows?|decides?|notes?|marks?|and) which|which ones|sees'
    r'|forgets?)\b'
    r'|(?<!-)\bwhat\b(?!:)|(?<!reason )\bwhy\b',
    re.IGNORECASE,
)
"""Words that make a speaker of a component, or a noun of a clause."""
_NOUN_CLAUSE = re.compile(
    r'\W*(?:(?:Where|When)\b(?![^\0:]*,(?! shape| \(|\)| \d))|Which\b'
    r'|(?:[Aa]t|[Aa]fter|[Aa]mong|[Bb]elow|[Bb]eyond|[Bb]y|[Ff]or|[Ff]rom|[Ii]n|[Oo]f|[Oo]n|[Tt]o'
    r'|[Uu]nder|[Ww]ithin) which\b)'
)
"""The start of a sentence without a second clause."""


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and words of each sentence of a text in Markdown, RST or of a docstring."""
    lines = ['' if _NO_PROSE.match(line) else line for line in text.split('\n')]
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
    text = re.sub(r'```.*?```|<!--.*?-->', _blank, text, flags=re.DOTALL)
    for line, sentence in sentences(re.sub(r'\]\([^)]*\)', ']', text)):
        words = re.findall(r'\S*\w\S*', sentence)
        prose = [word for word in words if _WORD.fullmatch(word)]
        if len(words) > MOST_WORDS and 2 * len(prose) > len(words):
            yield line, f'{len(words)} words: {" ".join(words[:6])} ...'
        if _NOUN_CLAUSE.match(sentence):
            yield line, f'"{" ".join(words[:6])} ..." as a noun'
    plain = re.sub(rf'``[^`]+``|`[^`]+`|{_CITATION}|\[[^]\[]*\](?=\s|$)|"[^"\n]*"', _blank, text)
    for found in BANNED.finditer(plain):
        yield plain.count('\n', 0, found.start()) + 1, f'"{found.group()}"'


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield first line and text of a document, or of each docstring and comment of a file."""
    source = path.read_text(encoding='utf-8')
    if path.suffix == '.py':
        yield from _docstrings(source)
        yield from _joined(
            (token.start[0], token.start[1], not token.line[:token.start[1]].strip(), token.string)
            for token in tokenize.generate_tokens(io.StringIO(source).readline)
            if token.type == tokenize.COMMENT
        )
    elif path.suffix in SLASH:
        yield from _joined(_matches(_SLASHES, source))
    elif path.suffix in MARKUP:
        yield from _joined(_matches(_MARKUP, source))
    elif (path.suffix or path.name) in HASH:
        yield from _joined(_matches(_HASHES, source))
    else:
        yield 1, source


_SLASHES = re.compile(r'"(?:\\.|[^"\\\n])*"|(//[^\n]*|/\*.*?\*/)', re.DOTALL)
_HASHES = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'|(?:(?<=\s)|^)(#[^\n]*)', re.MULTILINE)
_MARKUP = re.compile(r'(<!--.*?-->)', re.DOTALL)
_TAGS = re.compile(r'^(?:!.*|[\w-]+: \S+)$', re.MULTILINE)
_MARKS = re.compile(r'^\s*(?:/\*+|//+|#+|\*(?!/)|<!--) ?|\s*(?:\*+/|-->)$', re.MULTILINE)


def _docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield first line and text of each docstring of a module, those of its values included."""
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, 'body', None)
        for child in body if isinstance(body, list) else ():
            value = getattr(child, 'value', None) if isinstance(child, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                text = inspect.cleandoc(value.value).partition('Examples:\n')[0]
                # An indented line in a section is prose, elsewhere it is code.
                prose, *sections = _SECTION.split(text, maxsplit=1)
                text = prose + ''.join(map(_items, sections))
                yield child.lineno, re.sub(_CITATION, _blank, text)


def _items(section: str) -> str:
    """Return a section of a docstring as a list with an item an argument."""
    return re.sub(r'^ +((?:\*{0,2}[\w, ]+: )?)', lambda m: '- ' * bool(m[1]), section, flags=re.M)


def _matches(pattern: re.Pattern, source: str) -> Iterator[tuple[int, int, bool, str]]:
    """Yield line, column, whether nothing stands before it, and text of each comment."""
    for found in pattern.finditer(source):
        if found[1]:
            start = source.rfind('\n', 0, found.start(1)) + 1
            before = source[start:found.start(1)]
            yield source.count('\n', 0, start) + 1, len(before), not before.strip(), found[1]


def _joined(comments: Iterator[tuple[int, int, bool, str]]) -> Iterator[tuple[int, str]]:
    """Yield first line and text of comments, those in lines below each other as one."""
    text, first, last, place = '', 0, -1, -1
    for line, column, alone, comment in comments:
        body = _TAGS.sub('', _MARKS.sub('', comment))
        if alone and line == last + 1 and column == place:
            text += '\n' + body
        else:
            if text:
                yield first, re.sub(_CITATION, _blank, text)
            text, first = body, line
        last, place = line + comment.count('\n'), column
    if text:
        yield first, re.sub(_CITATION, _blank, text)


def files() -> Iterator[Path]:
    """Yield the files of the repository that are read by people."""
    for path in (*ROOT.glob('*'), *(p for each in FOLDERS for p in (ROOT / each).rglob('*'))):
        known = (path.suffix or path.name) in ('.md', '.rst', '.py', *HASH, *SLASH, *MARKUP)
        if known and path.is_file() and not path.is_relative_to(ROOT / 'docs/generated'):
            yield path


def main() -> int:
    """Print the faults of the files named, or of all; return 1 where there are any."""
    count = 0
    for path in sorted([Path(word).resolve() for word in sys.argv[1:]] or files()):
        for first, text in texts(path):
            for line, fault in faults(text):
                count += 1
                print(f'{path.relative_to(ROOT)}:{first + line - 1}: {fault}')
    return int(count > 0)


if __name__ == '__main__':
    sys.exit(main())
