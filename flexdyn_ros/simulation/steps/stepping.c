/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop over steps. It follows the headers in the order of simulation/compiled_steps.py.
 */

/* Record and do one step; the state changes only if all of it can be relied on. */
static int step(simulation *s)
{
    const double t = s->next * s->dt;
    const double h = (s->next == s->steps - 1 ? s->t_end : (s->next + 1) * s->dt) - t;
    double sum = 0.0;
    if (!torque(s, t, s->state))
        return 0;
    if (s->next % s->record.every == 0) {
        memcpy(s->stage, s->tau, sizeof(double) * s->map.nv);
        if ((s->implicit.held && !add_base_wrench(s)) || !keep(s, t, s->next / s->record.every))
            return 0;
        memcpy(s->tau, s->stage, sizeof(double) * s->map.nv);
    }
    if (!(s->is_implicit ? implicit_step(s, t, h) : runge_kutta_step(s, t, h)))
        return 0;
    for (int64_t k = 0; k < s->size - 2; ++k) /* work may be not known */
        sum += s->stage[k] - s->stage[k];
    if (sum != 0.0 || !normalise(&s->map, s->stage))
        return 0;
    if (!s->is_implicit && !close_loops(s))
        return 0;
    memcpy(s->state, s->stage, sizeof(double) * s->size);
    return 1;
}

/* Sizes that simulation/compiled_steps.py checks. */
const int64_t flexdyn_sizes[2] = {sizeof(simulation), sizeof(spaces)};

/* Do steps from s->next up to `stop`; return whether all were done. */
int flexdyn_steps(simulation *s, int64_t stop)
{
    while (s->next < stop) {
        if (!step(s))
            return 0;
        ++s->next;
    }
    return 1;
}
