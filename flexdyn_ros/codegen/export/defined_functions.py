# SPDX-License-Identifier: Apache-2.0
"""
Functions that generated code defines: Stumpff's functions and piecewise polynomials.

Stumpff's functions are a series near zero and a closed form beyond, see `dynamics.scalar.stumpff`.
The series is cut where the next term is below half a unit in the last place. Piecewise polynomials
are comparisons of halves, then one polynomial. A table of n points takes log2(n) comparisons,
which counts leave out. It takes the operations of its costliest piece: four additions and three
multiplications for a cubic.
"""

from __future__ import annotations

from functools import partial
from math import factorial
from typing import Callable, Sequence

from flexdyn_ros.codegen.export.schedule import Schedule
from flexdyn_ros.codegen.export.writer import bracketed, GO_ON, WIDTH, wrap
from flexdyn_ros.dynamics.scalar import SERIES_LIMIT, Spline, stumpff_order

_LAST_PLACE = 2.0**-54
# From a number to its text.
Number = Callable[[float], str]
POLYNOMIAL = 'polynomial'


def stumpff_orders(functions: tuple[str, ...]) -> list[int]:
    """Return the orders among the functions that a program calls."""
    return [order for order in map(stumpff_order, functions) if order is not None]


def series_coefficients(order: int) -> list[float]:
    """Return 1 / (2 j + order)! for the terms that the series below SERIES_LIMIT takes."""
    count = 1
    while factorial(order) / factorial(2 * count + order) * SERIES_LIMIT**count > _LAST_PLACE:
        count += 1
    return [1.0 / factorial(2 * j + order) for j in range(count)]


def series(order: int, number: Number) -> str:
    """
    Return sum_j (-u)^j / (2 j + order)! in Horner's form, in terms of u.

    Args:
        order: Of Stumpff's function, `order` in the sum.
        number: From a number to its text.
    """
    *lower, last = map(number, series_coefficients(order))
    text = last
    for j, coefficient in reversed(list(enumerate(lower))):
        inner = text if j == len(lower) - 1 else f'({text})'
        text = f'{coefficient} - u*{inner}'
    return text


def closed_form(order: int, number: Number, sqrt: str, sin: str, cos: str) -> str:
    """Return the closed form in terms of u, with functions called by these names."""
    value = f'{cos}({sqrt}(u))' if order % 2 == 0 else f'{sin}({sqrt}(u))/{sqrt}(u)'
    for k in range(order % 2, order, 2):
        value = f'({number(1.0 / factorial(k))} - {value})/u'
    return value


def c_functions(plan: Schedule) -> list[str]:
    """Return the definitions of the functions that a program calls and <math.h> lacks."""
    lines: list[str] = []
    for order in stumpff_orders(plan.functions):
        lines += [*_c_stumpff(order), '']
    return [*lines, *_c_tables(plan)]


def _c_stumpff(order: int) -> list[str]:
    value = f'u < {SERIES_LIMIT!r} ? {series(order, repr)} : '
    value += closed_form(order, repr, 'sqrt', 'sin', 'cos')
    return [
        f"/* Stumpff's function c_{order}(u), u >= 0. */",
        f'static double stumpff{order}(double u)',
        '{',
        *wrap('return ', value, ';', '    ', WIDTH),
        '}',
    ]


def tables_of(plan: Schedule) -> list[tuple[str, Spline]]:
    """Return the piecewise polynomials that a program calls, with the names of the functions."""
    tables = plan.trace.program.graph.tables
    return [(name, tables[name]) for name in plan.functions if name in tables]


def _c_tables(plan: Schedule) -> list[str]:
    """Return the static functions of a program's tables in C."""
    tables, lines = tables_of(plan), []
    for count in sorted({len(piece) for _, table in tables for piece in table.pieces}):
        if count > 2:
            names = [f'c{k}' for k in range(count)]
            given = ', '.join(f'double {name}' for name in ('s', *names))
            lines += [
                f'static double {POLYNOMIAL}{count - 1}({given})', '{',
                f'    return {_horner(names)};', '}', '',
            ]
    for name, table in tables:
        value = _choice(table, 0, len(table.pieces) - 1)
        lines += [
            f'/* {_described(table)} */', f'static double {name}(double x)', '{',
            *wrap('return ', value, ';', '    ', WIDTH), '}', '',
        ]
    return lines


def python_functions(plan: Schedule) -> list[str]:
    """Return the definitions in Python of the functions that a program calls and math lacks."""
    lines: list[str] = []
    for order in stumpff_orders(plan.functions):
        lines += ['', *_python_stumpff(order), '']
    for name, table in tables_of(plan):
        lines += ['', f'def {name}(x):', f'    """{_described(table)}"""']
        lines += _branches(
            table, range(len(table.pieces)), '    ', ('    ', 'if x < {}:', 'else:'), repr,
            partial(bracketed, 'return '),
        )
        lines.append('')
    return lines


def fortran_functions(plan: Schedule, kind: str, number: Number) -> list[str]:
    """Return the internal functions that a program calls in Fortran, of numbers of a kind."""
    lines: list[str] = []
    for order in stumpff_orders(plan.functions):
        lines += _fortran_stumpff(order, kind, number)
    words = '  ', 'if (x < {}) then', 'else', 'end if'
    for name, table in tables_of(plan):
        def assigned(value: str, indent: str, name: str = name) -> list[str]:
            return wrap(f'{name} = ', value, '', indent, WIDTH, GO_ON)

        lines += [
            f'! {_described(table)}', f'pure {kind} function {name}(x)',
            f'  {kind}, intent(in) :: x', f'  {kind} :: s',
            *_branches(table, range(len(table.pieces)), '  ', words, number, assigned),
            f'end function {name}',
        ]
    return lines


def _described(table: Spline) -> str:
    degree = max(len(piece) for piece in table.pieces) - 1
    return f'A piecewise polynomial of degree {degree} with {len(table.knots)} knots.'


def _choice(table: Spline, low: int, high: int) -> str:
    """Return the pieces from low to high as one conditional expression in C."""
    if low == high:
        return _piece(table, low)
    middle = (low + high) // 2
    below, above = _choice(table, low, middle), _choice(table, middle + 1, high)
    if middle > low:
        below = f'({below})'
    return f'x < {table.knots[middle]!r} ? {below} : {above}'


def _piece(table: Spline, place: int) -> str:
    piece, shifted = table.pieces[place], _shifted(table, place, repr)
    if len(piece) > 2:
        return f'{POLYNOMIAL}{len(piece) - 1}({", ".join((shifted, *map(repr, piece)))})'
    if len(piece) == 2:
        shifted = shifted if shifted == 'x' else f'({shifted})'
        return f'{piece[0]!r} + {piece[1]!r}*{shifted}'
    return repr(piece[0] if piece else 0.0)


def _shifted(table: Spline, place: int, number: Number) -> str:
    """Return x less the origin of a piece."""
    origin = table.origin(place)
    if origin == 0.0:
        return 'x'
    return f'x + {number(-origin)}' if origin < 0.0 else f'x - {number(origin)}'


def _branches(
    table: Spline, pieces: range, indent: str, words: Sequence[str], number: Number,
    written: Callable[[str, str], list[str]],
) -> list[str]:
    """
    Return pieces as nested conditions, in Python and Fortran.

    Args:
        table: The polynomials.
        pieces: Places of the pieces.
        indent: Before every line.
        words: One more level of indentation, the condition, "else", and the end where it has one.
        number: From a number to its text.
        written: From a polynomial in s, and the indentation, to the lines that give it.
    """
    if len(pieces) == 1:
        place = pieces[0]
        value = _horner([number(c) for c in table.pieces[place]] or [number(0.0)])
        return [f'{indent}s = {_shifted(table, place, number)}', *written(value, indent)]
    middle = (len(pieces) + 1) // 2
    step, condition, otherwise, *end = words
    below, above = (
        _branches(table, part, indent + step, words, number, written)
        for part in (pieces[:middle], pieces[middle:])
    )
    knot = number(table.knots[pieces[middle] - 1])
    lines = [condition.format(knot), otherwise, *end]
    head, *rest = [indent + line for line in lines]
    return [head, *below, rest[0], *above, *rest[1:]]


def _horner(coefficients: list[str]) -> str:
    """Return a polynomial in s by Horner's rule from the texts of rising coefficients."""
    text = coefficients[-1]
    if len(coefficients) > 1 and text.startswith('-'):
        text = f'({text})'
    for place in range(len(coefficients) - 2, -1, -1):
        inner = text if place == len(coefficients) - 2 else f'({text})'
        text = f'{coefficients[place]} + s*{inner}'
    return text


def _python_stumpff(order: int) -> list[str]:
    """Return the definition of one of Stumpff's functions."""
    value = closed_form(order, repr, 'math.sqrt', 'math.sin', 'math.cos')
    return [
        f'def stumpff{order}(u):',
        f"    \"\"\"Return Stumpff's function c_{order}(u), u >= 0.\"\"\"",
        f'    if u < {SERIES_LIMIT!r}:',
        '        return (',
        *wrap('', series(order, repr), '', '            ', WIDTH),
        '        )',
        f'    return {value}',
    ]


def _fortran_stumpff(order: int, kind: str, number: Number) -> list[str]:
    """Return the definition of one of Stumpff's functions as an internal function."""
    name = f'stumpff{order}'
    far = closed_form(order, number, 'sqrt', 'sin', 'cos')
    return [
        f'pure {kind} function {name}(u)',
        f'  {kind}, intent(in) :: u',
        f'  if (u < {number(SERIES_LIMIT)}) then',
        *wrap(f'{name} = ', series(order, number), '', '    ', WIDTH, GO_ON),
        '  else',
        *wrap(f'{name} = ', far, '', '    ', WIDTH, GO_ON),
        '  end if',
        f'end function {name}',
    ]
