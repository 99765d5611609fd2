/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The velocities that a prescribed base and loops leave, the same in Python as
 * simulation/constrained_space.py. It follows impulses.h.
 */

/* Find the motions that loops leave at the configuration in s->x; -1 for a rank not known. */
static int see_loops(simulation *s, int rank, spaces *found)
{
    const implicit_method *method = &s->implicit;
    const int64_t nv = s->map.nv, n = method->constraints;
    if (method->jacobian.call == NULL)
        return 1;
    if (!sound(s, &method->jacobian, s->map.nq))
        return 0;
    for (int64_t j = 0; j < n; ++j)
        memcpy(found->w[j], s->y + j * nv, sizeof(double) * nv);
    decompose(found, (int)n, (int)nv, rank, RANK_TOLERANCE, 0.0);
    return 1;
}

/* The velocities that unit impulses give by a matrix; `memory` has room for three like it. */
static int free_inverse(const simulation *s, const double *matrix, double *inverse,
                        double *memory)
{
    const implicit_method *method = &s->implicit;
    const int64_t nv = s->map.nv, held = method->held;
    const int looped = method->jacobian.call != NULL;
    const int64_t m = looped ? nv - method->end->rank : nv - held;
    double *block = memory, *right = block + nv * nv, *half = right + nv * nv;
    memset(inverse, 0, sizeof(double) * nv * nv);
    for (int64_t i = 0; i < m && !looped; ++i) {
        memcpy(block + i * m, matrix + (held + i) * nv + held, sizeof(double) * m);
        for (int64_t j = 0; j < m; ++j)
            right[i * m + j] = i == j;
    }
    for (int64_t i = 0; i < m && looped; ++i) {
        for (int64_t k = 0; k < nv; ++k)
            half[k] = dot(matrix + k * nv, method->end->free[i], nv);
        for (int64_t j = 0; j < m; ++j)
            block[j * m + i] = dot(method->middle->free[j], half, nv);
        memcpy(right + i * nv, method->middle->free[i], sizeof(double) * nv);
    }
    if (!solve(block, right, m, looped ? nv : m, 0.0))
        return 0;
    for (int64_t i = 0; i < m && !looped; ++i)
        memcpy(inverse + (held + i) * nv + held, right + i * m, sizeof(double) * m);
    for (int64_t k = 0; k < m && looped; ++k)
        for (int64_t i = 0; i < nv; ++i)
            add(inverse + i * nv, method->end->free[k][i], right + k * nv, nv);
    return 1;
}

/* The velocity at the end that a matrix, with its inverse, takes from v by an impulse. */
static void end_velocity(const simulation *s, const double *matrix, const double *inverse,
                         const double *v, double *impulse, double *end)
{
    const int64_t nv = s->map.nv;
    const int looped = s->implicit.jacobian.call != NULL;
    for (int64_t i = 0; i < nv && looped; ++i)
        impulse[i] += dot(matrix + i * nv, v, nv);
    for (int64_t i = 0; i < nv; ++i)
        end[i] = (looped ? 0.0 : v[i]) + dot(inverse + i * nv, impulse, nv);
}
