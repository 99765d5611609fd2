/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of the implicit midpoint rule with impulses: formulas and sources are in
 * simulation/implicit_midpoint.py, which is the same in Python. It follows constrained_space.h.
 */

static double fitted(double z)
{
    return z > SMALL_DAMPING ? -1.0 / expm1(-z) - 1.0 / z : 0.5 + z / 12.0;
}

/* Torque, gravity, Coriolis, elastic forces and wrenches at s->stage, into force. */
static int midpoint_force(simulation *s, double t, double *force)
{
    const int64_t nq = s->map.nq, nv = s->map.nv;
    const implicit_method *method = &s->implicit;
    const double *v = s->stage + nq;
    if (!torque(s, t, s->stage))
        return 0;
    if (!sound_at(s, &method->bias, s->stage, nq + nv))
        return 0;
    for (int64_t k = 0; k < nv; ++k)
        force[k] = s->tau[k] + method->springs[k] * v[k] - s->y[k];
    if (!sound_at(s, &method->friction, v, nv))
        return 0;
    for (int64_t k = 0; k < nv; ++k)
        force[k] += s->y[k];
    if (!find_loads(s, s->stage))
        return 0;
    for (int64_t k = 0; k < nv; ++k)
        force[k] += s->force[k];
    return 1;
}

/* Add the slopes of a controller to the matrix, from the inverse of the mass matrix. */
static int add_gains(const simulation *s, double h, const double *mobility, double *matrix,
                     double *unit, double *memory)
{
    const torque_law *law = &s->law;
    const implicit_method *method = &s->implicit;
    const int64_t nv = s->map.nv, n = law->tracked;
    const int inertial = law->model.inverse.call != NULL && !law->model.along;
    for (int64_t i = 0; i < n * n; ++i)
        memory[i] = inertial ? mobility[law->of_v[i / n] * nv + law->of_v[i % n]]
                             : i / n == i % n;
    if (n && !invert(memory, unit, n))
        return 0;
    for (int64_t i = 0; i < n && inertial && law->model.size > n; ++i) {
        const int64_t row = law->of_v[i];
        for (int64_t m = 0; m < nv; ++m) {
            double share = 0.0;
            int follows = 0;
            for (int64_t j = 0; j < n; ++j) {
                share += unit[i * n + j] * mobility[law->of_v[j] * nv + m];
                follows |= law->of_v[j] == m;
            }
            for (int64_t k = 0; k < nv && !follows; ++k)
                matrix[row * nv + k] -= share * (
                    0.5 * h * (method->modal[m * nv + k] + (m == k ? method->springs[m] : 0.0))
                    + 0.25 * h * h * method->stiffness[m * nv + k]);
        }
    }
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
            matrix[law->of_v[i] * nv + law->of_v[j]] +=
                unit[i * n + j] * (0.5 * h * law->kd[j] + 0.25 * h * h * law->kp[j]);
    return 1;
}

/* The state half a step on with half of a change of velocity, in s->stage. */
static int to_middle(simulation *s, double h, const double *change)
{
    const int64_t nq = s->map.nq, nv = s->map.nv;
    double *q = s->stage, *v = q + nq;
    for (int64_t k = 0; k < nv; ++k)
        v[k] = s->state[nq + k] + 0.5 * change[k];
    configuration_rate(&s->map, s->state, v, s->rates);
    for (int64_t k = 0; k < nq; ++k)
        q[k] = s->state[k] + 0.5 * h * s->rates[k];
    if (!normalise(&s->map, q))
        return 0;
    for (int64_t k = nq + nv; k < s->size; ++k)
        s->stage[k] = s->state[k];
    return 1;
}

/* Memory of the numbers of a step; n rows of impulses. */
typedef struct {
    double *inverse, *matrix, *mass, *scratch; /* of v by v */
    double *change, *theta, *force, *gap, *end, *levels; /* of v */
    double *columns, *mobility, *box, *loose, *lower, *upper, *impulse, *velocity; /* of rows */
    double *closed; /* of rows: 1 where a lower, 2 where an upper stop is */
    double *state; /* at the start of a step */
} room;

static room lay_out(const simulation *s)
{
    const int64_t nv = s->map.nv, n = s->implicit.rows, longest = n > nv ? n : nv;
    double *at = s->implicit.memory;
    room r;
    double **of_v[] = {&r.change, &r.theta, &r.force, &r.gap, &r.end, &r.levels};
    double **of_rows[] = {&r.loose, &r.lower, &r.upper, &r.impulse, &r.velocity,
                          &r.closed};
    r.inverse = at;
    r.matrix = r.inverse + nv * nv;
    r.mass = r.matrix + nv * nv;
    r.scratch = r.mass + nv * nv;
    at = r.scratch + 3 * nv * nv;
    for (int k = 0; k < 6; ++k, at += nv)
        *of_v[k] = at;
    r.columns = at;
    r.mobility = r.columns + longest * longest;
    r.box = r.mobility + longest * longest;
    at = r.box + longest * (longest + 3);
    for (int k = 0; k < 6; ++k, at += longest)
        *of_rows[k] = at;
    r.state = at;
    return r;
}

/* The matrix of the iterations, from the mass matrix. */
static int prepare_iterations(simulation *s, double h, const room *r)
{
    const implicit_method *method = &s->implicit;
    const int64_t nv = s->map.nv;
    if (!free_inverse(s, r->mass, r->inverse, r->scratch))
        return 0;
    for (int64_t k = 0; k < nv; ++k)
        r->theta[k] = fitted(h * method->damping[k] * r->inverse[k * nv + k]);
    for (int64_t k = 0; k < nv * nv; ++k)
        r->matrix[k] =
            r->mass[k] + 0.5 * h * method->modal[k] + 0.25 * h * h * method->stiffness[k];
    for (int64_t k = 0; k < nv; ++k)
        r->matrix[k * nv + k] += h * r->theta[k] * method->damping[k];
    return add_gains(s, h, r->inverse, r->matrix, r->mobility, r->box);
}

/* Find the motions that loops leave in the middle of a step, s->stage, and at its end. */
static int see_step(simulation *s, double h)
{
    const int rank = s->rank == NULL ? 0 : (int)*s->rank - 1;
    if (s->implicit.jacobian.call == NULL)
        return 1;
    memcpy(s->x, s->stage, sizeof(double) * s->map.nq);
    if (!see_loops(s, rank, s->implicit.middle))
        return 0;
    for (int64_t k = 0; k < s->map.nq; ++k) /* rates are those of to_middle */
        s->x[k] = s->state[k] + h * s->rates[k];
    return normalise(&s->map, s->x) && see_loops(s, rank, s->implicit.end);
}

/* The configuration h on from the middle in s->stage, into q. */
static int to_end(simulation *s, double h, const double *middle, double *q)
{
    configuration_rate(&s->map, s->stage, middle, s->rates);
    for (int64_t k = 0; k < s->map.nq; ++k)
        q[k] = s->state[k] + h * s->rates[k];
    return normalise(&s->map, q);
}

/* The state h on, and its quadratures, in s->stage, from its middle there. */
static int finish_step(simulation *s, double h, const room *r)
{
    const implicit_method *method = &s->implicit;
    const int64_t nq = s->map.nq, nv = s->map.nv, n = method->rows;
    const double *v0 = s->state + nq, *start = v0 + nv, *change = r->change;
    double *more = s->stage + nq + nv, *v = s->stage + nq, *middle = r->end;
    double work = 0.0, lost = 0.0;
    for (int64_t k = 0; k < nv; ++k) {
        middle[k] = v0[k] + 0.5 * change[k];
        method->last[k] = change[k] / h;
        work += h * (s->tau[k] + s->force[k]) * middle[k];
        lost += h * method->damping[k] * (v0[k] + r->theta[k] * change[k]) * middle[k];
    }
    for (int64_t k = 0; k < method->held; ++k)
        work -= r->gap[k] * middle[k];
    for (int64_t k = 0; k < n; ++k)
        lost -= r->impulse[k] * row_of(method, k, middle);
    for (int64_t i = 0; i < nv; ++i)
        for (int64_t j = 0; j < nv; ++j)
            lost += h * middle[i] * method->modal[i * nv + j] * middle[j];
    for (int64_t k = 0; k < s->law.integrals; ++k)
        *more++ = *start++ + h * s->law.errors[k];
    for (int64_t k = 0; k < nv; ++k)
        v[k] = v0[k] + change[k];
    *more++ = *start++ + work;
    *more = *start + lost;
    return to_end(s, h, middle, s->stage) && close_loops(s);
}

/* Add the impulses of friction over h, and of stops, to velocities, by levels at s->stage. */
static int add_impulses(simulation *s, double h, const room *r, double *end)
{
    const implicit_method *method = &s->implicit;
    const int64_t nq = s->map.nq, nv = s->map.nv, n = method->rows;
    friction_levels(method, s->stage + nq, nv, r->levels);
    for (int64_t i = 0; i < n; ++i) {
        const int closed = (int)r->closed[i];
        const double friction =
            i < method->rubbing && h > 0.0 ? h * r->levels[method->at[i]] : 0.0;
        r->loose[i] = row_of(method, i, end);
        r->lower[i] = closed & 2 ? -INFINITY : -friction;
        r->upper[i] = closed & 1 ? INFINITY : friction;
    }
    if (!friction_impulses(r->mobility, r->loose, r->lower, r->upper, n,
                           method->jacobian.call != NULL, r->impulse, r->velocity, r->box))
        return 0;
    for (int64_t k = 0; k < nv; ++k)
        for (int64_t i = 0; i < n; ++i)
            end[k] += r->columns[k * n + i] * r->impulse[i];
    for (int64_t i = 0; i < n; ++i)
        if (r->velocity[i] == 0.0 && method->share[i] == 0.0)
            end[method->at[i]] = 0.0;
    return 1;
}

/* Velocities of unit impulses on the rows, from the inverse of the matrix of the iterations. */
static void row_mobility(const simulation *s, const room *r)
{
    const int64_t nv = s->map.nv, n = s->implicit.rows;
    for (int64_t k = 0; k < nv; ++k)
        for (int64_t i = 0; i < n; ++i)
            r->columns[k * n + i] = row_of(&s->implicit, i, r->inverse + k * nv);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
            r->mobility[i * n + j] =
                r->columns[s->implicit.at[i] * n + j]
                + s->implicit.share[i] * r->columns[s->implicit.beside[i] * n + j];
}

/* Iterate to the change of velocity over a step; return whether the iterations end. */
static int iterate(simulation *s, double t, double h, const room *r)
{
    const implicit_method *method = &s->implicit;
    const int64_t nq = s->map.nq, nv = s->map.nv, integrals = s->law.integrals;
    const double *v0 = s->state + nq;
    double *change = r->change, *end = r->end, moved = INFINITY;
    memcpy(s->x, s->state, sizeof(double) * nq);
    if (!see_loops(s, -1, method->end))
        return 0;
    if (s->rank != NULL)
        *s->rank = method->end->rank + 1.0;
    for (int64_t k = 0; k < nv; ++k)
        change[k] = h * (k < method->held ? method->base[k] : method->last[k]);
    for (int iteration = 0; iteration < MOST_ITERATIONS; ++iteration) {
        double before = moved, scale = 0.0, speed = 0.0, cancelled = 0.0;
        if (!to_middle(s, h, change) || !see_step(s, h))
            return 0;
        if (integrals) {
            if (!torque(s, t + 0.5 * h, s->stage))
                return 0;
            for (int64_t k = 0; k < integrals; ++k)
                s->stage[nq + nv + k] += 0.5 * h * s->law.errors[k];
        }
        if (!sound_at(s, &method->mass, s->stage, nq))
            return 0;
        memcpy(r->mass, s->y, sizeof(double) * nv * nv);
        if (!iteration && !prepare_iterations(s, h, r))
            return 0;
        if (!iteration || method->jacobian.call != NULL) {
            if (!free_inverse(s, r->matrix, r->inverse, r->scratch))
                return 0;
            row_mobility(s, r);
        }
        if (!midpoint_force(s, t + 0.5 * h, r->force))
            return 0;
        for (int64_t i = 0; i < nv; ++i) {
            const double damped = method->damping[i] * (v0[i] + r->theta[i] * change[i]);
            r->gap[i] = h * (r->force[i] - damped);
            for (int64_t j = 0; j < nv; ++j)
                r->gap[i] -= r->mass[i * nv + j] * change[j];
        }
        for (int64_t k = 0; k < nv; ++k)
            r->levels[k] = v0[k] + change[k];
        end_velocity(s, r->matrix, r->inverse, r->levels, r->gap, end);
        if (method->rows && !add_impulses(s, h, r, end))
            return 0;
        for (int64_t k = 0; k < nv && method->rows; ++k) {
            double sum = 0.0;
            for (int64_t i = 0; i < method->rows; ++i)
                sum += fabs(r->columns[k * method->rows + i] * r->impulse[i]);
            cancelled = fmax(cancelled, sum);
        }
        moved = 0.0;
        for (int64_t k = 0; k < nv; ++k) {
            moved = fmax(moved, fabs(end[k] - v0[k] - change[k]));
            change[k] = end[k] - v0[k];
            scale = fmax(scale, fabs(change[k]));
            speed = fmax(speed, fabs(v0[k]));
            if (!(change[k] - change[k] == 0.0))
                return 0;
        }
        scale += speed;
        /* Velocities that loops leave of impulses at rest are rounding. */
        if (moved <= fmax(CONVERGED * scale, NOISE * cancelled)
            || (moved <= ROUNDING * scale && moved >= before))
            return 1;
    }
    return 0;
}
