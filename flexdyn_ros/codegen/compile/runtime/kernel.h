/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel: a function `void f(const double *x, double *y, double *work)` of a shared library.
 * With it come the sizes of its inputs (packed into x) and results (packed into y).
 */
#pragma once

#include "numbers.h"

enum { SPARE = 3, SPARED = 3, ON_STACK = 768 };

typedef void (*call_function)(const double *, double *, double *);

typedef struct {
    npy_intp rank, shape[2], size;
} result_shape;

typedef struct {
    PyObject_HEAD
    call_function call;
    npy_intp *layout;        /* memory of all sizes below */
    npy_intp *sizes;         /* of the inputs, constants left out */
    npy_intp *quaternions;   /* their starts in the first input */
    result_shape *results;   /* pivots left out */
    npy_intp n_inputs, n_quaternions, n_results, n_x, n_y, n_pivots, n_constants;
    npy_intp n_memory;       /* of x, y and the work array */
    double *constants;       /* the last n_constants numbers of x */
    double doubtful;         /* the least ratio of pivots that makes results sound */
    PyArrayObject *spare[SPARED][SPARE]; /* arrays given out before, see new_array */
    int next_spare[SPARED];
} Kernel;

static PyArray_Descr *double_type;
static PyTypeObject *array_type, *ndarray_type;

/* Take the sizes in a layout of `length` numbers; return 0 where they do not fit. */
static int take_layout(Kernel *self, npy_intp length)
{
    enum { COUNTS = 5, OF_SHAPE = sizeof(result_shape) / sizeof(npy_intp) };
    const npy_intp *counts = self->layout;

    if (length < COUNTS)
        return 0;
    self->n_inputs = counts[0];
    self->n_quaternions = counts[1];
    self->n_results = counts[2];
    self->n_pivots = counts[3];
    self->sizes = self->layout + COUNTS;
    self->quaternions = self->sizes + self->n_inputs;
    self->results = (result_shape *)(self->quaternions + self->n_quaternions);
    if (length != COUNTS + self->n_inputs + self->n_quaternions + OF_SHAPE * self->n_results)
        return 0;
    self->n_x = self->n_constants;
    for (npy_intp k = 0; k < self->n_inputs; ++k)
        self->n_x += self->sizes[k];
    self->n_y = self->n_pivots;
    for (npy_intp k = 0; k < self->n_results; ++k)
        self->n_y += self->results[k].size;
    self->n_memory = self->n_x + self->n_y + counts[4];
    return 1;
}

/*
 * Kernel(address, layout, constants, doubtful), with arrays of intp and of double. The layout
 * holds the numbers of inputs, quaternions, results, pivots and the work array. Sizes of inputs,
 * places of quaternions, and rank, shape and size of each result follow.
 */
static int kernel_init(Kernel *self, PyObject *args, PyObject *kwargs)
{
    Py_buffer layout, constants;
    unsigned long long address;
    int fits = 0;

    if (kwargs != NULL && PyDict_GET_SIZE(kwargs)) {
        PyErr_SetString(PyExc_TypeError, "a kernel takes no keyword arguments: pass vectors");
        return -1;
    }
    if (!PyArg_ParseTuple(args, "Ky*y*d", &address, &layout, &constants, &self->doubtful))
        return -1;
    if (self->layout == NULL) {
        self->call = (call_function)(uintptr_t)address;
        self->layout = PyMem_Malloc(layout.len + 1);
        self->constants = PyMem_Malloc(constants.len + 1);
        if (self->layout != NULL && self->constants != NULL) {
            memcpy(self->layout, layout.buf, layout.len);
            memcpy(self->constants, constants.buf, constants.len);
            self->n_constants = constants.len / (Py_ssize_t)sizeof(double);
            fits = take_layout(self, layout.len / (Py_ssize_t)sizeof(npy_intp));
        }
    }
    PyBuffer_Release(&layout);
    PyBuffer_Release(&constants);
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "the layout does not fit: build the extension again");
    return fits ? 0 : -1;
}

static void kernel_free(Kernel *self)
{
    PyMem_Free(self->layout);
    PyMem_Free(self->constants);
    for (int k = 0; k < SPARED * SPARE; ++k)
        Py_XDECREF(self->spare[k / SPARE][k % SPARE]);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* Bring quaternions of q, the first input, to unit length; return 0 where one is far from it. */
static int normalise(const Kernel *kernel, double *q)
{
    for (Py_ssize_t k = 0; k < kernel->n_quaternions; ++k) {
        double *v = q + kernel->quaternions[k];
        const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3]);
        if (!(length > 0.5 && length < 2.0))
            return 0;
        for (int j = 0; j < 4; ++j)
            v[j] = v[j] / length;
    }
    return 1;
}

/* Return whether the results are finite and the pivots, at their end, are of one size. */
static inline int is_sound(const Kernel *kernel, const double *y)
{
    const Py_ssize_t count = kernel->n_y - kernel->n_pivots;
    double least, most;
    if (!all_finite(y, kernel->n_y))
        return 0;
    if (!kernel->n_pivots)
        return 1;
    least = most = y[count];
    for (Py_ssize_t k = count + 1; k < kernel->n_y; ++k) {
        least = y[k] < least ? y[k] : least;
        most = y[k] > most ? y[k] : most;
    }
    return least > kernel->doubtful * most;
}

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
            strcmp(view.format, "d") == 0 && copy_finite(to, view.buf, sizeof(double), size);
    PyBuffer_Release(&view);
    return plain;
}

/* Copy a vector of finite doubles; return 0 where it is anything else. */
static inline int read_vector(PyObject *value, Py_ssize_t size, double *to)
{
    if (Py_TYPE(value) == ndarray_type) {
        PyArrayObject *array = (PyArrayObject *)value;
        return PyArray_DESCR(array) == double_type && PyArray_NDIM(array) == 1 &&
               PyArray_DIM(array, 0) == size && PyArray_ISALIGNED(array) &&
               copy_finite(to, PyArray_BYTES(array), PyArray_STRIDE(array, 0), size);
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
    return Py_TYPE(value) == array_type && read_buffer(value, size, to);
}

/* Return whether an array can take a result as it is. */
static inline int can_take(PyObject *out, const result_shape *shape)
{
    PyArrayObject *array = (PyArrayObject *)out;
    if (Py_TYPE(out) != ndarray_type || PyArray_DESCR(array) != double_type ||
        !PyArray_ISCARRAY(array) || PyArray_NDIM(array) != shape->rank)
        return 0;
    for (int k = 0; k < shape->rank; ++k)
        if (PyArray_DIM(array, k) != shape->shape[k])
            return 0;
    return 1;
}

/* Return whether no caller holds an array that was returned before. */
static inline int is_free(PyArrayObject *array, const result_shape *shape)
{
    return array != NULL && Py_REFCNT(array) == 1 && can_take((PyObject *)array, shape) &&
           PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA) &&
           ((PyArrayObject_fields *)array)->weakreflist == NULL;
}

/*
 * Return a new array for a result. The last few are kept, and one without other owners is returned
 * again: that takes a tenth of the time.
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
    array = (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, double_type, (int)shape->rank,
                                                  (npy_intp *)shape->shape, NULL, NULL, 0, NULL);
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
        copy_numbers(PyArray_DATA(array), values, shape->size);
    return (PyObject *)array;
}

/* Return the results as new objects, several of them in a tuple. */
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

/* Whether `out` can take the results: an array, or a tuple of arrays where there are several. */
static inline int takes_results(const Kernel *kernel, PyObject *out)
{
    if (kernel->n_results == 1)
        return can_take(out, &kernel->results[0]);
    if (!PyTuple_CheckExact(out) || PyTuple_GET_SIZE(out) != kernel->n_results)
        return 0;
    for (Py_ssize_t k = 0; k < kernel->n_results; ++k)
        if (!can_take(PyTuple_GET_ITEM(out, k), &kernel->results[k]))
            return 0;
    return 1;
}

/* Write the results where `takes_results` allowed it, and return `out`. */
static inline PyObject *write_results(const Kernel *kernel, PyObject *out, const double *y)
{
    for (Py_ssize_t k = 0; k < kernel->n_results; y += kernel->results[k++].size) {
        PyObject *array = kernel->n_results == 1 ? out : PyTuple_GET_ITEM(out, k);
        copy_numbers(PyArray_DATA((PyArrayObject *)array), y, kernel->results[k].size);
    }
    Py_INCREF(out);
    return out;
}

/*
 * Evaluate and return a new reference, or NULL, without an error where the arguments or the
 * results are not plain.
 */
static PyObject *evaluate(Kernel *kernel, PyObject *const *vectors, Py_ssize_t count,
                          PyObject *out, int normalising)
{
    double stack[ON_STACK], *x = stack, *y, *next;
    PyObject *answer = NULL;

    if (count != kernel->n_inputs || (out != NULL && !takes_results(kernel, out)))
        return NULL;
    if (kernel->n_memory > ON_STACK &&
        (x = PyMem_Malloc(sizeof(double) * kernel->n_memory)) == NULL)
        return PyErr_NoMemory();
    y = x + kernel->n_x;
    next = x;
    for (Py_ssize_t k = 0; k < count; ++k) {
        if (!read_vector(vectors[k], kernel->sizes[k], next))
            goto done;
        next += kernel->sizes[k];
    }
    if (normalising && kernel->n_quaternions && !normalise(kernel, x))
        goto done;
    copy_numbers(next, kernel->constants, kernel->n_constants);
    kernel->call(x, y, y + kernel->n_y);
    if (is_sound(kernel, y))
        answer = out != NULL ? write_results(kernel, out, y) : new_results(kernel, y);
done:
    if (x != stack)
        PyMem_Free(x);
    return answer;
}

/* kernel(*vectors): arrays or numbers; quaternions are of unit length. */
static PyObject *kernel_call(Kernel *self, PyObject *args, PyObject *kwargs)
{
    PyObject *answer;
    if (kwargs != NULL && PyDict_GET_SIZE(kwargs))
        return PyErr_Format(PyExc_TypeError, "a kernel takes no keyword arguments: pass vectors");
    if (PyTuple_GET_SIZE(args) != self->n_inputs)
        return PyErr_Format(PyExc_TypeError, "expected %zd vectors", self->n_inputs);
    answer = evaluate(self, PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args), NULL, 0);
    if (answer == NULL && !PyErr_Occurred())
        PyErr_SetString(PyExc_ArithmeticError, "expected finite arguments and results");
    return answer;
}

static PyTypeObject KernelType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "flexdyn_ros.codegen.compile.runtime._calls.Kernel",
    .tp_basicsize = sizeof(Kernel),
    .tp_dealloc = (destructor)kernel_free,
    .tp_call = (ternaryfunc)kernel_call,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "A compiled function of vectors.",
    .tp_init = (initproc)kernel_init,
    .tp_new = PyType_GenericNew,
};
