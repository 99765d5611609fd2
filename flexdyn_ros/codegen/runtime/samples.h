/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch, which threads share: samples of a compiled function, or of an interpreted kernel.
 *
 * Each thread takes the next samples until none are left: one that starts late, or is interrupted,
 * does less.
 *
 * Interpreted samples go through the registers several at a time, which spreads the choice of what
 * to do over them, and give the bits of one at a time.
 */
#pragma once

#include "kernel.h"

enum { TAKEN = 128 }; /* samples that a thread takes at a time: whole vectors */

typedef void (*batch_function)(long, long, const double *const *, const long *, double *const *,
                               unsigned char *);

typedef struct {
    batch_function run;   /* compiled, or NULL: */
    const Kernel *kernel; /* interpreted */
    long start, stop;
    const double *const *in;
    const long *strides;
    double *const *out;
    unsigned char *flags;
    long *next;           /* the first sample that nobody has taken */
} piece;

/* Put the samples from `first` on into the lanes of x; `row` has room for one. */
static void read_samples(const piece *own, long first, samples *x, double *row, int *bad)
{
    const Kernel *kernel = own->kernel;
    for (int lane = 0; lane < SAMPLES; ++lane) {
        const long sample = first + lane < own->stop ? first + lane : own->stop - 1;
        double *next = row;
        for (Py_ssize_t k = 0; k < kernel->n_inputs; ++k) {
            const double *from = own->in[k] + own->strides[k] * sample;
            memcpy(next, from, sizeof(double) * kernel->sizes[k]);
            next += kernel->sizes[k];
        }
        bad[lane] = !all_finite(row, kernel->n_x) || !normalise(kernel, row);
        for (Py_ssize_t k = 0; k < kernel->n_x; ++k)
            x[k][lane / 2][lane % 2] = row[k];
    }
}

/* Take the results y of samples out of their lanes. */
static void write_samples(const piece *own, long first, samples *y, double *row,
                          const sample_truth *error, const int *bad)
{
    const Kernel *kernel = own->kernel;
    for (int lane = 0; lane < SAMPLES && first + lane < own->stop; ++lane) {
        const double *next = row;
        for (Py_ssize_t k = 0; k < kernel->n_y; ++k)
            row[k] = y[k][lane / 2][lane % 2];
        own->flags[first + lane] =
            (bad[lane] ? 1 : 0) | (error[lane / 2][lane % 2] || !is_sound(kernel, row) ? 2 : 0);
        for (Py_ssize_t k = 0; k < kernel->n_results; ++k) {
            const Py_ssize_t size = kernel->results[k].size;
            memcpy(own->out[k] + (first + lane) * size, next, sizeof(double) * size);
            next += size;
        }
    }
}

/* Interpret samples, several at a time; flags are those of compiled code. */
static void interpret_piece(const piece *own)
{
    const Kernel *kernel = own->kernel;
    const Program *program = kernel->program;
    const size_t most = kernel->n_x > kernel->n_y ? kernel->n_x : kernel->n_y;
    int bad[SAMPLES];
    samples *r;
    double *row = malloc(sizeof(double) * (most + 1));

    if (row == NULL || posix_memalign((void **)&r, 64,
                                      sizeof(samples) * (program->n_registers + 1)) != 0) {
        memset(own->flags + own->start, 2, own->stop - own->start);
        free(row);
        return;
    }
    for (Py_ssize_t k = 0; k < program->n_constants; ++k)
        for (int pair = 0; pair < PAIRS; ++pair)
            r[kernel->n_x + kernel->n_y + k][pair] =
                (sample_pair){program->constants[k], program->constants[k]};
    for (long first = own->start; first < own->stop; first += SAMPLES) {
        sample_truth error[PAIRS] = {{0}};
        read_samples(own, first, r, row, bad);
        interpret_samples(program, r, error);
        write_samples(own, first, r + kernel->n_x, row, error, bad);
    }
    free(r);
    free(row);
}

/* Do a thread's share of a batch. */
static void run_share(void *argument)
{
    piece own = *(const piece *)argument;
    const long count = own.stop;
    while ((own.start = __atomic_fetch_add(own.next, TAKEN, __ATOMIC_RELAXED)) < count) {
        own.stop = count - own.start < TAKEN ? count : own.start + TAKEN;
        if (own.run != NULL)
            own.run(own.start, own.stop, own.in, own.strides, own.out, own.flags);
        else
            interpret_piece(&own);
    }
}

/* Check that the arrays of a batch are large enough for an interpreted kernel. */
static int check_batch(const Kernel *kernel, long count, PyObject *inputs, const Py_ssize_t *steps,
                       PyObject *outputs)
{
    int fit = kernel->program != NULL && kernel->n_constants == 0 &&
              PyTuple_GET_SIZE(inputs) == kernel->n_inputs &&
              PyTuple_GET_SIZE(outputs) == kernel->n_results;
    for (Py_ssize_t k = 0; fit && count && k < kernel->n_inputs; ++k)
        fit = PyArray_SIZE((PyArrayObject *)PyTuple_GET_ITEM(inputs, k)) >=
              steps[k] * (count - 1) + kernel->sizes[k];
    for (Py_ssize_t k = 0; fit && k < kernel->n_results; ++k)
        fit = PyArray_SIZE((PyArrayObject *)PyTuple_GET_ITEM(outputs, k)) >=
              count * kernel->results[k].size;
    if (!fit)
        PyErr_SetString(PyExc_ValueError, "the arrays do not fit");
    return fit;
}
