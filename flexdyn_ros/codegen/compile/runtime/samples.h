/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of samples: numbers of a sample lie side by side, lanes hold one number of several
 * samples. It follows lanes.h.
 */
#if LANES >= 4
typedef double loose __attribute__((vector_size(32), aligned(8), may_alias));

#if LANES == 8
/* Of each half of a, numbers 0 to 3, and of b, numbers 4 to 7. */
#define AT(i) ((i) < 4 ? (i) : (i) + 4)
#define PICK(a, b, i, j, k, l)                                                                 \
    __builtin_shufflevector(a, b, AT(i), AT(j), AT(k), AT(l), AT(i) + 4, AT(j) + 4, AT(k) + 4, \
                            AT(l) + 4)
#define LOAD(at, k, j)                                                                    \
    __builtin_shufflevector(*(const loose *)(at[k] + j), *(const loose *)(at[k + 4] + j), \
                            0, 1, 2, 3, 4, 5, 6, 7)
#elif defined(__clang__)
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(a, b, ...) __builtin_shuffle(a, b, (lanes_mask){__VA_ARGS__})
#endif
#if LANES == 4
#define LOAD(at, k, j) (*(const loose *)(at[k] + j))
#endif

/* In each half of four vectors, or in the whole of them, rows become columns. */
static inline void transpose(lanes *v)
{
    const lanes a = PICK(v[0], v[1], 0, 4, 2, 6), b = PICK(v[0], v[1], 1, 5, 3, 7);
    const lanes c = PICK(v[2], v[3], 0, 4, 2, 6), d = PICK(v[2], v[3], 1, 5, 3, 7);
    v[0] = PICK(a, c, 0, 1, 4, 5);
    v[1] = PICK(b, d, 0, 1, 4, 5);
    v[2] = PICK(a, c, 2, 3, 6, 7);
    v[3] = PICK(b, d, 2, 3, 6, 7);
}

static inline void read_four(const double *const *row, int j, lanes *x)
{
    UNROLL
    for (int k = 0; k < 4; ++k)
        x[k] = LOAD(row, k, j);
    transpose(x);
}

static inline void write_four(const lanes *y, double *out, int size)
{
    lanes v[4] = {y[0], y[1], y[2], y[3]};
    transpose(v);
    UNROLL
    for (int k = 0; k < 4; ++k) {
#if LANES == 8
        *(loose *)(out + k * size) = __builtin_shufflevector(v[k], v[k], 0, 1, 2, 3);
        *(loose *)(out + (k + 4) * size) = __builtin_shufflevector(v[k], v[k], 4, 5, 6, 7);
#else
        *(loose *)(out + k * size) = v[k];
#endif
    }
}
#endif

/* Read one vector of each of LANES samples. */
static inline void read_rows(const double *const *row, int size, lanes *x)
{
    int j = 0;
#if LANES >= 4
    UNROLL
    for (; j + 4 <= size; j += 4)
        read_four(row, j, x + j);
    if (size > 4 && j < size) {
        read_four(row, size - 4, x + size - 4);
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
#if LANES >= 4
    UNROLL
    for (; j + 4 <= size; j += 4)
        write_four(y + j, out + j, size);
    if (size > 4 && j < size) {
        write_four(y + size - 4, out + size - 4, size);
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

/* Return the lanes with a number that is not finite. */
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
