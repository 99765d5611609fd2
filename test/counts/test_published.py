# SPDX-License-Identifier: Apache-2.0
"""The published figures: printed sums and printed values of the polynomials."""

import pytest
from validation.counts.published import cyril, jain_rodriguez, mohan_saha, published

# Totals of tables 4.1 to 4.6 that the text quotes or the tables print.
RIGID_TOTALS = [
    ('Stanford6', 'inverse_dynamics', 'NEDYN', 309),
    ('Stanford6', 'inverse_dynamics', 'ARM recursive', 333),
    ('Stanford6', 'inverse_dynamics', 'SYMORO', 241),
    ('Stanford6', 'four terms', 'sum of terms', 600),
    ('Stanford6', 'mass_matrix+bias_vector', 'HBMAT2', 590),
    ('Puma6', 'inverse_dynamics', 'NEDYN', 358),
    ('Puma6', 'four terms', 'sum of terms', 733),
    ('Puma6', 'mass_matrix', 'HMAT2', 441),
    ('Puma6', 'mass_matrix+bias_vector', 'HBMAT3', 680),
    ('Puma6', 'mass_matrix+bias_vector', 'ARM recursive', 686),
    ('Stanford3', 'inverse_dynamics', 'ARM closed', 64),
    ('Stanford3', 'four terms', 'sum of terms', 124),
    ('Puma3', 'mass_matrix', 'HMAT2', 68),
    ('Puma3', 'four terms', 'sum of terms', 226),
]


@pytest.mark.parametrize(('robot', 'function', 'generator', 'total'), RIGID_TOTALS)
def test_totals_of_rigid_arms(robot, function, generator, total):
    """Multiplications and additions add up to the printed total."""
    assert sum(published()['rigid'][robot][function][generator]) == total


def test_coordinates_of_flexible_arms():
    """Links and modes give the printed number; totals are rows of the validation."""
    for entry in published()['flexible'].values():
        families = entry['links'].count('B') + entry['links'].count('T')
        joints = len(entry['links'].split('-'))
        assert entry['degrees_of_freedom'] == joints + families * entry['modes']


def test_every_terms_sum():
    """The four terms of the closed form add up to its total, column by column."""
    terms = ('gravity_vector', 'inertia_vector', 'coriolis_vector', 'external_force_vector')
    for robot in published()['rigid'].values():
        parts = [next(iter(robot[term].values())) for term in terms]
        assert [sum(column) for column in zip(*parts)] == robot['four terms']['sum of terms']


@pytest.mark.parametrize(('law', 'mul', 'add'), [
    (mohan_saha, 9874, 7699), (jain_rodriguez, 10568, 8344), (cyril, 13990, 12683),
])
def test_printed_row_of_recursive_dynamics(law, mul, add):
    """Eight links with two modes (Mohan and Saha, table 1)."""
    found = law(8, 2)
    assert found == pytest.approx((mul, add), abs=0.5)


@pytest.mark.parametrize(('n', 'm', 'mul', 'add'), [
    (1, 1, 243, 126), (10, 1, 6741, 4968), (1, 2, 550, 363), (10, 3, 21311, 17518),
])
def test_polynomial_of_the_proposed_algorithm(n, m, mul, add):
    """Values computed apart from the printed coefficients."""
    assert mohan_saha(n, m) == pytest.approx((mul, add), abs=1e-9)
