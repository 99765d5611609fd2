# SPDX-License-Identifier: Apache-2.0
"""C of the loop over samples: inputs into lanes, checks, results out of lanes."""

from __future__ import annotations

from typing import Sequence

from flexdyn_ros.codegen.tracing.interface import Trace

BATCH_SYMBOL = 'flexdyn_batch'
PIVOTS = 'pivots'
# A pivot this far below the largest one may be round-off: the reference backend then decides.
DOUBTFUL_PIVOT = 1e-10

STORE = """
/* Samples past the last one are left out. */
static inline void store(const lanes *y, int size, double *out, long i, long stop)
{
    if (i + LANES <= stop) {
        double *row = out + i * size;
        for (int j = 0; j < size; ++j) {
            const lanes value = y[j];
            UNROLL
            for (int k = 0; k < LANES; ++k)
                row[k * size + j] = value[k];
        }
        return;
    }
    for (long k = 0; i + k < stop; ++k)
        for (int j = 0; j < size; ++j)
            out[(i + k) * size + j] = y[j][k];
}
"""


def input_sizes(trace: Trace) -> tuple[int, ...]:
    """Return how many numbers each input has."""
    return tuple(len(each.symbols) for each in trace.inputs)


def batch_loop(trace: Trace, quaternions: Sequence[int]) -> list[str]:
    """Return the function over samples; see `emit_kernel.emit_batch`."""
    total = sum(input_sizes(trace))
    results = [output for output in trace.outputs if output.name != PIVOTS]
    count, pivots = sum(o.size for o in results), sum(o.size for o in trace.outputs)
    lines = [
        f'void {BATCH_SYMBOL}(long start, long stop, const double *const *in,',
        '                   const long *strides, double *const *out, unsigned char *flags)', '{',
        '    for (long i = start; i < stop; i += LANES) {',
        f'        lanes x[{max(total, 1)}], y[{max(pivots, 1)}];',
        '        lanes_mask bad = {0}, doubtful = {0};',
        '        const double *row[LANES];', '        long row_of[LANES];', '',
        '        for (int k = 0; k < LANES; ++k)',
        '            row_of[k] = i + k < stop ? i + k : stop - 1;',
    ]
    place = 0
    for number, size in enumerate(input_sizes(trace)):
        lines += [
            '        for (int k = 0; k < LANES; ++k)',
            f'            row[k] = in[{number}] + strides[{number}] * row_of[k];',
            f'        for (int j = 0; j < {size}; ++j) {{',
            '            lanes value;',
            '            UNROLL', '            for (int k = 0; k < LANES; ++k)',
            '                value[k] = row[k][j];',
            '            bad |= (lanes_mask)(value - value);',
            f'            x[{place} + j] = value;',
            '        }',
        ]
        place += size
    for first in quaternions:
        squares = ' + '.join(f'x[{k}] * x[{k}]' for k in range(first, first + 4))
        lines += [
            '        {', f'            const lanes length = lanes_sqrt({squares});',
            '            bad |= ~((lanes_mask)(length > 0.5) & (lanes_mask)(length < 2.0));',
            f'            for (int j = {first}; j < {first + 4}; ++j)',
            '                x[j] = x[j] / length;', '        }',
        ]
    lines += [
        '        evaluate(x, y);',
        f'        for (int j = 0; j < {pivots}; ++j)',
        '            doubtful |= (lanes_mask)(y[j] - y[j]);',
    ]
    if pivots > count:
        lines += [
            '        {', f'            lanes least = y[{count}], most = y[{count}];',
            f'            for (int j = {count + 1}; j < {pivots}; ++j) {{',
            '                least = lanes_select(y[j] < least, y[j], least);',
            '                most = lanes_select(y[j] > most, y[j], most);', '            }',
            f'            doubtful |= ~(lanes_mask)(least > {DOUBTFUL_PIVOT!r} * most);',
            '        }',
        ]
    lines.append('        for (int k = 0; k < LANES && i + k < stop; ++k)')
    lines.append('            flags[i + k] = (bad[k] ? 1 : 0) | (doubtful[k] ? 2 : 0);')
    place = 0
    for number, output in enumerate(results):
        lines += [
            f'        store(y + {place}, {output.size}, out[{number}], i, stop);',
        ]
        place += output.size
    return [*lines, '    }', '}']
