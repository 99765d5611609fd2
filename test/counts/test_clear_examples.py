# SPDX-License-Identifier: Apache-2.0
"""
The worked examples of the published post-processor CLEAR, through our passes.

El-Rayyes 1990, tables 3.2 to 3.5 and figures 3.2 to 3.8.
"""

from benchmarks.counts.published import published
from benchmarks.counts.published_program import published_program
from benchmarks.counts.robots import stanford_rows
from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.optimise import optimise
from flexdyn_ros.symbolic.optimise import PASSES
from flexdyn_ros.symbolic.passes.numbers import gather_numbers
from flexdyn_ros.symbolic.program import evaluate_program
from flexdyn_ros.symbolic.program import operation_counts
from flexdyn_ros.symbolic.program import Program
import pytest

# Places of three factors in the statements of table 3.5.
PLACES = {
    'C2': {255, 261, 265, 270, 272, 285, 287, 306, 308, 318, 561},
    'QD1': {254, 256, 259, 261, 270, 272, 274, 283, 285, 287, 293, 306, 308, 318},
    'QD2': {254, 259, 261, 270, 274, 282, 287, 291, 306, 321, 323, 325},
}


@pytest.fixture
def graph():
    """Return an empty graph."""
    return Graph()


def symbols(graph, names):
    """Return the nodes of names in a text."""
    return [graph.symbol(name) for name in names.split()]


def operations(*outputs):
    """Return multiplications and additions below outputs."""
    counts = operation_counts(outputs)
    return counts['mul'], counts['add']


def test_multiplication_rules(graph):
    """Table 3.2, on expressions."""
    x, y = symbols(graph, 'x y')
    assert x * 0 is graph.zero
    assert x * 1 is x
    assert x * -1 is -x
    assert -x * -1 is x
    assert -x * y is x * -y is -(x * y)
    assert -x * -y is x * y
    assert operations(x * y) == (1, 0)


def test_addition_rules(graph):
    """Table 3.3, on expressions."""
    x, y = symbols(graph, 'x y')
    assert x + 0 is x
    assert x + -x is graph.zero
    assert x + -y is x - y
    assert operations(x - y) == operations(x + y) == (0, 1)


def test_matrix_times_vector(graph):
    """The example of section 3.1: zeros and signs of a rotation cost nothing."""
    c1, s1, bx, by, z3 = symbols(graph, 'C1 S1 BX BY Z0003')
    rows = ((c1, 0.0, -s1), (s1, 0.0, c1), (0.0, -1.0, 0.0))
    column = [row[0] * bx + row[1] * by + row[2] * z3 for row in rows]
    assert column == [c1 * bx - s1 * z3, s1 * bx + c1 * z3, -by]
    assert operations(*column) == (4, 2)


def test_unused_statements(graph):
    """Figures 3.2 and 3.3: what no result needs is gone."""
    qf1, z185, z192, z193, z194 = symbols(graph, 'QF1 Z0185 Z0192 Z0193 Z0194')
    j21, spz1, m1, sz1, spy1 = symbols(graph, 'j21 spz1 m1 sz1 spy1')
    z195 = -(j21 * qf1) - spz1 * m1 * qf1 * sz1
    z196, z197 = z194 + z192, z195 + z193
    z198 = spy1 * m1 * qf1 * sz1 + z185
    program = Program(graph, (-z197, z185), (z195, z196, z197, z198))
    found = PASSES['dead_code'](program)
    assert not found.statements
    needed = found.needed()
    assert z195 in needed
    assert z196 not in needed
    assert z198 not in needed


def test_constants(graph):
    """Figure 3.4: j32 - j22 becomes one number, 0.026343."""
    c2, qd1, qd2 = symbols(graph, 'C2 QD1 QD2')
    j22, j32 = stanford_rows()[1].moments[1:]
    z17 = qd2 * j32 * c2 * qd1 - c2 * qd1 * j22 * qd2
    z17, = PASSES['constants'](Program(graph, (z17,))).outputs
    assert operations(z17) == (3, 0)
    number, = (factor.value for factor in z17.operands if factor.is_constant)
    assert number == pytest.approx(0.026343, abs=5e-7)


def test_squares(graph):
    """Figure 3.5: -C2 QD1 C2 QD1 - S2 QD1 S2 QD1 is -QD1 QD1."""
    q2, qd1 = symbols(graph, 'TH2 QD1')
    c2, s2 = q2.cos(), q2.sin()
    program = Program(graph, (-c2 * qd1 * c2 * qd1 - s2 * qd1 * s2 * qd1,))
    assert PASSES['trigonometry'](program).outputs == (-(qd1 * qd1),)


def test_sum_of_angles(graph):
    """Figure 3.5: C4 Z S5 + Z C5 S4 is Z sin(TH4 + TH5)."""
    q4, q5, z99 = symbols(graph, 'TH4 TH5 Z0099')
    program = Program(graph, (q4.cos() * z99 * q5.sin() + z99 * q5.cos() * q4.sin(),))
    assert PASSES['trigonometry'](program).outputs == (z99 * (q4 + q5).sin(),)


def test_factoring(graph):
    """Figure 3.7: -Z0002 sy2 - Y004 sy2 is sy2 (-Z0002 - Y004)."""
    z2, y4, sy2 = symbols(graph, 'Z0002 Y004 sy2')
    program = Program(graph, (-z2 * sy2 - y4 * sy2,))
    assert operations(*program.outputs) == (2, 1)
    assert operations(*PASSES['factor'](program).outputs) == (1, 1)


def test_the_most_frequent_pair_is_shared_first(graph):
    """Tables 3.4 and 3.5: C2 QD1 stands in 8 statements, QD1 QD2 in 7, C2 QD2 in 4."""
    frequency = {
        (a, b): len(PLACES[a] & PLACES[b])
        for a, b in (('C2', 'QD1'), ('C2', 'QD2'), ('QD1', 'QD2'))
    }
    assert frequency == {('C2', 'QD1'): 8, ('C2', 'QD2'): 4, ('QD1', 'QD2'): 7}
    statements = []
    for place in sorted(set().union(*PLACES.values())):
        factors = [graph.symbol(name) for name, places in PLACES.items() if place in places]
        statements.append(graph.product([*factors, graph.symbol(f'other{place}')]))
    shared = PASSES['common_products'](Program(graph, tuple(statements)))
    c2, qd1, qd2 = symbols(graph, 'C2 QD1 QD2')
    needed = shared.needed()
    assert c2 * qd1 in needed
    # Where C2 QD1 was taken, the other pairs are broken up: C2 QD2 is gone, QD1 QD2 stays in 3.
    assert c2 * qd2 not in needed
    assert qd1 * qd2 in needed
    saved = sum(operations(*statements)) - sum(operations(*shared.outputs))
    assert saved == (8 - 1) + (4 - 1) + (3 - 1)


def test_the_published_source_through_our_passes():
    """The generator's own listing ends below CLEAR's 309 operations."""
    found, _ = optimise(published_program())
    assert sum(operations(*found.outputs)) < published()['clear']['factoring']


def test_products_take_the_numbers_of_their_factors():
    """A shared 2 x saves one product as it stands, and costs one where each user has a number."""
    graph = Graph()
    x, y, z = (graph.symbol(name) for name in 'xyz')
    double = 2.0 * x
    program = Program(graph, (double * y, double * z, double * (3.0 * y) * z))
    gathered = gather_numbers(program)
    point = {'x': 0.3, 'y': -1.7, 'z': 2.9}
    assert evaluate_program(gathered, point) == pytest.approx(
        evaluate_program(program, point), rel=1e-15
    )
    assert operation_counts(program.outputs)['mul'] == 6
    assert operation_counts(gathered.outputs)['mul'] == 7
