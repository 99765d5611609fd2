/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of the implicit midpoint rule over impacts on joint stops, the same in Python as
 * simulation/implicit_midpoint.py. It follows implicit_midpoint.h.
 */

/* Solve a step; into gap the least gap at its end of stops that are not closed. */
static int solve_step(simulation *s, double t, double h, const room *r, double *gap)
{
    const implicit_method *method = &s->implicit;
    double *q = s->x; /* until a function is called */
    *gap = INFINITY;
    if (!iterate(s, t, h, r))
        return 0;
    if (!method->rows)
        return 1;
    for (int64_t k = 0; k < s->map.nv; ++k)
        r->end[k] = s->state[s->map.nq + k] + 0.5 * r->change[k];
    if (!to_end(s, h, r->end, q))
        return 0;
    for (int64_t i = 0; i < method->rows; ++i)
        for (int upper = 0; upper < 2; ++upper)
            if (!((int)r->closed[i] & (1 + upper)))
                *gap = fmin(*gap, gap_of(method, i, upper, q));
    return 1;
}

/* Mark the stops closed at a state; return the least gap of the others. `met`: one is hit. */
static double close_stops(const simulation *s, const room *r, const double *state, int *met)
{
    const implicit_method *method = &s->implicit;
    double least = INFINITY;
    *met = 0;
    for (int64_t i = 0; i < method->rows; ++i) {
        const double speed = row_of(method, i, state + s->map.nq);
        int closed = 0;
        for (int upper = 0; upper < 2; ++upper) {
            const double gap = gap_of(method, i, upper, state);
            if (gap <= CLOSED) {
                closed |= 1 + upper;
                *met |= (upper ? speed : -speed) > STILL;
            } else {
                least = fmin(least, gap);
            }
        }
        r->closed[i] = closed;
    }
    return least;
}

/* Solve the shorter step that ends at the first stop, by the Illinois method. */
static int step_to_impact(simulation *s, double t, double *h, const room *r, double below,
                          double above)
{
    double lower = 0.0, upper = *h, gap;
    int side = 0;
    for (int k = 0; k < MOST_SECANTS; ++k) {
        *h = (lower * above - upper * below) / (above - below);
        if (!solve_step(s, t, *h, r, &gap))
            return 0;
        if (fabs(gap) <= CLOSED)
            return 1;
        if (gap > 0.0) {
            lower = *h;
            below = gap;
            above *= side > 0 ? 0.5 : 1.0;
        } else {
            upper = *h;
            above = gap;
            below *= side < 0 ? 0.5 : 1.0;
        }
        side = gap > 0.0 ? 1 : -1;
    }
    return 0;
}

/* Let the state in s->state meet the stops that are closed, without rebound. */
static int impact(simulation *s, const room *r)
{
    const implicit_method *method = &s->implicit;
    const int64_t nq = s->map.nq, nv = s->map.nv, n = method->rows;
    double *q = s->state, *v = q + nq;
    for (int64_t i = 0; i < n; ++i)
        for (int upper = 0; upper < 2; ++upper)
            if (method->share[i] == 0.0 && fabs(gap_of(method, i, upper, q)) <= CLOSED)
                q[method->q_at[i]] = method->limits[upper * n + i];
    if (!sound_at(s, &method->mass, q, nq))
        return 0;
    memcpy(r->mass, s->y, sizeof(double) * nv * nv);
    memcpy(s->x, q, sizeof(double) * nq);
    if (!see_loops(s, -1, method->end))
        return 0;
    if (method->end != NULL)
        *method->middle = *method->end;
    if (!free_inverse(s, r->mass, r->inverse, r->scratch))
        return 0;
    row_mobility(s, r);
    memcpy(r->gap, v, sizeof(double) * nv);
    if (!add_impulses(s, 0.0, r, v))
        return 0;
    for (int64_t k = 0; k < method->held; ++k)
        for (int64_t j = 0; j < nv; ++j)
            s->state[s->size - 2] += v[k] * r->mass[k * nv + j] * (v[j] - r->gap[j]);
    for (int64_t k = 0; k < nv; ++k)
        r->gap[k] += v[k];
    for (int64_t i = 0; i < n; ++i)
        s->state[s->size - 1] -= 0.5 * r->impulse[i] * row_of(method, i, r->gap);
    return 1;
}

/* Compute the state h on in s->stage; return whether that worked. s->state serves on the way. */
static int step_over_impacts(simulation *s, double t, double h, const room *r)
{
    for (int k = 0; k < MOST_IMPACTS; ++k) {
        int met;
        const double below = close_stops(s, r, s->state, &met);
        double gap, length = h;
        if (met && !impact(s, r))
            return 0;
        if (!solve_step(s, t, h, r, &gap))
            return 0;
        if (!(gap < -CLOSED))
            return finish_step(s, h, r);
        if (!step_to_impact(s, t, &length, r, below, gap) || !finish_step(s, length, r))
            return 0;
        memcpy(s->state, s->stage, sizeof(double) * s->size);
        t += length;
        h -= length;
    }
    return 0;
}
