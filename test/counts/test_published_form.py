# SPDX-License-Identifier: Apache-2.0
"""The published generator's own form: its rules, its counts, its numbers."""

from math import cos, prod, sin

import flexdyn_ros as fd
import numpy as np
import pytest
from validation.counts.published import published
from validation.counts.published_form import (
    atom,
    inverse_dynamics,
    Listing,
    ONE,
    publication_counts,
    ZERO,
)
from validation.counts.robots import stanford_arm, stanford_rows

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
    """Source, without unused statements, with squares of sines and cosines merged."""
    steps = {step: mul + add for step, (mul, add) in publication_counts().items()}
    expected = published()['clear']
    assert steps == {step: expected[step] for step in steps}
    assert steps == {'source': 561, 'unused': 433, 'trigonometry': 427}
    statements = len(inverse_dynamics(stanford_rows()).statements)
    assert statements == pytest.approx(expected['statements'], abs=1)


@pytest.mark.parametrize('step', ['source', 'unused', 'trigonometry'])
def test_the_listing_computes_the_torques(step):
    """Each step gives the torques of our inverse dynamics."""
    listing = inverse_dynamics(stanford_rows())
    if step != 'source':
        listing = listing.without_unused()
    if step == 'trigonometry':
        listing = listing.with_trigonometry()
    dyn = fd.Dynamics(stanford_arm(), backend='reference')
    expected = dyn.inverse_dynamics(STATE['TH'], STATE['QD'], STATE['QF'])
    np.testing.assert_allclose(_run(listing), expected, rtol=1e-12, atol=1e-12)


def _run(listing):
    """Evaluate a listing at the state, with the numbers of the Stanford arm."""
    values = {'g': 9.81, '2': 2.0}
    for number, row in enumerate(stanford_rows(), start=1):
        values |= {f'{name}{number}': STATE[name][number - 1] for name in STATE}
        angle = STATE['TH'][number - 1]
        values |= {f'C{number}': cos(angle), f'S{number}': sin(angle)}
        values |= {f'm{number}': row.mass, f'dl{number}': row.d}
        twist = {0.0: (0.0, 1.0), 90.0: (1.0, 0.0), -90.0: (-1.0, 0.0)}[row.alpha]
        far = (0.0, row.d * twist[0], row.d * twist[1])
        for axis, k in zip('xyz', range(3)):
            values[f's{axis}{number}'] = row.com[k]
            values[f'sp{axis}{number}'] = row.com[k] + far[k]
            values[f'j{k + 1}{number}'] = row.moments[k]
    for statement in (*listing.statements, *listing.results):
        values[statement.name] = sum(
            term.sign * prod(values[name] for name in term.atoms) for term in statement.terms
        )
    return [values[statement.name] for statement in listing.results]
