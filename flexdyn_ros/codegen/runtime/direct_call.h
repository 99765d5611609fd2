/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A method of Dynamics that looks for a compiled function first.
 *
 * It reads its arguments, checks them and calls a kernel. Whatever is not plain (another dtype, a
 * wrong shape, a value that is not finite, wrenches, doubtful results) it leaves to the method
 * written in Python, which knows what to say.
 */
#pragma once

#include "arrays.h"

enum { VECTOR = 'v', ABSENT = 'a', CHOICE = 'c', OUT = 'o' };
enum { MOST_PARAMETERS = 12 };

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

/* Write the results where `takes_results` allowed it. */
static inline void write_results(const Kernel *kernel, PyObject *out, const double *y)
{
    if (kernel->n_results == 1)
        copy_results(PyArray_DATA((PyArrayObject *)out), y, kernel->results[0].size);
    else
        for (Py_ssize_t k = 0; k < kernel->n_results; y += kernel->results[k++].size)
            copy_results(PyArray_DATA((PyArrayObject *)PyTuple_GET_ITEM(out, k)), y,
                         kernel->results[k].size);
}

/*
 * Evaluate a kernel and return a new reference, or NULL, without an error where the arguments or
 * the results are not plain.
 */
static PyObject *evaluate(Kernel *kernel, PyObject *const *vectors, int count, PyObject *out)
{
    double stack[ON_STACK], *x = stack, *y, *next;
    PyObject *answer = NULL;
    bit_pair not_finite = {0, 0};

    if (count != kernel->n_inputs || (out != NULL && !takes_results(kernel, out)))
        return NULL;
    if (kernel->n_work > ON_STACK &&
        (x = PyMem_Malloc(sizeof(double) * kernel->n_work)) == NULL)
        return PyErr_NoMemory();
    y = x + kernel->n_x;
    next = x;
    for (int k = 0; k < count; ++k) {
        if (!read_vector(vectors[k], kernel->sizes[k], next, &not_finite))
            goto done;
        next += kernel->sizes[k];
    }
    if (not_finite[0] | not_finite[1])
        goto done;
    if (kernel->n_quaternions && !normalise(kernel, x))
        goto done;
    for (Py_ssize_t k = 0; k < kernel->n_constants; ++k)
        next[k] = kernel->constants[k];
    if (!compute(kernel, x, y))
        goto done;
    if (out != NULL) {
        write_results(kernel, out, y);
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
