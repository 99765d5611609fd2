# SPDX-License-Identifier: Apache-2.0
"""Documents and messages: width of lines, a current picture, and plain technical English."""

import ast
import importlib.util
import re

from clean_environment import ROOT
from flexdyn_ros.cli.main import build_parser
import pytest

WIDTH = 99
ARCHITECTURE = ROOT / 'docs' / 'architecture.md'
DOCUMENTS = [p for p in sorted((ROOT / 'docs').rglob('*.md')) if p.parent.name != 'generated']


def script(name):
    """Return a script as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / 'scripts' / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


prose = script('prose')
MOST_WORDS = 20  # of a sentence of a message
LABELS = {'label', 'title', 'xlabel', 'ylabel'}


def lines_of_prose(path):
    """Yield number and text of the lines outside of code, tables and pictures."""
    in_code = False
    for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1):
        fence = line.lstrip().startswith('```')
        in_code ^= fence
        if not (fence or in_code or line.startswith(('|', '    ', '!['))):
            yield number, line


def private_words(text):
    """Return the private words of a text, apart from code in backquotes."""
    return [found.group() for found in prose.BANNED.finditer(re.sub(r'`[^`]*`', '', text))]


def strings(node):
    """Yield the text of every string below a node of the syntax tree."""
    for child in ast.walk(node):
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value


def template(node):
    """Return the text of an expression, X for each value; of alternatives the longest."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ''
    if isinstance(node, ast.JoinedStr):
        return ''.join(template(v) if isinstance(v, ast.Constant) else 'X' for v in node.values)
    if isinstance(node, ast.BinOp):
        return template(node.left) + template(node.right)
    if isinstance(node, ast.IfExp):
        return max(template(node.body), template(node.orelse), key=len)
    return ''


def texts(tree):
    """Yield line and text of every string of a module, docstrings apart."""
    seen = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    before = {id(a): 'Argument "x" ' for call in ast.walk(tree) if isinstance(call, ast.Call)
              and getattr(call.func, 'id', '') == 'ArgumentError' for a in call.args}
    for node in ast.walk(tree):
        if isinstance(node, (ast.BinOp, ast.JoinedStr, ast.IfExp, ast.Constant)):
            text = '' if id(node) in seen else before.get(id(node), '') + template(node)
            seen.update(map(id, ast.walk(node)))
            yield node.lineno, text


def long_sentences(tree):
    """Yield line and number of words of long sentences in the texts of a module."""
    for line, text in texts(tree):
        for sentence in re.split(r'(?<=[.!?])\s|\n', text):
            count = len(re.findall(r'\S*\w\S*', sentence))
            if count > MOST_WORDS:
                yield line, count


def parsers(parser):
    """Yield a parser and those of its subcommands."""
    yield parser
    for action in parser._subparsers._group_actions if parser._subparsers else ():
        for each in action.choices.values():
            yield from parsers(each)


def test_the_architecture_is_short():
    lines = ARCHITECTURE.read_text(encoding='utf-8').splitlines()
    assert len(lines) <= 250
    assert max(map(len, lines)) <= WIDTH


def test_the_picture_of_the_architecture_is_current():
    picture = script('architecture_picture')
    drawn = picture.PICTURE.read_text(encoding='utf-8')
    assert drawn == picture.picture(), 'run scripts/env.sh python scripts/architecture_picture.py'
    assert drawn.count('<rect') > 15


@pytest.mark.parametrize('path', DOCUMENTS, ids=lambda path: f'{path.parent.name}/{path.name}')
def test_lines_of_documents_are_at_most_99_columns(path):
    found = [(number, line) for number, line in lines_of_prose(path) if len(line) > WIDTH]
    assert not found


def test_lines_of_other_files_that_are_read_are_at_most_99_columns():
    """Parameters, schemas, C and C++, descriptions of robots, and the rest."""
    kinds = '.yaml', '.c', '.h', '.hpp', '.cpp', '.xacro', '.xml'
    files = [path for folder in ('flexdyn_ros', 'config', 'urdf', 'examples', 'launch')
             for path in (ROOT / folder).rglob('*') if path.suffix in kinds]
    files += [ROOT / 'CHANGELOG.rst', ROOT / 'Makefile']
    found = [f'{path.relative_to(ROOT)}:{number}' for path in files
             for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1)
             if len(line) > WIDTH]
    assert len(files) > 30 and not found


def test_the_english_of_documents_docstrings_and_comments(monkeypatch, capsys):
    monkeypatch.setattr('sys.argv', ['prose.py'])
    assert prose.main() == 0, capsys.readouterr().out


def test_faults_of_english_are_found():
    long = 'The node ' + 'computes the torque of the arm and ' * 4 + 'ends.'
    assert [fault for _, fault in prose.faults(f'Short.\n\n{long}\n')] == [
        '31 words: The node computes the torque of ...']
    assert [line for line, _ in prose.faults('One.\n\nThe node tells it.')] == [3]
    assert [line for line, _ in prose.faults(f'\n| Short. | {long} |\n| Short. | cells |')] == [2]
    assert list(prose.faults(f'The node runs `{long[4:-1]}` and a link.'))
    assert list(prose.faults('``f`` tells ``g``.')) and not list(prose.faults('Run ``tells x``.'))
    assert not list(prose.faults(f'    {long}\n\n{"12 + 3 = 15; " * 9}'))
    assert not list(prose.faults(f'The node runs.\n\n```bash\n{long}\n```'))


@pytest.mark.parametrize('name, source', [
    ('a.py', '{}\n'), ('a.py', 'x = 1  {}\n'), ('a.py', 'def f():\n    x = 1\n    {}\n'),
    ('a.yaml', 'key: "#"\n{}\n'), ('Makefile', '{}\nall: ## help\n'), ('a.sh', '#!/bin/sh\n{}\n'),
    ('a.cfg', '[part]\n{}\n'), ('a.toml', 'x = 1 {}\n'),
])
def test_comments_are_checked(name, source, tmp_path):
    check_comments(tmp_path / name, source, '# {}')


@pytest.mark.parametrize('source', ['{}\n', 'int i; {}\n', 'char *s = "/*";\n  {}\n'])
@pytest.mark.parametrize('form', ['/* {} */', '// {}', '/*\n * {}\n */'])
@pytest.mark.parametrize('suffix', ['.c', '.h', '.cpp', '.hpp'])
def test_comments_of_c_are_checked(suffix, form, source, tmp_path):
    check_comments(tmp_path / f'a{suffix}', source, form)


def check_comments(path, source, form):
    """Check that faults of a comment are found in a file, and none in plain comments."""
    for words, expected in {
        'What a cell holds.': ['"What"'], 'Whoever calls it.': ['"Whoever"'],
        'Where the load acts [m].': ['"Where the load acts [m] ..." as a noun'],
        'Which modes bend.': ['"Which modes bend ..." as a noun'],
        'Time in which it ends.': [], 'in which it ends': ['"in which it ends ..." as a noun'],
        'When it starts [s].': ['"When it starts [s] ..." as a noun'],
        'When it starts, x is 0.': [],
        'Where it stands, (n,) [m].': ['"Where it stands, (n,) [m] ..." as a noun'],
        'Where it moves: walls, a box.': ['"Where it moves: walls, a box ..." as a noun'],
        'Return where it lies.': ['"Return where"'], 'Return which bend.': ['"Return which"'],
        'The frame sees it.': ['"sees"'], 'Modes, and which bend.': ['"and which"'],
        'The states, which it returns.': [],
        'The shape, and how it bends.': ['"how"'],
        'The node tells it.': ['"tells"'], 'a ' * 26: [f'26 words: {"a " * 6}...'],
        'Where there is no loop, the step is 0.': [], 'None where there is no loop.': [],
        'The row where it starts.': [], 'noqa: E501': [], 'SPDX-License-Identifier: MIT': [],
        'x = a[0] + b * 3 - c.d(e)': [], '=' * 30: [], '[[0, 1, 2], [3, 4, 5]], ' * 9: [],
        'Source: (What is known, 1990).': [], 'See `what` and "how".': [],
    }.items():
        path.write_text(source.format(form.format(words)))
        assert found_in(path) == expected


def found_in(path):
    """Return the faults of a file."""
    return [fault for _, text in prose.texts(path) for _, fault in prose.faults(text)]


def test_comments_below_each_other_are_one_text(tmp_path):
    path = tmp_path / 'a.py'
    path.write_text(f'# {"a " * 20}\n# {"an " * 20}\n')
    assert found_in(path) == [f'40 words: {"a " * 6}...']
    path.write_text(f'x = 1  # {"a " * 20}\ny = 2  # {"a " * 20}\n\n# One.\n\n# Two.\n')
    assert [line for line, _ in prose.texts(path)] == [1, 2, 4, 6]


def test_docstrings_of_values_and_arguments_are_checked(tmp_path):
    path = tmp_path / 'a.py'
    path.write_text(
        'X = 1\n"""What it holds."""\n\n\ndef f(x):\n    """\n    Return x.\n\n    Args:\n'
        '        x: Where it acts.\n        y: Frame, where it has one.\n    """\n')
    assert found_in(path) == ['"What"', '"Where it acts ..." as a noun']


def test_help_of_the_commands_has_no_private_words():
    every = list(parsers(build_parser()))
    assert len(every) > 8
    found = {each.prog: private_words(each.format_help()) for each in every}
    assert not {prog: words for prog, words in found.items() if words}


def test_messages_and_reports_have_no_private_words():
    found, count = [], 0
    for path in sorted((ROOT / 'flexdyn_ros').rglob('*.py')):
        for line, text in texts(ast.parse(path.read_text(encoding='utf-8'))):
            count += ' ' in text
            words = private_words(text)
            if words:
                found.append(f'{path.relative_to(ROOT)}:{line}: {words}')
    assert count > 1000
    assert not found


def test_titles_and_labels_of_pictures_have_no_private_words():
    found, count = {}, 0
    for path in sorted(path for name in prose.FOLDERS for path in (ROOT / name).rglob('*.py')):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.keyword) and node.arg in LABELS:
                words = [word for text in strings(node.value) for word in private_words(text)]
                count += 1
                if words:
                    found[f'{path.relative_to(ROOT)}:{node.value.lineno}'] = words
    assert count > 100
    assert not found


def test_sentences_of_messages_and_help_have_at_most_twenty_words():
    found = {}
    for path in sorted((ROOT / 'flexdyn_ros').rglob('*.py')):
        long = list(long_sentences(ast.parse(path.read_text(encoding='utf-8'))))
        found.update({str(path.relative_to(ROOT)): long} if long else {})
    assert not found


def test_long_sentences_of_messages_are_found():
    words = 'a ' * 18
    assert not list(long_sentences(ast.parse(f'raise OSError("{words}b. {words}c")')))
    tree = ast.parse(f'x = 1\nraise ArgumentError("q", f"{words}{{q}} b" + ". Write it")')
    assert list(long_sentences(tree)) == [(2, 22)]


def test_private_words_are_found():
    assert private_words('The node says so. Nothing is\npublished.'.replace('\n', ' ')) == [
        'says', 'Nothing is',
    ]
    assert not private_words('The node raises `SaysError`.')
    tree = 'raise ValueError(f"the file tells {name}")'
    assert 'tells' in ' '.join(strings(ast.parse(tree)))
