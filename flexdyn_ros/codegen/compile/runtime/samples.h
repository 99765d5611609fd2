/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of samples: numbers of a sample lie side by side, lanes hold one number of several
 * samples. It follows lanes.h.
 */
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
