/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch: one function over many samples, in several threads, without Python's lock.
 */
#pragma once

#include "samples.h"
#include "workers.h"

enum { MOST_THREADS = 64 };

/* Collect the data of a tuple of C-contiguous arrays of doubles. */
static int pointers(PyObject *tuple, double **found)
{
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tuple); ++k) {
        PyObject *item = PyTuple_GET_ITEM(tuple, k);
        if (!PyArray_Check(item) || PyArray_TYPE((PyArrayObject *)item) != NPY_DOUBLE ||
            !PyArray_ISCARRAY_RO((PyArrayObject *)item)) {
            PyErr_SetString(PyExc_TypeError, "expected contiguous arrays of float64");
            return -1;
        }
        found[k] = PyArray_DATA((PyArrayObject *)item);
    }
    return 0;
}

/* run_batch(address or kernel, count, inputs, strides, outputs, flags, threads) */
static PyObject *run_batch(PyObject *module, PyObject *args)
{
    PyObject *function, *inputs, *strides, *outputs, *flags, *answer = NULL;
    unsigned long long address = 0;
    Kernel *kernel = NULL;
    double **in, **out;
    Py_ssize_t n, n_out, *extent;
    long *steps, count, next = 0;
    int threads;
    piece all;
    (void)module;

    if (!PyArg_ParseTuple(args, "OlO!O!O!Oi", &function, &count, &PyTuple_Type, &inputs,
                          &PyTuple_Type, &strides, &PyTuple_Type, &outputs, &flags, &threads))
        return NULL;
    if (PyObject_TypeCheck(function, &KernelType))
        kernel = (Kernel *)function;
    else if ((address = PyLong_AsUnsignedLongLong(function)) == 0) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "a function has an address");
        return NULL;
    }
    if (PyTuple_GET_SIZE(strides) != PyTuple_GET_SIZE(inputs) || !PyArray_Check(flags) ||
        PyArray_TYPE((PyArrayObject *)flags) != NPY_UINT8 ||
        PyArray_SIZE((PyArrayObject *)flags) < count) {
        PyErr_SetString(PyExc_ValueError, "the arrays do not fit");
        return NULL;
    }
    extent = read_sizes(strides, &n);
    if (extent == NULL)
        return NULL;
    n_out = PyTuple_GET_SIZE(outputs);
    in = PyMem_Calloc(n + n_out + 1, sizeof(double *));
    steps = PyMem_Calloc(n + 1, sizeof(long));
    if (in == NULL || steps == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    out = in + n;
    if (pointers(inputs, in) < 0 || pointers(outputs, out) < 0 ||
        (kernel != NULL && !check_batch(kernel, count, inputs, extent, outputs)))
        goto done;
    for (Py_ssize_t k = 0; k < n; ++k)
        steps[k] = (long)extent[k];
    threads = threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : threads;
    all = (piece){
        (batch_function)(uintptr_t)address, kernel, 0, count, (const double *const *)in, steps,
        out, PyArray_DATA((PyArrayObject *)flags), &next,
    };
    Py_BEGIN_ALLOW_THREADS
    work_together(run_share, &all, threads - 1);
    Py_END_ALLOW_THREADS
    Py_INCREF(Py_None);
    answer = Py_None;
done:
    PyMem_Free(extent);
    PyMem_Free(steps);
    PyMem_Free(in);
    return answer;
}
