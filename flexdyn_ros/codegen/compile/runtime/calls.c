/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled functions called from Python with as little as possible in between.
 *
 * A Kernel (kernel.h) is a compiled function; a Method (method.h) is a call of one object of
 * Dynamics. One build serves all robots.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>
#include <structmember.h>

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef FLEXDYN_DIGEST
#define FLEXDYN_DIGEST ""
#endif

#include "method.h"

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_calls", .m_size = -1,
};

PyMODINIT_FUNC PyInit__calls(void)
{
    PyObject *module, *arrays;
    import_array();
    arrays = PyImport_ImportModule("array");
    if (arrays == NULL)
        return NULL;
    array_type = (PyTypeObject *)PyObject_GetAttrString(arrays, "array");
    Py_DECREF(arrays);
    double_type = PyArray_DescrFromType(NPY_DOUBLE);
    ndarray_type = &PyArray_Type;
    if (array_type == NULL || double_type == NULL || PyType_Ready(&KernelType) < 0 ||
        PyType_Ready(&MethodType) < 0)
        return NULL;
    module = PyModule_Create(&definition);
    if (module == NULL)
        return NULL;
    Py_INCREF(&KernelType);
    Py_INCREF(&MethodType);
    if (PyModule_AddObject(module, "Kernel", (PyObject *)&KernelType) < 0 ||
        PyModule_AddObject(module, "Method", (PyObject *)&MethodType) < 0 ||
        PyModule_AddStringConstant(module, "DIGEST", FLEXDYN_DIGEST) < 0)
        return NULL;
    return module;
}
