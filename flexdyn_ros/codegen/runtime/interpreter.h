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
#pragma once

#include <float.h>

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

/* One number a register. */
#define INTERPRET interpret_one
#define REAL double
#define REGISTERS REAL *
#define PART
#define FOR_PARTS
#define TRUTH int
#define ERROR (*error)
#define EACH(function, x) function(x)
#define EACH_OF(function, data, x) function(data, x)
#include "interpreter_loop.h"
#undef INTERPRET
#undef REAL
#undef REGISTERS
#undef PART
#undef FOR_PARTS
#undef TRUTH
#undef ERROR
#undef EACH
#undef EACH_OF

/* Several samples at a time with the bits of one at a time; processors have vectors of two. */
enum { PAIRS = 4, SAMPLES = 2 * PAIRS };
typedef double sample_pair __attribute__((vector_size(16)));
typedef long long sample_truth __attribute__((vector_size(16)));
typedef sample_pair samples[PAIRS];

#define INTERPRET interpret_samples
#define REAL sample_pair
#define REGISTERS samples *
#define PART [part]
#define FOR_PARTS _Pragma("GCC unroll 4") for (int part = 0; part < PAIRS; ++part)
#define TRUTH sample_truth
#define ERROR error[part]
#define EACH(function, x) ((sample_pair){function((x)[0]), function((x)[1])})
#define EACH_OF(function, data, x) ((sample_pair){function(data, (x)[0]), function(data, (x)[1])})
#include "interpreter_loop.h"

/* Run a program on registers that hold the inputs; return 0 where Python would raise an error. */
static inline int interpret(const Program *program, double *r)
{
    double *constants = r + program->n_inputs + program->n_results;
    int error = 0;
    for (Py_ssize_t k = 0; k < program->n_constants; ++k)
        constants[k] = program->constants[k];
    interpret_one(program, r, &error);
    return !error;
}
