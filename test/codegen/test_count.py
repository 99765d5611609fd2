# SPDX-License-Identifier: Apache-2.0
"""Counts by parsing C: hand-made sources, generated ones, and a second parser."""

from codegen import cases
import flexdyn_ros as fd
import pytest
from thinned import thinned
from validation.counts.c_source import count_c, CountError

try:
    import pycparser
    from pycparser import c_ast
except ImportError:
    pycparser = None

pytestmark = pytest.mark.usefixtures('simplified_once')
HEAD = 'void f(const double *q, double a, double *out) {'
# Body of a function, and its multiplications, additions and calls counted by hand.
BODIES = [
    ('out[0] = q[0];', (0, 0, 0)),
    ('out[0] = -q[0];', (0, 0, 0)),
    ('out[0] = a*q[0] + q[1]/a - 2.0;', (2, 2, 0)),
    ('out[0] = 2.0*3.0*a;', (1, 0, 0)),
    ('out[0] = a*2.0*3.0;', (2, 0, 0)),
    ('out[0] = a*(2.0*3.0 + 1.0/3.0);', (1, 0, 0)),
    ('const double k = 2.0*3.0; out[0] = k*4.0 + a;', (0, 1, 0)),
    ('const double s = sin(q[0]); const double c = cos(q[0]); out[0] = s*s + c*c;', (2, 1, 2)),
    ('out[0] = sin(2.0*q[0]);', (1, 0, 1)),
    ('out[0] = sin(2.0);', (0, 0, 0)),
    ('out[0] = -(a - q[1])*-q[0];', (1, 1, 0)),
    ('double x = a*a, y = a + a; out[0] = x*y;', (2, 1, 0)),
    ('out[0] = a < 1.0 ? a*a*a : a + 1.0;', (2, 0, 0)),
    ('out[0] = a < 1.0 ? a + 1.0 : a*a*a + exp(a);', (2, 1, 1)),
    ('(void)q; out[12] = 1e-05*a; /* 5*5 */ // 6*6', (1, 0, 0)),
    ('out[0] = a - -1.5e-3; out[1] = +a;', (0, 1, 0)),
]


@pytest.mark.parametrize('body, expected', BODIES)
def test_hand_made_bodies(body, expected):
    """Counted by hand."""
    counts = count_c(f'{HEAD} {body}\n}}')
    assert (counts['mul'], counts['add'], counts['trig']) == expected


def test_called_functions_count_at_each_call():
    """Static functions of the source cost their operations at each call."""
    source = (
        '#include <math.h>\n'
        'static double g(double u) { return u < 1.0 ? 1.0 - u*u : cos(sqrt(u))/u; }\n'
        'static void part(const double *q, double *work) { work[0] = g(q[0])*q[1]; }\n'
        'void f(const double *q, double *out)\n'
        '{ double work[1]; part(q, work); part(q, work); out[0] = work[0] + g(2.0*q[0]); }\n'
    )
    # g: one multiplication, two calls (the costlier branch); part: one multiplication more.
    assert count_c(source) == {'mul': 2 * 2 + 1 + 1, 'add': 1, 'trig': 6}
    assert count_c(source, 'part') == {'mul': 2, 'add': 0, 'trig': 2}


@pytest.mark.parametrize('source', [
    '', 'void f(void) { for (;;) ; }', 'void f(double *x) { x[0] = 1.0 }',
    'void f(double *x) { x[0] = "a"; }',
])
def test_what_is_no_straight_line_code_is_refused(source):
    """Loops, other languages, broken text."""
    with pytest.raises(CountError):
        count_c(source, 'f')


@pytest.mark.parametrize('function', thinned(
    cases.FUNCTIONS, ('inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'kinetic_energy'),
))
def test_counts_are_those_of_the_program(function):
    """Without functions of its own, the source has the program's operations."""
    code = fd.generate(cases.robot('rigid tree'), function)
    assert code.counts == code.report[-1].counts


@pytest.mark.parametrize('name', thinned(
    cases.ROBOTS, ('rigid tree', 'flexible chain', 'multi axis'),
))
@pytest.mark.parametrize('optimise', [False, 'quick'])
@pytest.mark.parametrize('function', ['inverse_dynamics', 'kinetic_energy', 'elastic_vector'])
def test_counts_are_those_of_the_source(name, optimise, function):
    """With functions of its own too, and before any pass."""
    code = fd.generate(cases.robot(name), function, optimise=optimise)
    assert code.counts == count_c(code.source, code.name)


@pytest.mark.parametrize(('name', 'function'), thinned(
    [(name, function) for name in ('rigid tree', 'flexible chain', 'mimic')
     for function in ('inverse_dynamics', 'forward_dynamics', 'jacobian')],
    lambda name, function: name == 'rigid tree' or (
        (name, function) == ('flexible chain', 'inverse_dynamics')),
))
def test_a_second_parser_counts_the_same(name, function):
    """Generated C is C99 without macros, loops and main, and pycparser finds the same counts."""
    if pycparser is None:
        pytest.skip('pycparser is not installed here: `make test` installs it')
    code = fd.generate(cases.robot(name), function)
    lines = [line for line in code.source.split('\n') if not line.lstrip().startswith('#')]
    unit = pycparser.CParser().parse(_without_comments('\n'.join(lines)))
    functions = {node.decl.name: node for node in unit.ext}
    assert code.name in functions
    assert 'main' not in functions
    assert not any(_nodes(unit, kind) for kind in (c_ast.For, c_ast.While, c_ast.If, c_ast.Goto))
    assert _count(functions[code.name].body, functions) == code.counts


def _without_comments(text):
    while '/*' in text:
        before, _, rest = text.partition('/*')
        text = before + ' ' + rest.partition('*/')[2]
    return text


def _nodes(tree, kind):
    found = [tree] if isinstance(tree, kind) else []
    for _, child in tree.children():
        found += _nodes(child, kind)
    return found


def _count(tree, functions):
    """Count by pycparser; constants alone do not occur in generated sources but in series."""
    if isinstance(tree, c_ast.TernaryOp):
        branches = [_count(b, functions) for b in (tree.iftrue, tree.iffalse)]
        return max(branches, key=lambda counts: sum(counts.values()))
    counts = {'mul': 0, 'add': 0, 'trig': 0}
    parts = [_count(child, functions) for _, child in tree.children()]
    if isinstance(tree, c_ast.ArrayRef):
        parts = []
    if isinstance(tree, c_ast.BinaryOp) and tree.op in '*/':
        counts['mul'] += 1
    if isinstance(tree, c_ast.BinaryOp) and tree.op in '+-':
        counts['add'] += 1
    if isinstance(tree, c_ast.FuncCall):
        if tree.name.name in functions:
            parts.append(_count(functions[tree.name.name].body, functions))
        else:
            counts['trig'] += 1
    return {kind: counts[kind] + sum(part[kind] for part in parts) for kind in counts}
