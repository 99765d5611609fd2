/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A base whose acceleration is constant, as simulation/prescribed.py. It follows impulses.h.
 */

/* Accelerations under forces, of the base as given. */
static int accelerations_on_base(simulation *s, const double *state, const double *force,
                                 double *qdd)
{
    const implicit_method *method = &s->implicit;
    const int64_t nq = s->map.nq, nv = s->map.nv;
    double *held = method->memory, *rest = held + nv;
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

/* The power of what moves the base, from what accelerations_on_base has left. */
static double base_power(const simulation *s, const double *qd, const double *qdd)
{
    const int64_t nv = s->map.nv;
    const double *rest = s->implicit.memory + nv;
    double power = 0.0;
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
        if (!accelerations_on_base(s, s->state, s->tau, s->rates))
            return 0;
        for (int64_t k = held; k < nv; ++k)
            s->tau[k] -= s->force[k];
        qdd = s->rates;
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
