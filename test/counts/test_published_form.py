# SPDX-License-Identifier: Apache-2.0
"""The published generator's own form: its rules, its counts, its numbers."""

from math import cos, prod, sin

import flexdyn_ros as fd
import numpy as np
import pytest
from validation.counts.clear import (
    constants,
    factored,
    publication_counts,
    with_constants_computed,
    with_duplicates_renamed,
    with_trigonometry,
    without_unused,
)
from validation.counts.dh_chain import DhRow
from validation.counts.published import published
from validation.counts.published_form import (
    atom,
    inverse_dynamics,
    Listing,
    ONE,
    PublishedStatement,
    Term,
    ZERO,
)
from validation.counts.robots import PUMA, stanford_rows, table_robot

X, Y = atom('X'), atom('Y')
# A state of the Stanford arm.
STATE = {
    'TH': [0.3, -0.5, 0.4, 0.2, 0.7, -0.6],
    'QD': [0.5, -0.4, 0.3, 0.6, -0.2, 0.1],
    'QF': [1.0, 0.5, -0.3, 0.8, 0.2, -0.9],
}


@pytest.mark.parametrize(('factors', 'result'), [
    ((X, ZERO), ZERO), ((X, ONE), X), ((X, -ONE), -X), ((-X, -ONE), X),
])
def test_products_with_zero_and_one(factors, result):
    """Table 3.2 of El-Rayyes 1990."""
    assert Listing().multiply(*factors) == result


def test_signs_of_products():
    """Table 3.2: two signs cancel, one stays."""
    out = Listing()
    assert out.multiply(-X, -Y) == out.multiply(X, Y)
    assert out.multiply(-X, Y) == out.multiply(X, -Y) == -out.multiply(X, Y)


def test_sums():
    """Table 3.3: zeros vanish, opposites cancel, all else is a statement."""
    out = Listing()
    assert out.add(X, ZERO) == X
    assert out.add(X, -X) == ZERO
    assert not out.statements
    out.add(X, -Y)
    assert out.statements[0].terms == (X, -Y)


def test_layers():
    """A product of more than six multiplications becomes a statement; a sum always does."""
    out = Listing()
    six = out.multiply(*[X] * 7)
    assert len(six.atoms) == 7
    assert not out.statements
    assert out.multiply(*[X] * 8) == atom('Z0001')
    assert out.add(X, Y, X) == atom('Z0003')


def test_counts_are_the_published_ones():
    """The source, and after each step."""
    steps = {step: mul + add for step, (mul, add) in publication_counts().items()}
    expected = published()['clear']
    assert steps == {step: expected[step] for step in steps}
    assert list(steps.values()) == [561, 433, 427, 347, 309, 309]
    statements = len(inverse_dynamics(stanford_rows()).statements)
    assert statements == pytest.approx(expected['statements'], abs=1)


STEPS = ('source', 'unused', 'trigonometry', 'constants', 'duplicates', 'factors')


@pytest.mark.parametrize('robot', ['Stanford6', 'Puma6'])
@pytest.mark.parametrize('step', STEPS)
def test_the_listing_computes_the_torques(robot, step):
    """Each step gives the torques of our inverse dynamics."""
    rows = stanford_rows() if robot == 'Stanford6' else [DhRow(*row) for row in PUMA]
    listing, values = inverse_dynamics(rows), constants(rows)
    last = STEPS.index(step)
    if last > 0:
        listing = without_unused(listing)
    if last > 1:
        listing = with_trigonometry(listing)
    if last > 2:
        listing, values = with_constants_computed(listing, values)
    if last > 3:
        listing = with_duplicates_renamed(listing)
    if last > 4:
        listing = factored(listing)
    dyn = fd.Dynamics(table_robot(robot), backend='reference')
    expected = dyn.inverse_dynamics(STATE['TH'], STATE['QD'], STATE['QF'])
    np.testing.assert_allclose(_run(listing, values), expected, rtol=1e-12, atol=1e-12)


def _run(listing, values):
    """Evaluate a listing at the state."""
    angles = STATE['TH']
    values = {**values, 'C23': cos(angles[1] + angles[2]), 'S23': sin(angles[1] + angles[2])}
    for number, angle in enumerate(angles, start=1):
        values |= {f'{name}{number}': STATE[name][number - 1] for name in STATE}
        values |= {f'C{number}': cos(angle), f'S{number}': sin(angle)}
    for statement in (*listing.statements, *listing.results):
        values[statement.name] = sum(
            term.sign * prod(values[name] for name in term.atoms) for term in statement.terms
        )
    return [values[statement.name] for statement in listing.results]


def test_constants_of_figure_3_4():
    """Terms of the same variables share one constant; opposite ones vanish."""
    both = PublishedStatement('Z0001', (
        Term(1, ('QD2', 'j32', 'C2', 'QD1')), Term(-1, ('C2', 'QD1', 'j22', 'QD2')),
    ))
    listing = Listing([both], [PublishedStatement('RES1', (atom('Z0001'),))])
    found, values = with_constants_computed(listing, {'j32': 0.044343, 'j22': 0.018})
    assert found.statements[0].terms == (Term(1, ('C2', 'QD1', 'QD2', 'x001')),)
    assert values['x001'] == pytest.approx(0.026343, abs=1e-12)
    gone, _ = with_constants_computed(listing, {'j32': 0.018, 'j22': 0.018})
    assert gone.statements == [] and gone.results[0].terms == ()


def test_duplicates_of_the_most_frequent_pair_first():
    """A pair in two places is one statement, and a pair in one place stays."""
    lines = [
        PublishedStatement('Z0001', (Term(1, ('A', 'B', 'C')),)),
        PublishedStatement('Z0002', (Term(-1, ('A', 'B', 'D')), Term(1, ('A', 'C')))),
    ]
    found = with_duplicates_renamed(Listing(lines, [PublishedStatement('RES1', (X,))]))
    assert [each.name for each in found.statements] == ['Y001', 'Z0001', 'Z0002']
    assert found.statements[2].terms == (Term(-1, ('Y001', 'D')), Term(1, ('A', 'C')))


def test_factors_of_figure_3_8():
    """-Z0002 sy2 - Y004 sy2 takes one product; terms that are a factor themselves stay."""
    line = PublishedStatement('Z0009', (Term(-1, ('Z0002', 'sy2')), Term(-1, ('Y004', 'sy2'))))
    found = factored(Listing([line], [PublishedStatement('RES1', (atom('Z0009'),))]))
    assert found.operations == (1, 1)
    whole = PublishedStatement('Z0009', (Term(1, ('A',)), Term(1, ('A', 'B'))))
    assert factored(Listing([whole], [])).statements == [whole]
