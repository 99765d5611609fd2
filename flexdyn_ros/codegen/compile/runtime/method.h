/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of Dynamics by a compiled function, an attribute of one object.
 *
 * It reads its arguments, checks them and calls a kernel. All other calls go to the
 * method written in Python: another dtype, a wrong shape, a value that is not finite, several
 * wrenches, doubtful results.
 */
#pragma once

#include "kernel.h"

enum { VECTOR = 'v', WRENCHES = 'w', CHOICE = 'c', OUT = 'o' }; /* any other is absent */
enum { MOST_PARAMETERS = 12 };

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *fallback;  /* called for all that is not plain */
    PyObject *names;     /* of the parameters, a tuple of interned str */
    char kinds[MOST_PARAMETERS + 1];
    int count;
    int vectors;         /* number of parameters that are vectors; they come first */
    PyObject *out;       /* the name of the parameter for the result; names owns it */
    PyObject *usual;     /* the kernel of a call that makes no choice, or NULL */
    PyObject *choices;   /* a dict from choices to kernels */
    PyObject *frames;    /* a dict from frames of a single wrench to kernels */
    PyObject *dict, *weak;
} Method;

static PyObject *method_call(PyObject *, PyObject *const *, size_t, PyObject *);

/* Method(fallback, names, kinds) */
static int method_init(Method *self, PyObject *args, PyObject *kwargs)
{
    PyObject *fallback, *names;
    const char *kinds;

    if (kwargs != NULL && PyDict_GET_SIZE(kwargs)) {
        PyErr_SetString(PyExc_TypeError, "a method takes no keywords here: pass by place");
        return -1;
    }
    if (!PyArg_ParseTuple(args, "OO!s", &fallback, &PyTuple_Type, &names, &kinds))
        return -1;
    if (self->fallback != NULL || PyTuple_GET_SIZE(names) > MOST_PARAMETERS ||
        (Py_ssize_t)strlen(kinds) != PyTuple_GET_SIZE(names)) {
        PyErr_SetString(PyExc_ValueError, "the parameters do not fit: build the extension again");
        return -1;
    }
    strcpy(self->kinds, kinds);
    self->count = (int)PyTuple_GET_SIZE(names);
    self->vectors = (int)strspn(kinds, "v");
    for (int k = 0; k < self->count; ++k)
        if (kinds[k] == OUT)
            self->out = PyTuple_GET_ITEM(names, k);
    self->choices = PyDict_New();
    self->frames = PyDict_New();
    if (self->choices == NULL || self->frames == NULL)
        return -1;
    Py_INCREF(fallback);
    self->fallback = fallback;
    Py_INCREF(names);
    self->names = names;
    self->vectorcall = method_call;
    return 0;
}

static int method_traverse(Method *self, visitproc visit, void *arg)
{
    Py_VISIT(self->fallback);
    Py_VISIT(self->dict);
    return 0;
}

static int method_clear(Method *self)
{
    Py_CLEAR(self->fallback);
    Py_CLEAR(self->dict);
    return 0;
}

static void method_free(Method *self)
{
    PyObject_GC_UnTrack(self);
    if (self->weak != NULL)
        PyObject_ClearWeakRefs((PyObject *)self);
    method_clear(self);
    Py_CLEAR(self->usual);
    Py_CLEAR(self->choices);
    Py_CLEAR(self->frames);
    Py_CLEAR(self->names);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* add(kernel, choice, frame): answer calls that make a choice, or have a wrench on a frame. */
static PyObject *method_add(Method *self, PyObject *args)
{
    PyObject *kernel, *choice, *frame;
    if (!PyArg_ParseTuple(args, "O!OO", &KernelType, &kernel, &choice, &frame))
        return NULL;
    if (frame != Py_None) {
        if (PyDict_SetItem(self->frames, frame, kernel) < 0)
            return NULL;
    } else if (choice != Py_None) {
        if (PyDict_SetItem(self->choices, choice, kernel) < 0)
            return NULL;
    } else {
        Py_INCREF(kernel);
        Py_XSETREF(self->usual, kernel);
    }
    Py_RETURN_NONE;
}

/* `forget()`: leave all calls to the fallback. */
static PyObject *method_forget(Method *self, PyObject *unused)
{
    (void)unused;
    Py_CLEAR(self->usual);
    PyDict_Clear(self->choices);
    PyDict_Clear(self->frames);
    Py_RETURN_NONE;
}

/* Sort the arguments by parameter; return 0 where one is unknown or given twice. */
static int bind(const Method *self, PyObject *const *args, Py_ssize_t given, PyObject *keywords,
                PyObject **bound)
{
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    if (given > self->count)
        return 0;
    for (int k = 0; k < self->count; ++k)
        bound[k] = k < given ? args[k] : NULL;
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

/* Evaluate with sorted arguments; see `evaluate`. */
static __attribute__((noinline)) PyObject *sorted_call(const Method *self, PyObject *const *args,
                                                       Py_ssize_t given, PyObject *keywords)
{
    PyObject *bound[MOST_PARAMETERS + 1], *kernel = self->usual, *out = NULL, *answer;
    PyObject *choice = NULL, *frame = NULL, *wrench = NULL;
    Py_ssize_t position = 0;
    int vectors = self->vectors;

    if (!bind(self, args, given, keywords, bound))
        return NULL;
    for (int k = 0; k < self->count; ++k) {
        PyObject *value = bound[k] == Py_None ? NULL : bound[k];
        if (self->kinds[k] == OUT)
            out = value;
        else if (self->kinds[k] == VECTOR ? value == NULL : 0)
            return NULL;
        else if (self->kinds[k] == CHOICE && bound[k] != NULL)
            choice = bound[k];
        else if (self->kinds[k] == WRENCHES && value != NULL) {
            if (!PyDict_CheckExact(value) || PyDict_GET_SIZE(value) != 1 ||
                !PyDict_Next(value, &position, &frame, &wrench))
                return NULL;
        } else if (self->kinds[k] != VECTOR && value != NULL)
            return NULL;
    }
    if (choice != NULL && (frame != NULL || !PyUnicode_CheckExact(choice)))
        return NULL;
    if (choice != NULL)
        kernel = PyDict_GetItemWithError(self->choices, choice);
    if (frame != NULL) {
        if (!PyUnicode_CheckExact(frame))
            return NULL;
        kernel = PyDict_GetItemWithError(self->frames, frame);
        bound[vectors++] = wrench;
    }
    if (kernel == NULL)
        return NULL;
    Py_INCREF(kernel);
    Py_XINCREF(wrench);
    answer = evaluate((Kernel *)kernel, bound, vectors, out, 1);
    Py_XDECREF(wrench);
    Py_DECREF(kernel);
    return answer;
}

/* method(...): by compiled code where there is some and the call is plain. */
static PyObject *method_call(PyObject *callable, PyObject *const *args, size_t flags,
                             PyObject *keywords)
{
    Method *self = (Method *)callable;
    const Py_ssize_t given = PyVectorcall_NARGS(flags);
    PyObject *kernel = self->usual, *answer;

    /* The vectors by position, and at most `out` by name: nearly every call. */
    if (kernel != NULL && given == self->vectors &&
        (keywords == NULL || (PyTuple_GET_SIZE(keywords) == 1 && args[given] != Py_None &&
                              PyTuple_GET_ITEM(keywords, 0) == self->out))) {
        Py_INCREF(kernel);
        answer = evaluate((Kernel *)kernel, args, given, keywords == NULL ? NULL : args[given],
                          1);
        Py_DECREF(kernel);
    } else {
        answer = sorted_call(self, args, given, keywords);
    }
    if (answer != NULL || PyErr_Occurred())
        return answer;
    return PyObject_Vectorcall(self->fallback, args, flags, keywords);
}

/* It belongs to one object already. With __get__ it counts as a routine for help(). */
static PyObject *method_get(PyObject *self, PyObject *object, PyObject *type)
{
    (void)object;
    (void)type;
    Py_INCREF(self);
    return self;
}

static PyMethodDef method_methods[] = {
    {"add", (PyCFunction)method_add, METH_VARARGS, "Answer calls by a kernel."},
    {"forget", (PyCFunction)method_forget, METH_NOARGS, "Leave all calls to the fallback."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef method_members[] = {
    {"fallback", T_OBJECT_EX, offsetof(Method, fallback), READONLY, "What answers other calls."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef method_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject MethodType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "flexdyn_ros.codegen.compile.runtime._calls.Method",
    .tp_basicsize = sizeof(Method),
    .tp_dealloc = (destructor)method_free,
    .tp_vectorcall_offset = offsetof(Method, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = (traverseproc)method_traverse,
    .tp_clear = (inquiry)method_clear,
    .tp_methods = method_methods,
    .tp_members = method_members,
    .tp_getset = method_getset,
    .tp_descr_get = method_get,
    .tp_dictoffset = offsetof(Method, dict),
    .tp_weaklistoffset = offsetof(Method, weak),
    .tp_init = (initproc)method_init,
    .tp_new = PyType_GenericNew,
    .tp_free = PyObject_GC_Del,
};
