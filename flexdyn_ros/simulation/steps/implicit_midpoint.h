/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of the implicit midpoint rule with dry friction as box-constrained impulses: formulas and
 * sources are in simulation/implicit_midpoint.py and simulation/dry_friction.py, which are the
 * same in Python. It follows stepping.h.
 */
#define MOST_ITERATIONS 15
#define MOST_CHANGES 50

/* Solve a x = b for `count` columns, rows of b; both are overwritten. Return whether it worked. */
static int solve(double *a, double *b, int64_t n, int64_t count)
{
    for (int64_t k = 0; k < n; ++k) {
        int64_t best = k;
        for (int64_t i = k + 1; i < n; ++i)
            best = fabs(a[i * n + k]) > fabs(a[best * n + k]) ? i : best;
        if (!(fabs(a[best * n + k]) > 0.0))
            return 0;
        if (best != k) {
            for (int64_t j = 0; j < n; ++j) {
                const double kept = a[k * n + j];
                a[k * n + j] = a[best * n + j];
                a[best * n + j] = kept;
            }
            for (int64_t j = 0; j < count; ++j) {
                const double kept = b[k * count + j];
                b[k * count + j] = b[best * count + j];
                b[best * count + j] = kept;
            }
        }
        for (int64_t i = 0; i < n; ++i) {
            const double factor = i == k ? 0.0 : a[i * n + k] / a[k * n + k];
            if (factor == 0.0)
                continue;
            for (int64_t j = k; j < n; ++j)
                a[i * n + j] -= factor * a[k * n + j];
            for (int64_t j = 0; j < count; ++j)
                b[i * count + j] -= factor * b[k * count + j];
        }
    }
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < count; ++j)
            b[i * count + j] /= a[i * n + i];
    return 1;
}

static int invert(double *a, double *inverse, int64_t n)
{
    memset(inverse, 0, sizeof(double) * n * n);
    for (int64_t k = 0; k < n; ++k)
        inverse[k * n + k] = 1.0;
    return solve(a, inverse, n, n);
}

static double clipped(double x, double bound)
{
    return x > bound ? bound : x < -bound ? -bound : x;
}

/* Impulses that meet the set-valued law; velocities are zero where a joint sticks. */
static int friction_impulses(const double *mobility, const double *loose, const double *bound,
                             int64_t n, double *impulse, double *velocity, double *memory)
{
    double *a = memory, *b = a + n * n, *sticks = b + n;
    for (int64_t j = 0; j < n; ++j) {
        sticks[j] = fabs(loose[j]) <= mobility[j * n + j] * bound[j];
        impulse[j] = clipped(-loose[j] / mobility[j * n + j], bound[j]);
    }
    for (int change = 0; change < MOST_CHANGES; ++change) {
        int64_t m = 0, row = 0;
        int settled = 1;
        for (int64_t j = 0; j < n; ++j)
            m += sticks[j] != 0.0;
        for (int64_t i = 0; i < n; ++i) {
            int64_t column = 0;
            if (sticks[i] == 0.0)
                continue;
            b[row] = -loose[i];
            for (int64_t j = 0; j < n; ++j) {
                if (sticks[j] == 0.0)
                    b[row] -= mobility[i * n + j] * impulse[j];
                else
                    a[row * m + column++] = mobility[i * n + j];
            }
            ++row;
        }
        if (m && !solve(a, b, m, 1))
            return 0;
        row = 0;
        for (int64_t i = 0; i < n; ++i)
            if (sticks[i] != 0.0)
                impulse[i] = b[row++];
        for (int64_t i = 0; i < n; ++i) {
            velocity[i] = loose[i];
            for (int64_t j = 0; j < n; ++j)
                velocity[i] += mobility[i * n + j] * impulse[j];
            if (sticks[i] != 0.0)
                velocity[i] = 0.0;
        }
        for (int64_t i = 0; i < n; ++i) {
            const double wanted = impulse[i] - velocity[i] / mobility[i * n + i];
            const double now = fabs(wanted) <= bound[i];
            const double limited = now != 0.0 ? impulse[i] : clipped(wanted, bound[i]);
            settled &= now == sticks[i] && limited == impulse[i];
            sticks[i] = now;
            impulse[i] = limited;
        }
        if (settled)
            return 1;
    }
    return 0;
}

/* Levels of dry friction at velocities v, by velocity coordinate. */
static void friction_levels(const implicit_method *method, const double *v, int64_t nv,
                            double *levels)
{
    memset(levels, 0, sizeof(double) * nv);
    for (int64_t k = 0; k < method->terms; ++k) {
        const friction_term *term = &method->term[k];
        const double ratio = term->multiplier * v[term->index] / term->stribeck_velocity;
        const double excess = (term->stribeck - term->coulomb) * exp(-ratio * ratio);
        levels[term->index] += fabs(term->multiplier) * (term->coulomb + excess);
    }
}

static double fitted(double z)
{
    return z > 1e-4 ? -1.0 / expm1(-z) - 1.0 / z : 0.5 + z / 12.0;
}

/* Torque, gravity, Coriolis, elastic forces and wrenches at s->stage, into force. */
static int midpoint_force(simulation *s, double t, double *force)
{
    const int64_t nq = s->map.nq, nv = s->map.nv;
    const implicit_method *method = &s->implicit;
    const double *v = s->stage + nq;
    if (!torque(s, t, s->stage))
        return 0;
    memcpy(s->x, s->stage, sizeof(double) * (nq + nv));
    if (!sound(s, &method->bias, nq + nv))
        return 0;
    for (int64_t k = 0; k < nv; ++k)
        force[k] = s->tau[k] + method->springs[k] * v[k] - s->y[k];
    memcpy(s->x, v, sizeof(double) * nv);
    if (!sound(s, &method->friction, nv))
        return 0;
    for (int64_t k = 0; k < nv; ++k)
        force[k] += s->y[k];
    memset(s->force, 0, sizeof(double) * nv);
    if (s->external.call != NULL) {
        memcpy(s->x, s->stage, sizeof(double) * nq);
        if (!sound(s, &s->external, nq))
            return 0;
        for (int64_t k = 0; k < nv; ++k) {
            s->force[k] = -s->y[k];
            force[k] -= s->y[k];
        }
    }
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

/* The matrix of the iterations and what follows from it, for the mass matrix at s->y. */
static int prepare_iterations(simulation *s, double h, double *theta, double *inverse,
                              double *mobility, double *matrix, double *memory)
{
    const implicit_method *method = &s->implicit;
    const int64_t nv = s->map.nv, n = method->rubbing;
    memcpy(matrix, s->y, sizeof(double) * nv * nv);
    if (!invert(matrix, inverse, nv))
        return 0;
    for (int64_t k = 0; k < nv; ++k)
        theta[k] = fitted(h * method->damping[k] * inverse[k * nv + k]);
    for (int64_t k = 0; k < nv * nv; ++k)
        matrix[k] = s->y[k] + 0.5 * h * method->modal[k] + 0.25 * h * h * method->stiffness[k];
    for (int64_t k = 0; k < nv; ++k)
        matrix[k * nv + k] += h * theta[k] * method->damping[k];
    if (!add_gains(s, h, inverse, matrix, mobility, memory) || !invert(matrix, inverse, nv))
        return 0;
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
            mobility[i * n + j] = inverse[method->at[i] * nv + method->at[j]];
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

/* The state h on, and its quadratures, from the middle in s->stage and the change of velocity. */
static void finish_step(simulation *s, double h, const double *change, const double *theta,
                        const double *impulse, double *middle)
{
    const implicit_method *method = &s->implicit;
    const int64_t nq = s->map.nq, nv = s->map.nv, n = method->rubbing;
    const double *v0 = s->state + nq, *start = v0 + nv;
    double *more = s->stage + nq + nv, power = 0.0, lost = 0.0;
    for (int64_t k = 0; k < nv; ++k) {
        middle[k] = v0[k] + 0.5 * change[k];
        method->last[k] = change[k] / h;
        power += (s->tau[k] + s->force[k]) * middle[k];
        lost += h * method->damping[k] * (v0[k] + theta[k] * change[k]) * middle[k];
    }
    for (int64_t k = 0; k < n; ++k)
        lost -= impulse[k] * middle[method->at[k]];
    for (int64_t i = 0; i < nv; ++i)
        for (int64_t j = 0; j < nv; ++j)
            lost += h * middle[i] * method->modal[i * nv + j] * middle[j];
    for (int64_t k = 0; k < s->law.integrals; ++k)
        *more++ = *start++ + h * s->law.errors[k];
    *more++ = *start++ + h * power;
    *more = *start + lost;
    configuration_rate(&s->map, s->stage, middle, s->rates);
    for (int64_t k = 0; k < nq; ++k)
        s->stage[k] = s->state[k] + h * s->rates[k];
    for (int64_t k = 0; k < nv; ++k)
        s->stage[nq + k] = v0[k] + change[k];
}

/* Compute the state h on in s->stage; return whether that worked, and the iterations ended. */
static int implicit_step(simulation *s, double t, double h)
{
    const implicit_method *method = &s->implicit;
    const int64_t nq = s->map.nq, nv = s->map.nv, n = method->rubbing;
    const int64_t integrals = s->law.integrals;
    const double *v0 = s->state + nq, *v = s->stage + nq;
    double *room = method->memory;
    double *inverse = room, *mobility = room + nv * nv, *matrix = room + 2 * nv * nv;
    double *box = room + 3 * nv * nv, *change = box + nv * nv + 2 * nv;
    double *theta = change + nv, *force = theta + nv, *gap = force + nv;
    double *end = gap + nv, *levels = end + nv, *loose = levels + nv, *bound = loose + nv;
    double *impulse = bound + nv, *velocity = impulse + nv, *mass = velocity + nv;
    double moved = INFINITY;
    int iteration = 0;
    for (int64_t k = 0; k < nv; ++k)
        change[k] = h * method->last[k];
    for (;; ++iteration) {
        double before = moved, scale = 0.0, speed = 0.0;
        if (iteration == MOST_ITERATIONS || !to_middle(s, h, change))
            return 0;
        if (integrals) {
            if (!torque(s, t + 0.5 * h, s->stage))
                return 0;
            for (int64_t k = 0; k < integrals; ++k)
                s->stage[nq + nv + k] += 0.5 * h * s->law.errors[k];
        }
        memcpy(s->x, s->stage, sizeof(double) * nq);
        if (!sound(s, &method->mass, nq))
            return 0;
        memcpy(mass, s->y, sizeof(double) * nv * nv);
        if (!iteration && !prepare_iterations(s, h, theta, inverse, mobility, matrix, box))
            return 0;
        if (!midpoint_force(s, t + 0.5 * h, force))
            return 0;
        for (int64_t i = 0; i < nv; ++i) {
            gap[i] = h * (force[i] - method->damping[i] * (v0[i] + theta[i] * change[i]));
            for (int64_t j = 0; j < nv; ++j)
                gap[i] -= mass[i * nv + j] * change[j];
        }
        for (int64_t i = 0; i < nv; ++i) {
            end[i] = v0[i] + change[i];
            for (int64_t j = 0; j < nv; ++j)
                end[i] += inverse[i * nv + j] * gap[j];
        }
        if (n) {
            friction_levels(method, v, nv, levels);
            for (int64_t k = 0; k < n; ++k) {
                loose[k] = end[method->at[k]];
                bound[k] = h * levels[method->at[k]];
            }
            if (!friction_impulses(mobility, loose, bound, n, impulse, velocity, box))
                return 0;
            for (int64_t i = 0; i < nv; ++i)
                for (int64_t k = 0; k < n; ++k)
                    end[i] += inverse[i * nv + method->at[k]] * impulse[k];
            for (int64_t k = 0; k < n; ++k)
                if (velocity[k] == 0.0)
                    end[method->at[k]] = 0.0;
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
        if (moved <= 1e-13 * scale || (moved <= 1e-10 * scale && moved >= before))
            break;
    }
    finish_step(s, h, change, theta, impulse, end);
    return 1;
}
