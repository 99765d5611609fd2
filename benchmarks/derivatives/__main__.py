# SPDX-License-Identifier: Apache-2.0
"""Command: python -m benchmarks.derivatives writes docs/derivatives.md."""

from pathlib import Path
import sys

from benchmarks.derivatives.page import page

TARGET = Path(__file__).resolve().parents[2] / 'docs' / 'derivatives.md'


def main() -> int:
    """Write the page and print its path."""
    TARGET.write_text(page(lambda what: print(f'  {what} ...', file=sys.stderr)))
    print(f'Written: {TARGET}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
