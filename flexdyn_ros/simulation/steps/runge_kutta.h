/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of an explicit Runge-Kutta method, a table of numbers (simulation/tableaus.py); the same
 * in Python is simulation/runge_kutta.py. It follows prescribed_base.h.
 */
/* The rate of a state under s->tau; return whether it can be relied on. */
static int state_rate(simulation *s, const double *state, double *rate)
{
    const int64_t nq = s->map.nq, nv = s->map.nv;
    const double *qd = state + nq;
    double *more = rate + nq + nv, power = 0.0;
    double *force = s->force;
    if (!find_loads(s, state))
        return 0;
    for (int64_t k = 0; k < nv; ++k)
        force[k] += s->tau[k];
    if (s->implicit.held) {
        if (!accelerations_on_base(s, state, force, rate + nq))
            return 0;
        power = base_power(s, qd, rate + nq);
    } else {
        memcpy(s->x, state, sizeof(double) * (nq + nv));
        memcpy(s->x + nq + nv, force, sizeof(double) * nv);
        if (!sound(s, &s->forward, nq + 2 * nv))
            return 0;
        memcpy(rate + nq, s->y, sizeof(double) * nv);
    }
    if (s->rank != NULL)
        *s->rank = s->y[s->forward.results + 1];
    configuration_rate(&s->map, state, qd, rate);
    for (int64_t k = 0; k < s->law.integrals; ++k)
        *more++ = s->law.errors[k];
    for (int64_t k = 0; k < nv; ++k)
        power += force[k] * qd[k];
    *more++ = power;
    if (!sound_at(s, &s->losses, qd, nv))
        return 0;
    *more = s->y[0];
    return 1;
}

/* to = from + h sum_j weights_j rates_j. */
static void move(const simulation *s, const double *from, double h, const double *weights,
                 int64_t count, double *to)
{
    for (int64_t k = 0; k < s->size; ++k)
        to[k] = 0.0;
    for (int64_t j = 0; j < count; ++j) {
        const double weight = weights[j], *rate = s->rates + j * s->size;
        if (weight != 0.0)
            for (int64_t k = 0; k < s->size; ++k)
                to[k] += weight * rate[k];
    }
    for (int64_t k = 0; k < s->size; ++k)
        to[k] = from[k] + h * to[k];
}

/* Compute the state h on in s->stage, under s->tau at the start; return whether that worked. */
static int runge_kutta_step(simulation *s, double t, double h)
{
    const tableau *method = &s->method;
    if (s->rank != NULL)
        *s->rank = 0.0; /* found at the first stage, a closed state, and kept */
    if (!state_rate(s, s->state, s->rates))
        return 0;
    for (int64_t i = 1; i < method->stages; ++i) {
        move(s, s->state, h, method->a + i * method->stages, i, s->stage);
        if (!normalise(&s->map, s->stage))
            return 0;
        if (!torque(s, t + method->c[i] * h, s->stage))
            return 0;
        if (!state_rate(s, s->stage, s->rates + i * s->size))
            return 0;
    }
    move(s, s->state, h, method->b, method->stages, s->stage);
    return 1;
}
