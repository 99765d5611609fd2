/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A base whose acceleration is constant, as simulation/prescribed.py. It follows impulses.h.
 */

/* The same with loops, by the wrench on the base, which accelerations depend on linearly. */
static int looped_on_base(simulation *s, const double *state, const double *force, double *qdd)
{
    const implicit_method *method = &s->implicit;
    const int64_t nq = s->map.nq, nv = s->map.nv, held = method->held;
    double *wrench = method->memory, *free = wrench + held, *slopes = free + held;
    for (int64_t k = -1; k <= held; ++k) { /* without it, by units, and by the one that is found */
        if (k == held && !solve(slopes, wrench, held, 1, 0.0))
            return 0;
        memcpy(s->x, state, sizeof(double) * (nq + nv));
        memcpy(s->x + nq + nv, force, sizeof(double) * nv);
        for (int64_t j = 0; j < held; ++j)
            s->x[nq + nv + j] += k == held ? wrench[j] : j == k;
        if (!sound(s, &s->forward, nq + 2 * nv))
            return 0;
        for (int64_t j = 0; j < held && k < 0; ++j) {
            free[j] = s->y[j];
            wrench[j] = method->base[j] - free[j];
        }
        for (int64_t j = 0; j < held && k >= 0 && k < held; ++j)
            slopes[j * held + k] = s->y[j] - free[j];
    }
    memcpy(qdd, s->y, sizeof(double) * nv);
    memcpy(qdd, method->base, sizeof(double) * held);
    return 1;
}

/* Accelerations under forces, of the base as given. */
static int accelerations_on_base(simulation *s, const double *state, const double *force,
                                 double *qdd)
{
    const implicit_method *method = &s->implicit;
    const int64_t nq = s->map.nq, nv = s->map.nv;
    double *held = method->memory, *rest = held + nv;
    if (s->forward.call != NULL)
        return looped_on_base(s, state, force, qdd);
    if (!sound_at(s, &method->bias, state, nq + nv))
        return 0;
    for (int64_t k = 0; k < nv; ++k) {
        held[k] = k < method->held;
        rest[k] = force[k] - s->y[k];
    }
    memcpy(qdd, method->base, sizeof(double) * method->held);
    return sound_at(s, &method->mass, state, nq)
           && free_accelerations(s->y, held, rest, nv, qdd, rest + nv);
}

/* The power of the wrench on the base, from results of accelerations_on_base. */
static double base_power(const simulation *s, const double *qd, const double *qdd)
{
    const int64_t nv = s->map.nv;
    const double *rest = s->implicit.memory + nv;
    double power = 0.0;
    if (s->forward.call != NULL)
        return dot(s->implicit.memory, qd, (int)s->implicit.held);
    for (int64_t k = 0; k < s->implicit.held; ++k)
        power += qd[k] * (dot(s->y + k * nv, qdd, (int)nv) - rest[k]);
    return power;
}

/* Put the wrench that moves the base at s->state into s->tau; return whether that worked. */
static int add_base_wrench(simulation *s)
{
    const implicit_method *method = &s->implicit;
    const int64_t nq = s->map.nq, nv = s->map.nv, held = method->held;
    const double *qdd = method->last;
    if (!find_loads(s, s->state))
        return 0;
    if (!s->is_implicit || !s->next) {
        for (int64_t k = 0; k < nv; ++k)
            s->tau[k] += s->force[k];
        if (s->rank != NULL)
            *s->rank = 0.0;
        if (!accelerations_on_base(s, s->state, s->tau, s->rates))
            return 0;
        for (int64_t k = held; k < nv; ++k)
            s->tau[k] -= s->force[k];
        qdd = s->rates;
    }
    if (s->forward.call != NULL) {
        memcpy(s->tau, method->memory, sizeof(double) * held);
        return 1;
    }
    for (int64_t k = 0; k < held; ++k)
        s->tau[k] = -s->force[k];
    if (!sound_at(s, &method->bias, s->state, nq + nv))
        return 0;
    for (int64_t k = 0; k < held; ++k)
        s->tau[k] += s->y[k];
    if (!sound_at(s, &method->mass, s->state, nq))
        return 0;
    for (int64_t k = 0; k < held; ++k)
        s->tau[k] += dot(s->y + k * nv, qdd, (int)nv);
    return 1;
}
