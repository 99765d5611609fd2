# SPDX-License-Identifier: Apache-2.0
"""The report: every published row is there, and rows that miss their mark are explained."""

import pytest
from thinned import thinned
from validation.counts.explanations import explanation, UNEXPLAINED
from validation.counts.published import published
from validation.counts.report import line, mark, page, section, starting_line
from validation.counts.tables import Count, CountRow, Table, tables

TABLES = {table.name: table for table in tables()}
# Rows that are quick to generate and whose rivals are close.
QUICK = [
    'Stanford6, inverse_dynamics', 'Puma6, inverse_dynamics', 'Stanford3, inverse_dynamics',
    'Puma3, inverse_dynamics', 'Stanford6, gravity_vector', 'Puma3, coriolis_vector',
    'Stanford6, mass_matrix+bias_vector', 'Puma6, mass_matrix+bias_vector',
    'Stanford3, mass_matrix+bias_vector', 'Puma3, mass_matrix+bias_vector', 'Puma6, jacobian',
]


def row(name):
    """Return a row by its label."""
    return next(r for table in TABLES.values() for r in table.rows if r.label == name)


def test_every_published_row_is_measured():
    """All robots and functions, all flexible cases, ten chains of each number of modes."""
    labels = {each.label for table in TABLES.values() for each in table.rows}
    for robot, functions in published()['rigid'].items():
        assert {f'{robot}, {function}' for function in functions} <= labels
    cases = [each.label for each in TABLES['flexible'].rows if 'general' not in each.label]
    assert [label[0] for label in cases] == list('ABCDEFGHIJKLMNOPQR')
    for modes in (1, 2, 3):
        assert [each.label for each in TABLES[f'chain{modes}'].rows] == [
            f'n = {n}' for n in range(1, 11)
        ]


@pytest.mark.parametrize('name', thinned(QUICK, lambda name: '+' not in name))
def test_rows_below_every_published_generator(name):
    """Measured anew; aims included."""
    found = row(name)
    found.run()
    assert found.beaten, line(found)
    assert found.on_target, line(found)


@pytest.mark.parametrize('name', thinned(['A', 'E', 'I'], ('A',)))
def test_flexible_rows_below_every_published_generator(name):
    """Measured anew."""
    found = next(each for each in TABLES['flexible'].rows if each.label.startswith(f'{name}:'))
    found.ours = found.measure()
    assert found.beaten, line(found)


@pytest.mark.parametrize('modes', thinned([1, 2, 3], (1,)))
def test_short_chains_below_every_published_algorithm(modes):
    """Two links, one to three modes."""
    found = TABLES[f'chain{modes}'].rows[1]
    found.run()
    assert found.beaten, line(found)


def test_marks():
    """A row is marked above its best rival, or else above its aim."""
    rivals = {'A': Count(5, 5), 'B': Count(6, 6)}
    found = CountRow('x', rivals, {'by hand': Count(1, 1)}, dict, 8.0)
    for total, expected in ((10, '**above**'), (9, '**aim** 8'), (7, '')):
        found.ours = Count(total, 0, 2)
        assert mark(found) == expected
    assert '(by hand 1 + 1 = 2)' in line(found)
    assert '| 0.70 |' in line(found)


def test_explanations_stand_under_the_table():
    """A missed row has a note; an unknown one is marked as unexplained."""
    found = CountRow('x', {'A': Count(1, 0)}, {}, dict)
    found.ours, found.parts = Count(2, 0), {'mass_matrix': Count(1, 1)}
    text = section(Table('name', 'Title', 'Note.', [found]))
    assert f'- x: {UNEXPLAINED} Apart: mass_matrix 2.' in text
    known = row('Stanford3, external_force_vector')
    known.ours = Count(6, 5)
    assert UNEXPLAINED not in explanation(known)


def test_the_starting_line():
    """The rebuilt counts stand beside the published ones."""
    assert '| source | 363 + 198 = 561 | 561 |' in starting_line()
    assert '| trigonometry | 272 + 155 = 427 | 427 |' in starting_line()


def test_a_table_is_replaced_alone():
    """Numbers that are not measured anew stay on the page."""
    first, second = (
        Table(name, f'Title {name}', 'Note.', [CountRow(f'row {name}', {}, {}, dict)])
        for name in 'ab'
    )
    first.rows[0].ours, second.rows[0].ours = Count(1, 1), Count(2, 2)
    whole = page([first, second])
    first.rows[0].ours, second.rows[0].ours = Count(3, 3), None
    changed = page([first, second], whole)
    assert '| row a | 3 | 3 | 6 |' in changed
    assert '| row b | 2 | 2 | 4 |' in changed
    assert page([first, second], changed) == changed
