# SPDX-License-Identifier: Apache-2.0
"""
C99 of a program: the result of `generate`, and the source that the backend "c" compiles.

A function in one translation unit, without macros, loops or dependencies but <math.h>. Sines and
cosines of angles that need no other call stand in one function, `sines_and_cosines`. Compiled
code replaces that function by a vectorised one, and the type of a number by vectors of samples
(`CFlavour`). All other statements, and their order, are the same. The C++ guard is in the header
that `c_files` writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Optional

from flexdyn_ros.codegen.export.chunks import (
    Angles,
    COSINES,
    gathered_angles,
    Part,
    Parts,
    SINES,
    split,
    Statement,
    TEMPORARY,
)
from flexdyn_ros.codegen.export.defined_functions import c_functions
from flexdyn_ros.codegen.export.schedule import labels, Schedule, schedule
from flexdyn_ros.codegen.export.writer import WIDTH, wrap, Writer
from flexdyn_ros.codegen.tracing.interface import identifier, Trace
from flexdyn_ros.symbolic.graph import CONSTANT, Expression, split_sign

INDENT = '    '
WORK = 'work'
ANGLES = 'angle'
GATHER = 'sines_and_cosines'
# Stands for a space at which a line may not break.
UNBROKEN = '\0'
# Numbers of the arrays that a function may keep on its stack: 14 KiB, and its frame below 16 KiB.
MOST_ON_STACK = 1792


@dataclass(frozen=True)
class CFlavour:
    """
    The differences between the forms of C of one program.

    Attributes:
        number: Type of a number.
        linkage: Before the function, "static " where only this translation unit calls it.
        part_linkage: Before its parts. A part that is inlined adds its temporaries to the frame of
            the function.
        gather: Function of (angles, sines, cosines, count) that takes the place of the calls in
            `sines_and_cosines`, or None.
        multiple: Sizes of the arrays of angles, sines and cosines are multiples of it.
        call: From a function's name to the name that is called.
        most_on_stack: Numbers of all arrays beyond which the work array is an argument.
        most_angles: Numbers of the angles' arrays beyond which these lie in it.
    """

    number: str = 'double'
    linkage: str = ''
    part_linkage: str = 'static '
    gather: Optional[str] = None
    multiple: int = 1
    call: Callable[[str], str] = str
    most_on_stack: int = MOST_ON_STACK
    most_angles: int = MOST_ON_STACK


EXPORTED = CFlavour()


@dataclass(frozen=True)
class CProgram:
    """
    A program laid out for C.

    Attributes:
        plan: Its temporaries in order.
        angles: Angles whose sines and cosines are taken together.
        parts: Its statements, in parts.
        flavour: Its differences from the exported C.
    """

    plan: Schedule
    angles: Angles
    parts: Parts
    flavour: CFlavour = EXPORTED

    @property
    def trace(self) -> Trace:
        """The program with its arguments and results."""
        return self.plan.trace

    @property
    def work_size(self) -> int:
        """Numbers of the work array that the caller provides, zero where it does not."""
        size, angles = len(self.parts.shared), 3 * self.angle_size
        if angles > self.flavour.most_angles:
            return size + angles
        return size if size + angles > self.flavour.most_on_stack else 0

    @property
    def angle_size(self) -> int:
        """Numbers of the array of angles."""
        multiple = self.flavour.multiple
        return -(-len(self.angles.arguments) // multiple) * multiple


def c_program(trace: Trace, flavour: CFlavour = EXPORTED, part_size: int = 0) -> CProgram:
    """Return a program laid out for C; `part_size` statements a part, by its size when zero."""
    plan = schedule(trace, store_calls=True)
    angles = gathered_angles(plan)
    return CProgram(plan, angles, split(plan, angles, part_size), flavour)


def emit_c(program: CProgram) -> str:
    """Return the source of a program."""
    flavour, trace = program.flavour, program.trace
    lines = [*comment(description(trace, program.work_size)), '', '#include <math.h>', '']
    lines += [*c_functions(program.plan), *_gather_function(program)]
    writer = _writer(program)
    several = len(program.parts.parts) > 1
    if several:
        for number, part in enumerate(program.parts.parts):
            head = signature(
                program, f'{flavour.part_linkage}void {_part_name(program, number)}', part
            )
            lines += [*head, '{', *_body(program, part, writer), '}', '']
    lines += [*signature(program, f'{flavour.linkage}void {trace.name}'), '{']
    lines += [*_unused(program), *_arrays(program, several), *_angles(program, writer)]
    if several:
        for number, part in enumerate(program.parts.parts):
            lines += _call(program, number, part)
    else:
        lines += _body(program, program.parts.parts[0], writer)
    return '\n'.join([*lines, '}', ''])


def description(trace: Trace, work_size: int = 0) -> list[str]:
    """Return the description of a function, with the meaning of all its arguments."""
    lines = [
        f'{trace.function} of robot {trace.robot}, generated by flexdyn_ros.', '',
        'SI units; vectors must not overlap. Arguments:',
    ]
    for each in trace.inputs:
        size = '' if each.scalar else f'[{len(each.entries)}]'
        lines += wrap('', f'{each.name}{size}: {"; ".join(each.entries)}', '', '  ', WIDTH - 6)
    lines.append('Results:')
    for name, output in zip(output_names(trace), trace.outputs):
        shape = ' x '.join(str(n) for n in output.shape) or '1'
        by_rows = ', by rows' if len(output.shape) == 2 else ''
        lines.append(f'  {name}[{output.size}]: {output.name} ({shape}{by_rows})')
    if work_size:
        lines.append(f'  {WORK}[{work_size}]: memory for numbers in between')
    return [*lines, *_naming(trace)]


def _naming(trace: Trace) -> list[str]:
    """Return the rule of names of temporaries, with the names that need an explanation."""
    short = [
        f'{label} is {name}' for label, name in zip(labels(trace), trace.coordinates)
        if label != identifier(name)
    ]
    text = 'Temporaries are named after the last coordinate that they depend on, s_ and c_ are '
    text += 'the sine and cosine of a joint angle'
    return wrap('', '; '.join([text, *short]), '.', '', WIDTH - 6)


def comment(lines: list[str]) -> list[str]:
    """Return lines as a C comment."""
    return ['/*', *(f' * {_plain(line)}'.rstrip() for line in lines), ' */']


def output_names(trace: Trace) -> list[str]:
    """Return the arguments that receive the results: `out`, or one named after each result."""
    if len(trace.outputs) == 1:
        return ['out']
    return [f'out_{output.name}'.replace(':', '_').lower() for output in trace.outputs]


def signature(program: CProgram, start: str, part: Part | None = None) -> list[str]:
    """Return the head of a function, or of a part with only the arguments that it needs."""
    taken = [f'{kind}{name}'.replace(' ', UNBROKEN) for name, kind in _arguments(program, part)]
    whole = ', '.join(taken) or 'void'
    return [line.replace(UNBROKEN, ' ') for line in wrap(f'{start}(', whole, ')', '', WIDTH)]


def _arguments(program: CProgram, part: Part | None) -> list[tuple[str, str]]:
    """Return names and types of the arguments of a function, or of a part of it."""
    trace, number = program.trace, program.flavour.number
    read, written = f'const {number} *', f'{number} *restrict '
    found = [
        (each.name, f'{number} ' if each.scalar else read) for each in trace.inputs
        if part is None or each.name in part.inputs
    ]
    found += [(name, read) for name in (SINES, COSINES) if part and name in part.inputs]
    found += [
        (name, written) for k, name in enumerate(output_names(trace))
        if part is None or k in part.outputs
    ]
    shares = program.work_size > 0 if part is None else part.shares
    return [*found, (WORK, written)] if shares else found


def _plain(text: str) -> str:
    return text.replace('*/', '* /').replace('/*', '/ *').replace('\\', '/')


def _part_name(program: CProgram, number: int) -> str:
    return f'{program.trace.name}_part{number + 1}'


def _writer(program: CProgram) -> Writer:
    """Return the writer of expressions; parts read sines and cosines out of their arrays."""
    names = dict(program.plan.names)
    if len(program.parts.parts) > 1:
        names.update(program.angles.places)
    names.update({node: f'{WORK}[{k}]' for node, k in program.parts.shared.items()})
    return Writer(names, str, repr, program.flavour.call)


def _unused(program: CProgram) -> list[str]:
    """Return statements that prevent warnings of compilers about unused arguments."""
    used = {name for part in program.parts.parts for name in part.inputs} | program.angles.inputs
    names = [each.name for each in program.trace.inputs]
    names += [
        name for name, each in zip(output_names(program.trace), program.trace.outputs)
        if not each.size
    ]
    return [f'{INDENT}(void){name};' for name in names if name not in used]


def _arrays(program: CProgram, several: bool) -> list[str]:
    """Return the declarations of the arrays of a function."""
    flavour, size, count = program.flavour, len(program.parts.shared), program.angle_size
    if 3 * count > flavour.most_angles:
        places = ', *const '.join(
            f'{name} = {WORK} + {size + k * count}'
            for k, name in enumerate((ANGLES, SINES, COSINES))
        )
        return [f'{INDENT}{flavour.number} *const {places};', '']
    zeros = ' = {0}' if count > len(program.angles.arguments) else ''
    names = [f'{ANGLES}[{count}]{zeros}', f'{SINES}[{count}]', f'{COSINES}[{count}]']
    names = names if count else []
    if several and size and not program.work_size:
        names.append(f'{WORK}[{size}]')
    return [f'{INDENT}{flavour.number} {", ".join(names)};', ''] if names else []


def _gather_function(program: CProgram) -> list[str]:
    """Return the function of all sines and cosines that need no other call."""
    angles, number = program.angles, program.flavour.number
    if not angles.arguments:
        return []
    lines = [f'/* Sines and cosines of {len(angles.arguments)} angles. */']
    lines += wrap(
        f'static void {GATHER}(', f'const {number} *{ANGLES}, {number} *{SINES}, '
        f'{number} *{COSINES}', ')', '', WIDTH,
    )
    if program.flavour.gather is not None:
        given = f'{ANGLES}, {SINES}, {COSINES}, {len(angles.arguments)}'
        return [*lines, '{', f'{INDENT}{program.flavour.gather}({given});', '}', '']
    calls = [
        f'{INDENT}{place} = {node.value}({ANGLES}[{place.partition("[")[2]});'
        for node, place in angles.places.items()
    ]
    return [*lines, '{', *calls, '}', '']


def _angles(program: CProgram, writer: Writer) -> list[str]:
    """Return the statements up to the call for sines and cosines."""
    angles = program.angles
    if not angles.arguments:
        return []
    lines = [line for node in angles.early for line in _assigned(program, node, writer)]
    for k, argument in enumerate(angles.arguments):
        lines += wrap(f'{ANGLES}[{k}] = ', writer.text(argument), ';', INDENT, WIDTH)
    if 3 * program.angle_size > program.flavour.most_angles:
        rest = range(len(angles.arguments), program.angle_size)
        lines += [f'{INDENT}{ANGLES}[{k}] = 0.0;' for k in rest]
    return [*lines, f'{INDENT}{GATHER}({ANGLES}, {SINES}, {COSINES});', '']


def _call(program: CProgram, number: int, part: Part) -> list[str]:
    given = ', '.join(name for name, _ in _arguments(program, part))
    return wrap(f'{_part_name(program, number)}(', given, ');', INDENT, WIDTH)


def _body(program: CProgram, part: Part, writer: Writer) -> list[str]:
    lines: list[str] = []
    for statement in part.statements:
        if statement.output != TEMPORARY:
            lines += _output(program, statement, writer)
        else:
            lines += _assigned(program, statement.node, writer)
    return lines


def _assigned(program: CProgram, node: Expression, writer: Writer) -> list[str]:
    """Return the statement that computes a temporary."""
    name = writer.names[node]
    shared = node in program.parts.shared
    start = f'{name} = ' if shared else f'const {program.flavour.number} {name} = '
    return wrap(
        start, program.angles.places.get(node) or writer.definition(node), ';', INDENT, WIDTH
    )


def _output(program: CProgram, statement: Statement, writer: Writer) -> list[str]:
    output = program.trace.outputs[statement.output]
    name = output_names(program.trace)[statement.output]
    lines = []
    width = output.shape[1] if len(output.shape) == 2 else 1
    if width == 1:
        lines.append(f'{INDENT}/* {_plain(output.entries[statement.entry])} */')
    elif statement.entry % width == 0:
        first = output.entries[statement.entry]
        lines.append(f'{INDENT}/* row {statement.entry // width + 1}, from {_plain(first)} */')
    text = writer.text(statement.node)
    if program.flavour.number != 'double' and split_sign(statement.node)[1].kind == CONSTANT:
        text = f'({program.flavour.number}){{0}} + ({text})'  # C has no vector constants
    return lines + wrap(f'{name}[{statement.entry}] = ', text, ';', INDENT, WIDTH)
