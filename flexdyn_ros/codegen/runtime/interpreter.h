/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs of instructions on numbered registers: generated functions without a compiler.
 *
 * The registers are the inputs, the results, the constants and the temporaries, in this order.
 * Instructions of one kind stand together in a run: the kind, how many there are, and then the
 * operands of each, the register that it writes first. So what to do is decided once a run, and
 * the processor works on several instructions at a time. The last run is END, of none.
 *
 * Each operation rounds as the same operation of generated Python does: products that are added
 * are rounded first (this file is compiled with -ffp-contract=off), and functions are those of the
 * C library that Python's math module calls. Programs are checked when they are made: all that is
 * read was written before, and every place is one that there is.
 */
#define FUNCTION_OPERAND 1

/* Name, registers read, what follows them. a, b, c, d are what is read in order. */
#define OPERATIONS(DO)                                                                     \
    DO(END, "end", 0, 0)                                                                   \
    DO(COPY, "copy", 1, 0)                         /* a */                                 \
    DO(NEGATE, "negate", 1, 0)                     /* -a */                                \
    DO(ADD, "add", 2, 0)                           /* a + b */                             \
    DO(SUBTRACT, "subtract", 2, 0)                 /* a - b */                             \
    DO(MULTIPLY, "multiply", 2, 0)                 /* a*b */                               \
    DO(DIVIDE, "divide", 2, 0)                     /* a/b */                               \
    DO(ADD_PRODUCT, "add_product", 3, 0)           /* a + b*c */                           \
    DO(SUBTRACT_PRODUCT, "subtract_product", 3, 0) /* a - b*c */                           \
    DO(PRODUCT_LESS, "product_less", 3, 0)         /* b*c - a */                           \
    DO(SUM_OF_PRODUCTS, "sum_of_products", 4, 0)   /* a*b + c*d */                         \
    DO(DIFFERENCE_OF_PRODUCTS, "difference_of_products", 4, 0) /* a*b - c*d */             \
    DO(SIN, "sin", 1, 0)                                                                   \
    DO(COS, "cos", 1, 0)                                                                   \
    DO(EXP, "exp", 1, 0)                                                                   \
    DO(TANH, "tanh", 1, 0)                                                                 \
    DO(STUMPFF, "stumpff", 1, FUNCTION_OPERAND)                                            \
    DO(PIECEWISE, "piecewise", 1, FUNCTION_OPERAND)

#define AS_NUMBER(number, name, reads, more) number,
#define AS_NAME(number, name, reads, more) name,
#define AS_READS(number, name, reads, more) reads,
#define AS_WIDTH(number, name, reads, more) 1 + reads + more,

enum { OPERATIONS(AS_NUMBER) N_OPERATIONS };
static const char *const operation_names[] = {OPERATIONS(AS_NAME)};
static const uint8_t operation_reads[] = {OPERATIONS(AS_READS)};
static const uint8_t operation_widths[] = {OPERATIONS(AS_WIDTH)};

/*
 * A function with numbers of its own.
 *
 * Stumpff's function: sizes are whether its order is odd, the length of its series and the number
 * of its closed form's steps; numbers are where the closed form begins, the series and the steps.
 * A piecewise polynomial: sizes are the lengths of its pieces; numbers are the knots, and then of
 * each piece its origin and its coefficients of rising powers.
 */
typedef struct {
    uint32_t kind; /* STUMPFF or PIECEWISE */
    Py_ssize_t n_sizes, n_numbers;
    Py_ssize_t *sizes;
    Py_ssize_t *starts; /* of pieces */
    double *numbers;
} numeric_function;

typedef struct {
    PyObject_HEAD
    uint32_t *code;
    Py_ssize_t n_code; /* words */
    double *constants;
    numeric_function *functions;
    Py_ssize_t n_functions;
    Py_ssize_t n_inputs, n_results, n_constants, n_registers;
} Program;

static double stumpff(const numeric_function *function, double u)
{
    const Py_ssize_t odd = function->sizes[0], terms = function->sizes[1];
    const double *series = function->numbers + 1, *steps = series + terms;
    double value;

    if (u < function->numbers[0]) {
        value = series[terms - 1];
        for (Py_ssize_t k = terms - 2; k >= 0; --k)
            value = series[k] - u * value;
        return value;
    }
    value = sqrt(u);
    value = odd ? sin(value) / value : cos(value);
    for (Py_ssize_t k = 0; k < function->sizes[2]; ++k)
        value = (steps[k] - value) / u;
    return value;
}

static double piecewise(const numeric_function *function, double x)
{
    Py_ssize_t low = 0, high = function->n_sizes - 1, count;
    const double *piece;
    double s, value;

    while (low < high) {
        const Py_ssize_t middle = (low + high) / 2;
        if (x < function->numbers[middle])
            high = middle;
        else
            low = middle + 1;
    }
    count = function->sizes[low];
    piece = function->numbers + function->starts[low];
    if (count == 0)
        return 0.0;
    s = x - piece[0];
    value = piece[count];
    for (Py_ssize_t k = count - 1; k > 0; --k)
        value = piece[k] + s * value;
    return value;
}

/* The operands of the present instruction. */
#define WRITTEN r[i[0]]
#define A r[i[1]]
#define B r[i[2]]
#define C r[i[3]]
#define D r[i[4]]
#define RUN(operation, statement)                   \
    case operation:                                 \
        do {                                        \
            statement;                              \
            i += operation_widths[operation];       \
        } while (i < end);                          \
        break;

/*
 * Run a program on registers that hold the inputs; return 0 where Python would raise an error.
 * NaN comes out where an argument is one for which math.sin raises an error.
 */
static int interpret(const Program *program, double *restrict r)
{
    const uint32_t *i = program->code, *end;

    memcpy(r + program->n_inputs + program->n_results, program->constants,
           sizeof(double) * program->n_constants);
    for (;;) {
        const uint32_t operation = i[0];
        end = i + 2 + (size_t)i[1] * operation_widths[operation];
        i += 2;
        switch (operation) {
        RUN(COPY, WRITTEN = A)
        RUN(NEGATE, WRITTEN = -A)
        RUN(ADD, WRITTEN = A + B)
        RUN(SUBTRACT, WRITTEN = A - B)
        RUN(MULTIPLY, WRITTEN = A * B)
        RUN(DIVIDE, if (B == 0.0) return 0; WRITTEN = A / B)
        RUN(ADD_PRODUCT, WRITTEN = A + B * C)
        RUN(SUBTRACT_PRODUCT, WRITTEN = A - B * C)
        RUN(PRODUCT_LESS, WRITTEN = B * C - A)
        RUN(SUM_OF_PRODUCTS, WRITTEN = A * B + C * D)
        RUN(DIFFERENCE_OF_PRODUCTS, WRITTEN = A * B - C * D)
        RUN(SIN, WRITTEN = sin(A))
        RUN(COS, WRITTEN = cos(A))
        RUN(EXP, const double x = A; const double y = exp(x);
            if (isinf(y) && !isinf(x)) return 0; WRITTEN = y)
        RUN(TANH, WRITTEN = tanh(A))
        RUN(STUMPFF, WRITTEN = stumpff(&program->functions[i[2]], A))
        RUN(PIECEWISE, WRITTEN = piecewise(&program->functions[i[2]], A))
        default:
            return 1;
        }
    }
}

#undef A
#undef B
#undef C
#undef D

/* --------------------------------------------------------- programs as objects */

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
