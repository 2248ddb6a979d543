/* link: bbf_core */
/*
 * agent/report/uses.c: many threads hand over uses after release while the agent thread takes them;
 * each arrives once and whole, and a thread knows when there is no place for it.
 */
#include "agent/report/uses.c"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 4, EACH = 5000, EVERY = 5 /* is cancelled */ };

static bool arrived[THREADS][EACH];
static atomic_uint running;

static void fill(struct bbf_use_seen *use, uint32_t thread, uint32_t number)
{
    use->used_tid = thread;
    use->use = number;
    use->node = number ^ 0xabcd;
    use->len = 200 + number % 100;
    memset(use->used_by, (int)('a' + number % 26), use->len);
}

static void *produce(void *arg)
{
    uint32_t thread = (uint32_t)(uintptr_t)arg;

    for (uint32_t i = 0; i < EACH; i++) {
        struct bbf_use_seen *use;
        while ((use = bbf_uses_claim()) == NULL)
            (void)sched_yield(); /* a hook would count it and return; here all must arrive */
        fill(use, thread, i);
        if (i % EVERY == 0)
            bbf_uses_cancel(use);
        else
            bbf_uses_ready(use);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

/* Take all uses that are ready; true if there were any. */
static bool take_all(void)
{
    size_t at = 0;
    bool any = false;

    for (struct bbf_use_seen *use; (use = bbf_uses_next(&at)) != NULL; any = true) {
        assert_in_range(use->used_tid, 0, THREADS - 1);
        assert_in_range(use->use, 0, EACH - 1);
        assert_int_not_equal(use->use % EVERY, 0);
        assert_int_equal(use->node, use->use ^ 0xabcd);
        assert_int_equal(use->len, 200 + use->use % 100);
        for (size_t i = 0; i < use->len; i++)
            assert_int_equal(use->used_by[i], 'a' + (int)(use->use % 26));
        assert_false(arrived[use->used_tid][use->use]);
        arrived[use->used_tid][use->use] = true;
        bbf_uses_done(use);
    }
    return any;
}

static void each_use_arrives_whole_and_once(void **state)
{
    pthread_t threads[THREADS];
    unsigned here = 0;

    (void)state;
    atomic_store(&running, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, produce, (void *)i), 0);
    while (atomic_load_explicit(&running, memory_order_relaxed) > 0)
        if (!take_all())
            (void)sched_yield();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    (void)take_all();
    for (int i = 0; i < THREADS; i++)
        for (int k = 0; k < EACH; k++)
            here += arrived[i][k];
    assert_int_equal(here, THREADS * (EACH - EACH / EVERY));
    assert_false(take_all());
}

static void a_full_ring_refuses_until_the_agent_has_taken(void **state)
{
    struct bbf_use_seen *use;
    size_t at = 0;

    (void)state;
    for (int i = 0; i < BBF_USES; i++) {
        assert_non_null(use = bbf_uses_claim());
        bbf_uses_ready(use);
    }
    for (int i = 0; i < 3 * BBF_USES; i++)
        assert_null(bbf_uses_claim());
    while ((use = bbf_uses_next(&at)) != NULL)
        bbf_uses_done(use);
    assert_int_equal(at, BBF_USES);
    assert_non_null(use = bbf_uses_claim());
    bbf_uses_cancel(use);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_ring_refuses_until_the_agent_has_taken),
        cmocka_unit_test(each_use_arrives_whole_and_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
