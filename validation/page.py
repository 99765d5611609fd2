# SPDX-License-Identifier: Apache-2.0
"""The page of the validation, docs/validation.md."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
import platform
from typing import Sequence

from flexdyn_ros import __version__
from validation.case import Case, EXPLAINED, KIND_WORDS, KINDS, MET, MISSED, NOT_RUN, Row
from validation.case_file import sources
from validation.run import Outcome
from validation.words import (
    difference_text,
    expected_text,
    note_text,
    ours_text,
    paragraph,
    verdict_text,
)

_PROGRAMS = ('numpy', 'scipy', 'pin', 'mujoco', 'exudyn')
_VERDICTS = (MET, EXPLAINED, MISSED, NOT_RUN)
_HEAD = """\
# Validation

<!-- Written by `make validate`. -->

The tables compare results of this package with its publications and with other codes.
`make validate` computes every row; `python -m validation NAME` runs the case of a row's last
column. Expected numbers are in `validation/cases/`, with the tolerance that their printed digits
allow.

- **met**: within the tolerance.
- **explained**: outside the tolerance as expected, and near a number of its own, to a thousandth
  or as near as the row states. The note gives the side in error and the cause.
- **missed**: any other deviation, and a row that meets its number where a deviation is expected.

A relative tolerance is of each entry. Where it is of the largest one, the note gives the reason.
A difference that is named "of the largest" is so because entries near zero take their rounding
from the largest one. A bound has no tolerance.

The kind of a row names the origin of its expected value. Rows of the last three kinds are counted
apart.

- **printed** in the source, and ours is equal; or a **closed form**;
- **printed, near**: ours is within the stated part of the printed number, of which an input or
  the program is not printed;
- **printed bound**: ours is not beyond the printed number, such as fewer operations;
- **printed polynomial**: ours is below a polynomial of the source, evaluated for the case;
- **model**: an independent model or a second formulation;
- **code**: another program in the same run;
- **statement** of the source, in words;
- **own**: our own value, kept as a regression test;
- **source**: sums and statements of a source's own tables.
"""


def page(outcomes: Sequence[Outcome], cases: Sequence[Case], pictures: str) -> str:
    """
    Return the page's text.

    Args:
        outcomes: Results of the cases.
        cases: All cases, in the order of the page.
        pictures: Folder of the pictures, as the page names it.
    """
    by_name = {outcome.name: outcome for outcome in outcomes}
    parts = [_HEAD, _summary(outcomes), _machine(), _rests_on(), _explained(cases, by_name)]
    for key, content in sources().items():
        own = [case for case in cases if case.source.key == key]
        if own:
            parts.append(_section(content, own, by_name, pictures))
    return '\n'.join(parts)


def _summary(outcomes: Sequence[Outcome]) -> str:
    rows = [row for outcome in outcomes for row in outcome.rows]
    lines = ['## Summary', '', f'| compared with | rows | {" | ".join(_VERDICTS)} |',
             '|---|---|---|---|---|---|']
    for kind, meaning in KINDS.items():
        own = [row.verdict for row in rows if row.kind == kind]
        counts = ' | '.join(str(own.count(verdict)) for verdict in _VERDICTS)
        lines.append(f'| {meaning} | {len(own)} | {counts} |')
    verdicts = [row.verdict for row in rows]
    counts = ' | '.join(f'**{verdicts.count(verdict)}**' for verdict in _VERDICTS)
    lines += [f'| **all** | **{len(rows)}** | {counts} |', '']
    failed = [outcome.name for outcome in outcomes if outcome.failed]
    lines.append(
        f'Cases that miss or fail: {", ".join(failed)}.' if failed else
        f'All {len(outcomes)} cases meet their source, or have an explained deviation.'
    )
    return '\n'.join([*lines, ''])


def _machine() -> str:
    versions = [f'flexdyn_ros {__version__}', f'Python {platform.python_version()}']
    for program in _PROGRAMS:
        try:
            versions.append(f'{program} {version(program)}')
        except PackageNotFoundError:
            continue
    return paragraph(
        f'Computed with {", ".join(versions)} on {_processor()}, {platform.system()}.'
    ) + '\n'


def _rests_on() -> str:
    """Return the table of the basis of each source's rows."""
    lines = ['## Basis of the rows', '', '| source | its rows rest on |', '|---|---|']
    for content in sources().values():
        lines.append(_cells(_heading(content), content['rests_on']))
    return '\n'.join([*lines, ''])


def _explained(cases: Sequence[Case], outcomes: dict[str, Outcome]) -> str:
    """Return the table of explained deviations."""
    lines = [
        _cells(
            f'{_heading(sources()[case.source.key])}, {row.place or case.source.place}',
            f'{case.title}: {row.quantity}', expected_text(row), ours_text(row),
            row.expected_miss, f'`{case.name}`',
        )
        for case in cases for row in outcomes[case.name].rows if row.verdict == EXPLAINED
    ]
    if not lines:
        return ''
    head = ['## Explained deviations', '',
            '| place | quantity | expected | ours | cause | name |',
            '|---|---|---|---|---|---|']
    return '\n'.join([*head, *lines, ''])


def _heading(content: dict) -> str:
    return content.get('heading', content['publication'])


def _processor() -> str:
    try:
        lines = Path('/proc/cpuinfo').read_text(encoding='utf-8').splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(':')[2].strip() for line in lines if line.startswith('model name')]
    return names[0] if names else platform.machine()


def _section(
    content: dict, cases: Sequence[Case], outcomes: dict[str, Outcome], pictures: str
) -> str:
    lines = [f'## {_heading(content)}', '']
    if 'heading' in content:
        lines += [paragraph(f'{content["publication"]}.'), '']
    if content.get('about'):
        lines += ['\n\n'.join(map(paragraph, content['about'].strip().split('\n\n'))), '']
    lines += ['| place | quantity | kind | expected | ours | difference | verdict | name |',
              '|---|---|---|---|---|---|---|---|']
    notes: list[str] = []
    shown = []
    for case in cases:
        outcome = outcomes[case.name]
        for row in outcome.rows:
            lines.append(_line(case, row, notes))
        if not outcome.rows:
            lines.append(
                f'| {case.source.place} | {case.title} | | | | | **failed** | `{case.name}` |'
            )
        shown += [
            f'![{case.title}]({pictures}/{picture.file})\n\n{paragraph(picture.caption)}\n'
            for picture in outcome.pictures
        ]
    lines.append('')
    if notes:
        lines += [paragraph(f'{number}. {note}', '   ') for number, note in enumerate(notes, 1)]
        lines.append('')
    return '\n'.join([*lines, *shown])


def _line(case: Case, row: Row, notes: list[str]) -> str:
    place = ', '.join(dict.fromkeys(t for t in (case.source.place, row.place) if t))
    verdict = verdict_text(row)
    if row.verdict == MISSED:
        verdict = f'**{verdict}**'
    note = note_text(row)
    if note:
        if note not in notes:
            notes.append(note)
        verdict += f' ({notes.index(note) + 1})'
    return _cells(
        row.place or place, row.quantity, KIND_WORDS[row.kind], expected_text(row),
        ours_text(row), difference_text(row), verdict, f'`{case.name}`',
    )


def _cells(*cells: str) -> str:
    return '| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |'
