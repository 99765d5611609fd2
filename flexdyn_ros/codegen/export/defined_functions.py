# SPDX-License-Identifier: Apache-2.0
"""
Functions that generated code defines: Stumpff's functions and piecewise polynomials.

Stumpff's functions are a series near zero and a closed form beyond, see `dynamics.scalar.stumpff`;
the series is cut where the next term is below half a unit in the last place. Piecewise polynomials
are comparisons of halves, then one polynomial. A table of n points takes log2(n) comparisons,
which counts leave out, and the operations of its costliest piece: four additions and three
multiplications for a cubic.
"""

from __future__ import annotations

from math import factorial
from typing import Callable

from flexdyn_ros.codegen.export.schedule import Schedule
from flexdyn_ros.codegen.export.writer import GO_ON, WIDTH, wrap
from flexdyn_ros.dynamics.scalar import SERIES_LIMIT, Spline, stumpff_order

_LAST_PLACE = 2.0**-54
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


def series(order: int, number) -> str:
    """
    Return sum_j (-u)^j / (2 j + order)! in Horner's form, in terms of u.

    Args:
        order: Which function.
        number: From a number to its text.
    """
    *lower, last = map(number, series_coefficients(order))
    text = last
    for j, coefficient in reversed(list(enumerate(lower))):
        inner = text if j == len(lower) - 1 else f'({text})'
        text = f'{coefficient} - u*{inner}'
    return text


def closed_form(order: int, number, sqrt: str, sin: str, cos: str) -> str:
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
        value = _choice(table, 0, len(table.pieces) - 1, repr)
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
        lines += _python_branch(table, 0, len(table.pieces) - 1, '    ')
        lines.append('')
    return lines


def fortran_functions(plan: Schedule, kind: str, number: Callable[[float], str]) -> list[str]:
    """Return the internal functions that a program calls in Fortran, of numbers of a kind."""
    lines: list[str] = []
    for order in stumpff_orders(plan.functions):
        lines += _fortran_stumpff(order, kind, number)
    for name, table in tables_of(plan):
        lines += [
            f'! {_described(table)}', f'pure {kind} function {name}(x)',
            f'  {kind}, intent(in) :: x', f'  {kind} :: s',
            *_fortran_branch(name, table, 0, len(table.pieces) - 1, '  ', number),
            f'end function {name}',
        ]
    return lines


def _described(table: Spline) -> str:
    degree = max(len(piece) for piece in table.pieces) - 1
    return f'A piecewise polynomial of degree {degree} with {len(table.knots)} knots.'


def _choice(
    table: Spline, low: int, high: int, number: Callable[[float], str]
) -> str:
    """Return the pieces from low to high as one conditional expression in C."""
    if low == high:
        return _piece(table, low, number)
    middle = (low + high) // 2
    below = _choice(table, low, middle, number)
    above = _choice(table, middle + 1, high, number)
    if middle > low:
        below = f'({below})'
    return f'x < {number(table.knots[middle])} ? {below} : {above}'


def _piece(table: Spline, place: int, number: Callable[[float], str]) -> str:
    piece, shifted = table.pieces[place], _shifted(table, place, number)
    if len(piece) > 2:
        return f'{POLYNOMIAL}{len(piece) - 1}({", ".join((shifted, *map(number, piece)))})'
    if len(piece) == 2:
        shifted = shifted if shifted == 'x' else f'({shifted})'
        return f'{number(piece[0])} + {number(piece[1])}*{shifted}'
    return number(piece[0] if piece else 0.0)


def _shifted(table: Spline, place: int, number: Callable[[float], str]) -> str:
    """Return x less the origin of a piece."""
    origin = table.origin(place)
    if origin == 0.0:
        return 'x'
    return f'x + {number(-origin)}' if origin < 0.0 else f'x - {number(origin)}'


def _python_branch(table: Spline, low: int, high: int, indent: str) -> list[str]:
    if low == high:
        value = _horner([repr(c) for c in table.pieces[low]] or ['0.0'])
        shift, plain = f'{indent}s = {_shifted(table, low, repr)}', f'{indent}return {value}'
        if len(plain) <= WIDTH:
            return [shift, plain]
        wrapped = wrap('', value, '', indent + '    ', WIDTH)
        return [shift, f'{indent}return (', *wrapped, f'{indent})']
    middle = (low + high) // 2
    return [
        f'{indent}if x < {table.knots[middle]!r}:',
        *_python_branch(table, low, middle, indent + '    '),
        *_python_branch(table, middle + 1, high, indent),
    ]


def _fortran_branch(
    name: str,
    table: Spline,
    low: int,
    high: int,
    indent: str,
    number: Callable[[float], str],
) -> list[str]:
    """Return the pieces from low to high as nested conditions in Fortran."""
    if low == high:
        value = _horner([number(c) for c in table.pieces[low]] or [number(0.0)])
        shift = f'{indent}s = {_shifted(table, low, number)}'
        return [shift, *wrap(f'{name} = ', value, '', indent, WIDTH, GO_ON)]
    middle = (low + high) // 2
    return [
        f'{indent}if (x < {number(table.knots[middle])}) then',
        *_fortran_branch(name, table, low, middle, indent + '  ', number),
        f'{indent}else',
        *_fortran_branch(name, table, middle + 1, high, indent + '  ', number),
        f'{indent}end if',
    ]


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


def _fortran_stumpff(order: int, kind: str, number: Callable[[float], str]) -> list[str]:
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
