# SPDX-License-Identifier: Apache-2.0
"""Let the tests here and below import the oracles that stand beside this folder."""

from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
