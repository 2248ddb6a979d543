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
/* Threads started so far. A waiter may wake after the thread that took its job has died and another
 * attach has started the next: `gone` is false again then, and this number is another. */
static unsigned starts;
static pthread_once_t key_made = PTHREAD_ONCE_INIT;
static pthread_key_t ended_early; /* of the thread: its context, while it works */
static bool has_ended_early;

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

void bbf_thread_gc_finished(bool urgent)
{
    if (!atomic_exchange(&gc_has_finished, true) || urgent)
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
        job->start = starts; /* the caller's: another start comes after its end only */
        pthread_cond_broadcast(&answered);
    }
    pthread_mutex_unlock(&queue_lock);
    return job;
}

/* Under the lock. */
static void set_done(struct bbf_job *job, int result)
{
    job->result = result;
    job->done = true;
    pthread_cond_broadcast(&answered);
}

void bbf_thread_answer(struct bbf_job *job, int result)
{
    pthread_mutex_lock(&queue_lock);
    set_done(job, result);
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

/* Has the thread that took the job ended without an answer? Under the lock. */
static bool is_lost(const struct bbf_job *job)
{
    return job->taken && !job->done && (gone || job->start != starts);
}

/* Wait until the job is answered or its time is over. Under the lock. Jobs that wait in the queue
 * are answered by set_gone(). */
static void await(const struct bbf_job *job, unsigned timeout_ms, unsigned finish_ms)
{
    struct timespec begin = job->deadline_ns != 0 ? bbf_clock_timespec(job->deadline_ns)
                                                  : after_ms(CLOCK_MONOTONIC, timeout_ms);
    int late = 0;
    while (!job->done && !job->taken && late == 0)
        late = pthread_cond_timedwait(&answered, &queue_lock, &begin);
    struct timespec finish = job->deadline_ns != 0
                                 ? bbf_clock_timespec(job->deadline_ns + GRACE_MS * MS)
                                 : after_ms(CLOCK_MONOTONIC, finish_ms);
    late = 0;
    while (!job->done && job->taken && !is_lost(job) && late == 0)
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
    int result = job->done ? job->result : is_lost(job) ? BBF_ECLOSED : BBF_ETIMEOUT;
    if (!job->done && !job->taken)
        unqueue(job);
    pthread_mutex_unlock(&queue_lock);
    return result;
}

/* ---- the thread ---- */

/* Under the lock: from here on no caller waits for the thread. The next thread finds no old job,
 * and the static job of post_attach() can be appended again. */
static void set_gone(void)
{
    gone = true;
    there = false;
    for (struct bbf_job *job; (job = queue) != NULL;) {
        queue = job->next; /* the owner may free an answered job as soon as we unlock */
        set_done(job, BBF_ECLOSED);
    }
    pthread_cond_broadcast(&answered);
}

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

/* `drained`: this thread has left already, and the next one may have started. */
static void end(void *context, bool drained)
{
    body->end(context, drained                 ? BBF_THREAD_DRAINED
                       : atomic_load(&leaving) ? BBF_THREAD_LEFT
                                               : BBF_THREAD_DIED);
    if (drained)
        return;
    pthread_mutex_lock(&queue_lock);
    set_gone();
    pthread_mutex_unlock(&queue_lock);
}

/* pthread_exit, pthread_cancel. A key's destructor and not pthread_cleanup_push, whose functions in
 * glibc musl does not have. */
static void end_early(void *context)
{
    end(context, false);
}

static void make_key(void)
{
    has_ended_early = pthread_key_create(&ended_early, end_early) == 0;
}

/* Without a key or memory for it an end that something else causes is not seen. */
static void mind_early_end(void *context)
{
    (void)pthread_once(&key_made, make_key);
    if (has_ended_early)
        (void)pthread_setspecific(ended_early, context);
}

static void *run(void *arg)
{
    void *context = body->begin();
    bool drained = false;
    (void)arg;
    if (context == NULL) {
        pthread_mutex_lock(&queue_lock);
        set_gone();
        pthread_mutex_unlock(&queue_lock);
        return NULL;
    }
    mind_early_end(context);
    while (!atomic_load(&leaving) && !(drained = is_drained(context))) {
        struct timespec until = after_ms(CLOCK_REALTIME, body->wait_ms(context));
        (void)sem_timedwait(&awake, &until);
        body->work(context);
    }
    mind_early_end(NULL);
    end(context, drained);
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
    starts++;
    int err = pthread_attr_init(&attributes);
    if (err == 0) {
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
        err = pthread_create(&thread, &attributes, run, NULL);
        pthread_attr_destroy(&attributes);
    }
    if (err != 0)
        set_gone(); /* the exit requests its report nevertheless */
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
