/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs of interpreter.h as objects of Python.
 *
 * They are checked when they are made, so that no program can do harm: all that is read was
 * written before, inputs and constants are never written, every result is, and every place and
 * function is one that there is.
 */
#pragma once

static void program_free(Program *self)
{
    for (Py_ssize_t k = 0; k < self->n_functions; ++k) {
        PyMem_Free(self->functions[k].sizes);
        PyMem_Free(self->functions[k].starts);
        PyMem_Free(self->functions[k].numbers);
    }
    PyMem_Free(self->functions);
    PyMem_Free(self->constants);
    PyMem_Free(self->code);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* Return the numbers of a tuple in new memory, or NULL with an error. */
static double *read_numbers(PyObject *tuple, Py_ssize_t *count)
{
    double *numbers;
    *count = PyTuple_GET_SIZE(tuple);
    numbers = PyMem_Calloc(*count + 1, sizeof(double));
    if (numbers == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t k = 0; k < *count; ++k) {
        numbers[k] = PyFloat_AsDouble(PyTuple_GET_ITEM(tuple, k));
        if (numbers[k] == -1.0 && PyErr_Occurred()) {
            PyMem_Free(numbers);
            return NULL;
        }
    }
    return numbers;
}

static int malformed(const char *what)
{
    PyErr_Format(PyExc_ValueError, "malformed program: %s", what);
    return -1;
}

/* Read (operation, sizes, numbers) and find out where everything lies. */
static int read_numeric_function(PyObject *item, numeric_function *function)
{
    PyObject *sizes, *numbers;
    Py_ssize_t count, left;

    if (!PyTuple_Check(item) || !PyArg_ParseTuple(item, "IO!O!", &function->kind, &PyTuple_Type,
                                                  &sizes, &PyTuple_Type, &numbers))
        return PyErr_Occurred() ? -1 : malformed("a function is no tuple");
    function->n_sizes = count = PyTuple_GET_SIZE(sizes);
    function->numbers = read_numbers(numbers, &function->n_numbers);
    function->sizes = PyMem_Calloc(count + 1, sizeof(Py_ssize_t));
    function->starts = PyMem_Calloc(count + 1, sizeof(Py_ssize_t));
    if (function->numbers == NULL || function->sizes == NULL || function->starts == NULL)
        return PyErr_Occurred() ? -1 : (PyErr_NoMemory(), -1);
    left = function->n_numbers;
    for (Py_ssize_t k = 0; k < count; ++k) {
        function->sizes[k] = PyLong_AsSsize_t(PyTuple_GET_ITEM(sizes, k));
        if (function->sizes[k] < 0)
            return PyErr_Occurred() ? -1 : malformed("a size is negative");
        if (function->sizes[k] > function->n_numbers)
            return malformed("a function has too few numbers");
    }
    if (function->kind == STUMPFF) {
        if (count != 3 || function->sizes[1] < 1 ||
            left != 1 + function->sizes[1] + function->sizes[2])
            return malformed("Stumpff's function has the wrong numbers");
        return 0;
    }
    if (function->kind != PIECEWISE || count < 1)
        return malformed("unknown function");
    left -= count - 1;
    for (Py_ssize_t k = 0; k < count; ++k) {
        function->starts[k] = function->n_numbers - left;
        left -= 1 + function->sizes[k];
        if (left < 0)
            return malformed("a piecewise polynomial has too few numbers");
    }
    return left ? malformed("a piecewise polynomial has too many numbers") : 0;
}

/* Check one instruction and remember what it writes; `written` has a flag a register. */
static int check_instruction(const Program *self, uint32_t operation, const uint32_t *operands,
                             uint8_t *written)
{
    const int reads = operation_reads[operation];
    const Py_ssize_t constants = self->n_inputs + self->n_results;

    for (int k = 1; k <= reads; ++k)
        if (operands[k] >= self->n_registers || !written[operands[k]])
            return malformed("an instruction reads what nothing wrote");
    if (operation_widths[operation] > 1 + reads) {
        const uint32_t function = operands[1 + reads];
        if (function >= self->n_functions || self->functions[function].kind != operation)
            return malformed("an instruction calls no function of its kind");
    }
    if (operands[0] >= self->n_registers || operands[0] < self->n_inputs ||
        (operands[0] >= constants && operands[0] < constants + self->n_constants))
        return malformed("an instruction writes where nothing may be written");
    written[operands[0]] = 1;
    return 0;
}

/* Check all instructions in order. */
static int check_code(const Program *self, uint8_t *written)
{
    const Py_ssize_t constants = self->n_inputs + self->n_results;
    Py_ssize_t place = 0;

    memset(written, 1, self->n_inputs);
    memset(written + constants, 1, self->n_constants);
    for (;;) {
        const Py_ssize_t left = self->n_code - place - 2;
        uint32_t operation, count, width;
        if (left < 0)
            return malformed("it does not end");
        operation = self->code[place];
        count = self->code[place + 1];
        if (operation >= N_OPERATIONS)
            return malformed("unknown operation");
        place += 2;
        if (operation == END) {
            if (left || count)
                return malformed("it goes on after its end");
            break;
        }
        width = operation_widths[operation];
        if (count < 1 || count > left / width)
            return malformed("a run is empty or longer than the program");
        for (uint32_t k = 0; k < count; ++k, place += width)
            if (check_instruction(self, operation, self->code + place, written) < 0)
                return -1;
    }
    for (Py_ssize_t k = self->n_inputs; k < constants; ++k)
        if (!written[k])
            return malformed("a result is missing");
    return 0;
}

static int fill_program(Program *self, const Py_buffer *code, PyObject *constants,
                        PyObject *functions)
{
    const Py_ssize_t most = INT32_MAX;
    uint8_t *written;
    int found;

    if (code->len % (Py_ssize_t)sizeof(uint32_t))
        return malformed("a word is cut off");
    self->n_code = code->len / (Py_ssize_t)sizeof(uint32_t);
    self->code = PyMem_Malloc(code->len + sizeof(uint32_t));
    if (self->code == NULL)
        return PyErr_NoMemory(), -1;
    memcpy(self->code, code->buf, code->len);
    if ((self->constants = read_numbers(constants, &self->n_constants)) == NULL)
        return -1;
    self->functions = PyMem_Calloc(PyTuple_GET_SIZE(functions) + 1, sizeof(numeric_function));
    if (self->functions == NULL)
        return PyErr_NoMemory(), -1;
    while (self->n_functions < PyTuple_GET_SIZE(functions)) {
        PyObject *item = PyTuple_GET_ITEM(functions, self->n_functions);
        if (read_numeric_function(item, &self->functions[self->n_functions++]) < 0)
            return -1;
    }
    if (self->n_inputs < 0 || self->n_results < 0 || self->n_registers < 0 ||
        self->n_registers > most || self->n_inputs > most || self->n_results > most ||
        self->n_inputs + self->n_results + self->n_constants > self->n_registers)
        return malformed("there are too few registers, or too many");
    written = PyMem_Calloc(self->n_registers + 1, 1);
    if (written == NULL)
        return PyErr_NoMemory(), -1;
    found = check_code(self, written);
    PyMem_Free(written);
    return found;
}

/* Program(code, registers, inputs, results, constants, functions) */
static PyObject *program_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"code", "registers", "inputs", "results", "constants", "functions",
                            NULL};
    PyObject *constants, *functions;
    Py_buffer code;
    Program *self = (Program *)type->tp_alloc(type, 0);

    if (self == NULL)
        return NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "y*nnnO!O!", names, &code, &self->n_registers,
                                     &self->n_inputs, &self->n_results, &PyTuple_Type, &constants,
                                     &PyTuple_Type, &functions)) {
        Py_DECREF(self);
        return NULL;
    }
    if (fill_program(self, &code, constants, functions) < 0)
        Py_CLEAR(self);
    PyBuffer_Release(&code);
    return (PyObject *)self;
}

static PyTypeObject ProgramType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "flexdyn_ros.codegen.runtime._kernel.Program",
    .tp_basicsize = sizeof(Program),
    .tp_dealloc = (destructor)program_free,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Instructions on registers, checked.",
    .tp_new = program_new,
};

/* Return the operations as (name, registers read, whether a function follows). */
static PyObject *operation_table(void)
{
    PyObject *table = PyTuple_New(N_OPERATIONS);
    for (int k = 0; table != NULL && k < N_OPERATIONS; ++k) {
        PyObject *entry = Py_BuildValue("(sii)", operation_names[k], operation_reads[k],
                                        operation_widths[k] - operation_reads[k] - 1);
        if (entry == NULL)
            Py_CLEAR(table);
        else
            PyTuple_SET_ITEM(table, k, entry);
    }
    return table;
}
