/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A base whose acceleration is constant, as simulation/prescribed.py. It follows impulses.h.
 */

/* Accelerations under forces, of the base as given: M_oo qdd_o = force_o - bias_o - M_ob a_b. */
static int accelerations_on_base(simulation *s, const double *state, const double *force,
                                 double *qdd)
{
    const implicit_method *method = &s->implicit;
    const int64_t nq = s->map.nq, nv = s->map.nv, held = method->held, m = nv - held;
    double *block = method->memory, *right = block + m * m;
    memcpy(s->x, state, sizeof(double) * (nq + nv));
    if (!sound(s, &method->bias, nq + nv))
        return 0;
    for (int64_t i = 0; i < m; ++i)
        right[i] = force[held + i] - s->y[held + i];
    memcpy(s->x, state, sizeof(double) * nq);
    if (!sound(s, &method->mass, nq))
        return 0;
    for (int64_t i = 0; i < m; ++i) {
        const double *row = s->y + (held + i) * nv;
        right[i] -= dot(row, method->base, (int)held);
        memcpy(block + i * m, row + held, sizeof(double) * m);
    }
    if (!solve(block, right, m, 1, 0.0))
        return 0;
    memcpy(qdd, method->base, sizeof(double) * held);
    memcpy(qdd + held, right, sizeof(double) * m);
    return 1;
}

/* Put the wrench that moves the base at s->state into s->tau; return whether that worked. */
static int add_base_wrench(simulation *s)
{
    const implicit_method *method = &s->implicit;
    const int64_t nq = s->map.nq, nv = s->map.nv, held = method->held;
    const double *qdd = method->last;
    memset(s->force, 0, sizeof(double) * nv);
    if (s->external.call != NULL) {
        memcpy(s->x, s->state, sizeof(double) * nq);
        if (!sound(s, &s->external, nq))
            return 0;
        memcpy(s->force, s->y, sizeof(double) * nv);
    }
    if (!s->is_implicit || !s->next) {
        for (int64_t k = 0; k < nv; ++k)
            s->tau[k] -= s->force[k];
        if (!accelerations_on_base(s, s->state, s->tau, s->rates))
            return 0;
        for (int64_t k = held; k < nv; ++k)
            s->tau[k] += s->force[k];
        qdd = s->rates;
    }
    memcpy(s->tau, s->force, sizeof(double) * held);
    memcpy(s->x, s->state, sizeof(double) * (nq + nv));
    if (!sound(s, &method->bias, nq + nv))
        return 0;
    for (int64_t k = 0; k < held; ++k)
        s->tau[k] += s->y[k];
    memcpy(s->x, s->state, sizeof(double) * nq);
    if (!sound(s, &method->mass, nq))
        return 0;
    for (int64_t k = 0; k < held; ++k)
        s->tau[k] += dot(s->y + k * nv, qdd, (int)nv);
    return 1;
}
