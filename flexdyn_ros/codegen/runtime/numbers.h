/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers: whether they are finite, copies of them, and sizes out of Python's tuples.
 */
#pragma once

/* A number that is not finite has an exponent of all ones, and one more overflows. */
#define OVERFLOW_OF(bits) (((bits) & 0x7ff0000000000000u) + 0x0010000000000000u)

/* Most processors have vectors of two. */
typedef double pair __attribute__((vector_size(16)));
typedef uint64_t bit_pair __attribute__((vector_size(16)));

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#define UNROLLED _Pragma("GCC unroll 8")

/* Most arms have six or seven joints: for so many numbers, code without a loop. */
#define FOR_COUNT(count, call_6, call_7, call) \
    ((count) == 7 ? (call_7) : (count) == 6 ? (call_6) : (call))

ALWAYS_INLINE int finite_any(const double *numbers, Py_ssize_t count)
{
    uint64_t overflow = 0;
    UNROLLED
    for (Py_ssize_t k = 0; k < count; ++k)
        overflow |= OVERFLOW_OF(((const volatile uint64_t *)numbers)[k]);
    return !(overflow >> 63);
}

/* Whether all numbers are finite; one by one, as a pair that was just stored in halves is slow. */
static inline int all_finite(const double *numbers, Py_ssize_t count)
{
    return FOR_COUNT(count, finite_any(numbers, 6), finite_any(numbers, 7),
                     finite_any(numbers, count));
}

ALWAYS_INLINE void copy_any(double *to, const double *from, Py_ssize_t count, bit_pair *found)
{
    Py_ssize_t k = count & 1;
    pair numbers;

    if (k) {
        numbers = (pair){from[0], 0.0};
        to[0] = from[0];
        *found |= (bit_pair)(numbers - numbers);
    }
    UNROLLED
    for (; k < count; k += 2) {
        memcpy(&numbers, from + k, sizeof numbers);
        memcpy(to + k, &numbers, sizeof numbers);
        *found |= (bit_pair)(numbers - numbers);
    }
}

/*
 * Copy numbers; `found` gets a bit where one is not finite, as x - x is then not zero. An odd one
 * comes first: `sincos_all` of lanes.h counts on pairs that end with the last number.
 */
static inline void copy_checked(double *to, const double *from, Py_ssize_t count, bit_pair *found)
{
    FOR_COUNT(count, copy_any(to, from, 6, found), copy_any(to, from, 7, found),
              copy_any(to, from, count, found));
}

ALWAYS_INLINE void copy_one_by_one(double *to, const double *from, Py_ssize_t count)
{
    UNROLLED
    for (Py_ssize_t k = 0; k < count; ++k)
        ((volatile double *)to)[k] = from[k];
}

/* Copy results: few are copied here, which calls nothing and waits for no vector of them. */
static inline void copy_results(double *to, const double *from, Py_ssize_t count)
{
    if (count > 16)
        memcpy(to, from, sizeof(double) * count);
    else
        FOR_COUNT(count, copy_one_by_one(to, from, 6), copy_one_by_one(to, from, 7),
                  copy_one_by_one(to, from, count));
}

/* Return the sizes of a tuple in new memory, or NULL with an error. */
static Py_ssize_t *read_sizes(PyObject *tuple, Py_ssize_t *count)
{
    Py_ssize_t *sizes;
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "expected a tuple of sizes");
        return NULL;
    }
    *count = PyTuple_GET_SIZE(tuple);
    sizes = PyMem_Calloc(*count + 1, sizeof(Py_ssize_t));
    if (sizes == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t k = 0; k < *count; ++k) {
        sizes[k] = PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, k));
        if (sizes[k] < 0) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "a size is negative");
            PyMem_Free(sizes);
            return NULL;
        }
    }
    return sizes;
}
