# SPDX-License-Identifier: Apache-2.0
"""`python -m validation`: published cases run by name, with verdicts."""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
import time
from typing import Any, Optional, Sequence

from flexdyn_ros.cli.main import CommandParser, run_command
from flexdyn_ros.cli.options import add_json, print_json
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.terminal import heading, paint, table
from validation.case import Case, KINDS, Row
from validation.page import page
from validation.registry import cases, chosen
from validation.run import Outcome, run_cases
from validation.words import difference_text, expected_text, note_text, ours_text, verdict_text

_DESCRIPTION = """\
Run cases of the publications that this package rests on, and comparisons with other codes. The
output gives expected and computed value of each quantity, and whether they agree within the
tolerance of the printed digits. Every line of docs/validation.md can be run by its name.
"""
_EXAMPLES = """\
examples:
  python -m validation --list
  python -m validation er_case1 --out pictures
  python -m validation --quick --json

exit codes: 0 all as expected, 1 a row misses or a case breaks, 2 the call is wrong
"""
_COLOURS = {'met': 'green', 'explained': 'yellow', 'missed': 'red', 'not run': 'yellow'}
_QUIET_TIME = 3.0  # [s] before progress is shown
_REPORT_INTERVAL = 20.0  # [s] between lines of progress where a line cannot be redrawn


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Run the command with the words after its name; return its exit code."""
    return run_command(build_parser(), arguments)


def build_parser() -> CommandParser:
    """Return the parser of the command."""
    parser = CommandParser(
        prog='python -m validation', description=_DESCRIPTION, epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('names', metavar='NAME', nargs='*', help='cases; --list shows them')
    parser.add_argument('--list', action='store_true', dest='listed', help='show all cases')
    parser.add_argument('--quick', action='store_true', help='all cases under three seconds')
    parser.add_argument('--all', action='store_true', dest='everything', help='all cases')
    parser.add_argument('--out', metavar='DIR', help='folder for pictures (default: none drawn)')
    parser.add_argument(
        '--page', metavar='FILE',
        help='with --all: write the page there, pictures into a folder of its name beside it',
    )
    parser.add_argument(
        '--jobs', metavar='N', default='1', help='cases side by side (default: 1)'
    )
    add_json(parser)
    parser.add_argument(
        '--debug', action='store_true', help='show where in the program an error arose'
    )
    parser.set_defaults(run=run)
    return parser


def run(call: argparse.Namespace) -> int:
    """List or run cases; the exit code is 0 if all meet their source."""
    if not call.listed:
        _check(call)
    known = list(cases().values())
    if call.listed:
        return _list(known, call.json)
    if call.names:
        known = chosen(call.names)
    elif call.quick:
        known = [case for case in known if case.cost == 'quick']
    return _run(call, known)


def _check(call: argparse.Namespace) -> None:
    """Refuse options that contradict each other, before any case is read."""
    if call.page and not call.everything:
        raise ArgumentError('--page', 'needs --all: a page holds all cases')
    if bool(call.names) + call.quick + call.everything != 1:
        raise ArgumentError('NAME', 'is missing: give names of cases (--list), --quick or --all')
    if not call.jobs.isdecimal() or int(call.jobs) < 1:
        raise ArgumentError('--jobs', f'is "{call.jobs}", not a number of processes')


def _run(call: argparse.Namespace, selected: Sequence[Case]) -> int:
    file = Path(call.page) if call.page else None
    folder = file.with_suffix('') if file else Path(call.out) if call.out else None
    progress = _Progress(len(selected))
    outcomes = []
    for outcome in run_cases(selected, folder, int(call.jobs), progress.show):
        outcomes.append(outcome)
        progress.clear()
        if not call.json:
            print(_text(outcome, short=bool(file)), flush=True)
        progress.done = len(outcomes)
    progress.clear()
    failed = [outcome.name for outcome in outcomes if outcome.failed]
    if call.json:
        print_json([_record(outcome) for outcome in outcomes])
    elif len(outcomes) > 1:
        print(_last_line(outcomes, failed))
    if file is not None:
        file.write_text(page(outcomes, selected, file.stem), encoding='utf-8')
        print(f'written: {file}', file=sys.stderr)
    return 1 if failed else 0


def _list(known: Sequence[Case], as_json: bool) -> int:
    if as_json:
        print_json([
            {'name': case.name, 'title': case.title, 'cost': case.cost,
             'publication': case.source.publication, 'place': case.source.place,
             'needs': case.needs}
            for case in known
        ])
        return 0
    publications = dict.fromkeys(case.source.publication for case in known)
    for publication in publications:
        print(heading(publication))
        print(table(
            ('name', 'cost', 'place', 'title'),
            [(case.name, case.cost, case.source.place, case.title) for case in known
             if case.source.publication == publication],
        ))
    return 0


def _text(outcome: Outcome, short: bool) -> str:
    """Return the printed text of a case: a line, or its rows; always those that miss."""
    counts = ', '.join(f'{n} {verdict}' for verdict, n in outcome.verdicts.items() if n)
    colour = 'red' if outcome.failed else 'green'
    head = f'{paint(outcome.name, "bold")} {outcome.seconds:.1f} s: '
    head += paint(counts or 'broke', colour)
    rows = [row for row in outcome.rows if not short or row.verdict == 'missed']
    lines = [head, *(_row_text(row) for row in rows)]
    if outcome.error:
        lines.append(outcome.error.rstrip())
    lines += [f'  drawn: {picture.file}' for picture in outcome.pictures if not short]
    return '\n'.join(lines)


def _row_text(row: Row) -> str:
    place = f' ({row.place})' if row.place else ''
    verdict = paint(verdict_text(row), _COLOURS[row.verdict])
    lines = [
        f'  {row.quantity}{place}: {verdict}',
        f'      {KINDS[row.kind]}: {expected_text(row)}',
        f'      ours: {ours_text(row)}',
    ]
    difference = difference_text(row)
    if difference:
        lines.append(f'      difference: {difference}')
    if note_text(row):
        lines.append(f'      {note_text(row)}')
    return '\n'.join(lines)


def _last_line(outcomes: Sequence[Outcome], failed: list[str]) -> str:
    rows = sum(len(outcome.rows) for outcome in outcomes)
    text = f'{len(outcomes)} cases, {rows} rows: '
    if failed:
        return paint(text + f'{len(failed)} cases miss: {", ".join(failed)}', 'red')
    return paint(text + 'all as expected', 'green')


def _record(outcome: Outcome) -> dict[str, Any]:
    return {
        'name': outcome.name, 'failed': outcome.failed, 'error': outcome.error or None,
        'seconds': outcome.seconds,
        'pictures': [picture.file for picture in outcome.pictures],
        'rows': [
            {
                'quantity': row.quantity, 'place': row.place, 'kind': row.kind, 'unit': row.unit,
                'expected': _plain(row.expected), 'ours': _plain(row.ours),
                'expected_text': expected_text(row), 'ours_text': ours_text(row),
                'relation': row.relation, 'difference': row.difference,
                'tolerance': row.tolerance, 'relative': row.relative,
                'of_largest': bool(row.of_largest),
                'verdict': row.verdict, 'note': note_text(row) or None,
            }
            for row in outcome.rows
        ],
    }


def _plain(value: Any) -> Any:
    if hasattr(value, 'tolist'):
        return value.tolist()
    if isinstance(value, (str, int, float)):
        return value
    return getattr(value, 'detail', None)


class _Progress:
    """A line on stderr of the running cases; a new one now and then where none can be redrawn."""

    def __init__(self, total: int):
        self.total = total
        self.done = 0
        self._start = time.monotonic()
        self._next = self._start + _QUIET_TIME
        self._drawn = False

    def show(self, fractions: dict[str, float]) -> None:
        """Show the number of finished cases and the running ones."""
        now = time.monotonic()
        if now < self._next or not fractions:
            return
        redrawn = sys.stderr.isatty()
        self._next = now + (0.2 if redrawn else _REPORT_INTERVAL)
        parts = ', '.join(f'{name} {100 * part:.0f} %' for name, part in fractions.items())
        text = f'[{self.done}/{self.total}, {now - self._start:.0f} s] {parts}'
        print(f'\r\033[K{text}' if redrawn else text, end='' if redrawn else '\n',
              file=sys.stderr, flush=True)
        self._drawn = redrawn

    def clear(self) -> None:
        """Clear the line for the next output."""
        if self._drawn:
            print('\r\033[K', end='', file=sys.stderr, flush=True)
            self._drawn = False


if __name__ == '__main__':
    sys.exit(main())
