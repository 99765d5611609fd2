/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter's loop, included for one number a register and for those of several samples.
 *
 * INTERPRET is its name. A register is REAL, or an array of REAL: FOR_PARTS runs a statement on each
 * PART of it. TRUTH is what comparisons give, EACH(f, x) a function of each number. The registers
 * hold the inputs and the constants. ERROR is not zero where Python would raise one; NaN comes out
 * where math.sin would.
 */
#define WRITTEN r[i[0]] PART
#define A r[i[1]] PART
#define B r[i[2]] PART
#define C r[i[3]] PART
#define D r[i[4]] PART
#define RUN(operation, statement)             \
    case operation:                           \
        do {                                  \
            FOR_PARTS { statement; }          \
            i += operation_widths[operation]; \
        } while (i < end);                    \
        break;

static __attribute__((noinline)) void INTERPRET(const Program *program, REGISTERS restrict r,
                                                TRUTH *restrict error)
{
    const uint32_t *i = program->code, *end;

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
        RUN(DIVIDE, ERROR |= (TRUTH)(B == 0.0); WRITTEN = A / B)
        RUN(ADD_PRODUCT, WRITTEN = A + B * C)
        RUN(SUBTRACT_PRODUCT, WRITTEN = A - B * C)
        RUN(PRODUCT_LESS, WRITTEN = B * C - A)
        RUN(SUM_OF_PRODUCTS, WRITTEN = A * B + C * D)
        RUN(DIFFERENCE_OF_PRODUCTS, WRITTEN = A * B - C * D)
        RUN(SIN, WRITTEN = EACH(sin, A))
        RUN(COS, WRITTEN = EACH(cos, A))
        RUN(EXP, const REAL x = A; const REAL y = EACH(exp, x);
            ERROR |= (TRUTH)(y > DBL_MAX) & (TRUTH)(x <= DBL_MAX); WRITTEN = y)
        RUN(TANH, WRITTEN = EACH(tanh, A))
        RUN(STUMPFF, WRITTEN = EACH_OF(stumpff, &program->functions[i[2]], A))
        RUN(PIECEWISE, WRITTEN = EACH_OF(piecewise, &program->functions[i[2]], A))
        default:
            return;
        }
    }
}

#undef WRITTEN
#undef A
#undef B
#undef C
#undef D
#undef RUN
