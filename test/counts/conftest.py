# SPDX-License-Identifier: Apache-2.0
"""Make the benchmarks importable."""

from pathlib import Path
import sys

ROOT = str(Path(__file__).resolve().parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
