# SPDX-License-Identifier: Apache-2.0
"""Fixtures that spare tests of generated code the passes that prove nothing more there."""

from importlib import import_module

import pytest

# Steps of a search for common divisors that writes code for a test of something else.
FEW_STEPS = 40


@pytest.fixture(scope='session')
def simplified():
    """Return the simplified code of `generate` in this run, by robot and call."""
    return {}


@pytest.fixture
def simplified_once(simplified, monkeypatch):
    """
    Let `generate` write all languages from one program a function, and its search end early.

    Passes take most of its time, and their result depends on no language.
    test/codegen/test_common_divisors.py and test/counts check the operations of the programs.
    """
    writing = import_module('flexdyn_ros.codegen.generate')
    passes = import_module('flexdyn_ros.codegen.tracing.simplify')
    simplify, search = passes.simplify, passes.search_divisors

    def brief(program, *steps):
        return search(program, *(min(each, FEW_STEPS) for each in steps))

    def once(robot, *function, **options):
        key = (id(robot), repr(function), repr(sorted(options.items())))
        if key not in simplified:
            simplified[key] = robot, simplify(robot, *function, **options)
        return simplified[key][1]  # beside the robot, so that no other takes its id

    monkeypatch.setattr(passes, 'search_divisors', brief)
    monkeypatch.setattr(writing, 'simplify', once)
