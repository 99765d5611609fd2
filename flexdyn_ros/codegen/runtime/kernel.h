/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel: a function `void f(const double *x, double *y)` of a shared library, or a program that
 * is interpreted, with the sizes of its inputs (packed into x) and results (packed into y).
 */
#pragma once

#include "interpreter.h"
#include "numbers.h"
#include "program.h"

enum { SPARE = 3, SPARED = 3, ON_STACK = 768 };

typedef void (*call_function)(const double *, double *);

typedef struct {
    int rank;
    npy_intp shape[2];
    Py_ssize_t size;
} result_shape;

typedef struct {
    PyObject_HEAD
    call_function call;
    Program *program; /* what is interpreted instead, or NULL */
    Py_ssize_t n_inputs, n_results, n_quaternions;
    Py_ssize_t *sizes;                /* of the inputs, constants left out */
    result_shape *results;            /* pivots left out */
    Py_ssize_t *quaternions;          /* where they start in the first input */
    Py_ssize_t n_x, n_y, n_pivots, n_constants;
    Py_ssize_t n_work;                /* of x, y and what a program needs after them */
    double *constants;                /* the last n_constants numbers of x */
    double doubtful;
    PyArrayObject *spare[SPARED][SPARE]; /* arrays given out before, see new_array */
    int next_spare[SPARED];
} Kernel;

/* Read the shape of a result: (), (n,) or (n, m). */
static int read_shape(PyObject *tuple, result_shape *result)
{
    Py_ssize_t rank, *extent = read_sizes(tuple, &rank);
    if (extent == NULL)
        return -1;
    if (rank > 2) {
        PyErr_SetString(PyExc_ValueError, "a result has more than two dimensions");
        PyMem_Free(extent);
        return -1;
    }
    result->rank = (int)rank;
    result->size = 1;
    for (int k = 0; k < result->rank; ++k) {
        result->shape[k] = extent[k];
        result->size *= extent[k];
    }
    PyMem_Free(extent);
    return 0;
}

static int kernel_init(Kernel *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"function", "sizes", "constants", "shapes", "pivots", "quaternions",
                            "doubtful", NULL};
    PyObject *function, *sizes, *constants, *shapes, *quaternions;
    unsigned long long address = 0;
    Py_ssize_t count;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOnOd", names, &function, &sizes, &constants,
                                     &shapes, &self->n_pivots, &quaternions, &self->doubtful))
        return -1;
    if (!PyTuple_Check(constants) || !PyTuple_Check(shapes)) {
        PyErr_SetString(PyExc_TypeError, "expected tuples");
        return -1;
    }
    if (self->sizes != NULL) {
        PyErr_SetString(PyExc_TypeError, "a kernel is made once");
        return -1;
    }
    self->sizes = read_sizes(sizes, &self->n_inputs);
    self->quaternions = read_sizes(quaternions, &self->n_quaternions);
    self->n_results = PyTuple_GET_SIZE(shapes);
    self->results = PyMem_Calloc(self->n_results + 1, sizeof(result_shape));
    if (self->sizes == NULL || self->quaternions == NULL || self->results == NULL)
        return PyErr_Occurred() ? -1 : (PyErr_NoMemory(), -1);
    if (PyObject_TypeCheck(function, &ProgramType)) {
        Py_INCREF(function);
        self->program = (Program *)function;
    } else {
        address = PyLong_AsUnsignedLongLong(function);
        if (PyErr_Occurred())
            return -1;
    }
    self->call = (call_function)(uintptr_t)address;
    self->n_constants = PyTuple_GET_SIZE(constants);
    self->constants = read_numbers(constants, &count);
    if (self->constants == NULL)
        return -1;
    self->n_x = self->n_constants;
    for (Py_ssize_t k = 0; k < self->n_inputs; ++k)
        self->n_x += self->sizes[k];
    self->n_y = self->n_pivots;
    for (Py_ssize_t k = 0; k < self->n_results; ++k) {
        if (read_shape(PyTuple_GET_ITEM(shapes, k), &self->results[k]) < 0)
            return -1;
        self->n_y += self->results[k].size;
    }
    self->n_work = self->n_x + self->n_y;
    if (self->program != NULL) {
        if (self->program->n_inputs != self->n_x || self->program->n_results != self->n_y) {
            PyErr_SetString(PyExc_ValueError, "the sizes are not those of the program");
            return -1;
        }
        self->n_work = self->program->n_registers;
    }
    return 0;
}

static void kernel_free(Kernel *self)
{
    Py_XDECREF(self->program);
    PyMem_Free(self->sizes);
    PyMem_Free(self->results);
    PyMem_Free(self->quaternions);
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
    if (!all_finite(y, kernel->n_y))
        return 0;
    if (kernel->n_pivots) {
        double least = y[count], most = y[count];
        for (Py_ssize_t k = count + 1; k < kernel->n_y; ++k) {
            least = y[k] < least ? y[k] : least;
            most = y[k] > most ? y[k] : most;
        }
        return least > kernel->doubtful * most;
    }
    return 1;
}

/* Evaluate the results y, which follow x in memory; return whether they can be relied on. */
static inline int compute(const Kernel *kernel, double *x, double *y)
{
    if (kernel->call != NULL)
        kernel->call(x, y);
    else if (kernel->program == NULL || !interpret(kernel->program, x))
        return 0;
    return is_sound(kernel, y);
}

static PyObject *as_list(const double *values, Py_ssize_t count)
{
    PyObject *list = PyList_New(count);
    for (Py_ssize_t k = 0; list != NULL && k < count; ++k) {
        PyObject *number = PyFloat_FromDouble(values[k]);
        if (number == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, k, number);
    }
    return list;
}

static PyObject *as_nested(const result_shape *shape, const double *values)
{
    PyObject *rows, *row;
    if (shape->rank == 0)
        return PyFloat_FromDouble(values[0]);
    if (shape->rank == 1)
        return as_list(values, shape->size);
    rows = PyList_New(shape->shape[0]);
    for (Py_ssize_t k = 0; rows != NULL && k < shape->shape[0]; ++k) {
        row = as_list(values + k * shape->shape[1], shape->shape[1]);
        if (row == NULL)
            Py_CLEAR(rows);
        else
            PyList_SET_ITEM(rows, k, row);
    }
    return rows;
}

/* kernel(*vectors) of lists or tuples of floats: nested lists, as generated Python gives them. */
static PyObject *kernel_lists(Kernel *self, PyObject *args, PyObject *kwargs)
{
    double stack[ON_STACK], *x = stack, *y;
    PyObject *answer = NULL;
    const double *place;
    double *next;

    if (PyTuple_GET_SIZE(args) != self->n_inputs || (kwargs && PyDict_GET_SIZE(kwargs)))
        return PyErr_Format(PyExc_TypeError, "expected %zd vectors", self->n_inputs);
    if (self->n_work > ON_STACK &&
        (x = PyMem_Malloc(sizeof(double) * self->n_work)) == NULL)
        return PyErr_NoMemory();
    y = x + self->n_x;
    next = x;
    for (Py_ssize_t k = 0; k < self->n_inputs; ++k) {
        PyObject *vector = PySequence_Fast(PyTuple_GET_ITEM(args, k), "expected a sequence");
        if (vector == NULL)
            goto done;
        if (PySequence_Fast_GET_SIZE(vector) != self->sizes[k]) {
            PyErr_Format(PyExc_ValueError, "vector %zd has %zd numbers, expected %zd", k,
                         PySequence_Fast_GET_SIZE(vector), self->sizes[k]);
            Py_DECREF(vector);
            goto done;
        }
        for (Py_ssize_t j = 0; j < self->sizes[k]; ++j)
            *next++ = PyFloat_AsDouble(PySequence_Fast_GET_ITEM(vector, j));
        Py_DECREF(vector);
        if (PyErr_Occurred())
            goto done;
    }
    memcpy(next, self->constants, sizeof(double) * self->n_constants);
    if (!compute(self, x, y)) {
        PyErr_SetString(PyExc_ArithmeticError, "the results cannot be relied on");
        goto done;
    }
    place = y;
    if (self->n_results == 1) {
        answer = as_nested(&self->results[0], place);
        goto done;
    }
    answer = PyTuple_New(self->n_results);
    for (Py_ssize_t k = 0; answer != NULL && k < self->n_results; ++k) {
        PyObject *result = as_nested(&self->results[k], place);
        if (result == NULL)
            Py_CLEAR(answer);
        else
            PyTuple_SET_ITEM(answer, k, result);
        place += self->results[k].size;
    }
done:
    if (x != stack)
        PyMem_Free(x);
    return answer;
}

static PyTypeObject KernelType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "flexdyn_ros.codegen.runtime._kernel.Kernel",
    .tp_basicsize = sizeof(Kernel),
    .tp_dealloc = (destructor)kernel_free,
    .tp_call = (ternaryfunc)kernel_lists,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "A compiled or interpreted function of vectors.",
    .tp_init = (initproc)kernel_init,
    .tp_new = PyType_GenericNew,
};
