# SPDX-License-Identifier: Apache-2.0
"""
Traced algorithms run on numbers of any precision: float, numpy.float32, numpy.longdouble.

A program is written out as straight-line Python, one statement an operation, in the order in
which the algorithm takes them, without any rewriting. Every number of the model is converted
once to the wanted kind, and so are the arguments. No intermediate has another precision, on any
version of numpy. A value that depends on the model alone (a product of two of its numbers) is
formed in double precision before.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

from flexdyn_ros.symbolic.graph import (
    CALL,
    CONSTANT,
    Expression,
    NEGATIVE,
    PRODUCT,
    QUOTIENT,
    SUM,
    SYMBOL,
)
from flexdyn_ros.symbolic.program import ordered
import numpy as np

Number = Callable[[float], Any]
Function = Callable[[Sequence[Any]], list]

_ROOT = '_evaluate'


def on_numbers(outputs: Sequence[Expression], symbols: Sequence[str], number: Number) -> Function:
    """
    Return a function of numbers that computes expressions.

    Args:
        outputs: The expressions, all of one graph.
        symbols: Names of the symbols, in the order of the function's arguments.
        number: Makes a number of the wanted kind out of a float: float or a numpy type.
            The arguments of the function must be of that kind already.

    Raises:
        ValueError: If an expression calls another function than sine and cosine.
    """
    places = {name: place for place, name in enumerate(symbols)}
    library = math if number is float else np
    space: dict[str, Any] = {'sin': library.sin, 'cos': library.cos}
    lines = [f'def {_ROOT}(x):']
    for node in ordered(outputs):
        name = f'n{node.number}'
        if node.kind == CONSTANT:
            space[name] = number(node.value)
        elif node.kind == SYMBOL:
            lines.append(f'    {name} = x[{places[node.value]}]')
        else:
            lines.append(f'    {name} = {_operation(node)}')
    lines.append(f'    return [{", ".join(f"n{node.number}" for node in outputs)}]')
    exec('\n'.join(lines), space)  # noqa: S102
    return space[_ROOT]


def _operation(node: Expression) -> str:
    """Return one operation as Python."""
    names = [f'n{operand.number}' for operand in node.operands]
    if node.kind == SUM:
        first, *rest = node.operands
        return f'n{first.number}' + ''.join(
            f' - n{part.operands[0].number}' if part.kind == NEGATIVE else f' + n{part.number}'
            for part in rest
        )
    if node.kind == PRODUCT:
        return ' * '.join(names)
    if node.kind == QUOTIENT:
        return ' / '.join(names)
    if node.kind == NEGATIVE:
        return f'-{names[0]}'
    if node.kind == CALL and node.value in ('sin', 'cos'):
        return f'{node.value}({names[0]})'
    raise ValueError(f'numbers of any precision have sine and cosine only, not {node.value}')
