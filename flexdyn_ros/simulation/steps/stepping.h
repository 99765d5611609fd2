/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps along a simulated motion, without Python: the structures, which
 * simulation/compiled_steps.py fills, torques (simulation/torque_laws.py) and samples. Names in
 * capitals are those of simulation/step_tolerances.py.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

/* A compiled function; its constants follow the packed vectors in x, its pivots the results. */
typedef struct {
    void (*call)(const double *x, double *y, double *work);
    int64_t n_constants;
    const double *constants;
    int64_t results, pivots;
} function;

/* By interval, from the highest power down, a row of `width` numbers. */
typedef struct {
    int64_t intervals, degree, width;
    const double *at, *coefficients;
    int64_t place; /* the interval that was used last */
} polynomial;

typedef struct {
    int64_t stages;
    const double *a, *b, *c; /* a: stages rows of stages numbers */
} tableau;

/* Places in q of the coordinates of v one by one, and of floating joints and quaternions. */
typedef struct {
    int64_t nq, nv, plain, floating, quaternions;
    const int64_t *plain_q, *plain_v, *floating_at, *quaternion_at; /* the last two: pairs */
} configuration;

/* The dynamics of a model by which a controller converts accelerations into torques. */
typedef struct {
    function inverse, slip; /* torques and friction; call is NULL where there is none */
    int64_t size, joints, along; /* also: whether it is evaluated along the reference */
    const int64_t *of_q, *of_v; /* places of its coordinates in q and in v */
    const int64_t *follows;     /* joints of it that follow */
} model_torque;

/* tau = constant + table(t), and on tracked coordinates PID about a reference. */
typedef struct {
    const double *constant;
    polynomial table, reference;
    int64_t tracked, integrals;
    const int64_t *of_q, *of_v;
    const double *kp, *kd, *ki;
    double *values, *slopes, *curvatures, *errors, *forces;
    model_torque model;
} torque_law;

/* Losses of a joint that moves at `multiplier` times a velocity. */
typedef struct {
    int64_t index;
    double multiplier, coulomb, stribeck, stribeck_velocity;
} friction_term;

/* Data of the implicit method (simulation/implicit_midpoint.py); matrices by rows. */
typedef struct {
    int64_t terms, rows, rubbing; /* losses, rows of impulses, the first of which have friction */
    const friction_term *term;
    const int64_t *at, *beside, *q_at, *q_beside;
    const double *share, *limits; /* of a row, v[at] + share v[beside]; lower, then upper stops */
    const double *damping, *springs, *modal;
    double *stiffness, *last, *memory; /* last: accelerations; memory: for implicit_midpoint.h */
    const double *slides; /* whether explicit steps do between friction events */
    function mass, bias, friction;
    function jacobian; /* of the constraints; call is NULL without loops */
    int64_t constraints, held, springs_count; /* also: velocities of a base, nonlinear springs */
    const double *base;                       /* accelerations of a prescribed base */
    spaces *middle, *end;                     /* motions that loops leave there */
    const int64_t *spring_q, *spring_v, *spring_row; /* of entries of the stiffness that change */
} implicit_method;

/* Rows of samples. */
typedef struct {
    double *t, *q, *qd, *tau, *kinetic, *potential, *work, *dissipated;
    int64_t every; /* steps a sample */
} samples;

typedef struct {
    configuration map;
    tableau method;
    function forward, kinetic, potential, losses;
    function external; /* forces that wrenches ask for; call is NULL where there are none */
    function project;  /* brings loops back after a step; call is NULL where none are held */
    double *rank, *held_rank; /* of loops, plus one: for `forward`, and a constant of `project` */
    torque_law law;
    samples record;
    implicit_method implicit;
    int64_t is_implicit;
    double dt, t_end, doubtful;
    int64_t steps, next; /* in all, and the next one to do */
    int64_t size; /* of a state: q, qd, integrals, work, dissipated energy */
    double *state, *stage, *rates, *tau, *force, *x, *y, *memory;
} simulation;

/* Evaluate at t; beyond the ends the value is that of the end, and its rates are zero. */
static void evaluate(polynomial *p, double t, double *value, double *slope, double *curvature)
{
    const int64_t last = p->intervals;
    const int inside = t >= p->at[0] && t <= p->at[last];
    const double *row;
    double x;
    if (!inside)
        t = t < p->at[0] ? p->at[0] : p->at[last];
    while (p->place + 1 < last && t >= p->at[p->place + 1])
        ++p->place;
    while (p->place > 0 && t < p->at[p->place])
        --p->place;
    x = t - p->at[p->place];
    row = p->coefficients + p->place * (p->degree + 1) * p->width;
    for (int64_t k = 0; k < p->width; ++k) {
        double sum = row[k], rate = 0.0, bend = 0.0;
        for (int64_t power = 1; power <= p->degree; ++power) {
            bend = bend * x + rate;
            rate = rate * x + sum;
            sum = sum * x + row[power * p->width + k];
        }
        value[k] = sum;
        if (slope == NULL)
            continue;
        slope[k] = inside ? rate : 0.0;
        curvature[k] = inside ? 2.0 * bend : 0.0;
    }
}

/*
 * Call with n numbers in x; return whether no pivot of the results, in y, is in doubt. The
 * end of a step finds results that are not finite.
 */
static int sound(const simulation *s, const function *f, int64_t n)
{
    const double *pivots = s->y + f->results;
    double least = INFINITY, most = 0.0;
    for (int64_t k = 0; k < f->n_constants; ++k)
        s->x[n + k] = f->constants[k];
    f->call(s->x, s->y, s->memory);
    for (int64_t k = 0; k < f->pivots; ++k) {
        least = pivots[k] < least ? pivots[k] : least;
        most = pivots[k] > most ? pivots[k] : most;
    }
    return !f->pivots || least > s->doubtful * most;
}

/* The same with n numbers from elsewhere. */
static int sound_at(simulation *s, const function *f, const double *values, int64_t n)
{
    memcpy(s->x, values, sizeof(double) * n);
    return sound(s, f, n);
}

/* Put the generalised forces of wrenches at q into s->force; return whether that worked. */
static int find_loads(simulation *s, const double *q)
{
    memset(s->force, 0, sizeof(double) * s->map.nv);
    if (s->external.call == NULL)
        return 1;
    if (!sound_at(s, &s->external, q, s->map.nq))
        return 0;
    for (int64_t k = 0; k < s->map.nv; ++k)
        s->force[k] = -s->y[k];
    return 1;
}

/* Close the loops of the state in s->stage; return whether that worked. */
static int close_loops(simulation *s)
{
    const int64_t size = s->map.nq + s->map.nv;
    if (s->project.call == NULL)
        return 1;
    *s->held_rank = *s->rank;
    if (!sound_at(s, &s->project, s->stage, size))
        return 0;
    memcpy(s->stage, s->y, sizeof(double) * size);
    return 1;
}

/* Replace law->forces by the torques of the model, see simulation/computed_torque.py. */
static int model_forces(simulation *s, const double *q, const double *qd)
{
    const torque_law *law = &s->law;
    const model_torque *model = &law->model;
    const int64_t n = model->size, *follows = model->follows;
    double *x = s->x, *force = law->forces;
    for (int64_t k = 0; k < n; ++k) {
        x[k] = q[model->of_q[k]];
        x[n + k] = qd[model->of_v[k]];
    }
    memset(x + 2 * n, 0, sizeof(double) * model->joints);
    for (int64_t k = 0; k < law->tracked; ++k) {
        if (model->along) {
            x[follows[k]] = law->values[k];
            x[n + follows[k]] = law->slopes[k];
        }
        x[2 * n + follows[k]] = law->curvatures[k] + (model->along ? 0.0 : force[k]);
    }
    if (!sound(s, &model->inverse, 2 * n + model->joints))
        return 0;
    for (int64_t k = 0; k < law->tracked; ++k)
        force[k] = s->y[follows[k]] + (model->along ? force[k] : 0.0);
    for (int at = 0; at < 2 && model->slip.call != NULL; ++at) {
        for (int64_t k = 0; k < n; ++k)
            x[k] = qd[model->of_v[k]];
        for (int64_t k = 0; k < law->tracked && at; ++k)
            x[follows[k]] = law->slopes[k];
        if (!sound(s, &model->slip, n))
            return 0;
        for (int64_t k = 0; k < law->tracked; ++k)
            force[k] += at ? s->y[follows[k]] : -s->y[follows[k]];
    }
    return 1;
}

/* Compute s->tau; return whether it can be relied on. */
static int torque(simulation *s, double t, const double *state)
{
    torque_law *law = &s->law;
    const double *q = state, *qd = state + s->map.nq, *integral = qd + s->map.nv;
    memcpy(s->tau, law->constant, sizeof(double) * s->map.nv);
    if (law->table.intervals) {
        evaluate(&law->table, t, law->values, NULL, NULL);
        for (int64_t k = 0; k < s->map.nv; ++k)
            s->tau[k] += law->values[k];
    }
    if (!law->tracked)
        return 1;
    evaluate(&law->reference, t, law->values, law->slopes, law->curvatures);
    for (int64_t k = 0; k < law->tracked; ++k) {
        const double error = law->values[k] - q[law->of_q[k]];
        const double rate = law->slopes[k] - qd[law->of_v[k]];
        law->forces[k] = law->kp[k] * error + law->kd[k] * rate;
        if (law->integrals)
            law->forces[k] += law->ki[k] * integral[k];
        law->errors[k] = error;
    }
    if (law->model.inverse.call != NULL && !model_forces(s, q, qd))
        return 0;
    for (int64_t k = 0; k < law->tracked; ++k)
        s->tau[law->of_v[k]] += law->forces[k];
    return 1;
}

/* Scale quaternions to unit length; return whether they have one. */
static int normalise(const configuration *map, double *q)
{
    for (int64_t k = 0; k < map->quaternions; ++k) {
        double *p = q + map->quaternion_at[2 * k];
        const double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
        if (!(length > 0.0))
            return 0;
        for (int j = 0; j < 4; ++j)
            p[j] /= length;
    }
    return 1;
}

/* dq/dt, as ConfigurationMap.rate. */
static void configuration_rate(const configuration *map, const double *q, const double *v,
                               double *rate)
{
    for (int64_t k = 0; k < map->plain; ++k)
        rate[map->plain_q[k]] = v[map->plain_v[k]];
    for (int64_t k = 0; k < map->floating; ++k) {
        const int64_t i = map->floating_at[2 * k];
        const double *u = v + map->floating_at[2 * k + 1];
        const double x = q[i + 3], y = q[i + 4], z = q[i + 5], w = q[i + 6];
        rate[i] = (1 - 2 * (y * y + z * z)) * u[0] + 2 * (x * y - z * w) * u[1]
                  + 2 * (x * z + y * w) * u[2];
        rate[i + 1] = 2 * (x * y + z * w) * u[0] + (1 - 2 * (x * x + z * z)) * u[1]
                      + 2 * (y * z - x * w) * u[2];
        rate[i + 2] = 2 * (x * z - y * w) * u[0] + 2 * (y * z + x * w) * u[1]
                      + (1 - 2 * (x * x + y * y)) * u[2];
    }
    for (int64_t k = 0; k < map->quaternions; ++k) {
        const int64_t i = map->quaternion_at[2 * k];
        const double *u = v + map->quaternion_at[2 * k + 1];
        const double x = q[i], y = q[i + 1], z = q[i + 2], w = q[i + 3];
        rate[i] = 0.5 * (w * u[0] + y * u[2] - z * u[1]);
        rate[i + 1] = 0.5 * (w * u[1] + z * u[0] - x * u[2]);
        rate[i + 2] = 0.5 * (w * u[2] + x * u[1] - y * u[0]);
        rate[i + 3] = -0.5 * (x * u[0] + y * u[1] + z * u[2]);
    }
}

/* Keep the state at the start of a step, and s->tau; return whether its energy is finite. */
static int keep(const simulation *s, double t, int64_t row)
{
    const int64_t nq = s->map.nq, nv = s->map.nv;
    const samples *to = &s->record;
    if (!sound_at(s, &s->kinetic, s->state, nq + nv))
        return 0;
    to->kinetic[row] = s->y[0];
    if (!sound(s, &s->potential, nq))
        return 0;
    to->potential[row] = s->y[0];
    if (!isfinite(to->kinetic[row] + to->potential[row]))
        return 0;
    to->t[row] = t;
    memcpy(to->q + row * nq, s->state, sizeof(double) * nq);
    memcpy(to->qd + row * nv, s->state + nq, sizeof(double) * nv);
    memcpy(to->tau + row * nv, s->tau, sizeof(double) * nv);
    to->work[row] = s->state[s->size - 2];
    to->dissipated[row] = s->state[s->size - 1];
    return 1;
}
