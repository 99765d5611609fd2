/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of numbers out of numpy arrays, array.array, lists and tuples of floats, and results as
 * numpy arrays.
 */
#pragma once

#include "kernel.h"

static PyArray_Descr *double_type;
static PyTypeObject *array_type, *ndarray_type;

/* Copy a buffer such as array.array('d'); return 0 where it is no vector of doubles. */
static int read_buffer(PyObject *value, Py_ssize_t size, double *to)
{
    Py_buffer view;
    int plain;
    if (PyObject_GetBuffer(value, &view, PyBUF_ND | PyBUF_FORMAT) < 0) {
        PyErr_Clear();
        return 0;
    }
    plain = view.ndim == 1 && view.shape[0] == size && view.format != NULL &&
            strcmp(view.format, "d") == 0;
    if (plain)
        memcpy(to, view.buf, sizeof(double) * size);
    PyBuffer_Release(&view);
    return plain;
}

/* Copy a vector of doubles; return 0 where it is anything else. See copy_checked. */
static inline int read_vector(PyObject *value, Py_ssize_t size, double *to, bit_pair *found)
{
    if (Py_TYPE(value) == ndarray_type) {
        PyArrayObject *array = (PyArrayObject *)value;
        const char *from = PyArray_BYTES(array);
        npy_intp stride;
        if (PyArray_DESCR(array) != double_type || PyArray_NDIM(array) != 1 ||
            PyArray_DIM(array, 0) != size || !PyArray_ISALIGNED(array))
            return 0;
        stride = PyArray_STRIDE(array, 0);
        if (stride == sizeof(double)) {
            copy_checked(to, (const double *)from, size, found);
            return 1;
        }
        for (Py_ssize_t k = 0; k < size; ++k)
            to[k] = *(const double *)(from + k * stride);
        return all_finite(to, size);
    }
    if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) {
        PyObject **items = PySequence_Fast_ITEMS(value);
        if (Py_SIZE(value) != size)
            return 0;
        for (Py_ssize_t k = 0; k < size; ++k) {
            if (!PyFloat_CheckExact(items[k]))
                return 0;
            to[k] = PyFloat_AS_DOUBLE(items[k]);
        }
        return all_finite(to, size);
    }
    return Py_TYPE(value) == array_type && read_buffer(value, size, to) && all_finite(to, size);
}

/* Return whether an array can take a result as it is. */
static inline int can_take(PyObject *out, const result_shape *shape)
{
    PyArrayObject *array = (PyArrayObject *)out;
    if (Py_TYPE(out) != ndarray_type || PyArray_DESCR(array) != double_type ||
        PyArray_NDIM(array) != shape->rank || !PyArray_CHKFLAGS(array, NPY_ARRAY_CARRAY))
        return 0;
    for (int k = 0; k < shape->rank; ++k)
        if (PyArray_DIM(array, k) != shape->shape[k])
            return 0;
    return 1;
}

/* Whether nobody but us can see an array any more, and nobody changed what it is. */
static inline int is_free(PyArrayObject *array, const result_shape *shape)
{
    return array != NULL && Py_REFCNT(array) == 1 && can_take((PyObject *)array, shape) &&
           PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA) &&
           ((PyArrayObject_fields *)array)->weakreflist == NULL;
}

/*
 * Return a new array for a result of a kernel. The last few arrays are remembered, and one whose
 * owners have all let go of it is given out again: that takes a tenth of the time.
 */
static PyArrayObject *new_array(Kernel *kernel, Py_ssize_t number)
{
    const result_shape *shape = &kernel->results[number];
    PyArrayObject *array, **spare = number < SPARED ? kernel->spare[number] : NULL;

    for (int k = 0; spare != NULL && k < SPARE; ++k)
        if (is_free(spare[k], shape)) {
            Py_INCREF(spare[k]);
            return spare[k];
        }
    Py_INCREF(double_type);
    array = (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, double_type, shape->rank,
                                                  shape->shape, NULL, NULL, 0, NULL);
    if (array != NULL && spare != NULL && shape->size <= ON_STACK) {
        PyArrayObject **place = &spare[kernel->next_spare[number]];
        Py_INCREF(array);
        kernel->next_spare[number] = (kernel->next_spare[number] + 1) % SPARE;
        Py_XSETREF(*place, array);
    }
    return array;
}

static PyObject *new_result(Kernel *kernel, Py_ssize_t number, const double *values)
{
    const result_shape *shape = &kernel->results[number];
    PyArrayObject *array;
    if (shape->rank == 0)
        return PyFloat_FromDouble(values[0]);
    array = new_array(kernel, number);
    if (array != NULL)
        copy_results(PyArray_DATA(array), values, shape->size);
    return (PyObject *)array;
}

/* Return the results of a kernel as new objects. */
static PyObject *new_results(Kernel *kernel, const double *y)
{
    PyObject *answer;
    if (kernel->n_results == 1)
        return new_result(kernel, 0, y);
    answer = PyTuple_New(kernel->n_results);
    for (Py_ssize_t k = 0; answer != NULL && k < kernel->n_results; ++k) {
        PyObject *result = new_result(kernel, k, y);
        if (result == NULL)
            Py_CLEAR(answer);
        else
            PyTuple_SET_ITEM(answer, k, result);
        y += kernel->results[k].size;
    }
    return answer;
}
