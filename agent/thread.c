/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/thread.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>

#include "core/clock.h"
#include "core/err.h"

enum { GRACE_MS = 200, STACK_BYTES = 1 << 20 }; /* after a deadline, for the answer */
#define MS UINT64_C(1000000)

static const struct bbf_thread_body *body;
static sem_t awake;
static _Atomic bool gc_has_finished, leaving;

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered; /* by CLOCK_MONOTONIC */
static struct bbf_job *queue;
static bool there; /* the thread runs */
static bool gone;  /* it has ended, or could not be started */

static struct timespec after_ms(clockid_t clock, uint64_t ms)
{
    return bbf_clock_timespec(bbf_clock_ns(clock) + ms * MS);
}

uint64_t bbf_thread_deadline(uint64_t seconds)
{
    return seconds == 0 ? 0 : bbf_clock_ns(CLOCK_MONOTONIC) + seconds * BBF_CLOCK_SECOND;
}

/* ---- wake-ups ---- */

void bbf_thread_wake(void)
{
    (void)sem_post(&awake);
}

void bbf_thread_gc_finished(void)
{
    atomic_store(&gc_has_finished, true);
    bbf_thread_wake();
}

bool bbf_thread_has_gc(void)
{
    return atomic_load(&gc_has_finished);
}

void bbf_thread_clear_gc(void)
{
    atomic_store(&gc_has_finished, false);
}

/* ---- jobs ---- */

struct bbf_job *bbf_thread_take(void)
{
    pthread_mutex_lock(&queue_lock);
    struct bbf_job *job = queue;
    if (job != NULL) {
        queue = job->next;
        job->taken = true;
        pthread_cond_broadcast(&answered);
    }
    pthread_mutex_unlock(&queue_lock);
    return job;
}

void bbf_thread_answer(struct bbf_job *job, int result)
{
    pthread_mutex_lock(&queue_lock);
    job->result = result;
    job->done = true;
    pthread_cond_broadcast(&answered);
    pthread_mutex_unlock(&queue_lock);
}

/* Under the lock. */
static void append(struct bbf_job *job)
{
    struct bbf_job **last = &queue;
    job->done = job->taken = false;
    job->next = NULL;
    while (*last != NULL)
        last = &(*last)->next;
    *last = job;
    bbf_thread_wake();
}

/* Under the lock. */
static void unqueue(struct bbf_job *job)
{
    for (struct bbf_job **at = &queue; *at != NULL; at = &(*at)->next)
        if (*at == job) {
            *at = job->next;
            return;
        }
}

/* Wait until the job is answered or its time is over. Under the lock. */
static void await(const struct bbf_job *job, unsigned timeout_ms, unsigned finish_ms)
{
    struct timespec begin = job->deadline_ns != 0 ? bbf_clock_timespec(job->deadline_ns)
                                                  : after_ms(CLOCK_MONOTONIC, timeout_ms);
    int late = 0;
    while (!job->done && !job->taken && !gone && late == 0)
        late = pthread_cond_timedwait(&answered, &queue_lock, &begin);
    struct timespec finish = job->deadline_ns != 0
                                 ? bbf_clock_timespec(job->deadline_ns + GRACE_MS * MS)
                                 : after_ms(CLOCK_MONOTONIC, finish_ms);
    late = 0;
    while (!job->done && job->taken && !gone && late == 0)
        late = finish_ms == 0 && job->deadline_ns == 0
                   ? pthread_cond_wait(&answered, &queue_lock)
                   : pthread_cond_timedwait(&answered, &queue_lock, &finish);
}

int bbf_thread_ask(struct bbf_job *job, unsigned timeout_ms, unsigned finish_ms)
{
    pthread_mutex_lock(&queue_lock);
    if (gone) {
        pthread_mutex_unlock(&queue_lock);
        return BBF_ECLOSED;
    }
    append(job);
    await(job, timeout_ms, finish_ms);
    int result = job->done ? job->result : gone ? BBF_ECLOSED : BBF_ETIMEOUT;
    if (!job->done && !job->taken)
        unqueue(job);
    pthread_mutex_unlock(&queue_lock);
    return result;
}

/* ---- the thread ---- */

/* Under the lock: from here on no caller waits for the thread. */
static void set_gone(void)
{
    gone = true;
    there = false;
    pthread_cond_broadcast(&answered);
}

struct self {
    void *context;
    bool drained; /* then it is gone already, and the next thread may be there */
};

/* Nothing is left to do. True: no job can come any more, and the next attach starts another thread.
 */
static bool is_drained(void *context)
{
    if (!body->is_over(context))
        return false;
    pthread_mutex_lock(&queue_lock);
    bool empty = queue == NULL;
    if (empty)
        set_gone();
    pthread_mutex_unlock(&queue_lock);
    return empty;
}

/* Also the end of a thread that something else has ended. */
static void end(void *arg)
{
    const struct self *self = arg;
    body->end(self->context, self->drained           ? BBF_THREAD_DRAINED
                             : atomic_load(&leaving) ? BBF_THREAD_LEFT
                                                     : BBF_THREAD_DIED);
    if (self->drained)
        return;
    pthread_mutex_lock(&queue_lock);
    set_gone();
    pthread_mutex_unlock(&queue_lock);
}

static void *run(void *arg)
{
    struct self self = {.context = body->begin()};
    (void)arg;
    if (self.context == NULL) {
        pthread_mutex_lock(&queue_lock);
        set_gone();
        pthread_mutex_unlock(&queue_lock);
        return NULL;
    }
    pthread_cleanup_push(end, &self);
    while (!atomic_load(&leaving) && !(self.drained = is_drained(self.context))) {
        struct timespec until = after_ms(CLOCK_REALTIME, body->wait_ms(self.context));
        (void)sem_timedwait(&awake, &until);
        body->work(self.context);
    }
    pthread_cleanup_pop(1);
    return NULL;
}

void bbf_thread_init(const struct bbf_thread_body *of)
{
    pthread_condattr_t clock;
    body = of;
    sem_init(&awake, 0, 0);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&answered, &clock);
    pthread_condattr_destroy(&clock);
}

/* Under the lock. */
static int start(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    there = true;
    gone = false;
    int err = pthread_attr_init(&attributes);
    if (err == 0) {
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
        err = pthread_create(&thread, &attributes, run, NULL);
        pthread_attr_destroy(&attributes);
    }
    if (err != 0) {
        gone = true; /* the exit requests its report nevertheless */
        there = false;
    }
    return err == 0 ? BBF_OK : BBF_EIO;
}

int bbf_thread_start(void)
{
    pthread_mutex_lock(&queue_lock);
    int err = start();
    pthread_mutex_unlock(&queue_lock);
    return err;
}

int bbf_thread_post_attach(void)
{
    static struct bbf_job job = {.kind = BBF_JOB_ATTACH};
    pthread_mutex_lock(&queue_lock);
    int err = there ? BBF_OK : start();
    if (err == BBF_OK)
        append(&job);
    pthread_mutex_unlock(&queue_lock);
    return err;
}

void bbf_thread_leave(unsigned timeout_ms)
{
    struct timespec until = after_ms(CLOCK_MONOTONIC, timeout_ms);
    int late = 0;
    atomic_store(&leaving, true);
    bbf_thread_wake();
    pthread_mutex_lock(&queue_lock);
    while (there && late == 0)
        late = pthread_cond_timedwait(&answered, &queue_lock, &until);
    pthread_mutex_unlock(&queue_lock);
}
