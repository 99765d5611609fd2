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
 * C library that Python's math module calls. program.h makes programs and checks them.
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
static __attribute__((noinline)) int interpret(const Program *program, double *restrict r)
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
