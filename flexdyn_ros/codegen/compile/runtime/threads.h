/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples shared among threads. The definition of `samples` follows it.
 *
 * A thread takes its part of the samples that are left, SHARE at least, until none is left. Long
 * runs keep memory in its processor's cache, and a thread that starts late does less. Each thread
 * starts the next one, in some 25 microseconds. All end with the call: a fork finds none.
 */
#include <pthread.h>
#include <sched.h>

typedef struct {
    long next, count, threads, entered, running;
    long memory; /* numbers of type double that a thread needs */
    const double *const *in;
    const long *strides;
    double *const *out;
    unsigned char *flags;
    double *work;
} batch;

static void samples(const batch *given, long start, long stop, double *memory);

/* Take samples for one thread. Returns 0 where none is left. */
static int take(batch *given, long *start, long *stop)
{
    *start = __atomic_load_n(&given->next, __ATOMIC_RELAXED);
    do {
        const long left = given->count - *start;
        long share = left / given->threads / LANES * LANES;

        if (left <= 0)
            return 0;
        share = share < SHARE ? SHARE : share;
        *stop = *start + (share < left ? share : left);
    } while (!__atomic_compare_exchange_n(&given->next, start, *stop, 1, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return 1;
}

static void *take_samples(void *of);

/* Start a thread. The present one does the work where that fails. */
static void start_another(batch *given)
{
    pthread_attr_t detached;
    pthread_t thread;

    if (pthread_attr_init(&detached) != 0)
        return;
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    __atomic_fetch_add(&given->running, 1, __ATOMIC_RELAXED);
    if (pthread_create(&thread, &detached, take_samples, given) != 0)
        __atomic_fetch_sub(&given->running, 1, __ATOMIC_RELAXED);
    pthread_attr_destroy(&detached);
}

static void *take_samples(void *of)
{
    batch *const given = of;
    const long number = __atomic_fetch_add(&given->entered, 1, __ATOMIC_RELAXED);
    double *const memory = given->work + given->memory * number;
    long start, stop;

    if (number + 1 < given->threads &&
        __atomic_load_n(&given->next, __ATOMIC_RELAXED) < given->count)
        start_another(given);
    while (take(given, &start, &stop))
        samples(given, start, stop, memory);
    __atomic_fetch_sub(&given->running, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Evaluate all samples in the calling thread and in others. */
static void share_samples(batch *given)
{
    take_samples(given);
    /* All finish at about the same time: to sleep and be woken takes longer than this. */
    while (__atomic_load_n(&given->running, __ATOMIC_ACQUIRE) > 0)
        sched_yield();
}
