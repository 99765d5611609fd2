# SPDX-License-Identifier: Apache-2.0
"""
Free-form Fortran: a subroutine that needs nothing else.

Matrices are arrays with two subscripts, row first.
"""

from __future__ import annotations

import re
import textwrap

from flexdyn_ros.codegen.export.c import description, output_names, WORK
from flexdyn_ros.codegen.export.chunks import Part, Parts, split, Statement, TEMPORARY
from flexdyn_ros.codegen.export.defined_functions import fortran_functions
from flexdyn_ros.codegen.export.schedule import Schedule
from flexdyn_ros.codegen.export.writer import GO_ON, WIDTH, wrap, Writer
from flexdyn_ros.codegen.tracing.interface import Output

INDENT = '  '
TYPE = 'double precision'
# Names in one declaration: compilers limit the number of continuation lines.
DECLARED = 60


def emit_fortran(plan: Schedule, parts: Parts | None = None) -> str:
    """
    Return the source of a program.

    Args:
        plan: The program in writing order.
        parts: Its parts; chosen by its size when None.
    """
    trace = plan.trace
    parts = split(plan) if parts is None else parts
    names = {**plan.names, **{node: f'{WORK}({k + 1})' for node, k in parts.shared.items()}}
    writer = Writer(names, _symbol, _number)
    arguments = ', '.join([*(each.name for each in trace.inputs), *output_names(trace)])
    lines = [part for line in _description(plan) for part in _comment(line)]
    lines += wrap(f'subroutine {trace.name}(', arguments, ')', '', WIDTH, GO_ON)
    lines += [f'{INDENT}implicit none', *_arguments(plan)]
    several = len(parts.parts) > 1
    if several:
        lines.append(f'{INDENT}{TYPE} :: {WORK}({max(len(parts.shared), 1)})')
        lines += [f'{INDENT}call part{k + 1}()' for k in range(len(parts.parts))]
    else:
        lines += _body(plan, parts.parts[0], writer, parts)
    defined = fortran_functions(plan, TYPE, _number)
    if several or defined:
        lines.append('contains')
    if several:
        for number, part in enumerate(parts.parts):
            body = _body(plan, part, writer, parts)
            lines += [f'subroutine part{number + 1}()', *body, f'end subroutine part{number + 1}']
    lines += defined
    return '\n'.join([*lines, f'end subroutine {trace.name}', ''])


def _description(plan: Schedule) -> list[str]:
    lines = []
    for line in description(plan.trace):
        lines.append(re.sub(r'\[(\d+)\]:', r'(\1):', line).replace(', by rows', ''))
    return lines


def _comment(text: str, indent: str = '') -> list[str]:
    """Return a comment in lines of at most WIDTH, as Fortran limits comments too."""
    start = f'{indent}! '
    return textwrap.wrap(
        text, WIDTH, initial_indent=start, subsequent_indent=start, break_on_hyphens=False,
    ) or [start.rstrip()]


def _symbol(name: str) -> str:
    match = re.fullmatch(r'(\w+)\[(\d+)\]', name)
    return f'{match[1]}({int(match[2]) + 1})' if match else name


def _number(value: float) -> str:
    text = repr(value)
    return text.replace('e', 'd') if 'e' in text else f'{text}d0'


def _arguments(plan: Schedule) -> list[str]:
    lines = []
    for each in plan.trace.inputs:
        size = '' if each.scalar else f'({len(each.entries)})'
        lines.append(f'{INDENT}{TYPE}, intent(in) :: {each.name}{size}')
    for name, output in zip(output_names(plan.trace), plan.trace.outputs):
        shape = ', '.join(str(n) for n in output.shape) or '1'
        lines.append(f'{INDENT}{TYPE}, intent(out) :: {name}({shape})')
    return lines


def _body(plan: Schedule, part: Part, writer: Writer, parts: Parts) -> list[str]:
    """Return the declarations and statements of a part."""
    lines: list[str] = []
    local = [
        writer.names[s.node] for s in part.statements
        if s.output == TEMPORARY and s.node not in parts.shared
    ]
    for k in range(0, len(local), DECLARED):
        names = ', '.join(local[k : k + DECLARED])
        lines += wrap(f'{TYPE} :: ', names, '', INDENT, WIDTH, GO_ON)
    for statement in part.statements:
        if statement.output != TEMPORARY:
            lines += _output(plan, statement, writer)
        else:
            start = f'{writer.names[statement.node]} = '
            lines += wrap(start, writer.definition(statement.node), '', INDENT, WIDTH, GO_ON)
    return lines


def _output(plan: Schedule, statement: Statement, writer: Writer) -> list[str]:
    output = plan.trace.outputs[statement.output]
    name = output_names(plan.trace)[statement.output]
    start = f'{name}({_subscript(output, statement.entry)}) = '
    return [
        *_comment(output.entries[statement.entry], INDENT),
        *wrap(start, writer.text(statement.node), '', INDENT, WIDTH, GO_ON),
    ]


def _subscript(output: Output, entry: int) -> str:
    if len(output.shape) == 2:
        row, column = divmod(entry, output.shape[1])
        return f'{row + 1}, {column + 1}'
    return str(entry + 1)
