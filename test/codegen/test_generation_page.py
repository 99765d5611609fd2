# SPDX-License-Identifier: Apache-2.0
"""The page on code generation shows the present effect of the passes."""

from pathlib import Path

from benchmarks.generation.example import example, NAMES
from benchmarks.generation.listing import listing
from benchmarks.generation.page import _example_part
from evaluated_program import evaluate_program
from flexdyn_ros.symbolic.optimise import optimise
from flexdyn_ros.symbolic.program import operation_counts
import pytest

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'generation.md'
POINT = {
    'TH2': 0.3, 'TH4': -0.7, 'TH5': 1.1, 'QD1': 0.5, 'QD2': -0.4, 'QF1': 1.2,
    'Z0002': 0.9, 'Z0099': -1.3,
}


def test_the_example_on_the_page_is_current():
    """The small example stands on the page as the passes leave it."""
    assert _example_part() in PAGE.read_text()


def test_the_example_keeps_its_values_and_loses_operations():
    """Twelve operations are left of twenty-seven, with the same results."""
    program = example()
    short, reports = optimise(program)
    assert evaluate_program(short, POINT) == pytest.approx(
        evaluate_program(program, POINT), rel=1e-12
    )
    assert reports[0].counts == {'mul': 20, 'add': 7, 'trig': 6}
    assert operation_counts(short.outputs) == {'mul': 9, 'add': 3, 'trig': 3}


def test_the_listing_names_shared_nodes_and_outputs():
    """Each output has its line; j32 - j22 has become one number, as printed."""
    short, _ = optimise(example())
    lines = listing(short, NAMES).splitlines()
    assert [line.split(' = ')[0] for line in lines][-5:] == list(NAMES)
    assert any('0.026343' in line for line in lines)
