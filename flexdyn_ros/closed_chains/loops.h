/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Motion and forces under the constraints of loops. The method, its sources and its tolerances are
 * those of solve.py, chains.py and projection.py. These compute results that a function here
 * reports as not sound.
 *
 * Sizes, tables and tolerances stand before it (closed_loops.py), and so does flexdyn_call. That
 * computes mass matrix, bias, constraint Jacobian A, its rate times velocities, and poses of
 * loops. It follows spaces.h.
 */
enum { BIAS = NV * NV, A = BIAS + NV, GAMMA = A + N * NV, POSES = GAMMA + N };
enum { EQUATIONS = POSES + 12 * LOOPS };

typedef struct {
    double x[NQ + NV + TAIL], y[EQUATIONS]; /* of flexdyn_call */
    double *mass, *bias, *a, *gamma, *poses; /* in y */
    double errors[N], force[NV], own[NV * NV], product[SIZE][SIZE], block[SIZE][SIZE];
    double basis[SIZE][SIZE], turned[SIZE][SIZE];
    spaces known;
} loop_work;

enum { LOOP_NUMBERS = (sizeof(loop_work) + sizeof(double) - 1) / sizeof(double) };

/* qdd of M qdd = force + A^T f, A qdd = c; return whether every free motion meets inertia. */
static int constrained_motion(loop_work *w, const double *mass, const double *force,
                              const double *c, double *qdd)
{
    const spaces *s = &w->known;
    const int count = s->columns, free = count - s->rank;
    double along[SIZE], least = INFINITY, most = 0.0;
    particular(s, c, qdd);
    for (int k = 0; k < free; ++k) {
        double *product = w->product[k];
        for (int i = 0; i < count; ++i)
            product[i] = dot(mass + i * count, s->free[k], count);
        along[k] = dot(s->free[k], force, count) - dot(product, qdd, count);
        for (int l = 0; l <= k; ++l)
            w->block[k][l] = dot(product, s->free[l], count);
    }
    for (int k = 0; k < free; ++k) {
        double *row = w->block[k], pivot;
        for (int l = 0; l < k; ++l) {
            row[l] = (row[l] - dot(row, w->block[l], l)) / w->block[l][l];
            along[k] -= row[l] * along[l];
        }
        pivot = row[k] - dot(row, row, k);
        least = pivot < least ? pivot : least;
        most = pivot > most ? pivot : most;
        row[k] = sqrt(pivot);
        along[k] /= row[k];
    }
    if (free && !(least > PIVOT_TOLERANCE * most))
        return 0;
    for (int k = free - 1; k >= 0; --k) {
        along[k] /= w->block[k][k];
        for (int l = 0; l < k; ++l)
            along[l] -= w->block[k][l] * along[k];
        add(qdd, along[k], s->free[k], count);
    }
    return 1;
}

/* Rotation vector of a rotation by rows; near half a turn not finite, which is left to Python. */
static void rotation_vector(const double *r, double *v)
{
    const double half[3] = {0.5 * (r[7] - r[5]), 0.5 * (r[2] - r[6]), 0.5 * (r[3] - r[1])};
    const double sine = sqrt(dot(half, half, 3)), cosine = 0.5 * (r[0] + r[4] + r[8] - 1.0);
    const double small = cosine > 0.0 ? 1.0 : INFINITY;
    for (int i = 0; i < 3; ++i)
        v[i] = half[i] * (sine > 1e-6 ? atan2(sine, cosine) / sine : small);
}

/* The rotation vector from frame axis `axis` to that axis of the pose. */
static void axis_rotation(const double *r, int axis, double *v)
{
    const int next = (axis + 1) % 3, last = (axis + 2) % 3;
    const double y = r[3 * next + axis], z = r[3 * last + axis], size = hypot(y, z);
    const double factor = size > 0.0 ? atan2(size, r[4 * axis]) / size : 1.0;
    v[axis] = 0.0;
    v[next] = -z * factor;
    v[last] = r[4 * axis] > 0.0 || size > 0.0 ? y * factor : INFINITY;
}

/* Constraint errors of the poses, as constraint_errors.py. */
static void find_errors(loop_work *w)
{
    double *error = w->errors;
    for (int k = 0; k < LOOPS; ++k) {
        const double *pose = w->poses + 12 * k;
        double rotation[3] = {0.0, 0.0, 0.0};
        int count = 0, free = 3;
        for (int j = 0; j < constrained[k]; ++j)
            if (directions[k][j] < 3) {
                ++count;
                free -= directions[k][j];
            }
        if (count == 2)
            axis_rotation(pose, free, rotation);
        else if (count)
            rotation_vector(pose, rotation);
        for (int j = 0; j < constrained[k]; ++j) {
            const int direction = directions[k][j];
            *error++ = direction < 3 ? rotation[direction] : pose[9 + direction - 3];
        }
    }
}

/* Evaluate the equations without the `third` numbers behind q and qd; return whether all are
 * finite. */
static int equations(loop_work *w, const double *x, int third)
{
    double sum = 0.0;
    memcpy(w->x, x, sizeof(double) * (NQ + NV));
    memcpy(w->x + NQ + NV, x + NQ + NV + third, sizeof(double) * TAIL);
    flexdyn_call(w->x, w->y, (double *)w + LOOP_NUMBERS);
    for (int k = 0; k < EQUATIONS; ++k)
        sum += w->y[k] - w->y[k];
    w->mass = w->y;
    w->bias = w->y + BIAS;
    w->a = w->y + A;
    w->gamma = w->y + GAMMA;
    w->poses = w->y + POSES;
    find_errors(w);
    return sum == 0.0;
}

/* Whether some constraint error is above `tolerance` [rad], or this fraction of its loop's
 * length. */
static int is_open(const loop_work *w, double tolerance)
{
    for (int k = 0; k < N; ++k)
        if (!(fabs(w->errors[k]) <= tolerance * lengths[k]))
            return 1;
    return 0;
}

/* Find the spaces of some columns of A. */
static void see(loop_work *w, const int *columns, int count, int rank)
{
    const double by_error = TOLERANCE_OF_ERROR * largest(w->errors, N);
    for (int j = 0; j < N; ++j)
        for (int k = 0; k < count; ++k)
            w->known.w[j][k] = w->a[j * NV + columns[k]];
    decompose(&w->known, N, count, rank, fmax(RANK_TOLERANCE, fmin(LARGEST_TOLERANCE, by_error)),
              RANK_TOLERANCE * largest(w->a, N * NV));
}

/* Results, then whether they are sound and the rank, in the place of pivots. */
static void report(const loop_work *w, double *pivots, int sound)
{
    pivots[0] = sound ? 1.0 : -1.0;
    pivots[1] = w->known.rank + 1.0;
}

/* Generalised forces beside those of the loops, in w->force; return whether they make the
 * motion. */
static int torques(loop_work *w, double *tau)
{
    const double floor = RANK_TOLERANCE * largest(w->a, N * NV);
    const double most = fmax(1e-3, largest(w->force, NV));
    double f[N], wanted[SIZE], step[SIZE];
    const int *member = groups;
    int freedom = N;
    spaces *s = &w->known;
    memset(f, 0, sizeof f);
    memset(w->basis, 0, sizeof w->basis);
    for (int k = 0; k < N; ++k)
        w->basis[k][k] = 1.0;
    for (int group = 0; group < GROUPS && freedom; member += group_sizes[group++]) {
        const int rows = group_sizes[group];
        for (int i = 0; i < rows; ++i) {
            double column[N];
            for (int j = 0; j < N; ++j)
                column[j] = w->a[j * NV + member[i]];
            for (int k = 0; k < freedom; ++k)
                s->w[i][k] = dot(column, w->basis[k], N);
            wanted[i] = w->force[member[i]] - dot(column, f, N);
        }
        decompose(s, rows, freedom, -1, RANK_TOLERANCE, floor);
        particular(s, wanted, step);
        for (int k = 0; k < freedom; ++k)
            add(f, step[k], w->basis[k], N);
        for (int k = 0; k < freedom - s->rank; ++k) {
            memset(w->turned[k], 0, sizeof(double) * N);
            for (int l = 0; l < freedom; ++l)
                add(w->turned[k], s->free[k][l], w->basis[l], N);
        }
        freedom -= s->rank;
        memcpy(w->basis, w->turned, sizeof w->basis);
    }
    memcpy(tau, w->force, sizeof(double) * NV);
    for (int j = 0; j < N; ++j)
        add(tau, -f[j], w->a + j * NV, NV);
    for (int k = 0; k < group_sizes[0]; ++k) {
        if (!(fabs(tau[groups[k]]) <= UNATTAINABLE * most))
            return 0;
        tau[groups[k]] = 0.0;
    }
    return 1;
}

/* w->force = M qdd + bias. */
static void open_forces(loop_work *w, const double *qdd)
{
    for (int k = 0; k < NV; ++k)
        w->force[k] = dot(w->mass + k * NV, qdd, NV) + w->bias[k];
}

/* x: q, qd, tau, loads, tolerance, rank; y: qdd. */
void flexdyn_forward_dynamics(const double *x, double *y, double *work)
{
    loop_work *const w = (loop_work *)work;
    const double *tau = x + NQ + NV, *settings = tau + NV + TAIL;
    const int known = settings[1] > 0.0;
    double c[N];
    int sound = equations(w, x, NV) && !is_open(w, settings[0]);
    if (sound) {
        see(w, all, NV, known ? (int)settings[1] - 1 : -1);
        for (int k = 0; k < NV; ++k)
            w->force[k] = tau[k] - w->bias[k];
        for (int k = 0; k < N; ++k)
            c[k] = -w->gamma[k];
        sound = constrained_motion(w, w->mass, w->force, c, y);
        if (!known && sound)
            sound = contradiction(&w->known, c) <= CONTRADICTION * fmax(1.0, largest(c, N));
    }
    report(w, y + NV, sound);
}

/* x: q, qd, qdd, loads, tolerance, rank; y: tau. */
void flexdyn_inverse_dynamics(const double *x, double *y, double *work)
{
    loop_work *const w = (loop_work *)work;
    const double *qdd = x + NQ + NV;
    int sound = equations(w, x, NV) && !is_open(w, qdd[NV + TAIL]);
    if (sound) {
        open_forces(w, qdd);
        sound = torques(w, y);
    }
    report(w, y + NV, sound);
}

/* x: q, qd, joint_qdd, loads, tolerance, rank; y: joint_tau, modal_qdd. */
void flexdyn_hybrid_dynamics(const double *x, double *y, double *work)
{
    loop_work *const w = (loop_work *)work;
    const double *joint_qdd = x + NQ + NV;
    double qdd[NV], own[NV], c[N], left[N];
    int sound = equations(w, x, N_JOINTS) && !is_open(w, joint_qdd[N_JOINTS + TAIL]);
    if (sound) {
        memcpy(qdd, joint_qdd, sizeof(double) * N_JOINTS);
        for (int k = 0; k < MOVING; ++k)
            qdd[moving[k]] = 0.0;
        open_forces(w, qdd);
        for (int j = 0; j < N; ++j) {
            c[j] = -w->gamma[j];
            left[j] = c[j] - dot(w->a + j * NV, qdd, NV);
        }
        see(w, moving, MOVING, -1);
        for (int k = 0; k < MOVING; ++k) {
            own[k] = -w->force[moving[k]];
            for (int l = 0; l < MOVING; ++l)
                w->own[k * MOVING + l] = w->mass[moving[k] * NV + moving[l]];
        }
        memcpy(w->force, own, sizeof(double) * MOVING);
        sound = constrained_motion(w, w->own, w->force, left, own);
        for (int k = 0; k < MOVING; ++k)
            qdd[moving[k]] = own[k];
        for (int j = 0; j < N; ++j)
            left[j] = c[j] - dot(w->a + j * NV, qdd, NV);
        if (!(largest(left, N)
              <= CONTRADICTION * fmax(fmax(1.0, largest(c, N)), largest(qdd, NV))))
            sound = 0;
        open_forces(w, qdd);
        sound = sound && torques(w, own);
        memcpy(y, own, sizeof(double) * N_JOINTS);
        memcpy(y + N_JOINTS, qdd + N_JOINTS, sizeof(double) * (NV - N_JOINTS));
    }
    report(w, y + NV, sound);
}

/* q moves by a velocity over a unit of time, as ConfigurationSpace.moved. */
static void move(double *q, const double *step)
{
    double from[NQ];
    memcpy(from, q, sizeof from);
    for (int k = 0; k < PLAIN; ++k)
        q[plain_q[k]] += step[plain_v[k]];
    for (int k = 0; k < FLOATING; ++k) {
        const double *p = from + floating[2 * k] + 3, *u = step + floating[2 * k + 1];
        const double x = p[0], y = p[1], z = p[2], w = p[3];
        double *to = q + floating[2 * k];
        to[0] += (1 - 2 * (y * y + z * z)) * u[0] + 2 * (x * y - z * w) * u[1]
                 + 2 * (x * z + y * w) * u[2];
        to[1] += 2 * (x * y + z * w) * u[0] + (1 - 2 * (x * x + z * z)) * u[1]
                 + 2 * (y * z - x * w) * u[2];
        to[2] += 2 * (x * z - y * w) * u[0] + 2 * (y * z + x * w) * u[1]
                 + (1 - 2 * (x * x + y * y)) * u[2];
    }
    for (int k = 0; k < QUATERNIONS; ++k) {
        const double *u = step + quaternions[2 * k + 1], *p = from + quaternions[2 * k];
        const double half = 0.5 * sqrt(dot(u, u, 3));
        const double factor = half < 1e-9 ? 0.5 : 0.5 * sin(half) / half, s = cos(half);
        const double a = factor * u[0], b = factor * u[1], c = factor * u[2];
        double *to = q + quaternions[2 * k], length;
        to[0] = p[3] * a + p[1] * c - p[2] * b + p[0] * s;
        to[1] = p[3] * b + p[2] * a - p[0] * c + p[1] * s;
        to[2] = p[3] * c + p[0] * b - p[1] * a + p[2] * s;
        to[3] = p[3] * s - p[0] * a - p[1] * b - p[2] * c;
        length = sqrt(dot(to, to, 4));
        for (int j = 0; j < 4; ++j)
            to[j] /= length;
    }
}

/*
 * x: q, qd, loads, tolerance, rank; y: the nearest closed q and qd. Errors are small, or those of
 * a time step of known rank.
 */
void flexdyn_project(const double *x, double *y, double *work)
{
    loop_work *const w = (loop_work *)work;
    const int rank = (int)x[NQ + NV + TAIL + 1] - 1;
    const int *columns = all + HELD;
    double step[NV], wanted[N], moved[NQ + NV + TAIL], size, norm, before;
    int sound = equations(w, x, 0), found = 0;
    memset(step, 0, sizeof step);
    memcpy(moved, x, sizeof moved);
    sound = sound && (rank >= 0 || largest(w->errors, N) < NEARLY_CLOSED);
    if (sound) {
        see(w, columns, NV - HELD, rank);
        size = CLOSED * fmax(1.0, largest(w->a, N * NV));
        norm = sqrt(dot(w->errors, w->errors, N));
        for (int k = 0; k < 6 && norm > size && !found; ++k) {
            particular(&w->known, w->errors, step + HELD);
            for (int j = HELD; j < NV; ++j)
                step[j] = -step[j];
            move(moved, step);
            sound = sound && equations(w, moved, 0);
            before = norm;
            norm = sqrt(dot(w->errors, w->errors, N));
            found = !(norm <= 0.5 * before);
        }
        sound = sound && norm <= 100.0 * size;
        memcpy(y, moved, sizeof(double) * NQ);
        memset(w->errors, 0, sizeof w->errors);
        see(w, columns, NV - HELD, rank);
        for (int j = 0; j < N; ++j)
            wanted[j] = -dot(w->a + j * NV, x + NQ, NV);
        particular(&w->known, wanted, step + HELD);
        memcpy(y + NQ, x + NQ, sizeof(double) * NV);
        add(y + NQ + HELD, 1.0, step + HELD, NV - HELD);
    }
    report(w, y + NQ + NV, sound);
}

const long flexdyn_forward_dynamics_numbers[2] = {2, LOOP_NUMBERS + WORK};
const long flexdyn_inverse_dynamics_numbers[2] = {2, LOOP_NUMBERS + WORK};
const long flexdyn_hybrid_dynamics_numbers[2] = {2, LOOP_NUMBERS + WORK};
const long flexdyn_project_numbers[2] = {2, LOOP_NUMBERS + WORK};
