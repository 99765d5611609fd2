# SPDX-License-Identifier: Apache-2.0
"""
`make counts`: measure every row, print it beside the published counts, write docs/counts.md.

Named tables alone are measured and replaced on the page, the others stay as they are.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
import time

from validation.counts.report import HEADER, line, page, starting_line
from validation.counts.tables import Table, tables

PAGE = Path(__file__).parents[2] / 'docs' / 'counts.md'


def main() -> int:
    """Measure the requested tables and write them to the page."""
    known = tables()
    parser = argparse.ArgumentParser(prog='python -m validation.counts', description=__doc__)
    parser.add_argument(
        'tables', nargs='*', metavar='TABLE',
        help=f'only these: {", ".join(table.name for table in known)}',
    )
    call = parser.parse_args()
    unknown = set(call.tables) - {table.name for table in known}
    if unknown:
        parser.error(f'no table is called {", ".join(sorted(unknown))}')
    chosen = [table for table in known if not call.tables or table.name in call.tables]
    print(starting_line())
    measure(chosen)
    before = PAGE.read_text(encoding='utf-8') if PAGE.exists() else ''
    PAGE.write_text(page(known, before), encoding='utf-8')
    print(f'written: {PAGE}')
    return 0


def measure(chosen: list[Table]) -> None:
    """Measure all rows, each printed at once; a progress line goes to the standard error."""
    total = sum(len(table.rows) for table in chosen)
    done, started = 0, time.monotonic()
    for table in chosen:
        print(f'\n{table.title}\n{HEADER}', end='', flush=True)
        for row in table.rows:
            seconds = time.monotonic() - started
            _progress(f'[{done + 1}/{total}, {seconds:.0f} s] {row.label}')
            row.run()
            done += 1
            _progress('')
            print(line(row), flush=True)


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f'\r\033[K{text}', end='', file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)


if __name__ == '__main__':
    sys.exit(main())
