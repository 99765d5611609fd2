/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers: whether they are finite, and copies of them.
 *
 * Results were just stored one by one. A load of several at once would have to wait for them: the
 * extension is therefore compiled without vectorising.
 */
#pragma once

#define UNROLLED _Pragma("GCC unroll 8")

/* A number that is not finite has an exponent of all ones, and one more overflows. */
static inline uint64_t overflow_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (bits & 0x7ff0000000000000u) + 0x0010000000000000u;
}

enum { FEW = 16 };

typedef double two_numbers __attribute__((vector_size(16)));

/* Whether all numbers are finite: x - x is then zero. */
static inline int all_finite(const double *numbers, Py_ssize_t count)
{
    uint64_t overflow = 0;
    Py_ssize_t k = 0;
    if (count > FEW) {
        two_numbers pair[4], sum[4] = {{0.0}};
        for (; k + 8 <= count; k += 8) {
            memcpy(pair, numbers + k, sizeof pair);
            UNROLLED
            for (int j = 0; j < 4; ++j)
                sum[j] += pair[j] - pair[j];
        }
        sum[0] += sum[1] + (sum[2] + sum[3]);
        overflow = sum[0][0] == 0.0 && sum[0][1] == 0.0 ? 0 : (uint64_t)1 << 63;
    }
    UNROLLED
    for (; k < count; ++k)
        overflow |= overflow_of(numbers[k]);
    return !(overflow >> 63);
}

/* Copy numbers that lie `stride` bytes apart; return whether all are finite. */
static inline int copy_finite(double *to, const char *from, Py_ssize_t stride, Py_ssize_t count)
{
    uint64_t overflow = 0;
    if (stride == sizeof(double)) {
        UNROLLED
        for (Py_ssize_t k = 0; k < count; ++k) {
            const double number = ((const double *)from)[k];
            to[k] = number;
            overflow |= overflow_of(number);
        }
    } else {
        for (Py_ssize_t k = 0; k < count; ++k) {
            to[k] = *(const double *)(from + k * stride);
            overflow |= overflow_of(to[k]);
        }
    }
    return !(overflow >> 63);
}

static inline void copy_numbers(double *to, const double *from, Py_ssize_t count)
{
    if (count > FEW) {
        memcpy(to, from, sizeof(double) * count);
        return;
    }
    UNROLLED
    for (Py_ssize_t k = 0; k < count; ++k)
        to[k] = from[k];
}
