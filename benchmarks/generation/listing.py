# SPDX-License-Identifier: Apache-2.0
"""Prints a program as the assignments that it stands for."""

from __future__ import annotations

from typing import Sequence

from flexdyn_ros.symbolic.graph import (
    CALL,
    CONSTANT,
    Expression,
    NEGATIVE,
    PRODUCT,
    split_sign,
    SUM,
    SYMBOL,
)
from flexdyn_ros.symbolic.program import ordered, Program


def listing(program: Program, names: Sequence[str]) -> str:
    """
    Return the program as text: shared nodes as Y1, Y2, ..., then the outputs by name.

    Args:
        program: The program; statements that no output needs are listed as unused.
        names: Names of the outputs.
    """
    roots = program.outputs
    dead = [node for node in program.statements if node not in set(ordered(roots))]
    ends = _ends(dead)
    uses = program.uses()
    known: dict[Expression, str] = {}
    lines = []
    for node in program.needed():
        if node.kind in (SUM, PRODUCT, CALL) and uses.get(node, 0) > 1:
            text = _text(node, known)
            known[node] = f'Y{len(known) + 1}'
            lines.append(f'{known[node]} = {text}')
    lines += [f'{name} = {_text(root, known)}' for name, root in zip(names, roots)]
    lines += [f'unused = {_text(node, known)}' for node in ends]
    return '\n'.join(lines)


def _ends(dead: list[Expression]) -> list[Expression]:
    """Return the unused results that no other unused one uses."""
    used = {operand for node in dead for operand in node.operands}
    return [n for n in dead if n not in used and n.kind in (SUM, PRODUCT)]


def _text(node: Expression, known: dict[Expression, str]) -> str:
    if node.kind == NEGATIVE:
        return '-' + _factor(node.operands[0], known)
    if node in known:
        return known[node]
    if node.kind == CONSTANT:
        return f'{node.value:.6g}'
    if node.kind == SYMBOL:
        return str(node.value)
    if node.kind == CALL:
        return f'{node.value}({_text(node.operands[0], known)})'
    if node.kind == PRODUCT:
        return ' '.join(_factor(operand, known) for operand in node.operands)
    if node.kind == SUM:
        return _sum(node, known)
    return ' / '.join(_factor(operand, known) for operand in node.operands)


def _sum(node: Expression, known: dict[Expression, str]) -> str:
    parts = []
    for operand in node.operands:
        negative, inner = split_sign(operand)
        sign = ' - ' if negative else ' + '
        parts.append(sign + (_factor(inner, known) if negative else _text(inner, known)))
    text = ''.join(parts)
    return text[3:] if text.startswith(' + ') else '-' + text[3:]


def _factor(node: Expression, known: dict[Expression, str]) -> str:
    text = _text(node, known)
    return f'({text})' if node.kind == SUM and node not in known else text
