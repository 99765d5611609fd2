/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that help with a piece of work. They are started when first needed and then sleep until
 * there is work again: to wake a thread takes a fraction of the time that starting one does.
 *
 * One piece of work at a time has their help; another one that comes meanwhile is done by the
 * thread that brings it alone. A forked process starts its own.
 */
#pragma once

/* How often to look whether helpers are done before sleeping: about as long as it takes to wake. */
enum { LOOKS = 4000 };

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    void (*work)(void *);
    void *argument;
    int started; /* threads */
    int wanted;  /* how many may still join */
    int active;  /* how many are at work */
    int busy;    /* whether there is work, or was a moment ago */
} Crew;

static Crew crew = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER,
                    .idle = PTHREAD_COND_INITIALIZER};

/* Threads do not live on in a forked process. */
static void crew_forget(void)
{
    crew = (Crew){.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER,
                  .idle = PTHREAD_COND_INITIALIZER};
}

static void *crew_life(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&crew.lock);
    for (;;) {
        while (crew.wanted == 0)
            pthread_cond_wait(&crew.wake, &crew.lock);
        --crew.wanted;
        ++crew.active;
        pthread_mutex_unlock(&crew.lock);
        crew.work(crew.argument);
        pthread_mutex_lock(&crew.lock);
        if (__atomic_sub_fetch(&crew.active, 1, __ATOMIC_RELEASE) == 0)
            pthread_cond_signal(&crew.idle);
    }
    return NULL;
}

/* Have at least so many threads, if the system gives them. Signals stay with the others. */
static void crew_grow(int count)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (crew.started < count && pthread_create(&thread, NULL, crew_life, NULL) == 0) {
        pthread_detach(thread);
        ++crew.started;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("" ::: "memory");
#endif
}

/* Do `work`, in this thread and in up to `helpers` others at once; return when all are done. */
static void work_together(void (*work)(void *), void *argument, int helpers)
{
    int helped = 0;
    if (helpers > 0) {
        pthread_mutex_lock(&crew.lock);
        if (!crew.busy) {
            crew_grow(helpers);
            crew.work = work;
            crew.argument = argument;
            crew.wanted = helpers < crew.started ? helpers : crew.started;
            helped = crew.busy = crew.wanted > 0;
            pthread_cond_broadcast(&crew.wake);
        }
        pthread_mutex_unlock(&crew.lock);
    }
    work(argument);
    if (!helped)
        return;
    pthread_mutex_lock(&crew.lock);
    crew.wanted = 0; /* who has not come yet need not */
    pthread_mutex_unlock(&crew.lock);
    for (int k = 0; k < LOOKS && __atomic_load_n(&crew.active, __ATOMIC_ACQUIRE); ++k)
        pause_briefly();
    pthread_mutex_lock(&crew.lock);
    while (crew.active)
        pthread_cond_wait(&crew.idle, &crew.lock);
    crew.busy = 0;
    pthread_mutex_unlock(&crew.lock);
}
