/* link: bbf_agent fake_jvm */
/* agent/thread.c: jobs are done in order; who asks waits no longer than was reported, also when the
 * thread is slow, gone, or dies. */
#include <pthread.h>

static int broadcast(pthread_cond_t *condition);
#define pthread_cond_broadcast broadcast /* under queue_lock */
#include "agent/thread.c"
#undef pthread_cond_broadcast

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/agent/fake_jvm.h"

enum { ASKERS = 4, JOBS = 300 };

/* What the test asks the thread to do. */
static struct {
    _Atomic bool refuses, over, dies, holds; /* holds: a job that was taken is not answered */
    _Atomic bool dies_with_job, restarts;    /* restarts: the next thread starts at once */
    _Atomic unsigned done, ends, begins, works, most_at_once, at_once;
    _Atomic int how;
    _Atomic uint64_t last_order; /* of jobs: their `place` */
    _Atomic bool out_of_order;
} it;

/* As an attach that gets the lock before any waiter does. */
static int broadcast(pthread_cond_t *condition)
{
    if (gone && atomic_exchange(&it.restarts, false))
        assert_int_equal(start(), BBF_OK);
    return pthread_cond_broadcast(condition);
}

static void *begin_thread(void)
{
    atomic_fetch_add(&it.begins, 1);
    return atomic_load(&it.refuses) ? NULL : &it;
}

static unsigned short_wait(void *context)
{
    (void)context;
    return 50;
}

static void nap(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static void do_job(struct bbf_job *job)
{
    unsigned now = atomic_fetch_add(&it.at_once, 1) + 1;
    if (now > atomic_load(&it.most_at_once))
        atomic_store(&it.most_at_once, now);
    if (job->place != 0) {
        atomic_store(&it.out_of_order,
                     atomic_load(&it.out_of_order) || job->place < atomic_load(&it.last_order));
        atomic_store(&it.last_order, job->place);
    }
    while (atomic_load(&it.holds))
        nap(1);
    atomic_fetch_sub(&it.at_once, 1);
    if (atomic_exchange(&it.dies_with_job, false))
        pthread_exit(NULL);
    atomic_fetch_add(&it.done, 1);
    bbf_thread_answer(job, (int)job->effects);
}

static void work(void *context)
{
    assert_ptr_equal(context, &it);
    atomic_fetch_add(&it.works, 1);
    if (atomic_load(&it.dies))
        pthread_exit(NULL);
    for (struct bbf_job *job; (job = bbf_thread_take()) != NULL;)
        do_job(job);
}

static bool is_over(void *context)
{
    (void)context;
    return atomic_load(&it.over);
}

static void at_end(void *context, enum bbf_thread_end how)
{
    (void)context;
    atomic_store(&it.how, how);
    atomic_fetch_add(&it.ends, 1);
}

static int setup(void **state)
{
    static const struct bbf_thread_body of = {.begin = begin_thread,
                                              .wait_ms = short_wait,
                                              .work = work,
                                              .is_over = is_over,
                                              .end = at_end};
    (void)state;
    memset((void *)&it, 0, sizeof it);
    atomic_store(&it.how, -1);
    atomic_store(&leaving, false);
    atomic_store(&gc_has_finished, false);
    queue = NULL;
    there = gone = false;
    bbf_thread_init(&of);
    alarm(60);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    atomic_store(&it.holds, false);
    bbf_thread_leave(5000);
    assert_false(there);
    alarm(0);
    return 0;
}

static uint64_t now_ms(void)
{
    return bbf_clock_ns(CLOCK_MONOTONIC) / MS;
}

static void wait_until(_Atomic unsigned *what, unsigned n)
{
    while (atomic_load(what) < n)
        nap(1);
}

static void a_job_is_done_at_once_and_has_its_result(void **state)
{
    struct bbf_job job = {.kind = BBF_JOB_SNAPSHOT, .effects = 42};
    (void)state;
    assert_int_equal(bbf_thread_start(), BBF_OK);
    assert_int_equal(bbf_thread_ask(&job, 5000, 5000), 42);
    assert_int_equal(bbf_thread_ask(&job, 5000, 0), 42); /* again, without a limit */
    assert_int_equal(it.done, 2);
}

/* The thread is busy: what it has not begun is taken back, and it never sees it. */
static void a_job_that_is_not_begun_in_time_is_taken_back(void **state)
{
    static struct bbf_job first = {.kind = BBF_JOB_GC, .effects = 1};
    struct bbf_job second = {.kind = BBF_JOB_GC, .effects = 2};
    (void)state;
    atomic_store(&it.holds, true);
    assert_int_equal(bbf_thread_start(), BBF_OK);
    assert_int_equal(bbf_thread_ask(&first, 5000, 30), BBF_ETIMEOUT); /* begun, not finished */
    assert_true(first.taken);
    assert_int_equal(bbf_thread_ask(&second, 30, 5000), BBF_ETIMEOUT);
    assert_false(second.taken);
    assert_null(queue);
    atomic_store(&it.holds, false);
    wait_until(&it.done, 1);
    nap(20);
    assert_int_equal(it.done, 1);
    assert_int_equal(bbf_thread_ask(&second, 5000, 5000), 2);
}

static void a_deadline_is_the_limit_of_both_waits(void **state)
{
    static struct bbf_job job = {.kind = BBF_JOB_FILE};
    (void)state;
    assert_int_equal(bbf_thread_deadline(0), 0);
    atomic_store(&it.holds, true);
    assert_int_equal(bbf_thread_start(), BBF_OK);
    uint64_t begin = now_ms();
    job.deadline_ns = bbf_clock_ns(CLOCK_MONOTONIC) + 50 * MS;
    assert_int_equal(bbf_thread_ask(&job, 60000, 0), BBF_ETIMEOUT);
    assert_in_range(now_ms() - begin, 50 + GRACE_MS, 50 + GRACE_MS + 3000);
    struct bbf_job late = {.deadline_ns = bbf_clock_ns(CLOCK_MONOTONIC) - 1};
    begin = now_ms();
    assert_int_equal(bbf_thread_ask(&late, 60000, 60000), BBF_ETIMEOUT);
    assert_in_range(now_ms() - begin, 0, 3000);
    atomic_store(&it.holds, false);
    wait_until(&it.done, 1);
}

static void a_thread_that_cannot_begin_is_gone(void **state)
{
    struct bbf_job job = {.kind = BBF_JOB_GC};
    (void)state;
    atomic_store(&it.refuses, true);
    assert_int_equal(bbf_thread_start(), BBF_OK);
    assert_int_equal(bbf_thread_ask(&job, 60000, 0), BBF_ECLOSED); /* also if it waits already */
    assert_int_equal(bbf_thread_ask(&job, 60000, 0), BBF_ECLOSED);
    assert_int_equal(it.ends, 0);
}

static void a_thread_that_dies_leaves_nobody_waiting(void **state)
{
    struct bbf_job job = {.kind = BBF_JOB_GC};
    (void)state;
    atomic_store(&it.dies, true);
    assert_int_equal(bbf_thread_start(), BBF_OK);
    assert_int_equal(bbf_thread_ask(&job, 60000, 0), BBF_ECLOSED);
    assert_int_equal(it.how, BBF_THREAD_DIED);
    assert_int_equal(it.ends, 1);
    atomic_store(&it.dies, false);
    assert_int_equal(bbf_thread_post_attach(), BBF_OK); /* the next attach starts another */
    wait_until(&it.done, 1);
    assert_int_equal(it.begins, 2);
}

static void a_thread_without_work_ends_and_the_next_attach_starts_another(void **state)
{
    struct bbf_job job = {.kind = BBF_JOB_GC, .effects = 9};
    (void)state;
    atomic_store(&it.over, true);
    assert_int_equal(bbf_thread_start(), BBF_OK);
    wait_until(&it.ends, 1);
    assert_int_equal(it.how, BBF_THREAD_DRAINED);
    assert_int_equal(bbf_thread_ask(&job, 5000, 5000), BBF_ECLOSED);
    atomic_store(&it.over, false);
    assert_int_equal(bbf_thread_post_attach(), BBF_OK);
    assert_int_equal(bbf_thread_ask(&job, 5000, 5000), 9);
    wait_until(&it.done, 2);
    assert_int_equal(it.begins, 2);
}

/* Over, but a job has come: it is done first. */
static void a_job_that_waits_keeps_the_thread(void **state)
{
    (void)state;
    atomic_store(&it.over, true);
    assert_int_equal(bbf_thread_post_attach(), BBF_OK);
    wait_until(&it.ends, 1);
    assert_int_equal(it.done, 1);
}

static void leaving_ends_the_thread_and_waits_for_it(void **state)
{
    (void)state;
    assert_int_equal(bbf_thread_start(), BBF_OK);
    bbf_thread_leave(5000);
    assert_int_equal(it.how, BBF_THREAD_LEFT);
    assert_false(there);
}

static void leaving_waits_no_longer_than_was_said(void **state)
{
    static struct bbf_job job = {.kind = BBF_JOB_GC};
    (void)state;
    atomic_store(&it.holds, true);
    assert_int_equal(bbf_thread_start(), BBF_OK);
    assert_int_equal(bbf_thread_ask(&job, 5000, 1), BBF_ETIMEOUT);
    uint64_t begin = now_ms();
    bbf_thread_leave(50);
    assert_in_range(now_ms() - begin, 50, 3000);
    assert_true(there);
}

static void a_collection_wakes_the_thread_and_is_remembered(void **state)
{
    (void)state;
    fake_begin();
    fake_enter_gc(); /* a JVM function here would be complained about */
    assert_false(bbf_thread_has_gc());
    assert_int_equal(bbf_thread_start(), BBF_OK);
    wait_until(&it.works, 1);
    bbf_thread_gc_finished(true);
    fake_leave_gc();
    wait_until(&it.works, 2);
    assert_true(bbf_thread_has_gc());
    bbf_thread_wake();
    wait_until(&it.works, 3);
    assert_true(bbf_thread_has_gc());
    bbf_thread_clear_gc();
    assert_false(bbf_thread_has_gc());
    assert_int_equal(fake_end(), 0);
}

static atomic_uint wrong;

/* Some in no hurry, some that give up at once. */
static void *ask_often(void *arg)
{
    static struct bbf_job jobs[ASKERS][JOBS]; /* for good: one may be done after its asker left */
    unsigned me = (unsigned)(uintptr_t)arg;
    for (unsigned i = 0; i < JOBS; i++) {
        struct bbf_job *job = &jobs[me][i];
        *job = (struct bbf_job){.kind = BBF_JOB_GC, .effects = me * JOBS + i};
        int result = bbf_thread_ask(job, i % 3 == 0 ? 0 : 60000, i % 5 == 0 ? 1 : 0);
        if (result != BBF_ETIMEOUT && result != (int)job->effects)
            atomic_fetch_add(&wrong, 1);
        if (i % 3 != 0 && i % 5 != 0 && result == BBF_ETIMEOUT)
            atomic_fetch_add(&wrong, 1);
    }
    return NULL;
}

/* The thread is not started: how often it would wake. */
static void a_collection_wakes_once_until_it_is_looked_at(void **state)
{
    int wakes;
    (void)state;
    while (sem_trywait(&awake) == 0)
        ;
    bbf_thread_clear_gc();
    bbf_thread_gc_finished(false);
    bbf_thread_gc_finished(false);
    assert_int_equal(sem_getvalue(&awake, &wakes), 0);
    assert_int_equal(wakes, 1);
    bbf_thread_gc_finished(true);
    assert_int_equal(sem_getvalue(&awake, &wakes), 0);
    assert_int_equal(wakes, 2);
    bbf_thread_clear_gc();
    bbf_thread_gc_finished(false);
    assert_int_equal(sem_getvalue(&awake, &wakes), 0);
    assert_int_equal(wakes, 3);
    bbf_thread_clear_gc();
}

static void many_ask_and_each_gets_its_own_answer(void **state)
{
    pthread_t threads[ASKERS];
    struct bbf_job last = {.kind = BBF_JOB_GC, .effects = 7};
    (void)state;
    assert_int_equal(bbf_thread_start(), BBF_OK);
    for (unsigned i = 0; i < ASKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, (void *)(uintptr_t)i), 0);
    for (int i = 0; i < 100; i++)
        bbf_thread_gc_finished(true);
    for (int i = 0; i < ASKERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(bbf_thread_ask(&last, 60000, 0), 7);
    assert_int_equal(wrong, 0);
    assert_int_equal(it.most_at_once, 1);
    assert_null(queue);
}

static void *ask_in_turn(void *arg)
{
    (void)bbf_thread_ask(arg, 60000, 0);
    return NULL;
}

static void jobs_are_done_in_the_order_in_which_they_came(void **state)
{
    enum { MANY = 8 };
    static struct bbf_job first = {.kind = BBF_JOB_GC}, jobs[MANY];
    pthread_t threads[MANY];
    (void)state;
    atomic_store(&it.holds, true);
    assert_int_equal(bbf_thread_start(), BBF_OK);
    assert_int_equal(bbf_thread_ask(&first, 60000, 1), BBF_ETIMEOUT);
    for (unsigned i = 0; i < MANY; i++) {
        jobs[i] = (struct bbf_job){.kind = BBF_JOB_GC, .place = i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_in_turn, &jobs[i]), 0);
        for (bool queued = false; !queued; nap(1)) {
            pthread_mutex_lock(&queue_lock);
            for (struct bbf_job *job = queue; job != NULL; job = job->next)
                queued = queued || job == &jobs[i];
            pthread_mutex_unlock(&queue_lock);
        }
    }
    atomic_store(&it.holds, false);
    for (unsigned i = 0; i < MANY; i++)
        pthread_join(threads[i], NULL);
    assert_false(it.out_of_order);
    assert_int_equal(it.last_order, MANY);
}

struct asked {
    struct bbf_job job;
    int result;
};

static void *ask_for_result(void *arg)
{
    struct asked *asked = arg;
    asked->result = bbf_thread_ask(&asked->job, 60000, 0);
    return NULL;
}

static void wait_until_queued(const struct bbf_job *job, bool taken)
{
    for (bool there_now = false; !there_now; nap(1)) {
        pthread_mutex_lock(&queue_lock);
        there_now = taken ? job->taken : queue == job;
        pthread_mutex_unlock(&queue_lock);
    }
}

/* One job is being done, a second and an attach wait; then the thread dies. */
static void die_with_jobs(struct asked asked[2])
{
    pthread_t threads[2];
    atomic_store(&it.holds, true);
    assert_int_equal(bbf_thread_start(), BBF_OK);
    for (int i = 0; i < 2; i++) {
        asked[i] = (struct asked){.job = {.kind = BBF_JOB_GC, .effects = 5}};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_for_result, &asked[i]), 0);
        wait_until_queued(&asked[i].job, i == 0);
    }
    assert_int_equal(bbf_thread_post_attach(), BBF_OK);
    atomic_store(&it.dies_with_job, true);
    atomic_store(&it.holds, false);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(it.how, BBF_THREAD_DIED);
    assert_int_equal(it.done, 0);
}

static void a_thread_that_dies_answers_all_jobs_and_the_next_finds_none(void **state)
{
    struct asked asked[2];
    (void)state;
    die_with_jobs(asked);
    assert_int_equal(asked[0].result, BBF_ECLOSED);
    assert_int_equal(asked[1].result, BBF_ECLOSED);
    assert_null(queue);
    assert_int_equal(bbf_thread_post_attach(), BBF_OK); /* the static job was queued before */
    wait_until(&it.done, 1);
    assert_int_equal(bbf_thread_ask(&asked[0].job, 60000, 0), 5);
    assert_int_equal(it.done, 2);
}

/* The waiters wake when the next thread has been started already. */
static void a_waiter_does_not_take_the_next_thread_for_its_own(void **state)
{
    struct asked asked[2];
    (void)state;
    atomic_store(&it.restarts, true);
    die_with_jobs(asked);
    assert_int_equal(asked[0].result, BBF_ECLOSED);
    assert_int_equal(asked[1].result, BBF_ECLOSED);
    assert_int_equal(bbf_thread_ask(&asked[1].job, 60000, 0), 5);
    assert_int_equal(it.done, 1);
    assert_int_equal(it.begins, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_job_is_done_at_once_and_has_its_result),
        TEST(a_job_that_is_not_begun_in_time_is_taken_back),
        TEST(a_deadline_is_the_limit_of_both_waits),
        TEST(a_thread_that_cannot_begin_is_gone),
        TEST(a_thread_that_dies_leaves_nobody_waiting),
        TEST(a_thread_without_work_ends_and_the_next_attach_starts_another),
        TEST(a_job_that_waits_keeps_the_thread),
        TEST(leaving_ends_the_thread_and_waits_for_it),
        TEST(leaving_waits_no_longer_than_was_said),
        TEST(a_collection_wakes_the_thread_and_is_remembered),
        TEST(a_collection_wakes_once_until_it_is_looked_at),
        TEST(many_ask_and_each_gets_its_own_answer),
        TEST(jobs_are_done_in_the_order_in_which_they_came),
        TEST(a_thread_that_dies_answers_all_jobs_and_the_next_finds_none),
        TEST(a_waiter_does_not_take_the_next_thread_for_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
