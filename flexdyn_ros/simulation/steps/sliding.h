/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explicit steps between friction events, the same in Python as simulation/sliding_motion.py. It
 * follows joint_stops.h.
 */

/* Whether sliding joints keep their directions, and the others rest. */
static int same_directions(const simulation *s, const room *r, const double *v)
{
    for (int64_t i = 0; i < s->implicit.rubbing; ++i) {
        const double speed = v[s->implicit.at[i]];
        if ((speed > 0.0) - (speed < 0.0) != r->closed[i] || !(speed - speed == 0.0))
            return 0;
    }
    return 1;
}

/* The rate of the state in s->stage; r->closed has the directions. Return 0 at an event. */
static int sliding_rate(simulation *s, double t, const room *r, double *rate)
{
    const implicit_method *method = &s->implicit;
    const int64_t nq = s->map.nq, nv = s->map.nv, n = method->rubbing;
    const double *v = s->stage + nq;
    double *qdd = rate + nq, *more = rate + nq + nv, *force = r->force, *held = r->gap;
    double power = 0.0, lost = 0.0;
    if (!same_directions(s, r, v) || !midpoint_force(s, t, force))
        return 0;
    if (!sound_at(s, &method->mass, s->stage, nq))
        return 0;
    memcpy(r->mass, s->y, sizeof(double) * nv * nv);
    friction_levels(method, v, nv, r->levels);
    for (int64_t k = 0; k < nv; ++k) {
        force[k] -= method->damping[k] * v[k];
        held[k] = 0.0;
    }
    for (int64_t i = 0; i < n; ++i) {
        force[method->at[i]] -= r->closed[i] * r->levels[method->at[i]];
        held[method->at[i]] = r->closed[i] == 0.0;
    }
    memset(qdd, 0, sizeof(double) * nv);
    if (!free_accelerations(r->mass, held, force, nv, qdd, r->scratch))
        return 0;
    for (int64_t k = 0; k < nv; ++k) {
        double load = force[k];
        for (int64_t j = 0; j < nv && held[k] != 0.0; ++j)
            load -= r->mass[k * nv + j] * qdd[j];
        if (held[k] != 0.0 && !(fabs(load) <= r->levels[k]))
            return 0;
    }
    configuration_rate(&s->map, s->stage, v, rate);
    for (int64_t k = 0; k < nv; ++k) {
        power += (s->tau[k] + s->force[k]) * v[k];
        lost += method->damping[k] * v[k] * v[k];
        for (int64_t j = 0; j < nv; ++j)
            lost += v[k] * method->modal[k * nv + j] * v[j];
    }
    for (int64_t i = 0; i < n; ++i)
        lost += r->levels[method->at[i]] * fabs(v[method->at[i]]);
    for (int64_t k = 0; k < s->law.integrals; ++k)
        *more++ = s->law.errors[k];
    *more++ = power;
    *more = lost;
    return 1;
}

/* Compute the state h on in s->stage; return 0 where a friction event or stop comes between. */
static int sliding_step(simulation *s, double t, double h, const room *r)
{
    const tableau *method = &s->method;
    const int64_t nq = s->map.nq, nv = s->map.nv;
    int met;
    close_stops(s, r, s->state, &met);
    for (int64_t i = 0; i < s->implicit.rows; ++i) {
        if (r->closed[i] != 0.0)
            return 0;
        if (i < s->implicit.rubbing) {
            const double speed = s->state[nq + s->implicit.at[i]];
            r->closed[i] = (speed > 0.0) - (speed < 0.0);
        }
    }
    memcpy(s->stage, s->state, sizeof(double) * s->size);
    for (int64_t i = 0; i < method->stages; ++i) {
        if (i)
            move(s, s->state, h, method->a + i * method->stages, i, s->stage);
        if (!normalise(&s->map, s->stage)
            || !sliding_rate(s, t + method->c[i] * h, r, s->rates + i * s->size))
            return 0;
    }
    move(s, s->state, h, method->b, method->stages, s->stage);
    if (!same_directions(s, r, s->stage + nq))
        return 0;
    for (int64_t i = 0; i < s->implicit.rows; ++i)
        if (gap_of(&s->implicit, i, 0, s->stage) <= CLOSED
            || gap_of(&s->implicit, i, 1, s->stage) <= CLOSED)
            return 0;
    for (int64_t k = 0; k < nv; ++k)
        s->implicit.last[k] = (s->stage[nq + k] - s->state[nq + k]) / h;
    return 1;
}

/* Take the slopes of nonlinear springs at s->state into the stiffness. */
static int update_springs(simulation *s)
{
    const implicit_method *method = &s->implicit;
    const int64_t nq = s->map.nq, nv = s->map.nv;
    for (int64_t i = 0; i < method->springs_count; ++i) {
        const int64_t k = method->spring_v[i], row = method->spring_row[i];
        double difference = 0.0;
        for (int side = -1; side <= 1; side += 2) {
            memcpy(s->x, s->state, sizeof(double) * nq);
            memset(s->x + nq, 0, sizeof(double) * nv);
            s->x[method->spring_q[i]] += side * DIFFERENCE;
            if (!sound(s, &method->bias, nq + nv))
                return 0;
            difference += side * s->y[row];
        }
        method->stiffness[row * nv + k] = difference / (2.0 * DIFFERENCE);
    }
    return 1;
}

/* Compute the state h on in s->stage; return whether that worked. */
static int implicit_step(simulation *s, double t, double h)
{
    const room r = lay_out(s);
    int done;
    if (*s->implicit.slides && sliding_step(s, t, h, &r))
        return 1;
    if (!update_springs(s))
        return 0;
    memcpy(r.state, s->state, sizeof(double) * s->size);
    done = step_over_impacts(s, t, h, &r);
    memcpy(s->state, r.state, sizeof(double) * s->size);
    return done;
}
