/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated functions called from Python with as little as possible in between.
 *
 * A Kernel (kernel.h) is a compiled function or an interpreted program (program.h). A Method
 * (direct_call.h) stands for a method of Dynamics. run_batch (batch.h) goes over many samples.
 *
 * Nothing here knows of any robot, so that one build serves all.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>
#include <structmember.h>

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef FLEXDYN_DIGEST
#define FLEXDYN_DIGEST ""
#endif

#include "batch.h"
#include "direct_call.h"

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
    if (pthread_atfork(NULL, NULL, crew_forget) != 0)
        return PyErr_NoMemory();
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
