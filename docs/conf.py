# SPDX-License-Identifier: Apache-2.0
"""Settings of the documentation site. `make docs` and rosdoc2 build it by Sphinx."""

from pathlib import Path
import re
import sys

# rosdoc2 executes this text from a file of its own, which names the place of this one.
WRAPPER = re.search(r'exec\(open\("(.+?)"\)', Path(__file__).read_text(encoding='utf-8'))
ROOT = Path(WRAPPER.group(1) if WRAPPER else __file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docutils import nodes  # noqa: E402
import flexdyn_ros  # noqa: E402
from flexdyn_ros.cli.main import build_parser  # noqa: E402

try:
    from latex2mathml.converter import convert
except ImportError:  # rosdoc2 installs needs of package.xml; MathJax then needs a network
    convert = None

project = 'flexdyn_ros'
author = 'flexdyn_ros maintainers'
project_copyright = author
release = version = flexdyn_ros.__version__

extensions = [
    'myst_parser', 'sphinx.ext.autodoc', 'sphinx.ext.mathjax', 'sphinx.ext.napoleon',
]
exclude_patterns = ['_build']
html_theme = 'sphinx_rtd_theme'
html_static_path, html_css_files = ['_static'], ['site.css']
MATH_FONTS = 'Latin Modern Math, STIX Two Math, Cambria Math, DejaVu Math TeX Gyre, math'
html_math_renderer = 'mathml' if convert else 'mathjax'
myst_enable_extensions = ['dollarmath']
myst_heading_anchors = 4
# Docstrings put code in single backquotes, and types stand in the signatures.
default_role = 'code'
autodoc_member_order = 'bysource'
autodoc_typehints = 'signature'
highlight_language = 'none'  # of blocks that name no language
napoleon_numpy_docstring = False
napoleon_use_ivar = True
# Blocks of generated code that no lexer of Pygments reads.
suppress_warnings = ['misc.highlighting_failure']


def contract() -> str:
    """Return the page of the public contract, from the groups of the package's docstring."""
    lines = ['# Python API', '', 'The public names in the groups of `help(flexdyn_ros)`.']
    for title, names in groups():
        lines += ['', f'## {title}', '', '```{eval-rst}']
        for name in names:
            owner, _, member = name.rpartition('.')
            value = getattr(getattr(flexdyn_ros, owner) if owner else flexdyn_ros, member)
            kind = 'method' if owner else 'class' if isinstance(value, type) else 'function'
            kind = 'property' if isinstance(value, property) else kind
            lines += [f'.. auto{kind}:: flexdyn_ros.{name}']
            # The methods of Dynamics have groups of their own.
            lines += ['   :members:'] if kind == 'class' and name != 'Dynamics' else []
            lines += ['']
        lines.append('```')
    return '\n'.join(lines) + '\n'


def groups() -> list[tuple[str, list[str]]]:
    """Return title and names of each group of the public contract."""
    found = re.findall(r'^(\w[\w ]*):\n((?:    .*\n)+)', flexdyn_ros.__doc__ or '', re.MULTILINE)
    return [(title, re.findall(r'[\w.]+', names)) for title, names in found]


def commands() -> str:
    """Return the page of the command line, from its parser."""
    parser = build_parser()
    parsers = [parser, *parser._subparsers._group_actions[0].choices.values()]
    sections = [
        f'## `{each.prog}`\n\n```text\n{each.format_help().strip()}\n```\n' for each in parsers
    ]
    return '\n'.join(['# Command line\n', *sections])


def from_outside(name: str) -> str:
    """Return a page that lies outside of docs/, with links that hold in the site."""
    text = (ROOT / name).read_text(encoding='utf-8')
    text = re.sub(r'\]\(docs/', '](/', text)
    return re.sub(r'\[([^]]*)\]\((?!/|http|#)[^)]*\)', r'`\1`', text)


PAGES = {
    'api.md': contract,
    'command_line.md': commands,
    'robots.md': lambda: from_outside('urdf/README.md'),
    'changes.rst': lambda: (ROOT / 'CHANGELOG.rst').read_text(encoding='utf-8'),
    'contributing.md': lambda: from_outside('CONTRIBUTING.md'),
}
"""Pages in generated/, written before Sphinx looks for pages, and not kept in the repository."""
MOVED = {
    '](../CONTRIBUTING.md': '](/generated/contributing.md',
    '](../urdf/README.md': '](/generated/robots.md',
    '](../README.md': '](/index.rst',
}
"""Links that lead outside of docs/ in the repository, and their pages in the site."""


def write_pages(app: object, config: object) -> None:
    """Write the generated pages."""
    folder = Path(app.srcdir) / 'generated'
    folder.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding='utf-8')


def move_links(app: object, name: str, source: list[str]) -> None:
    """Lead links that leave docs/ to the pages of the site."""
    for link, place in MOVED.items():
        source[0] = source[0].replace(link, place)


def write_formula(page: object, node: nodes.Element) -> None:
    """Write a formula as MathML, which browsers typeset without a network or scripts."""
    block = isinstance(node, nodes.math_block)
    text = convert(node.astext(), display='block' if block else 'inline')
    style = f'font-family: {MATH_FONTS}' + '; margin: 1em 0' * block
    page.body.append(text.replace('<math ', f'<math style="{style}" ', 1))
    raise nodes.SkipNode


def setup(app: object) -> None:
    """Typeset formulas, write pages at the start, and change links as pages are read."""
    if convert:
        app.add_html_math_renderer(
            'mathml', inline_renderers=(write_formula, None),
            block_renderers=(write_formula, None))
    app.connect('config-inited', write_pages)
    app.connect('source-read', move_links)
