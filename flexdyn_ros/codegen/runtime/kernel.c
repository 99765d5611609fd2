/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated functions called from Python with as little as possible in between.
 *
 * A Kernel is a function `void f(const double *x, double *y)` of a shared library, or a program that
 * is interpreted (program.h), with the sizes of its inputs (packed into x) and results (packed
 * into y). A Method stands for a method of Dynamics: it reads numpy arrays, array.array, lists and
 * tuples of floats, checks them and calls a kernel. Whatever is not plain (another dtype, a wrong
 * shape, a value that is not finite, wrenches, doubtful results) it leaves to the method written in
 * Python, which knows what to say.
 *
 * This file knows nothing of any robot, so that one build serves all.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>
#include <structmember.h>

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef FLEXDYN_DIGEST
#define FLEXDYN_DIGEST ""
#endif

#include "interpreter.h"
#include "program.h"

enum { SPARE = 3, SPARED = 3, MOST_PARAMETERS = 12, ON_STACK = 768, MOST_THREADS = 64 };

typedef void (*call_function)(const double *, double *);
typedef void (*batch_function)(long, long, const double *const *, const long *, double *const *,
                               unsigned char *);

/* ------------------------------------------------------------------ kernels */

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

/* A number that is not finite has an exponent of all ones, and one more overflows. */
#define OVERFLOW_OF(bits) (((bits) & 0x7ff0000000000000u) + 0x0010000000000000u)

/* Pairs, as most processors have vectors of two. */
typedef uint64_t pair __attribute__((vector_size(16)));

/* Whether all numbers are finite; one by one, as a pair that was just stored in halves is slow. */
static inline int all_finite(const double *numbers, Py_ssize_t count)
{
    uint64_t overflow = 0;
    for (Py_ssize_t k = 0; k < count; ++k)
        overflow |= OVERFLOW_OF(((const volatile uint64_t *)numbers)[k]);
    return !(overflow >> 63);
}

/* Copy numbers; return `overflow` with a sign where one is not finite. */
static inline pair copy_checked(double *to, const double *from, Py_ssize_t count, pair overflow)
{
    Py_ssize_t k = 0;
    for (; k + 2 <= count; k += 2) {
        pair bits;
        memcpy(&bits, from + k, sizeof bits);
        memcpy(to + k, &bits, sizeof bits);
        overflow |= OVERFLOW_OF(bits);
    }
    if (k < count) {
        uint64_t last;
        memcpy(&last, from + k, sizeof last);
        memcpy(to + k, &last, sizeof last);
        overflow[0] |= OVERFLOW_OF(last);
    }
    return overflow;
}

/* Copy results: few are copied here, which calls nothing and waits for no vector of them. */
static inline void copy_results(double *to, const double *from, Py_ssize_t count)
{
    if (count > 16)
        memcpy(to, from, sizeof(double) * count);
    else
        for (Py_ssize_t k = 0; k < count; ++k)
            ((volatile double *)to)[k] = from[k];
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

/* ------------------------------------------------------------- direct calls */

enum { VECTOR = 'v', ABSENT = 'a', CHOICE = 'c', OUT = 'o' };

/*
 * A method of a class, written in Python, that looks for a compiled function first.
 *
 * Objects of the class keep their compiled functions in a list, which lies in a slot of theirs.
 * Each method has two entries there: the kernel of a call that makes no choice, or None, and the
 * dict from choices to kernels, or None.
 */
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *function;  /* the method in Python; it is called for all that is not plain */
    PyTypeObject *owner; /* the class */
    Py_ssize_t offset;   /* of the slot in its objects */
    Py_ssize_t place;    /* of the two entries in the list */
    PyObject *names;     /* of the parameters, a tuple of interned str */
    char kinds[MOST_PARAMETERS + 1];
    int count;
    int vectors;         /* how many parameters are vectors; they come first */
    PyObject *out;       /* the name of the parameter for the result; names owns it */
    PyObject *dict;
} Method;

static PyArray_Descr *double_type;
static PyTypeObject *array_type, *ndarray_type;

static PyObject *method_call(PyObject *, PyObject *const *, size_t, PyObject *);

static int method_init(Method *self, PyObject *args, PyObject *kwargs)
{
    static char *words[] = {"function", "owner", "slot", "place", "names", "kinds", NULL};
    PyObject *function, *owner, *slot, *names;
    const char *kinds;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!O!nO!s", words, &function, &PyType_Type,
                                     &owner, &PyMemberDescr_Type, &slot, &self->place,
                                     &PyTuple_Type, &names, &kinds))
        return -1;
    if (!PyType_IsSubtype((PyTypeObject *)owner, PyDescr_TYPE(slot)) ||
        ((PyMemberDescrObject *)slot)->d_member->type != T_OBJECT_EX || self->place < 0 ||
        PyTuple_GET_SIZE(names) > MOST_PARAMETERS ||
        (Py_ssize_t)strlen(kinds) != PyTuple_GET_SIZE(names)) {
        PyErr_SetString(PyExc_ValueError, "the slot or the parameters do not suit the class");
        return -1;
    }
    self->offset = ((PyMemberDescrObject *)slot)->d_member->offset;
    strcpy(self->kinds, kinds);
    self->count = (int)PyTuple_GET_SIZE(names);
    self->vectors = (int)strspn(kinds, "v");
    self->out = NULL;
    for (int k = 0; k < self->count; ++k)
        if (kinds[k] == OUT)
            self->out = PyTuple_GET_ITEM(names, k);
        else if (kinds[k] == VECTOR && k >= self->vectors) {
            PyErr_SetString(PyExc_ValueError, "vectors come first");
            return -1;
        }
    Py_INCREF(function);
    Py_XSETREF(self->function, function);
    Py_INCREF(owner);
    Py_XSETREF(self->owner, (PyTypeObject *)owner);
    Py_INCREF(names);
    Py_XSETREF(self->names, names);
    self->vectorcall = method_call;
    return 0;
}

static int method_traverse(Method *self, visitproc visit, void *arg)
{
    Py_VISIT(self->function);
    Py_VISIT(self->owner);
    Py_VISIT(self->dict);
    return 0;
}

static int method_clear(Method *self)
{
    Py_CLEAR(self->function);
    Py_CLEAR(self->owner);
    Py_CLEAR(self->dict);
    return 0;
}

static void method_free(Method *self)
{
    PyObject_GC_UnTrack(self);
    method_clear(self);
    Py_CLEAR(self->names);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* The method of an object; calls of `object.method(...)` do not need one. */
static PyObject *method_get(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    if (object != NULL && object != Py_None)
        return PyMethod_New(self, object);
    Py_INCREF(self);
    return self;
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
            strcmp(view.format, "d") == 0;
    if (plain)
        memcpy(to, view.buf, sizeof(double) * size);
    PyBuffer_Release(&view);
    return plain;
}

/* Copy a vector of doubles; return 0 where it is anything else. See copy_checked. */
static inline int read_vector(PyObject *value, Py_ssize_t size, double *to, pair *overflow)
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
            *overflow = copy_checked(to, (const double *)from, size, *overflow);
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

/*
 * Evaluate a kernel and return a new reference, or NULL, without an error where the arguments or
 * the results are not plain.
 */
static PyObject *evaluate(Kernel *kernel, PyObject *const *vectors, int count, PyObject *out)
{
    double stack[ON_STACK], *x = stack, *y, *next;
    PyObject *answer = NULL;
    pair overflow = {0, 0};

    if (count != kernel->n_inputs ||
        (out != NULL && (kernel->n_results != 1 || !can_take(out, &kernel->results[0]))))
        return NULL;
    if (kernel->n_work > ON_STACK &&
        (x = PyMem_Malloc(sizeof(double) * kernel->n_work)) == NULL)
        return PyErr_NoMemory();
    y = x + kernel->n_x;
    next = x;
    for (int k = 0; k < count; ++k) {
        if (!read_vector(vectors[k], kernel->sizes[k], next, &overflow))
            goto done;
        next += kernel->sizes[k];
    }
    if ((overflow[0] | overflow[1]) >> 63)
        goto done;
    if (kernel->n_quaternions && !normalise(kernel, x))
        goto done;
    for (Py_ssize_t k = 0; k < kernel->n_constants; ++k)
        next[k] = kernel->constants[k];
    if (!compute(kernel, x, y))
        goto done;
    if (out != NULL) {
        copy_results(PyArray_DATA((PyArrayObject *)out), y, kernel->results[0].size);
        Py_INCREF(out);
        answer = out;
    } else {
        answer = new_results(kernel, y);
    }
done:
    if (x != stack)
        PyMem_Free(x);
    return answer;
}

/* Sort the arguments by parameter; return 0 where one is unknown or given twice. */
static int bind(const Method *self, PyObject *const *args, Py_ssize_t given, PyObject *keywords,
                PyObject **bound)
{
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    if (given > self->count)
        return 0;
    for (Py_ssize_t k = 0; k < given; ++k)
        bound[k] = args[k];
    for (int k = (int)given; k < self->count; ++k)
        bound[k] = NULL;
    for (Py_ssize_t k = 0; k < named; ++k) {
        int place = 0;
        while (place < self->count &&
               PyTuple_GET_ITEM(self->names, place) != PyTuple_GET_ITEM(keywords, k))
            ++place;
        if (place == self->count || bound[place] != NULL)
            return 0;
        bound[place] = args[given + k];
    }
    return 1;
}

/* Evaluate with the arguments by parameter; see `evaluate`. */
static PyObject *plain_call(const Method *self, PyObject *usual, PyObject *choices,
                            PyObject *const *bound)
{
    PyObject *kernel = usual, *out = NULL, *answer;

    for (int k = 0; k < self->count; ++k) {
        PyObject *value = bound[k];
        if (self->kinds[k] == OUT)
            out = value == Py_None ? NULL : value;
        else if (self->kinds[k] == ABSENT && value != NULL && value != Py_None)
            return NULL;
        else if (self->kinds[k] == VECTOR && value == NULL)
            return NULL;
        else if (self->kinds[k] == CHOICE && value != NULL) {
            if (!PyUnicode_CheckExact(value) || !PyDict_CheckExact(choices))
                return NULL;
            kernel = PyDict_GetItemWithError(choices, value);
            if (kernel == NULL)
                return NULL;
        }
    }
    if (!PyObject_TypeCheck(kernel, &KernelType))
        return NULL;
    Py_INCREF(kernel);
    answer = evaluate((Kernel *)kernel, bound, self->vectors, out);
    Py_DECREF(kernel);
    return answer;
}

/* Sort the arguments and evaluate where the call is plain; see `evaluate`. */
static __attribute__((noinline)) PyObject *sorted_call(const Method *self, PyObject *kernels,
                                                       PyObject *const *args, Py_ssize_t given,
                                                       PyObject *keywords)
{
    PyObject *bound[MOST_PARAMETERS];
    if (!bind(self, args, given, keywords, bound))
        return NULL;
    return plain_call(self, PyList_GET_ITEM(kernels, self->place),
                      PyList_GET_ITEM(kernels, self->place + 1), bound);
}

/* Evaluate where the call is plain, given the compiled functions; see `evaluate`. */
static inline PyObject *compiled_call(const Method *self, PyObject *kernels,
                                      PyObject *const *args, Py_ssize_t given,
                                      PyObject *keywords)
{
    PyObject *usual = PyList_GET_ITEM(kernels, self->place), *answer;

    /* The vectors by position, and at most `out` by name: nearly every call. */
    if (given == self->vectors && Py_TYPE(usual) == &KernelType &&
        (keywords == NULL ||
         (PyTuple_GET_SIZE(keywords) == 1 && PyTuple_GET_ITEM(keywords, 0) == self->out &&
          args[given] != Py_None))) {
        Py_INCREF(usual);
        answer = evaluate((Kernel *)usual, args, self->vectors,
                          keywords == NULL ? NULL : args[given]);
        Py_DECREF(usual);
        return answer;
    }
    return sorted_call(self, kernels, args, given, keywords);
}

/* method(object, ...): by compiled code where there is some and the call is plain. */
static PyObject *method_call(PyObject *callable, PyObject *const *args, size_t flags,
                             PyObject *keywords)
{
    Method *self = (Method *)callable;
    const Py_ssize_t given = PyVectorcall_NARGS(flags);

    if (given > 0 && PyObject_TypeCheck(args[0], self->owner)) {
        PyObject *kernels = *(PyObject **)((char *)args[0] + self->offset), *answer = NULL;
        if (kernels != NULL && PyList_CheckExact(kernels) &&
            self->place + 1 < PyList_GET_SIZE(kernels))
            answer = compiled_call(self, kernels, args + 1, given - 1, keywords);
        if (answer != NULL || PyErr_Occurred())
            return answer;
    }
    return PyObject_Vectorcall(self->function, args, flags, keywords);
}

static PyMemberDef method_members[] = {
    {"__wrapped__", T_OBJECT_EX, offsetof(Method, function), READONLY, "The method in Python."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef method_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject MethodType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "flexdyn_ros.codegen.runtime._kernel.Method",
    .tp_basicsize = sizeof(Method),
    .tp_dealloc = (destructor)method_free,
    .tp_vectorcall_offset = offsetof(Method, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC |
                Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_traverse = (traverseproc)method_traverse,
    .tp_clear = (inquiry)method_clear,
    .tp_members = method_members,
    .tp_getset = method_getset,
    .tp_descr_get = method_get,
    .tp_dictoffset = offsetof(Method, dict),
    .tp_init = (initproc)method_init,
    .tp_new = PyType_GenericNew,
    .tp_free = PyObject_GC_Del,
};

/* ------------------------------------------------------------------ batches */

#include "samples.h"

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
    int threads, started = 0;
    piece all;
    pthread_t ids[MOST_THREADS];
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
    while (started < threads - 1 &&
           pthread_create(&ids[started], NULL, run_share, &all) == 0)
        ++started;
    run_share(&all);
    for (int k = 0; k < started; ++k)
        pthread_join(ids[k], NULL);
    Py_END_ALLOW_THREADS
    Py_INCREF(Py_None);
    answer = Py_None;
done:
    PyMem_Free(extent);
    PyMem_Free(steps);
    PyMem_Free(in);
    return answer;
}

/* ------------------------------------------------------------------- module */

/* Return the address of a function of a shared library, which stays loaded. */
static PyObject *find_function(PyObject *module, PyObject *args)
{
    const char *path, *symbol;
    void *library, *function;
    (void)module;

    if (!PyArg_ParseTuple(args, "ss", &path, &symbol))
        return NULL;
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    function = library == NULL ? NULL : dlsym(library, symbol);
    if (function == NULL) {
        const char *reason = dlerror();
        PyErr_SetString(PyExc_OSError, reason ? reason : "unknown error");
        return NULL;
    }
    return PyLong_FromUnsignedLongLong((unsigned long long)(uintptr_t)function);
}

static PyMethodDef methods[] = {
    {"find_function", find_function, METH_VARARGS, "Address of a function of a library."},
    {"run_batch", run_batch, METH_VARARGS, "Run a function over samples, in threads."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_kernel", .m_size = -1, .m_methods = methods,
};

PyMODINIT_FUNC PyInit__kernel(void)
{
    PyObject *module, *arrays, *operations;
    import_array();
    arrays = PyImport_ImportModule("array");
    if (arrays == NULL)
        return NULL;
    array_type = (PyTypeObject *)PyObject_GetAttrString(arrays, "array");
    Py_DECREF(arrays);
    double_type = PyArray_DescrFromType(NPY_DOUBLE);
    ndarray_type = &PyArray_Type;
    if (array_type == NULL || double_type == NULL || PyType_Ready(&ProgramType) < 0 ||
        PyType_Ready(&KernelType) < 0 || PyType_Ready(&MethodType) < 0)
        return NULL;
    module = PyModule_Create(&definition);
    if (module == NULL)
        return NULL;
    operations = operation_table();
    if (operations == NULL || PyModule_AddObject(module, "OPERATIONS", operations) < 0)
        return NULL;
    Py_INCREF(&ProgramType);
    Py_INCREF(&KernelType);
    Py_INCREF(&MethodType);
    if (PyModule_AddObject(module, "Program", (PyObject *)&ProgramType) < 0 ||
        PyModule_AddObject(module, "Kernel", (PyObject *)&KernelType) < 0 ||
        PyModule_AddObject(module, "Method", (PyObject *)&MethodType) < 0 ||
        PyModule_AddStringConstant(module, "DIGEST", FLEXDYN_DIGEST) < 0)
        return NULL;
    return module;
}
