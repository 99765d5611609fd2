# SPDX-License-Identifier: Apache-2.0
"""The measured tables as Markdown."""

from __future__ import annotations

from typing import Optional

from flexdyn_ros.symbolic.optimise import optimise
from flexdyn_ros.symbolic.program import operation_counts
from validation.counts import published
from validation.counts.clear import publication_counts
from validation.counts.explanations import explanation
from validation.counts.published_program import published_program
from validation.counts.tables import Count, CountRow, Table
from validation.words import paragraph

HEADER = (
    '| row | mul | add | total | sin, cos | published: mul + add = total | ratio | |\n'
    '|---|---:|---:|---:|---:|---|---:|---|\n'
)
INTRODUCTION = """\
<!-- Written by `make counts`; edit validation/counts instead. -->
# Operation counts

The tables compare operations of the C code that `flexdyn_ros.generate` writes with every published
count of the same computation. `make counts` measures them and writes this page.

- The emitted C is parsed, called functions included. Multiplications include divisions, additions
  include subtractions. Calls of sine and cosine are counted apart, as in the sources. Operations
  on constants alone and changes of sign are free. The same source passes the accuracy tests.
- The ratio is our total over the lowest published total of a generator. **above**: not below every
  published generator. **aim**: below them, and not below the aim set for the row. Both are
  explained under the table.
- `make bounds` proves least numbers for programs without cancellation, as `validation/bounds`
  defines them. It covers small rows that are polynomials without squares. Rows of
  external_force_vector that reach their bounds: Stanford6 (44), Puma3 (20) and Stanford3 (11).
  Rows of gravity_vector: Stanford3 (4) and Puma3 (3 besides the sum of two angles).
- In parentheses: published counts derived by hand, or of numeric programs.
- Robots: `validation/counts/robots.py`. Published figures with their corrections:
  `validation/counts/published.yaml`.
"""


def page(tables: list[Table], before: str = '') -> str:
    """Return docs/counts.md; tables not measured now are taken from the page as it was."""
    kept = {part.partition('\n')[0]: part for part in before.split('\n## ')[1:]}
    parts = [INTRODUCTION, starting_line()]
    for table in tables:
        if all(row.ours is not None for row in table.rows):
            parts.append(section(table))
        elif table.title in kept:
            parts.append(f'## {kept[table.title].rstrip()}\n')
    return '\n'.join(parts)


def starting_line() -> str:
    """Return the section on the published generator's own form."""
    ours = publication_counts()
    theirs = published.published()['clear']
    lines = [
        '## Starting line: the published form', '',
        paragraph(
            'Inverse dynamics of the Stanford arm in the form of NEDYN (El-Rayyes 1990), after '
            'each step of his post-processor CLEAR. Both are rebuilt, in '
            '`validation/counts/published_form.py` and `clear.py`.'
        ),
        '', '| step | rebuilt: mul + add = total | published |', '|---|---|---:|',
    ]
    for step, (mul, add) in ours.items():
        lines.append(f'| {step} | {mul} + {add} = {mul + add} | {theirs[step]} |')
    found = operation_counts(optimise(published_program())[0].outputs)
    mul, add = found['mul'], found['add']
    lines.append(f'| our passes on the same listing | {mul} + {add} = {mul + add} | |')
    lines += ['', 'The remaining difference from the first row below is due to the formulation.']
    return '\n'.join(lines) + '\n'


def section(table: Table) -> str:
    """Return one table with its notes."""
    rows = ''.join(line(row) + '\n' for row in table.rows)
    text = f'## {table.title}\n\n{paragraph(table.note)}\n\n{HEADER}{rows}'
    notes = [
        paragraph(f'- {row.label}: {explanation(row)}', '  ') for row in table.rows if mark(row)
    ]
    return text + ('\n' + '\n'.join(notes) + '\n' if notes else '')


def line(row: CountRow) -> str:
    """Return one row."""
    ours = row.ours
    trig = '' if ours.trig is None else str(ours.trig)
    published_counts = [f'{name} {_sum(c)}' for name, c in _by_total(row.rivals)]
    published_counts += [f'({name} {_sum(c)})' for name, c in _by_total(row.others)]
    ratio = '' if row.best is None else f'{ours.total / row.best:.2f}'
    cells = (
        row.label, str(ours.mul), str(ours.add), str(ours.total), trig,
        '; '.join(published_counts), ratio, mark(row),
    )
    return '| ' + ' | '.join(cells) + ' |'


def mark(row: CountRow) -> str:
    """Return the mark of a row that is not below its rivals or target, or an empty text."""
    if not row.beaten:
        return '**above**'
    return '' if row.on_target else f'**aim** {_number(row.target)}'


def _by_total(counts: dict[str, Count]) -> list[tuple[str, Count]]:
    return sorted(counts.items(), key=lambda item: item[1].total)


def _sum(found: Count) -> str:
    return f'{_number(found.mul)} + {_number(found.add)} = {_number(found.total)}'


def _number(value: Optional[float]) -> str:
    return f'{value:.0f}'
