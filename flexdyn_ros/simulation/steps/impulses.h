/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Impulses of dry friction and joint stops as one box-constrained problem, the same in Python as
 * simulation/dry_friction.py and joint_stops.py. It follows stepping.h.
 */

/*
 * Solve a x = b for `count` columns, rows of b; both are overwritten. Return whether it worked.
 * Where `least` is not zero, a is semidefinite, and rows with smaller pivots depend on others:
 * their x is zero.
 */
static int solve(double *a, double *b, int64_t n, int64_t count, double least)
{
    for (int64_t k = 0; k < n; ++k) {
        int64_t best = k;
        for (int64_t i = k + 1; i < n && least == 0.0; ++i)
            best = fabs(a[i * n + k]) > fabs(a[best * n + k]) ? i : best;
        if (!(fabs(a[best * n + k]) > least)) {
            if (least == 0.0)
                return 0;
            for (int64_t i = 0; i < n; ++i)
                a[i * n + k] = a[k * n + i] = i == k;
            for (int64_t j = 0; j < count; ++j)
                b[k * count + j] = 0.0;
        }
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

/*
 * Accelerations under forces of the coordinates that are not held: M_oo qdd_o = force_o - M_oh
 * qdd_h. Those that are held stand in qdd. `memory` has room for a matrix and a vector.
 */
static int free_accelerations(const double *mass, const double *held, const double *force,
                              int64_t nv, double *qdd, double *memory)
{
    double *a = memory, *right = memory + nv * nv;
    int64_t m = 0, row = 0;
    for (int64_t k = 0; k < nv; ++k)
        m += held[k] == 0.0;
    for (int64_t i = 0; i < nv; ++i) {
        if (held[i] != 0.0)
            continue;
        right[row] = force[i];
        for (int64_t j = 0; j < nv; ++j) {
            if (held[j] == 0.0)
                *a++ = mass[i * nv + j];
            else
                right[row] -= mass[i * nv + j] * qdd[j];
        }
        ++row;
    }
    if (m && !solve(memory, right, m, 1, 0.0))
        return 0;
    for (int64_t k = 0; k < nv; ++k)
        if (held[k] == 0.0)
            qdd[k] = *right++;
    return 1;
}

static int invert(double *a, double *inverse, int64_t n)
{
    memset(inverse, 0, sizeof(double) * n * n);
    for (int64_t k = 0; k < n; ++k)
        inverse[k * n + k] = 1.0;
    return solve(a, inverse, n, n, 0.0);
}

static double clipped(double x, double lower, double upper)
{
    return x > upper ? upper : x < lower ? lower : x;
}

/* The same impulses by projected Gauss-Seidel sweeps, which always converge. */
static void sweep(const double *mobility, const double *diagonal, const double *loose,
                  const double *lower, const double *upper, int64_t n, double *impulse,
                  double *velocity)
{
    double moved = 1.0, most = 0.0;
    for (int64_t j = 0; j < n; ++j)
        impulse[j] = clipped(impulse[j], lower[j], upper[j]);
    for (int turn = 0; turn < MOST_SWEEPS && moved > SWEPT * most; ++turn) {
        moved = most = 0.0;
        for (int64_t j = 0; j < n; ++j) {
            const double speed = loose[j] + dot(mobility + j * n, impulse, (int)n);
            const double next = clipped(impulse[j] - speed / diagonal[j], lower[j], upper[j]);
            moved = fmax(moved, fabs(next - impulse[j]));
            most = fmax(most, fabs(next));
            impulse[j] = next;
        }
    }
    for (int64_t j = 0; j < n; ++j) {
        const int inside = lower[j] < impulse[j] && impulse[j] < upper[j];
        velocity[j] = inside ? 0.0 : loose[j] + dot(mobility + j * n, impulse, (int)n);
    }
}

/*
 * Impulses that meet the set-valued law; velocities are zero where a joint sticks. Rows may depend
 * on each other where they are `repeated`.
 */
static int friction_impulses(const double *mobility, const double *loose, const double *lower,
                             const double *upper, int64_t n, int repeated, double *impulse,
                             double *velocity, double *memory)
{
    double *a = memory, *b = a + n * n, *sticks = b + n, *diagonal = sticks + n, most = 0.0;
    for (int64_t j = 0; j < n; ++j)
        most = fmax(most, mobility[j * n + j]);
    for (int64_t j = 0; j < n; ++j) {
        const double wanted = -loose[j] / (diagonal[j] = fmax(
            mobility[j * n + j], repeated ? LOCKED * most : 0.0));
        impulse[j] = clipped(wanted, lower[j], upper[j]);
        sticks[j] = impulse[j] == wanted && lower[j] < upper[j];
    }
    for (int change = 0; change < (repeated ? FEW_CHANGES : MOST_CHANGES); ++change) {
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
        if (m && !solve(a, b, m, 1, repeated ? LOCKED * most : 0.0))
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
            const double wanted = impulse[i] - velocity[i] / diagonal[i];
            const double now = lower[i] < upper[i] && lower[i] <= wanted && wanted <= upper[i];
            const double limited = now != 0.0 ? impulse[i] : clipped(wanted, lower[i], upper[i]);
            settled &= now == sticks[i] && limited == impulse[i];
            sticks[i] = now;
            impulse[i] = limited;
        }
        if (settled)
            return 1;
    }
    sweep(mobility, diagonal, loose, lower, upper, n, impulse, velocity);
    return 1;
}

/* The velocity of a row of impulses, or another linear function of v. */
static double row_of(const implicit_method *method, int64_t row, const double *v)
{
    return v[method->at[row]] + method->share[row] * v[method->beside[row]];
}

/* Distance of q from the lower or the upper stop of a row, simulation/joint_stops.py. */
static double gap_of(const implicit_method *method, int64_t row, int upper, const double *q)
{
    const double at = q[method->q_at[row]] + method->share[row] * q[method->q_beside[row]];
    return upper ? method->limits[method->rows + row] - at : at - method->limits[row];
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
