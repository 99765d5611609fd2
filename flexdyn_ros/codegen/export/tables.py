# SPDX-License-Identifier: Apache-2.0
"""
Piecewise polynomials as functions of generated code: comparisons of halves, then one polynomial.

A table of n points takes log2(n) comparisons, which counts leave out, and the operations of its
costliest piece: four additions and three multiplications for a cubic.
"""

from __future__ import annotations

from typing import Callable

from flexdyn_ros.codegen.export.schedule import Schedule
from flexdyn_ros.codegen.export.writer import wrap
from flexdyn_ros.dynamics.scalar import Spline

POLYNOMIAL = 'polynomial'
WIDTH = 99
GO_ON = ' &'


def tables_of(plan: Schedule) -> list[tuple[str, Spline]]:
    """Return the piecewise polynomials that a program calls, with the names of the functions."""
    tables = plan.trace.program.graph.tables
    return [(name, tables[name]) for name in plan.functions if name in tables]


def c_tables(plan: Schedule) -> list[str]:
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


def python_tables(plan: Schedule) -> list[str]:
    """Return the functions of a program's tables in Python."""
    lines: list[str] = []
    for name, table in tables_of(plan):
        lines += ['', f'def {name}(x):', f'    """{_described(table)}"""']
        lines += _python_branch(table, 0, len(table.pieces) - 1, '    ')
        lines.append('')
    return lines


def fortran_tables(plan: Schedule, kind: str, number: Callable[[float], str]) -> list[str]:
    """Return the internal functions of a program's tables in Fortran, of numbers of a kind."""
    lines: list[str] = []
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
