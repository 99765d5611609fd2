# SPDX-License-Identifier: Apache-2.0
"""The files beside generated C: a header for C and C++, an example main, a CMake snippet."""

from __future__ import annotations

from flexdyn_ros.codegen.export.c import (
    comment,
    CProgram,
    description,
    output_names,
    signature,
    WORK,
)
from flexdyn_ros.codegen.tracing.interface import Trace


def c_files(program: CProgram) -> dict[str, str]:
    """Return file names and texts."""
    trace = program.trace
    return {
        f'{trace.name}.h': _header(program),
        f'{trace.name}_example.c': _example(program),
        f'{trace.name}.cmake': _cmake(trace),
    }


def _header(program: CProgram) -> str:
    trace = program.trace
    guard = f'{trace.name.upper()}_H'
    *head, last = [
        line.replace('*restrict ', '*') for line in signature(program, f'void {trace.name}')
    ]
    return '\n'.join([
        f'#ifndef {guard}', f'#define {guard}', '',
        '#ifdef __cplusplus', 'extern "C" {', '#endif', '',
        *comment(description(trace, program.work_size)),
        *head, f'{last};', '',
        '#ifdef __cplusplus', '}', '#endif', '',
        f'#endif  /* {guard} */', '',
    ])


def _example(program: CProgram) -> str:
    """Return a main that calls the function at zero (quaternions at identity) and prints."""
    trace = program.trace
    lines = [f'/* Calls {trace.name} once and prints its results. */', '#include <stdio.h>', '',
             f'#include "{trace.name}.h"', '', 'int main(void)', '{']
    arguments = []
    for each in trace.inputs:
        values = ', '.join('1.0' if entry.endswith(' quaternion w') else '0.0'
                           for entry in each.entries)
        size = '' if each.scalar else f'[{max(len(each.entries), 1)}]'
        value = '0.0' if each.scalar else f'{{{values or "0.0"}}}'
        lines.append(f'    double {each.name}{size} = {value};')
        arguments.append(each.name)
    names = output_names(trace)
    for name, output in zip(names, trace.outputs):
        lines.append(f'    double {name}[{max(output.size, 1)}];')
    if program.work_size:
        lines.append(f'    static double {WORK}[{program.work_size}];')
        names.append(WORK)
    lines += ['    int k;', '', f'    {trace.name}({", ".join([*arguments, *names])});']
    for name, output in zip(output_names(trace), trace.outputs):
        lines += [
            f'    for (k = 0; k < {output.size}; ++k) {{',
            f'        printf("{output.name}[%d] = %.17g\\n", k, {name}[k]);',
            '    }',
        ]
    return '\n'.join([*lines, '    return 0;', '}', ''])


def _cmake(trace: Trace) -> str:
    name = trace.name
    return '\n'.join([
        f'# include({name}.cmake), then target_link_libraries(<your target> {name})',
        f'add_library({name} STATIC ${{CMAKE_CURRENT_LIST_DIR}}/{name}.c)',
        f'target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_LIST_DIR}})',
        f'set_target_properties({name} PROPERTIES C_STANDARD 99 POSITION_INDEPENDENT_CODE ON)',
        'if(UNIX)',
        f'  target_link_libraries({name} PUBLIC m)',
        'endif()', '',
    ])
