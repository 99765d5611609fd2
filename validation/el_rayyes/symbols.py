# SPDX-License-Identifier: Apache-2.0
"""Rules of the symbolic engine, and the worked examples of the post-processor CLEAR."""

from __future__ import annotations

import re
from typing import Any

from flexdyn_ros.symbolic.graph import CONSTANT, Expression, Graph
from flexdyn_ros.symbolic.optimise import optimise, PASSES
from flexdyn_ros.symbolic.program import operation_counts, Program
from validation.case import Progress, Row, Verdict
from validation.case_file import inputs, make_rows
from validation.counts.clear import EQUAL, last_steps, publication_counts
from validation.counts.dh_chain import DhRow
from validation.counts.published_form import inverse_dynamics, Listing
from validation.counts.published_program import published_program
from validation.counts.robots import PUMA, stanford_rows
from validation.registry import Code


def rules(progress: Progress) -> list[Row]:
    """Return the rows of tables 3.2 and 3.3, on expressions."""
    graph = Graph()
    x, y = graph.symbol('X'), graph.symbol('Y')
    names = {
        'X': x, 'Y': y, '-X': -x, '-Y': -y, '0': graph.zero, '1': graph.constant(1.0),
        '-1': graph.constant(-1.0), 'X*Y': x * y, '-X*Y': -(x * y), 'X-Y': x - y, 'X+Y': x + y,
    }
    tables = inputs('er_symbolic_rules')
    products = [names[a] * names[b] is names[c] for a, b, c in tables['multiply']]
    sums = [names[a] + names[b] is names[c] for a, b, c in tables['add']]
    c1, s1, bx, by, z = (graph.symbol(name) for name in ('C1', 'S1', 'BX', 'BY', 'Z0003'))
    rotation = ((c1, 0.0, -s1), (s1, 0.0, c1), (0.0, -1.0, 0.0))
    column = [row[0] * bx + row[1] * by + row[2] * z for row in rotation]
    same = column == [c1 * bx - s1 * z, s1 * bx + c1 * z, -by]
    return make_rows('er_symbolic_rules', {
        'products': sum(products), 'sums': sum(sums), 'free': sum(_operations(-x, x * 1, x + 0)),
        'matrix': Verdict(same, ', '.join(_words(column))),
        'matrix_operations': _operations(*column),
    })


def _words(column: list[Expression]) -> list[str]:
    """Return the operations of each entry in words."""
    counts = [_operations(entry) for entry in column]
    return [f'{mul} products and {add} sum' + 's' * (add != 1) for mul, add in counts]


def clear(progress: Progress) -> list[Row]:
    """Return the rows of CLEAR's examples, through our passes."""
    graph = Graph()
    found: dict[str, Any] = {
        'unused': _unused(graph), 'constant': _constant(graph), 'squares': _squares(graph),
        'sum_of_angles': _sum_of_angles(graph), 'factor': _factor(graph),
    }
    places = {name: set(at) for name, at in inputs('er_clear_examples')['places'].items()}
    statements = []
    for place in sorted(set().union(*places.values())):
        factors = [graph.symbol(name) for name, at in places.items() if place in at]
        statements.append(graph.product([*factors, graph.symbol(f'other{place}')]))
    pairs = (('C2', 'QD1'), ('C2', 'QD2'), ('QD1', 'QD2'))
    found['pairs'] = [
        sum({graph.symbol(a), graph.symbol(b)} <= set(each.operands) for each in statements)
        for a, b in pairs
    ]
    shared = PASSES['common_products'](Program(graph, tuple(statements)))
    c2, qd1, qd2 = (graph.symbol(name) for name in ('C2', 'QD1', 'QD2'))
    needed = shared.needed()
    found['first_pair'] = Verdict(
        c2 * qd1 in needed and c2 * qd2 not in needed,
        'C2 QD1 is shared, which leaves no C2 QD2 to share',
    )
    saved = sum(_operations(*statements)) - sum(_operations(*shared.outputs))
    found['saved'] = saved
    return make_rows('er_clear_examples', found)


def _operations(*outputs: Expression) -> tuple[int, int]:
    counts = operation_counts(outputs)
    return counts['mul'], counts['add']


def _unused(graph: Graph) -> Verdict:
    names = 'QF1 Z0185 Z0192 Z0193 Z0194 j21 spz1 m1 sz1 spy1'.split()
    qf1, z185, z192, z193, z194, j21, spz1, m1, sz1, spy1 = map(graph.symbol, names)
    z195 = -(j21 * qf1) - spz1 * m1 * qf1 * sz1
    z196, z197 = z194 + z192, z195 + z193
    z198 = spy1 * m1 * qf1 * sz1 + z185
    program = Program(graph, (-z197, z185), (z195, z196, z197, z198))
    needed = PASSES['dead_code'](program).needed()
    kept = [name for name, node in (('Z0195', z195), ('Z0196', z196), ('Z0197', z197),
                                    ('Z0198', z198)) if node in needed]
    return Verdict(kept == ['Z0195', 'Z0197'], f'kept: {", ".join(kept)}')


def _constant(graph: Graph) -> float:
    c2, qd1, qd2 = (graph.symbol(name) for name in ('C2', 'QD1', 'QD2'))
    j22, j32 = stanford_rows()[1].moments[1:]
    z17 = qd2 * j32 * c2 * qd1 - c2 * qd1 * j22 * qd2
    z17, = PASSES['constants'](Program(graph, (z17,))).outputs
    number, = (factor.value for factor in z17.operands if factor.kind == CONSTANT)
    return number


def _squares(graph: Graph) -> Verdict:
    angle, rate = graph.symbol('TH2'), graph.symbol('QD1')
    c2, s2 = angle.cos(), angle.sin()
    program = Program(graph, (-c2 * rate * c2 * rate - s2 * rate * s2 * rate,))
    found = PASSES['trigonometry'](program).outputs
    return Verdict(found == (-(rate * rate),), f'{_words(list(found))[0]}')


def _sum_of_angles(graph: Graph) -> Verdict:
    a, b, z = (graph.symbol(name) for name in ('TH4', 'TH5', 'Z0099'))
    program = Program(graph, (a.cos() * z * b.sin() + z * b.cos() * a.sin(),))
    found = PASSES['trigonometry'](program).outputs
    return Verdict(found == (z * (a + b).sin(),), f'{_words(list(found))[0]}')


def _factor(graph: Graph) -> tuple[int, int]:
    z2, y4, sy2 = (graph.symbol(name) for name in ('Z0002', 'Y004', 'sy2'))
    return _operations(*PASSES['factor'](Program(graph, (-z2 * sy2 - y4 * sy2,))).outputs)


def statistics(progress: Progress) -> list[Row]:
    """Return the rows of the statistics of the Stanford arm's inverse dynamics."""
    source = inverse_dynamics(stanford_rows())
    found, _ = optimise(published_program())
    steps = publication_counts()
    _, renamed, _ = last_steps(stanford_rows(), EQUAL)
    moved = last_steps(stanford_rows())[:2]
    return make_rows('er_clear_statistics', {
        **{step: sum(steps[step]) for step in ('source', 'unused', 'trigonometry', 'constants')},
        'duplicates': steps['duplicates'], 'factors': steps['factoring'],
        'moved': [sum(step.operations) for step in moved], 'figure': _of_the_figure(renamed),
        'statements': len(source.statements), 'misprint': sum(steps['source']),
        'factoring': sum(_operations(*found.outputs)),
    })


# Contents of NEDYN and its terms.
_TERMS: dict[str, dict[str, bool]] = {
    'NEDYN': {}, 'payload': {'payload': True},
    'GTERM': {'rates': False, 'accelerations': False},
    'HTERM': {'rates': False, 'gravity': False},
    'CTERM': {'accelerations': False, 'gravity': False},
    'KTERM': {'rates': False, 'accelerations': False, 'gravity': False, 'payload': True},
    'BVECT': {'accelerations': False},
}


def terms(progress: Progress) -> list[Row]:
    """Return the rows of NEDYN and its terms through all steps, Stanford arm and Puma."""
    puma = [DhRow(*row) for row in PUMA]
    arms = {
        'stanford6': (stanford_rows(), EQUAL), 'stanford3': (stanford_rows()[:3], {}),
        'puma6': (puma, {}), 'puma3': (puma[:3], {}),
    }
    given = inputs('er_clear_terms')
    found: dict[str, Any] = {}
    for arm, (rows, equal) in arms.items():
        counts = {
            name: last_steps(rows, equal, **parts)[2].operations
            for name, parts in _TERMS.items()
        }
        found[arm] = [counts[name] for name in given['equal'][arm]]
        found[f'{arm}_near'] = [sum(counts[name]) for name in given['near'][arm]]
    return make_rows('er_clear_terms', found)


def _of_the_figure(listing: Listing) -> int:
    """Return the number of statements of figure 3.6 in a listing, as they are printed."""

    def lowered(name: str) -> str:
        return f'Z{int(name[1:]) - 1:04d}' if name[0] == 'Z' else name

    ours = {
        (lowered(each.name), frozenset(
            (term.sign, tuple(sorted(map(lowered, term.atoms)))) for term in each.terms
        )) for each in listing.statements
    }
    printed = []
    for text in inputs('er_clear_statistics')['figure']:
        name, _, right = text.partition('=')
        terms = re.findall(r'([-+]?)([^-+]+)', right)
        printed.append((name, frozenset(
            (-1 if sign == '-' else 1, tuple(sorted(atoms.split('*')))) for sign, atoms in terms
        )))
    return sum(each in ours for each in printed)


CODE = {
    'er_symbolic_rules': Code(rules),
    'er_clear_examples': Code(clear),
    'er_clear_statistics': Code(statistics),
    'er_clear_terms': Code(terms),
}
