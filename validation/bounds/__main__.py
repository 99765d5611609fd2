# SPDX-License-Identifier: Apache-2.0
"""
Command: python -m validation.bounds proves least numbers of operations of generated code.

Beside our count stand two least numbers. The first is that of any program without cancellation
which is right for all values of the robot's numbers. The second, for the numbers as they are,
leaves out multiplications by numbers, which may be any. Operations in the arguments of sines and
cosines are in none of them. The docstring of validation/bounds has model and proof.
"""

from __future__ import annotations

import argparse
import sys
import time

from validation.bounds.polynomials import Unsuitable
from validation.bounds.rows import bound_of, HEADER, ROWS, traced


def main() -> int:
    """Prove the requested rows; progress goes to the standard error."""
    parser = argparse.ArgumentParser(
        prog='python -m validation.bounds', description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        'rows', nargs='*', metavar='ROW', default=ROWS,
        help=f'rows of docs/counts.md, such as "{ROWS[0]}"',
    )
    call = parser.parse_args()
    started = time.monotonic()

    def progress(text: str) -> None:
        seconds = time.monotonic() - started
        print(f'[{seconds:.0f} s] {label}: {text}', file=sys.stderr, flush=True)

    print(HEADER, flush=True)
    for label in call.rows:
        try:
            program = traced(label)
        except ValueError as error:
            parser.error(str(error))
        try:
            print(bound_of(label, program, progress).line(), flush=True)
        except Unsuitable as error:
            print(f'{label:36s} does not suit: {error}', flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
