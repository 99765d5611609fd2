# SPDX-License-Identifier: Apache-2.0
"""C of the loop over samples: inputs into lanes, checks, results out of lanes."""

from __future__ import annotations

from typing import Sequence

from flexdyn_ros.codegen.tracing.interface import Trace

BATCH_SYMBOL = 'flexdyn_batch'
PIVOTS = 'pivots'
# A pivot this far below the largest one may be round-off: the reference backend then decides.
DOUBTFUL_PIVOT = 1e-10
# Quaternions of another length were not meant to be brought to unit length.
SHORTEST, LONGEST = 0.5, 2.0

# Vectors of an array, at least: `emit_x86` points behind so many.
LEAST = 4
# Numbers of a sample lie side by side, lanes hold one number of several samples.
ROWS = """
#if LANES == 4
#ifdef __clang__
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(a, b, ...) __builtin_shuffle(a, b, (lanes_mask){__VA_ARGS__})
#endif
typedef double loose __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

/* Four vectors as rows become columns, `step` numbers apart. */
static inline void transpose(lanes p, lanes q, lanes r, lanes s, double *to, int step)
{
    const lanes a = PICK(p, q, 0, 4, 2, 6), b = PICK(p, q, 1, 5, 3, 7);
    const lanes c = PICK(r, s, 0, 4, 2, 6), d = PICK(r, s, 1, 5, 3, 7);
    *(loose *)to = PICK(a, c, 0, 1, 4, 5);
    *(loose *)(to + step) = PICK(b, d, 0, 1, 4, 5);
    *(loose *)(to + 2 * step) = PICK(a, c, 2, 3, 6, 7);
    *(loose *)(to + 3 * step) = PICK(b, d, 2, 3, 6, 7);
}

static inline void read_four(const double *const *row, int j, lanes *x)
{
    transpose(*(const loose *)(row[0] + j), *(const loose *)(row[1] + j),
              *(const loose *)(row[2] + j), *(const loose *)(row[3] + j), (double *)(x + j),
              LANES);
}
#endif

/* Read one vector of each of LANES samples. */
static inline void read_rows(const double *const *row, int size, lanes *x)
{
    int j = 0;
#if LANES == 4
    UNROLL
    for (; j + 4 <= size; j += 4)
        read_four(row, j, x);
    if (size > 4 && j < size) {
        read_four(row, size - 4, x);
        return;
    }
#endif
    for (; j < size; ++j) {
        UNROLL
        for (int k = 0; k < LANES; ++k)
            x[j][k] = row[k][j];
    }
}

/* Write one vector of each of LANES samples; samples past the last one are left out. */
static inline void write_rows(const lanes *y, int size, double *out, long i, long stop)
{
    int j = 0;
    if (i + LANES > stop) {
        for (long k = 0; i + k < stop; ++k)
            for (j = 0; j < size; ++j)
                out[(i + k) * size + j] = y[j][k];
        return;
    }
    out += i * size;
#if LANES == 4
    UNROLL
    for (; j + 4 <= size; j += 4)
        transpose(y[j], y[j + 1], y[j + 2], y[j + 3], out + j, size);
    if (size > 4 && j < size) {
        j = size - 4;
        transpose(y[j], y[j + 1], y[j + 2], y[j + 3], out + j, size);
        return;
    }
#endif
    for (; j < size; ++j) {
        const lanes value = y[j];
        UNROLL
        for (int k = 0; k < LANES; ++k)
            out[k * size + j] = value[k];
    }
}

/* Where a number is not finite. */
static inline lanes_mask not_finite(const lanes *x, int size)
{
    lanes sum = {0};
    lanes_mask found = {0};
    for (int j = 0; j < size; ++j)
        sum += x[j];
    if (__builtin_expect(lanes_any(sum - sum != 0.0), 0))
        /* It is of finite numbers too where they are huge. */
        for (int j = 0; j < size; ++j)
            found |= x[j] - x[j] != 0.0;
    return found;
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
        f'        lanes x[{max(total, LEAST)}], y[{max(pivots, LEAST)}];',
        '        lanes_mask bad = {0}, doubtful;',
        '        const double *row[LANES];', '        long row_of[LANES];', '',
        '        for (int k = 0; k < LANES; ++k)',
        '            row_of[k] = i + k < stop ? i + k : stop - 1;',
    ]
    place = 0
    for number, size in enumerate(input_sizes(trace)):
        lines += [
            '        for (int k = 0; k < LANES; ++k)',
            f'            row[k] = in[{number}] + strides[{number}] * row_of[k];',
            f'        read_rows(row, {size}, x + {place});',
            f'        bad |= not_finite(x + {place}, {size});',
        ]
        place += size
    for first in quaternions:
        squares = ' + '.join(f'x[{k}] * x[{k}]' for k in range(first, first + 4))
        lines += [
            '        {', f'            const lanes length = lanes_sqrt({squares});',
            f'            bad |= ~((lanes_mask)(length > {SHORTEST})'
            f' & (lanes_mask)(length < {LONGEST}));',
            f'            for (int j = {first}; j < {first + 4}; ++j)',
            '                x[j] = x[j] / length;', '        }',
        ]
    lines += [
        '        evaluate(x, y);',
        f'        doubtful = not_finite(y, {pivots});',
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
    lines += [
        '        for (int k = 0; k < LANES && i + k < stop; ++k)', '            flags[i + k] = 0;',
        '        if (lanes_any(bad | doubtful))',
        '            for (int k = 0; k < LANES && i + k < stop; ++k)',
        '                flags[i + k] = (bad[k] ? 1 : 0) | (doubtful[k] ? 2 : 0);',
    ]
    place = 0
    for number, output in enumerate(results):
        lines += [
            f'        write_rows(y + {place}, {output.size}, out[{number}], i, stop);',
        ]
        place += output.size
    return [*lines, '    }', '}']
